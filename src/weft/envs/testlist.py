"""``tests.json``: the calls that define an environment's behaviour, in an order in which all of them hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.envs.bench import Bench, Observation
from weft.envs.report import ToolReport
from weft.envs.soundness import touched
from weft.records.contract import Contract, ContractSet
from weft.records.environment import TestCall

NORMAL_PER_CASE = 2
NORMAL_PER_TOOL = 6
BOUNDARY_PER_TOOL = 4
PASSES = 3
LAST = frozenset({"delete", "remove", "purge", "clear", "unlink", "archive", "move"})


def tests_of(bench: Bench, contracts: ContractSet, reports: Mapping[str, ToolReport]) -> tuple[TestCall, ...]:
    """Return the test calls, run in order in one session: reads, refused calls, writes, and deletions last.

    A call that gives in that order something else than alone on the initial state (its row is gone by then) is left
    out; what is left out is a matter of order and was proven alone.
    """
    groups: tuple[list[TestCall], ...] = ([], [], [], [])
    for contract in contracts.contracts:
        report = reports[contract.tool]
        for test, place in _normal(contract, report):
            groups[0 if contract.effect == "read" else 3 if contract.cases[place].intent in LAST else 2].append(test)
        groups[1].extend(_boundary(report))
    tests = [test for group in groups for test in group]
    for _ in range(PASSES):
        seen, _ending = bench.sequence([(test.tool, test.arguments) for test in tests])
        kept = [test for test, observed in zip(tests, seen, strict=True) if holds(test, observed)]
        if len(kept) == len(tests):
            break
        tests = kept
    else:
        seen, _ending = bench.sequence([(test.tool, test.arguments) for test in tests])
        tests = [test for test, observed in zip(tests, seen, strict=True) if holds(test, observed)]
    return tuple(tests)


def holds(test: TestCall, seen: Observation) -> bool:
    """True if a call gave what its test expects: outcome, error code and the tables changed."""
    if test.outcome == "ok":
        return seen.ok and tuple(touched(seen.changes)) == test.changes
    return not seen.ok and seen.code == test.code and seen.changes.empty


def _normal(contract: Contract, report: ToolReport) -> list[tuple[TestCall, int]]:
    found: list[tuple[TestCall, int]] = []
    per_case: dict[int, int] = {}
    # Of a tool that writes, calls that change something say more than those that leave all as it is.
    for call in sorted(report.normal, key=lambda call: contract.effect == "write" and call.seen.changes.empty):
        if per_case.get(call.case, 0) >= NORMAL_PER_CASE or len(found) >= max(NORMAL_PER_TOOL, len(contract.cases)):
            continue
        per_case[call.case] = per_case.get(call.case, 0) + 1
        intent = contract.cases[call.case].intent
        name = f"{report.tool}: {intent} with {_named(call.arguments)}"
        test = TestCall(
            name=name,
            kind="normal",
            tool=report.tool,
            arguments=call.arguments,
            outcome="ok",
            changes=tuple(touched(call.seen.changes)),
        )
        found.append((test, call.case))
    return found


def _named(arguments: Mapping[str, Any]) -> str:
    names: Sequence[str] = list(arguments)
    return ", ".join(names) if names else "no arguments"


def _boundary(report: ToolReport) -> list[TestCall]:
    found: list[TestCall] = []
    for call, seen in report.boundary:
        if call.code and seen.code == call.code and len(found) < BOUNDARY_PER_TOOL:
            found.append(
                TestCall(
                    name=f"{report.tool}: {call.name}",
                    kind="boundary",
                    tool=report.tool,
                    arguments=call.arguments,
                    outcome="error",
                    code=call.code,
                )
            )
    return found
