"""Agreement of interpreter and rendered backend, and determinism: the same calls, the same results and states."""

from collections.abc import Sequence
from typing import Any

from weft.envs.bench import Bench, Observation
from weft.envs.report import ToolReport
from weft.records.draft import Finding, FindingKind

MOST_CALLS = 40


def check_tool(backend: Bench, interpreter: Bench, report: ToolReport) -> None:
    """Note ``agreement`` and ``determinism`` on one tool, over its normal and boundary calls and shown effects."""
    calls: list[Any] = [call.arguments for call in report.normal]
    calls += [call.arguments for call, _ in report.boundary]
    calls += [arguments for shown in report.shown.values() for arguments in (shown.first, shown.second)]
    calls = calls[:MOST_CALLS]
    report.count("agreement", len(calls))
    for arguments in calls:
        ours, theirs = backend.run(report.tool, arguments), interpreter.run(report.tool, arguments)
        difference = compare(ours, theirs)
        if difference:
            message = f"the rendered backend and the contract's interpreter disagree: {difference}"
            report.fail(FindingKind.RUNTIME, "agreement", message, call=_body(arguments))
            break
    repeated = [call.arguments for call in report.normal[:3]]
    report.count("determinism", len(repeated))
    for arguments in repeated:
        difference = compare(backend.run(report.tool, arguments), backend.again(report.tool, arguments))
        if difference:
            message = f"the same call on the same state with the same seed and clock gave something else: {difference}"
            report.fail(FindingKind.RUNTIME, "determinism", message, call=_body(arguments))
            break


def _body(arguments: Any) -> dict[str, Any]:
    return arguments if isinstance(arguments, dict) else {}


def compare(left: Observation, right: Observation) -> str:
    """Return in what two observations differ, in words, or ""."""
    if left.outcome is not right.outcome:
        return f"outcome {left.outcome.value} ({left.code}) and {right.outcome.value} ({right.code})"
    if left.value != right.value:
        return f"results {str(left.value)[:160]} and {str(right.value)[:160]}"
    return "" if left.changes == right.changes else "different rows or files changed"


def check_sequence(backend: Bench, interpreter: Bench, calls: Sequence[tuple[str, Any]]) -> list[Finding]:
    """Return findings of the whole test list, run in order: twice by the backend and once by the interpreter."""
    first, ending = backend.sequence(calls)
    findings: list[Finding] = []
    for check, bench, what in (
        ("determinism", backend, "run twice in new sessions, the test list differs"),
        ("agreement", interpreter, "over the test list, backend and interpreter disagree"),
    ):
        seen, end = bench.sequence(calls)
        for (tool, arguments), ours, theirs in zip(calls, first, seen, strict=True):
            difference = compare(ours, theirs)
            if difference:
                call = {"tool": tool, "arguments": arguments}
                findings.append(
                    Finding(
                        kind=FindingKind.RUNTIME, check=check, tool=tool, message=f"{what}: {difference}", call=call
                    )
                )
                break
        else:
            if end != ending:
                message = f"{what}: rows, files or clock at the end"
                findings.append(Finding(kind=FindingKind.RUNTIME, check=check, message=message))
    return findings
