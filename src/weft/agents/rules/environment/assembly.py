"""Assembly: the contract of a tool from its planned parts."""

import re
from collections.abc import Callable
from typing import Any

from weft.agents.rules.environment.blueprint import Blueprint
from weft.agents.rules.environment.bulk import relabel
from weft.agents.rules.environment.change import build_delete, build_set, build_transition, build_update
from weft.agents.rules.environment.conditions import keep_stated
from weft.agents.rules.environment.create import build_copy, build_create, build_upsert
from weft.agents.rules.environment.engines import BIND
from weft.agents.rules.environment.file_results import file_result
from weft.agents.rules.environment.files import build_file
from weft.agents.rules.environment.links import build_link, build_unlink
from weft.agents.rules.environment.plan import Part, ToolPlan, Use
from weft.agents.rules.environment.read import build_count, build_get, build_list, build_totals
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.returns import Outcome, own_result
from weft.agents.rules.environment.rows import argument
from weft.agents.rules.environment.running import build_run
from weft.agents.rules.environment.selecting import filters, guard
from weft.agents.rules.environment.shaping import Shaper
from weft.agents.rules.environment.totals import Totals
from weft.agents.rules.environment.words import function_name
from weft.records.contract import ArgumentUse, Case, Contract, When
from weft.records.expression import Expr, Not, Truthy
from weft.records.spec import Provenance, RefusalCode

_BUILDERS: dict[str, Callable[[Part, Blueprint], Outcome]] = {
    "create": build_create,
    "send": build_create,
    "add": build_create,
    "upsert": build_upsert,
    "set": build_set,
    "get": build_get,
    "list": build_list,
    "search": build_list,
    "count": build_count,
    "aggregate": build_totals,
    "update": build_update,
    "move": build_update,
    "assign": build_update,
    "delete": build_delete,
    "clear": build_delete,
    "transition": build_transition,
    "link": build_link,
    "unlink": build_unlink,
    "copy": build_copy,
    "run": build_run,
}
_ROLES = {
    "level": "projection",
    "include": "expand",
    "include_state": "filter",
    "confirm": "option",
    "dry_run": "option",
    "precondition": "option",
    "force": "option",
    "near": "identifier",
    "far": "link",
    "subject": "identifier",
    "link_filter": "link",
}


def assemble(plan: ToolPlan, blueprint: Blueprint, taken: set[str]) -> Contract:
    """The contract of one tool.

    Raises:
        Refused: when no sound contract can be written.
    """
    served: list[tuple[Part, Outcome]] = []
    unserved: list[Part] = []
    for part in plan.parts:
        try:
            if part.problem is not None:
                raise part.problem
            served.append((part, _outcome(part, blueprint)))
        except Refused as problem:
            part.problem = problem
            unserved.append(part)
    if not served or (plan.action is not None and len(served) < len(unserved)):
        raise unserved[0].problem or Refused(RefusalCode.STATELESS, "nothing of it can be served", BIND)
    effect = "write" if any(not part.intent.reads for part, _ in served) else "read"
    _check_hints(plan, effect)
    cases, schemas, invented = _cases(plan, served, blueprint)
    declared = plan.tool.output_schema
    own = schemas[0] if all(schema == schemas[0] for schema in schemas) else {"type": "object", "anyOf": schemas}
    errors = dict.fromkeys(code for _, outcome in served for code in outcome.errors)
    return Contract.model_validate(
        {
            "tool": plan.tool.name,
            "function": function_name(plan.tool.name, taken),
            "summary": _summary(plan.tool.description),
            "effect": effect,
            "cases": tuple(cases),
            "arguments": tuple(argument_uses(plan, [part for part, _ in served])),
            "returns_schema": declared if declared else own,
            "returns_declared": bool(declared),
            "errors": tuple(errors),
            "invented_returns": tuple(dict.fromkeys(invented)),
        }
    )


def _outcome(part: Part, blueprint: Blueprint) -> Outcome:
    if "file" in part.options:
        return build_file(part)
    outcome = _BUILDERS[part.intent.kind](part, blueprint)
    keep_stated(part, outcome, blueprint)
    for use in part.role("dry_run"):
        _dry_run(use, outcome)
    return outcome


def _dry_run(use: Use, outcome: Outcome) -> None:
    """Keep a dry call from changing anything: it gives the row as it is, or says that the call would go through."""
    at = next(
        (i for i, op in enumerate(outcome.operations) if op.op not in ("guard", "find", "let")), len(outcome.operations)
    )
    asked = Truthy(op="truthy", of=argument(use.field))
    found = any(op.op == "find" and op.into == outcome.row for op in outcome.operations[:at])
    if outcome.kind == "row" and found:
        rest = tuple(outcome.operations[at:])
        outcome.operations[at:] = [When(op="when", condition=Not(op="not", of=asked), operations=rest)]
        return
    message = f"{use.field.name}: the call would go through; leave it out to apply the change"
    outcome.operations.insert(at, guard(Not(op="not", of=asked), "conflict", message))


def _cases(
    plan: ToolPlan, served: list[tuple[Part, Outcome]], blueprint: Blueprint
) -> tuple[list[Case], list[dict[str, Any]], list[str]]:
    cases: list[Case] = []
    schemas: list[dict[str, Any]] = []
    invented: list[str] = []
    for part, outcome in served:
        returns, schema = _result(part, outcome, blueprint, invented)
        cases.append(_case(part, outcome, returns, part.when))
        if schema not in schemas:
            schemas.append(schema)
    if plan.action is not None:
        cases += _default_case(plan, cases)
    return cases, schemas, invented


def _default_case(plan: ToolPlan, cases: list[Case]) -> list[Case]:
    """The case of an absent action, if the schema declares a default. Other values are rejected by the runtime."""
    action = plan.action
    assert action is not None
    default = action.schema.get("default")
    for case in cases:
        if case.when.get(action.name) == default and default is not None and not action.required:
            return [case.model_copy(update={"when": {}})]
    return []


def _case(part: Part, outcome: Outcome, returns: Expr, when: dict[str, Any]) -> Case:
    kind = {"send": "create", "add": "create", "set": "upsert", "assign": "update", "clear": "delete"}.get(
        part.intent.kind, part.intent.kind
    )
    if kind == "run":
        kind = "create"
    if kind == "upsert" and outcome.done == "updated":
        kind = "update"
    table = "" if "file" in part.options else part.main().name
    reads = tuple(dict.fromkeys([*outcome.reads, *([table] if table else [])]))
    return Case(
        when=when,
        intent=part.options.get("file", kind),
        table=table,
        operations=tuple(outcome.operations),
        returns=returns,
        reads=reads,
        writes=tuple(dict.fromkeys(outcome.writes)),
    )


def _result(part: Part, outcome: Outcome, blueprint: Blueprint, invented: list[str]) -> tuple[Expr, dict[str, Any]]:
    """The result and its schema; adds the properties that are constants to ``invented``."""
    if "file" in part.options and outcome.value is not None:
        declared = part.tool.output_schema
        return (file_result(part, outcome), declared) if declared else (outcome.value, outcome.schema)
    if part.tool.output_schema and part.intent.kind in ("count", "aggregate"):
        return Totals(part, part.main(), filters(part, part.main()), blueprint).result(), part.tool.output_schema
    if part.tool.output_schema:
        shaper = Shaper(part, outcome, blueprint, grow=False)
        value = shaper.result()
        invented += shaper.invented
        return value, part.tool.output_schema
    return own_result(part, outcome, blueprint)


def _check_hints(plan: ToolPlan, effect: str) -> None:
    hint = plan.tool.annotations.get("readOnlyHint")
    if (hint is True and effect == "write") or (hint is False and effect == "read" and plan.action is None):
        raise Refused(
            RefusalCode.ANNOTATION_CONFLICT,
            f"readOnlyHint is {str(hint).lower()}, but the name and arguments say that the tool {effect}s",
            "correct the hint or the name",
            path="#/annotations/readOnlyHint",
            value=str(hint),
        )


def _summary(description: str) -> str:
    lines = [line.strip() for line in description.strip().splitlines() if line.strip()]
    first = re.split(r"(?<=[.!?])\s", lines[0], maxsplit=1)[0] if lines else ""
    return first if len(first) <= 200 else first[:197] + "..."


def argument_uses(plan: ToolPlan, parts: list[Part]) -> list[ArgumentUse]:
    """The use of every declared argument: the first that has an effect, over the parts."""
    found: dict[str, ArgumentUse] = {}
    if plan.action is not None:
        found[plan.action.dotted] = ArgumentUse(
            path=plan.action.dotted,
            role="action",
            provenance=Provenance.DECLARED,
            evidence="chooses the case",
            required=plan.action.required,
        )
    for part in parts:
        for use in part.uses:
            for path, item in _paths(use):
                present = found.get(path)
                if present is None or (present.role == "inert" and item.role != "inert"):
                    found[path] = _record(path, item)
    known = list(found)
    for field in plan.fields:
        if field.dotted not in found and not any(path.startswith(f"{field.dotted}[]") for path in known):
            reason = "client_hint: only actions that are not served use it"
            found[field.dotted] = ArgumentUse(
                path=field.dotted, role="inert", provenance=Provenance.INERT, evidence=reason, required=field.required
            )
    return [found[path] for path in _in_order(plan, found)]


def _in_order(plan: ToolPlan, found: dict[str, ArgumentUse]) -> list[str]:
    order = [field.dotted for field in plan.fields]
    return sorted(
        found,
        key=lambda path: next(
            (i for i, name in enumerate(order) if path == name or path.startswith(f"{name}[]")), len(order)
        ),
    )


def _paths(use: Use) -> list[tuple[str, Use]]:
    if use.role != "bulk":
        return [(use.field.dotted, use)]
    return [(use.field.dotted, use), *[(relabel(item.field, use.field), item) for item in use.options["uses"]]]


def _record(path: str, use: Use) -> ArgumentUse:
    evidence = use.evidence or use.role
    return ArgumentUse.model_validate(
        {
            "path": path,
            "role": _ROLES.get(use.role, use.role),
            "table": use.table.name if use.table is not None else "",
            "column": use.column.name if use.column is not None else "",
            "provenance": use.provenance,
            "evidence": evidence,
            "required": use.field.required,
        }
    )
