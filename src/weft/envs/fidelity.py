"""Fidelity: how much of an environment's meaning was declared, and what that forbids (DESIGN section 5)."""

import re
from collections.abc import Mapping

from weft.envs.report import ToolReport
from weft.records.certificate import ArgumentFidelity
from weft.records.contract import Contract, ContractSet
from weft.records.draft import FindingKind
from weft.records.spec import Provenance, ToolSpec

REASON = re.compile(r"[a-z][a-z_]*\b")
"""An inert argument's evidence starts with its typed reason: ``timeout``, ``locale``, ``credential`` ..."""

LONGEST = 160
"""Characters of a stated rule that a certificate quotes."""


def check_fidelity(tool: ToolSpec, contract: Contract, report: ToolReport) -> None:
    """Note what the meaning of a tool's arguments and its annotations forbid.

    A required argument whose meaning nothing supports, an inert one without a reason, and an effect against the
    declared ``readOnlyHint`` each keep the tool from being certified.
    """
    for use in contract.arguments:
        report.count("invented_argument")
        if use.provenance is Provenance.INVENTED and use.required:
            message = f"nothing in the spec says what the required argument {use.path!r} means"
            report.fail(FindingKind.MAPPING, "invented_argument", message, argument=use.path)
        inert = use.provenance is Provenance.INERT
        if inert or use.role == "inert":
            report.count("inert_argument")
            if inert != (use.role == "inert"):
                message = f"the argument {use.path!r} is inert in its role or its provenance alone"
                report.fail(FindingKind.MAPPING, "inert_argument", message, argument=use.path)
            elif not REASON.match(use.evidence):
                message = f"the argument {use.path!r} is inert without a typed reason"
                report.fail(FindingKind.MAPPING, "inert_argument", message, argument=use.path)
    report.count("effect_annotation")
    hint = tool.annotations.get("readOnlyHint")
    if isinstance(hint, bool) and hint != (contract.effect == "read"):
        message = f"the spec declares readOnlyHint {str(hint).lower()}, but the contract's effect is {contract.effect}"
        report.fail(FindingKind.MAPPING, "effect_annotation", message)


def argument_fidelity(contract: Contract, report: ToolReport) -> tuple[ArgumentFidelity, ...]:
    """Return the fidelity of every argument, with the pair of calls that shows its effect."""
    selectors = {name for case in contract.cases for name in case.when}
    failed = {finding.argument for finding in report.findings if finding.check == "argument_effect"}
    found = []
    for use in contract.arguments:
        shown = report.shown.get(use.path)
        found.append(
            ArgumentFidelity(
                path=use.path,
                provenance=use.provenance.value,
                evidence=use.evidence,
                effect_shown=shown is not None or (use.path in selectors and use.path not in failed),
                shown=shown.plain() if shown else {},
            )
        )
    return tuple(found)


def unenforced_rules(contract: Contract) -> tuple[str, ...]:
    """Return the rules that the tool's description states and its contract does not enforce, shortened."""
    lines = [" ".join(rule.text.split()) for rule in contract.stated_rules if not rule.enforced]
    return tuple(f"description: {line if len(line) <= LONGEST else line[: LONGEST - 3] + '...'}" for line in lines)


def fidelity_counts(contracts: ContractSet) -> Mapping[str, dict[str, int]]:
    """Return how many arguments, columns and returns are declared, inferred, invented or inert.

    A tool's result counts once, and each of its properties that is a constant of the author once more, as invented.
    ``rules`` counts what the descriptions state beyond the schemas: ``enforced`` and ``unenforced``.
    """
    counts: dict[str, dict[str, int]] = {
        part: {provenance.value: 0 for provenance in Provenance} for part in ("arguments", "columns", "returns")
    }
    for contract in contracts.contracts:
        for use in contract.arguments:
            counts["arguments"][use.provenance.value] += 1
        source = Provenance.DECLARED if contract.returns_declared else Provenance.INFERRED
        counts["returns"][source.value] += 1
        counts["returns"][Provenance.INVENTED.value] += len(contract.invented_returns)
    for table in contracts.schema_.tables:
        for column in table.columns:
            counts["columns"][column.provenance.value] += 1
    shown = {part: {name: n for name, n in found.items() if n} for part, found in counts.items()}
    rules = [rule.enforced for contract in contracts.contracts for rule in contract.stated_rules]
    if rules:
        shown["rules"] = {"enforced": rules.count(True), "unenforced": rules.count(False)}
    return shown
