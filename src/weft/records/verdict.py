"""The verifier algebra (DESIGN section 5; Weft 3.2.1): expected changes, frames, witnesses, answers, and verdicts.

A verifier is data. It is evaluated over evidence: the composed changes of an interval, the ledger of that interval and
the final reply. It never sees how the policy got there, only what came of it.
"""

from typing import Any, Literal

from pydantic import Field

from weft.records.base import Record


class ValueMatch(Record):
    """A test of one value. Exactly one of the kinds holds.

    Kinds: ``equals`` (typed JSON equality: 25 == 25.0, instants in any spelling when ``as_type`` says datetime, case
    ignored with ``ignore_case``), ``slot`` (equals the slot's value if it is bound, else binds it: generated ids match
    one to one and not by value), ``any`` (no constraint: clock columns), ``contains`` (free text that must hold every
    listed fragment, case ignored).
    """

    kind: Literal["equals", "slot", "any", "contains"]
    value: Any = None
    slot: str = ""
    as_type: Literal["json", "datetime", "date", "text"] = "json"
    ignore_case: bool = False
    fragments: tuple[str, ...] = ()


class ExpectedChange(Record):
    """A row change that must be in the interval, once.

    Attributes:
        name: of the check, e.g. ``insert orders``.
        server: environment.
        table: table.
        op: insert, update or delete.
        key: tests on the primary key (a slot for a generated id).
        after: for an insert, tests on every column but the key; for an update, tests on the columns that may and must
            differ (the others must not change); empty for a delete.
    """

    name: str
    server: str
    table: str
    op: Literal["insert", "update", "delete"]
    key: dict[str, ValueMatch]
    after: dict[str, ValueMatch] = Field(default_factory=dict)


class ExpectedFile(Record):
    """A workspace change that must be in the interval; ``after`` None means that the file must be gone."""

    name: str
    server: str
    path: str
    after: ValueMatch | None = None


class Frame(Record):
    """What may change besides the expected changes: nothing, except the listed columns and paths.

    Attributes:
        volatile: ``server.table.column`` set by the runtime itself (created, updated).
        allowed_tables: ``server.table`` whose changes are free (logs).
        allowed_paths: ``server:prefix`` of workspace paths that are free.
    """

    volatile: tuple[str, ...] = ()
    allowed_tables: tuple[str, ...] = ()
    allowed_paths: tuple[str, ...] = ()


class Witness(Record):
    """Returns that must stand in the ledger for an answer or a read to count as supported.

    ``alternatives``: any one suffices. Each is a list of row fragments ``{field: value}``; each fragment must be
        covered by
    one object (at any depth) of a successful return of ``server`` in the interval or before it in the episode.
    """

    name: str
    server: str
    alternatives: tuple[tuple[dict[str, Any], ...], ...]


class ExpectedCall(Record):
    """A call that must be in the ledger with outcome OK, for outcomes that leave no trace in the state.

    With ``error_codes`` it is evidence for a refusal: a call that ended with one of these codes counts too, and the
    call may stand earlier in the episode.
    """

    name: str
    server: str
    tools: tuple[str, ...]
    arguments: dict[str, ValueMatch] = Field(default_factory=dict)
    error_codes: tuple[str, ...] = ()


class AnswerPart(Record):
    """A value that the final reply must state.

    Attributes:
        name: of the part.
        value: the right value.
        kind: how it is looked for: ``number`` (as a number token, 1,234.50 = 1234.5), ``text`` (case and white space
            ignored, on word boundaries), ``date`` (ISO or with the month's name), ``boolean`` (yes/no words),
            ``refusal`` (says that it was not done; ``value`` holds accepted reason words).
        rivals: wrong values of the same kind that the reply must not state instead (e.g. those of other rows).
    """

    name: str
    value: Any
    kind: Literal["number", "text", "date", "boolean", "refusal"]
    rivals: tuple[Any, ...] = ()


class RubricItem(Record):
    """One criterion for the judge, with its points."""

    criterion: str
    points: int = 1


class Verifier(Record):
    """Deterministic checks of one node or task, and the rubric for the judge. Private.

    Attributes:
        slots: values bound beforehand (from the initial state or, at run time, from upstream nodes).
        upstream: slot -> ``node.slot`` whose run-time value it takes.
        exports: slots that downstream nodes may use.
        reply_required: a reply must be there (always true for the built-in tasks).
    """

    version: Literal[1] = 1
    slots: dict[str, Any] = Field(default_factory=dict)
    upstream: dict[str, str] = Field(default_factory=dict)
    changes: tuple[ExpectedChange, ...] = ()
    files: tuple[ExpectedFile, ...] = ()
    frame: Frame = Frame()
    witnesses: tuple[Witness, ...] = ()
    calls: tuple[ExpectedCall, ...] = ()
    answer: tuple[AnswerPart, ...] = ()
    rubric: tuple[RubricItem, ...] = ()
    exports: tuple[str, ...] = ()
    reply_required: bool = True


class CheckResult(Record):
    """Outcome of one check; ``detail`` says what was found instead."""

    name: str
    passed: bool
    detail: str = ""


class Verdict(Record):
    """Outcome of a verifier.

    Attributes:
        passed: every check passed.
        checks: in order.
        slots: slot values after matching (for downstream nodes).
    """

    passed: bool
    checks: tuple[CheckResult, ...]
    slots: dict[str, Any] = Field(default_factory=dict)
