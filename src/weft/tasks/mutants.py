"""Mutants of a reference: executions that are wrong in one respect, and that a sound verifier fails (pure).

Each is a list of concrete calls and a reply. Whether a mutant really is wrong is decided by full comparison of where
it ends (:mod:`weft.tasks.equivalence`), never by the verifier under test.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from weft.records.base import JSON
from weft.records.contract import Case, Contract, ContractSet
from weft.records.environment import Environment
from weft.records.state import Rows
from weft.records.task import FromStep, FromSteps, ReferenceStep, ReplyPart, Source
from weft.records.trace import LedgerEntry
from weft.runtime.values import json_equal
from weft.tasks.reference import ReferenceRun, ResolvedCall, reply_from

MOST_VALUES = 6
"""Most arguments of one call that are changed, one mutant each."""

MOST_ENUM = 4
"""Most wrong values that are tried for an argument with a list of allowed ones."""

ENTITY_ROLES = ("identifier", "link", "parent", "bulk")
INVERSES = {"link": "unlink", "unlink": "link", "archive": "unarchive", "unarchive": "archive"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong execution.

    Attributes:
        kind: see :class:`~weft.records.certificate.MutantResult`.
        detail: what was changed.
        calls: to execute from the initial state.
        reply: the final reply.
    """

    kind: str
    detail: str
    calls: tuple[ResolvedCall, ...]
    reply: str


@dataclass(frozen=True, slots=True)
class Subject:
    """What mutants are made from.

    Attributes:
        environment: whose contracts and schema say what arguments mean.
        steps: the reference.
        run: its first execution.
        rows: initial rows.
        reply: parts and template of the reply.
        reply_text: template.
        rivals: reply part -> wrong values.
        extras: calls that change the initial state, to be added where they do not belong.
        seed: of the choices among alternatives.
    """

    environment: Environment
    steps: tuple[ReferenceStep, ...]
    run: ReferenceRun
    rows: Rows
    reply: tuple[ReplyPart, ...]
    reply_text: str
    rivals: Mapping[str, tuple[Any, ...]]
    extras: tuple[ResolvedCall, ...]
    seed: int


def mutants_of(subject: Subject) -> list[Mutant]:
    """Return the mutants of a reference, in a fixed order."""
    found = [
        *_idle(subject),
        *_dropped(subject),
        *_values(subject),
        *_answers(subject),
        *_extra(subject),
        *_undone(subject),
        *_repeated(subject),
        *_swapped(subject),
    ]
    seen: set[str] = set()
    unique = []
    for mutant in found:
        calls = [[call.tool, call.arguments] for call in mutant.calls]
        key = json.dumps([calls, mutant.reply], sort_keys=True)
        if key not in seen:
            seen.add(key)
            unique.append(mutant)
    return unique


def is_write(entry: LedgerEntry) -> bool:
    """Return whether a call changed rows or files."""
    return not entry.changes.empty


def _idle(subject: Subject) -> Iterator[Mutant]:
    yield Mutant("do_nothing", "no call, no reply", (), "")
    yield Mutant("no_calls", "the right reply without a call", (), subject.run.reply)
    yield Mutant("empty_reply", "the right calls without a reply", subject.run.calls, "")


def _dropped(subject: Subject) -> Iterator[Mutant]:
    calls, entries = subject.run.calls, subject.run.entries
    for index, (call, entry) in enumerate(zip(calls, entries, strict=True)):
        if is_write(entry):
            yield Mutant("dropped_write", call.tool, calls[:index] + calls[index + 1 :], subject.run.reply)
    kept = tuple(call for call, entry in zip(calls, entries, strict=True) if is_write(entry))
    if len(kept) < len(calls):
        yield Mutant("no_witness", "every read left out, the right reply kept", kept, subject.run.reply)


# Wrong entities and wrong values


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar of a call's arguments: the way to it, its value, and the column that it acts on where that is known."""

    way: tuple[str | int, ...]
    value: JSON
    table: str
    column: str
    entity: bool
    schema: Mapping[str, Any]


def case_of(contract: Contract, arguments: Mapping[str, JSON]) -> Case:
    """Return the case that a call runs: the first whose ``when`` matches, else the last."""
    for case in contract.cases:
        if all(json_equal(arguments.get(name), value) for name, value in case.when.items()):
            return case
    return contract.cases[-1]


def _leaves(value: JSON, way: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], JSON]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, (*way, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, (*way, index))
    else:
        yield way, value


def dotted(way: Sequence[str | int]) -> str:
    """Return a way as an argument path: ``items[].name``."""
    text = ""
    for step in way:
        text += "[]" if isinstance(step, int) else f".{step}" if text else step
    return text


def leaves_of(subject: Subject, call: ResolvedCall) -> list[Leaf]:
    """Return the leaves of a call's arguments with what the contract says of them."""
    contract = subject.environment.contracts.contract(call.tool)
    case = case_of(contract, call.arguments)
    uses = {use.path.replace(".[]", "[]"): use for use in contract.arguments}
    spec = next(tool for tool in subject.environment.spec.tools if tool.name == call.tool)
    found = []
    for way, value in _leaves(call.arguments):
        if way and way[0] in case.when:
            continue
        path = dotted(way)
        use = uses.get(path) or uses.get(path.removesuffix("[]"))
        role = use.role if use else ""
        found.append(
            Leaf(
                way=way,
                value=value,
                table=use.table if use else "",
                column=use.column if use else "",
                entity=role in ENTITY_ROLES,
                schema=_schema_at(spec.input_schema, way),
            )
        )
    return found


def _schema_at(schema: Mapping[str, Any], way: Sequence[str | int]) -> Mapping[str, Any]:
    here: Any = schema
    for step in way:
        here = here.get("items", {}) if isinstance(step, int) else here.get("properties", {}).get(step, {})
        if not isinstance(here, dict):
            return {}
    return here if isinstance(here, dict) else {}


def _with(arguments: dict[str, JSON], way: Sequence[str | int], value: JSON) -> dict[str, JSON]:
    copy: dict[str, JSON] = json.loads(json.dumps(arguments))
    here: Any = copy
    for step in way[:-1]:
        here = here[step]
    here[way[-1]] = value
    return copy


def _replaced(calls: tuple[ResolvedCall, ...], index: int, arguments: dict[str, JSON]) -> tuple[ResolvedCall, ...]:
    return (*calls[:index], replace(calls[index], arguments=arguments), *calls[index + 1 :])


def _values(subject: Subject) -> Iterator[Mutant]:
    rng = random.Random(f"mutants:{subject.seed}")
    calls = subject.run.calls
    for index, call in enumerate(calls):
        for leaf in leaves_of(subject, call)[:MOST_VALUES]:
            other = _other_row(subject.rows, leaf, rng) if leaf.entity else None
            kind = "wrong_entity" if other is not None else "wrong_value"
            values = [other] if other is not None else _other_values(subject, leaf, rng)
            for value in values:
                if value is None or json_equal(value, leaf.value):
                    continue
                arguments = _with(call.arguments, leaf.way, value)
                detail = f"{call.tool}: {dotted(leaf.way)} = {value!r}"[:200]
                yield Mutant(kind, detail, _replaced(calls, index, arguments), subject.run.reply)


def _other_row(rows: Rows, leaf: Leaf, rng: random.Random) -> JSON:
    """Return the same column of another row, or None."""
    values = [row.get(leaf.column) for row in rows.get(leaf.table, ())] if leaf.column else []
    if not any(json_equal(value, leaf.value) for value in values):
        values = _column_of(rows, leaf.value)
    others = [value for value in values if value is not None and not json_equal(value, leaf.value)]
    return rng.choice(others) if others else None


def _column_of(rows: Rows, value: JSON) -> list[JSON]:
    """Return the first column, by table and name, that holds a text value which is unique in it."""
    if not isinstance(value, str):
        return []
    for table in sorted(rows):
        for name in sorted(rows[table][0]) if rows[table] else []:
            column = [row.get(name) for row in rows[table]]
            if column.count(value) == 1:
                return column
    return []


def _other_values(subject: Subject, leaf: Leaf, rng: random.Random) -> list[JSON]:
    """Return wrong values for an argument: of a few allowed ones each, else one of the same kind."""
    allowed = leaf.schema.get("enum")
    if isinstance(allowed, list) and len(allowed) > 1:
        others = [item for item in allowed if not json_equal(item, leaf.value)]
        rng.shuffle(others)
        return others[:MOST_ENUM]
    return [_other_value(subject, leaf, rng)]


def _other_value(subject: Subject, leaf: Leaf, rng: random.Random) -> JSON:
    """Return another value of the same kind, one that the schema allows where that can be told."""
    value = leaf.value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        top = leaf.schema.get("maximum")
        return value - 1 if isinstance(top, (int, float)) and value + 1 > top else value + 1
    if isinstance(value, float):
        return value + 1.5
    if not isinstance(value, str):
        return None
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", value):
        return shifted_day(value)
    known = [row.get(leaf.column) for row in subject.rows.get(leaf.table, ())] if leaf.column else []
    others = [item for item in known if isinstance(item, str) and item and item.casefold() != value.casefold()]
    if others and rng.random() < 0.5:
        return rng.choice(others)
    return f"{value} 2" if value else "other"


def shifted_day(value: str) -> str:
    """Return a date or date-time text one day later."""
    try:
        return (date.fromisoformat(value[:10]) + timedelta(days=1)).isoformat() + value[10:]
    except ValueError:
        return value + " 2"


def _answers(subject: Subject) -> Iterator[Mutant]:
    for part in subject.reply:
        if part.name not in subject.run.values:
            continue
        value = subject.run.values[part.name]
        if part.kind == "refusal":
            yield Mutant("altered_answer", "claims success", subject.run.calls, "Done, that is taken care of.")
            continue
        wrong = altered(value, subject.rivals.get(part.name, ()))
        if wrong is None:
            continue
        reply = reply_from(subject.reply_text, {**subject.run.values, part.name: wrong})
        yield Mutant("altered_answer", f"{part.name} = {wrong!r}"[:200], subject.run.calls, reply)


def altered(value: JSON, rivals: Sequence[JSON]) -> JSON:
    """Return a wrong answer like ``value``: a rival where there is one."""
    if isinstance(value, bool):
        return not value
    others = [rival for rival in rivals if not json_equal(rival, value)]
    if isinstance(value, list):
        return [*value[1:], others[0]] if others else value[1:] or None
    if others:
        return others[0]
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value):
        return shifted_day(value)
    return "something else" if isinstance(value, str) else None


# One write too many, undone, twice, or in the wrong order


def _extra(subject: Subject) -> Iterator[Mutant]:
    run = subject.run
    written = [call for call, entry in zip(run.calls, run.entries, strict=True) if is_write(entry)]
    for call in written[:1]:
        for leaf in leaves_of(subject, call):
            other = _other_row(subject.rows, leaf, random.Random(f"extra:{subject.seed}")) if leaf.entity else None
            if other is not None:
                more = replace(call, arguments=_with(call.arguments, leaf.way, other))
                yield Mutant("extra_write", f"{call.tool} on another as well", (*run.calls, more), run.reply)
                break
    for call in subject.extras[:2]:
        yield Mutant("extra_write", call.tool, (*run.calls, call), run.reply)


def _undone(subject: Subject) -> Iterator[Mutant]:
    run = subject.run
    for call, entry in reversed(list(zip(run.calls, run.entries, strict=True))):
        if is_write(entry):
            undo = inverse(subject, call, entry)
            if undo is not None:
                yield Mutant("undone", f"{call.tool} undone by {undo.tool}", (*run.calls, undo), run.reply)
            return


def inverse(subject: Subject, call: ResolvedCall, entry: LedgerEntry) -> ResolvedCall | None:
    """Return a call that takes the last write back, where a tool can."""
    contracts = subject.environment.contracts
    change = next((item for item in entry.changes.rows if item.op != "delete"), None)
    if change is None:
        return None
    if change.op == "insert":
        return _deletion(contracts, change.server, change.table, change.key)
    arguments = call.arguments
    columns = {leaf.column: leaf for leaf in leaves_of(subject, call) if leaf.column and not leaf.entity}
    for name, value in (change.after or {}).items():
        before = (change.before or {}).get(name)
        if name in columns and not json_equal(before, value):
            arguments = _with(arguments, columns[name].way, before)
    if not json_equal(arguments, call.arguments):
        return replace(call, arguments=arguments)
    intent = INVERSES.get(case_of(contracts.contract(call.tool), call.arguments).intent)
    for contract in contracts.contracts:
        if intent and len(contract.cases) == 1 and contract.cases[0].intent == intent:
            return replace(call, tool=contract.tool)
    return None


def _deletion(contracts: ContractSet, server: str, table: str, key: Mapping[str, JSON]) -> ResolvedCall | None:
    for contract in contracts.contracts:
        if len(contract.cases) != 1 or contract.cases[0].intent not in ("delete", "unlink"):
            continue
        needed = [use for use in contract.arguments if use.required]
        if needed and all(use.table == table and use.column in key and "." not in use.path for use in needed):
            return ResolvedCall("undo", server, contract.tool, {use.path: key[use.column] for use in needed})
    return None


def _repeated(subject: Subject) -> Iterator[Mutant]:
    run = subject.run
    for call, entry in reversed(list(zip(run.calls, run.entries, strict=True))):
        if is_write(entry):
            yield Mutant("repeated_write", call.tool, (*run.calls, call), run.reply)
            return


def _swapped(subject: Subject) -> Iterator[Mutant]:
    """Swap neighbouring writes where the second rests on the first; other orders are free."""
    run, calls = subject.run, subject.run.calls
    for index in range(len(calls) - 1):
        both = is_write(run.entries[index]) and is_write(run.entries[index + 1])
        if both and subject.steps[index].id in cited(subject.steps[index + 1]):
            swapped = (*calls[:index], calls[index + 1], calls[index], *calls[index + 2 :])
            yield Mutant("swapped_order", f"{calls[index + 1].tool} before {calls[index].tool}", swapped, run.reply)


def cited(step: ReferenceStep) -> frozenset[str]:
    """Return the steps whose results a step's arguments come from."""
    return frozenset(name for source in step.arguments.values() for name in _cited(source))


def _cited(source: Source) -> Iterator[str]:
    if isinstance(source, (FromStep, FromSteps)):
        yield source.step
        for item in source.match.values():
            yield from _cited(item)
    fields = getattr(source, "fields", None)
    for item in [*(fields.values() if isinstance(fields, dict) else ()), *getattr(source, "items", ())]:
        yield from _cited(item)
