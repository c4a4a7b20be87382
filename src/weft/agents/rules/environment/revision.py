"""Revision: what validation's findings change in the next draft. Every round shortens a fixed list of readings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.agents.rules.environment.refused import Refused
from weft.records.draft import EnvironmentDraft, Finding
from weft.records.spec import Refusal, RefusalCode

_KEPT = (RefusalCode.VALIDATION_FAILED, RefusalCode.NO_EFFECT)


@dataclass
class Overrides:
    """Tools that validation refused, in the order in which it did."""

    refused: dict[str, Refusal] = field(default_factory=dict)

    def refusal(self, tool: str) -> Refused | None:
        """The refusal of a tool that validation ruled out."""
        found = self.refused.get(tool)
        if found is None:
            return None
        return Refused(found.code, found.message, found.remedy, path=found.path, value=found.value)


def overrides_of(draft: EnvironmentDraft) -> Overrides:
    """What earlier rounds decided, read back from the draft."""
    found = Overrides()
    for refusal in draft.refused:
        if refusal.code in _KEPT:
            found.refused[refusal.subject.split("/", 1)[1]] = refusal
    return found


def revised(overrides: Overrides, draft: EnvironmentDraft, findings: Sequence[Finding]) -> Overrides:
    """The next overrides: each finding refuses its tool, quoting what was found."""
    served = {contract.tool for contract in draft.contracts.contracts}
    for finding in findings:
        if finding.tool in served and finding.tool not in overrides.refused:
            code = RefusalCode.NO_EFFECT if finding.check == "argument_effect" else RefusalCode.VALIDATION_FAILED
            where = f" ({finding.argument})" if finding.argument else ""
            overrides.refused[finding.tool] = Refusal(
                code=code,
                subject=f"x/{finding.tool}",
                message=f"{finding.check}{where}: {finding.message}"[:1000],
                remedy="declare more of the tool's meaning, or bind the real server",
                value=finding.argument,
            )
    return overrides
