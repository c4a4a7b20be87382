"""Revision: what validation's findings change in the next draft.

A finding takes the next reading of its argument or tool from the ladder; a tool whose readings are used up, or for
whose finding there is no ladder, is refused. Every round shortens a list, so revision ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.agents.rules.environment.ladder import LADDER_CHECKS, ladder_key
from weft.agents.rules.environment.refused import Refused
from weft.records.draft import EnvironmentDraft, Finding
from weft.records.spec import Refusal, RefusalCode

_KEPT = (RefusalCode.VALIDATION_FAILED, RefusalCode.NO_EFFECT)


@dataclass
class Overrides:
    """What earlier rounds decided.

    Attributes:
        refused: tools that validation ruled out, in the order in which it did.
        readings: rungs of the ladder that were taken, by :func:`ladder_key`.
    """

    refused: dict[str, Refusal] = field(default_factory=dict)
    readings: dict[str, int] = field(default_factory=dict)

    def refusal(self, tool: str) -> Refused | None:
        """The refusal of a tool that validation ruled out."""
        found = self.refused.get(tool)
        if found is None:
            return None
        return Refused(found.code, found.message, found.remedy, path=found.path, value=found.value)


def overrides_of(draft: EnvironmentDraft) -> Overrides:
    """What earlier rounds decided, read back from the draft."""
    found = Overrides(readings=dict(draft.readings))
    for refusal in draft.refused:
        if refusal.code in _KEPT:
            found.refused[refusal.subject.split("/", 1)[1]] = refusal
    return found


def revised(
    overrides: Overrides, draft: EnvironmentDraft, findings: Sequence[Finding], rungs: Mapping[str, int]
) -> Overrides:
    """The next overrides: each finding takes the next reading, or refuses its tool, quoting what was found.

    Args:
        overrides: of the draft; changed.
        draft: what was validated.
        findings: what failed.
        rungs: how many other readings there are, by :func:`ladder_key`.
    """
    served = {contract.tool for contract in draft.contracts.contracts}
    moved: set[str] = set()
    for finding in findings:
        if finding.tool in served and finding.tool not in overrides.refused:
            key = ladder_key(finding.tool, finding.check, finding.argument)
            taken = overrides.readings.get(key, 0)
            if finding.check in LADDER_CHECKS and taken < rungs.get(key, 0):
                overrides.readings[key] = taken + 1
                moved.add(finding.tool)
                continue
            if finding.check in ("normal_call", "write_visible") and finding.tool in moved:
                continue
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
