"""Generating a verifier from the evidence of a reference execution (Weft 3.2.1).

The generator writes down what the reference brought about, not how: one expected change per row change, slots where
an id
was made on the way, a strict frame around it, witnesses for what the reply states, and a rubric that says the same in
words. The checks are then tested on the reference's own evidence from independent runs, and revised where the runs
differ by the clock alone. Where they differ otherwise there is no verifier.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.errors import VerifierError
from weft.records.base import JSON
from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, FileChange, RowChange, Table
from weft.records.verdict import (
    AnswerPart,
    ExpectedCall,
    ExpectedChange,
    ExpectedFile,
    Frame,
    RubricItem,
    ValueMatch,
    Verdict,
    Verifier,
    Witness,
)
from weft.runtime.values import instant, json_equal
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence, scalars
from weft.verify.matching import SLOT, TEXT, differing

ROUNDS = 3
"""Most revisions of a verifier before it is given up."""

_TYPES = {ColumnType.DATETIME: "datetime", ColumnType.DATE: "date"}


@dataclass(frozen=True, slots=True)
class SlotValue:
    """A value that stands for a slot in the reference's evidence.

    Attributes:
        slot: its name, unique in the verifier.
        value: what it was in the reference.
        server: environment of the table whose id it is, or "".
        table: that table, or "" when the value is known by itself.
        upstream: ``node.slot`` that gives it at run time; "" for ids made in the interval.
    """

    slot: str
    value: JSON
    server: str = ""
    table: str = ""
    upstream: str = ""

    @property
    def distinctive(self) -> bool:
        """Whether the value is recognised wherever it stands: an id that nothing else could be."""
        text = self.value
        return isinstance(text, str) and len(text) >= 6 and any(letter.isdigit() for letter in text)


@dataclass(frozen=True, slots=True)
class Claims:
    """What a task demands beside state changes.

    Attributes:
        answer: what the reply states.
        witnesses: what supports it.
        calls: calls that leave no trace, or that show why nothing was to be done.
        rubric: completion conditions in words, for the judge.
    """

    answer: tuple[AnswerPart, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    calls: tuple[ExpectedCall, ...] = ()
    rubric: tuple[RubricItem, ...] = ()


def generated_slots(
    evidence: Evidence,
    schemas: Mapping[str, DatabaseSchema],
    given: frozenset[tuple[str, str]] = frozenset(),
    *,
    others: Sequence[Evidence] = (),
) -> list[SlotValue]:
    """Return a slot for each id that was made in the interval, named after the entity and counted per table.

    With other runs of the same reference from other seeds it is seen which keys are made: those that differ from run to
    run, and those that no argument gave. Without them the schema's word for it is taken.

    Args:
        evidence: of the reference.
        schemas: by environment name.
        given: (server, table) whose keys callers give themselves, where there are no other runs.
        others: the same reference from other initial states.
    """
    slots = []
    counts: dict[str, int] = {}
    told = _arguments(evidence)
    for change in evidence.changes.rows:
        table = schemas[change.server].table(change.table)
        if change.op != "insert":
            continue
        word = table.entity.replace(" ", "_") or table.name
        counts[word] = counts.get(word, 0) + 1
        for name in table.key:
            column = table.column(name)
            if column.references is not None:
                continue
            if others:
                made = _differs(change, name, others) or not _among(change.key[name], told)
            else:
                single = len(table.key) == 1 and column.role is ColumnRole.ID
                made = single and table.id_style != "natural" and (change.server, change.table) not in given
            if made:
                slot = f"{word}_{counts[word]}" + (f"_{name}" if len(table.key) > 1 else "")
                slots.append(SlotValue(slot, change.key[name], change.server, change.table))
    return slots


def _arguments(evidence: Evidence) -> list[JSON]:
    return [value for entry in evidence.ledger for value in scalars(entry.arguments)]


def _among(value: JSON, values: Sequence[JSON]) -> bool:
    return any(json_equal(value, other) or str(value) == str(other) for other in values)


def _differs(change: RowChange, column: str, others: Sequence[Evidence]) -> bool:
    """Return whether some other run inserted no row with this key value in the same table."""
    for run in others:
        keys = [
            other.key.get(column)
            for other in run.changes.rows
            if (other.server, other.table, other.op) == (change.server, change.table, "insert")
        ]
        if not any(json_equal(change.key[column], key) for key in keys):
            return True
    return False


def generate_verifier(
    evidence: Evidence,
    schemas: Mapping[str, DatabaseSchema],
    slots: Sequence[SlotValue],
    claims: Claims,
    *,
    clocked: frozenset[tuple[str, str, str]] = frozenset(),
) -> Verifier:
    """Write the verifier of a reference's evidence.

    Args:
        evidence: of the reference.
        schemas: by environment name.
        slots: ids made in the interval and values taken from upstream.
        claims: what is demanded beside state changes.
        clocked: (server, table, column) whose value comes from the clock.

    Returns:
        Strict checks: whatever the reference did not change must not change.
    """
    writer = _Writer(schemas, slots, clocked)
    changes = [writer.change(change) for change in evidence.changes.rows]
    expected = tuple(change for change in changes if change is not None)
    return Verifier(
        upstream={item.slot: item.upstream for item in slots if item.upstream},
        changes=_numbered(expected),
        files=tuple(writer.file(change) for change in evidence.changes.files),
        frame=Frame(),
        witnesses=claims.witnesses,
        calls=claims.calls,
        answer=claims.answer,
        rubric=claims.rubric or _rubric(expected, claims.answer),
        exports=tuple(item.slot for item in slots if not item.upstream),
    )


def _numbered(changes: tuple[ExpectedChange, ...]) -> tuple[ExpectedChange, ...]:
    """Give every expected change a name of its own."""
    seen: dict[str, int] = {}
    named = []
    for change in changes:
        seen[change.name] = seen.get(change.name, 0) + 1
        count = seen[change.name]
        named.append(change if count == 1 else change.model_copy(update={"name": f"{change.name} {count}"}))
    return tuple(named)


class _Writer:
    """Turns what changed into tests."""

    def __init__(
        self,
        schemas: Mapping[str, DatabaseSchema],
        slots: Sequence[SlotValue],
        clocked: frozenset[tuple[str, str, str]],
    ) -> None:
        self._schemas, self._slots, self._clocked = schemas, slots, clocked

    def change(self, change: RowChange) -> ExpectedChange | None:
        """Return the expected change, or None when only volatile columns differ."""
        table = self._schemas[change.server].table(change.table)
        columns = {column.name: column for column in table.columns}
        runtime = {name for name, column in columns.items() if column.role in (ColumnRole.CREATED, ColumnRole.UPDATED)}
        after: dict[str, ValueMatch] = {}
        if change.op != "delete":
            touched = differing(change, table, frozenset(runtime)).columns
            if change.op == "update" and not touched:
                return None
            after = {name: self._test(change, table, columns[name], (change.after or {})[name]) for name in touched}
        key = {name: self._test(change, table, columns[name], value) for name, value in change.key.items()}
        return ExpectedChange(
            name=f"{change.op} {table.entity or table.name}",
            server=change.server,
            table=change.table,
            op=change.op,
            key=key,
            after=after,
        )

    def _test(self, change: RowChange, table: Table, column: Column, value: JSON) -> ValueMatch:
        clocked = (change.server, table.name, column.name) in self._clocked
        if clocked or (column.role in (ColumnRole.CREATED, ColumnRole.UPDATED) and column.name not in table.key):
            return ValueMatch(kind="any")
        for item in self._slots:
            if json_equal(item.value, value) and (item.distinctive or self._refers(item, change.server, table, column)):
                return ValueMatch(kind="slot", slot=item.slot)
        as_type = _TYPES.get(column.type, "json")
        ignore_case = column.schema_.get("format") == "email"
        return ValueMatch.model_validate(
            {"kind": "equals", "value": self.marked(value), "as_type": as_type, "ignore_case": ignore_case}
        )

    def _refers(self, item: SlotValue, server: str, table: Table, column: Column) -> bool:
        if item.server != server or not item.table:
            return False
        own = table.name == item.table and column.name in table.key
        return own or column.references == item.table

    def marked(self, value: JSON) -> JSON:
        """Return a value in which ids made on the way are replaced by the markers of their slots, at any depth."""
        if isinstance(value, dict):
            return {key: self.marked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.marked(item) for item in value]
        for item in self._slots:
            if item.distinctive and isinstance(value, str) and item.value in value:
                if value == item.value:
                    return {SLOT: item.slot}
                left, _, right = value.partition(str(item.value))
                return {TEXT: _joined([self.marked(left), {SLOT: item.slot}, self.marked(right)])}
        return value

    def file(self, change: FileChange) -> ExpectedFile:
        """Return the expected change of a file."""
        verb = "remove" if change.after is None else "make" if change.before is None else "change"
        after = None if change.after is None else ValueMatch(kind="equals", value=self.marked(change.after))
        return ExpectedFile(name=f"{verb} {change.path}", server=change.server, path=change.path, after=after)


def _joined(pieces: list[JSON]) -> list[JSON]:
    flat: list[JSON] = []
    for piece in pieces:
        flat += piece[TEXT] if isinstance(piece, dict) and TEXT in piece else [piece]
    return [piece for piece in flat if piece != ""]


def _rubric(changes: Sequence[ExpectedChange], answer: Sequence[AnswerPart]) -> tuple[RubricItem, ...]:
    """Say the checks in words."""
    verbs = {"insert": "A new {0} is there", "update": "The {0} is changed", "delete": "The {0} is gone"}
    items = []
    for change in changes:
        words = change.name.split(" ", 1)[-1]
        told = [
            f"{name.replace('_', ' ')} {test.value!r}"
            for name, test in change.after.items()
            if test.kind == "equals" and test.value is not None
        ]
        tail = f": {', '.join(told[:6])}" if told else ""
        items.append(RubricItem(criterion=verbs[change.op].format(words) + tail + "."))
    items += [RubricItem(criterion=_answer_words(part)) for part in answer]
    items.append(RubricItem(criterion="Nothing else was changed, and the reply says what was done or found."))
    return tuple(items)


def _answer_words(part: AnswerPart) -> str:
    if part.kind == "refusal":
        return "The reply says that it was not done, and why."
    return f"The reply states the {part.name.replace('_', ' ')}: {part.value}."


@dataclass(frozen=True, slots=True)
class Generated:
    """A verifier that its reference passes in every run.

    Attributes:
        verifier: the checks.
        verdicts: of each run, in order.
        revisions: columns that were found to come from the clock.
    """

    verifier: Verifier
    verdicts: tuple[Verdict, ...]
    revisions: tuple[tuple[str, str, str], ...]


def generate_tested(
    runs: Sequence[Evidence],
    schemas: Mapping[str, DatabaseSchema],
    slots: Sequence[SlotValue],
    claims: Claims,
) -> Generated:
    """Generate a verifier from the first run, test it on every run, and revise it on what that shows.

    Args:
        runs: evidence of the reference from independent initial states.
        schemas: by environment name.
        slots: as they stand in the first run.
        claims: what is demanded beside state changes.

    Raises:
        VerifierError: the reference does not pass in every run, whatever is revised.
    """
    clocked: frozenset[tuple[str, str, str]] = frozenset()
    verdicts: tuple[Verdict, ...] = ()
    for _ in range(ROUNDS):
        verifier = generate_verifier(runs[0], schemas, slots, claims, clocked=clocked)
        verdicts = tuple(evaluate(verifier, run, schemas) for run in runs)
        if all(verdict.passed for verdict in verdicts):
            return Generated(verifier, verdicts, tuple(sorted(clocked)))
        found = clocked | _clock_columns(runs)
        if found == clocked:
            break
        clocked = found
    failed = [check for verdict in verdicts for check in verdict.checks if not check.passed]
    raise VerifierError(
        f"the reference does not pass its own checks in every run: {failed[0].name}: {failed[0].detail}"[:400]
    )


def _clock_columns(runs: Sequence[Evidence]) -> frozenset[tuple[str, str, str]]:
    """Return columns that hold another instant in another run of the same reference: the clock set them."""
    found = set()
    first = runs[0].changes.rows
    for run in runs[1:]:
        places = [(change.server, change.table, change.op) for change in run.changes.rows]
        if places != [(change.server, change.table, change.op) for change in first]:
            continue
        for change, other in zip(first, run.changes.rows, strict=True):
            for name, value in (change.after or {}).items():
                again = (other.after or {}).get(name)
                if value != again and _moment(value) and _moment(again):
                    found.add((change.server, change.table, name))
    return frozenset(found)


def _moment(value: JSON) -> bool:
    return isinstance(value, str) and instant(value) is not None
