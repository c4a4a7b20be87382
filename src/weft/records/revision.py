"""Attribution of failures and revision of components (Weft 3.2.2)."""

from enum import StrEnum
from typing import Literal

from weft.records.base import Record


class Component(StrEnum):
    """What a failure is attributed to."""

    POLICY = "policy"
    ENVIRONMENT = "environment"
    TASK = "task"
    VERIFIER = "verifier"
    INFRASTRUCTURE = "infrastructure"


class EvidenceItem(Record):
    """One piece of evidence: which probe was run, what it showed, and on which tool, if on one."""

    probe: str
    finding: str
    tool: str = ""


class Attribution(Record):
    """A failure, attributed by evidence.

    Attributes:
        task: task id.
        node: node id or "".
        component: what is to blame.
        subject: the component's name: environment, tool, task or verifier.
        evidence: what supports it.
    """

    task: str
    node: str = ""
    component: Component
    subject: str
    evidence: tuple[EvidenceItem, ...]


class Revision(Record):
    """What became of a broken component that was handed back to its author.

    Attributes:
        component: kind.
        subject: name.
        before: content hash before.
        after: content hash after, or "" when it was retired.
        action: rebuilt, retired or unchanged.
        reason: in words.
        passed: construction checks passed afterwards.
        cause: it was blamed itself (``attributed``), or rests on something that changed (``dependent``).
    """

    component: Component
    subject: str
    before: str
    after: str
    action: Literal["rebuilt", "retired", "unchanged"]
    reason: str
    passed: bool
    cause: Literal["attributed", "dependent"] = "attributed"
