"""What validation found out about a tool and an environment: calls, what they gave, and the failed checks."""

from dataclasses import dataclass, field, replace
from typing import Any

from weft.envs.bench import Observation
from weft.envs.boundary import BoundaryCall
from weft.envs.effects import Shown
from weft.records.certificate import CheckRecord
from weft.records.draft import Finding, FindingKind
from weft.records.state import Row


@dataclass(frozen=True)
class NormalCall:
    """A normal call that was run.

    Attributes:
        case: position of the contract's case that it runs.
        arguments: of the call.
        target: the row that it aims at, if any.
        seen: what it gave.
    """

    case: int
    arguments: dict[str, Any]
    target: Row | None
    seen: Observation


@dataclass
class ToolReport:
    """Everything that validation knows of one tool.

    Attributes:
        tool: declared name.
        findings: the failed checks.
        cases: number of cases examined per check, also of the passed ones.
        normal: successful normal calls.
        boundary: boundary calls and what they gave.
        shown: argument path -> pair of calls that shows its effect.
        passed: test calls that gave what they must.
        tried: test calls.
    """

    tool: str
    findings: list[Finding] = field(default_factory=list)
    cases: dict[str, int] = field(default_factory=dict)
    normal: list[NormalCall] = field(default_factory=list)
    boundary: list[tuple[BoundaryCall, Observation]] = field(default_factory=list)
    shown: dict[str, Shown] = field(default_factory=dict)
    passed: int = 0
    tried: int = 0

    def count(self, check: str, cases: int = 1) -> None:
        """Note that a check examined so many cases more."""
        self.cases[check] = self.cases.get(check, 0) + cases

    def fail(
        self, kind: FindingKind, check: str, message: str, *, argument: str = "", call: dict[str, Any] | None = None
    ) -> None:
        """Note a failed check."""
        self.cases.setdefault(check, 1)
        body = {"tool": self.tool, "arguments": call} if call is not None else {}
        self.findings.append(
            Finding(kind=kind, check=check, tool=self.tool, argument=argument, message=message[:600], call=body)
        )

    def copy(self) -> "ToolReport":
        """Return a report to which further findings can be added."""
        return replace(self, findings=list(self.findings), cases=dict(self.cases))

    @property
    def accuracy(self) -> float:
        """Share of the test calls that gave what they must (Agent-World's Acc); 0 without a test call."""
        return self.passed / self.tried if self.tried else 0.0

    def checks(self) -> tuple[CheckRecord, ...]:
        """Return a record of every check, in the order in which they were first made."""
        records = []
        for name, cases in self.cases.items():
            failed = [finding.message for finding in self.findings if finding.check == name]
            records.append(CheckRecord(name=name, passed=not failed, cases=cases, detail=failed[0] if failed else ""))
        return tuple(records)
