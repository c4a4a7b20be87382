"""Putting a draft together: what every kind of task has in common."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.agents.rules.tasks.actions import Action
from weft.agents.rules.tasks.finding import Finder, Found
from weft.agents.rules.tasks.frames import DONE, compose_texts
from weft.agents.rules.tasks.fresh import Fresh
from weft.agents.rules.tasks.probing import Probe, Rehearsal, aligned, shown_fields
from weft.agents.rules.tasks.words import meaning
from weft.records.base import JSON
from weft.records.library import AtomicDraft, RefusalEvidence
from weft.records.state import Column, ColumnRole, DatabaseSchema, Row, Table
from weft.records.task import FromInput, FromStep, ReferenceStep, ReplyPart, Source, TaskInput, TaskOutput

MOST_OUTPUTS = 6


@dataclass(slots=True)
class Workshop:
    """What builders of drafts work with.

    Attributes:
        probe: to look before proposing.
        finder: ways to rows.
        fresh: new values.
        actions: every case of every tool.
        wanted: chain steps that no retained task covers.
        rng: of every choice.
    """

    probe: Probe
    finder: Finder
    fresh: Fresh
    actions: Sequence[Action]
    wanted: Sequence[str]
    rng: random.Random

    @property
    def server(self) -> str:
        """The environment's name."""
        return self.probe.environment.name

    @property
    def schema(self) -> DatabaseSchema:
        """The environment's schema."""
        return self.probe.environment.contracts.schema_

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table in an order of this draft's own."""
        rows = list(self.probe.rows.get(table, ()))
        self.rng.shuffle(rows)
        return rows


@dataclass(slots=True)
class Sketch:
    """A draft in the making."""

    kind: str
    steps: list[ReferenceStep] = field(default_factory=list)
    chain: list[str] = field(default_factory=list)
    inputs: list[TaskInput] = field(default_factory=list)
    outputs: list[TaskOutput] = field(default_factory=list)
    reply: list[ReplyPart] = field(default_factory=list)
    reply_text: str = ""
    rivals: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    completion: list[str] = field(default_factory=list)
    refusal: RefusalEvidence | None = None

    def take(self, found: Found) -> None:
        """Take over the steps and inputs of a way to a row; what is there already is not repeated."""
        known = {step.id for step in self.steps}
        for step, name in zip(found.steps, found.chain, strict=True):
            if step.id not in known:
                self.steps.append(step)
                self.chain.append(name)
        for item in found.inputs:
            self.tell(item)

    def tell(self, item: TaskInput) -> str:
        """Add an input and return its name; a name that stands for something else gets a number."""
        name, number = item.name, 2
        while any(other.name == name and other.value != item.value for other in self.inputs):
            name, number = f"{item.name}_{number}", number + 1
        if not any(other.name == name for other in self.inputs):
            self.inputs.append(item.model_copy(update={"name": name}))
        return name

    def values(self) -> dict[str, JSON]:
        """Return the inputs by name."""
        return {item.name: item.value for item in self.inputs}


def looked_up_first(founds: Sequence[Found]) -> tuple[str, ...]:
    """Return the "how" of full disclosure: what to look up first."""
    return tuple(dict.fromkeys(found.phrase for found in founds if found.steps))[:2]


def observed_outputs(found: Found) -> list[TaskOutput]:
    """Return outputs for what a found row shows: its key and whatever another task might use."""
    outputs = []
    for column in found.table.columns:
        source = found.source(column.name) if found.steps else None
        if (
            source is None
            or found.row.get(column.name) is None
            or column.role in (ColumnRole.CREATED, ColumnRole.UPDATED)
        ):
            continue
        if isinstance(found.row[column.name], (dict, list)):
            continue
        outputs.append(TaskOutput(name=column.name, source=source, semantic=meaning(column, found.table).semantic))
    return outputs[: MOST_OUTPUTS + 4]


def made_outputs(table: Table, step: str, tried: Rehearsal) -> list[TaskOutput]:
    """Return outputs for a row that a call made and shows: first of all its new id."""
    inserted = [
        change.after
        for changes in tried.changes
        for change in changes.rows
        if change.table == table.name and change.op == "insert" and change.after is not None
    ]
    if len(inserted) != 1:
        return []
    fields = shown_fields(aligned(tried.results[step], inserted, table), table)
    outputs = []
    for name, shown in fields.items():
        column = table.column(name)
        value = inserted[0].get(name)
        if value is None or isinstance(value, (dict, list)) or column.role in (ColumnRole.CREATED, ColumnRole.UPDATED):
            continue
        source = FromStep(kind="step", step=step, field=shown)
        generated = name in table.key
        outputs.append(
            TaskOutput(name=name, source=source, semantic=meaning(column, table).semantic, generated=generated)
        )
    return outputs[:MOST_OUTPUTS]


def rivals_of(shop: Workshop, table: Table, column: Column, right: Sequence[JSON]) -> tuple[JSON, ...]:
    """Return other values of a column in the state."""
    kept: dict[str, JSON] = {}
    wrong = {repr(value) for value in right}
    for row in shop.probe.rows.get(table.name, ()):
        value = row.get(column.name)
        if value is not None and not isinstance(value, (dict, list, bool)) and repr(value) not in wrong:
            kept.setdefault(repr(value), value)
    return tuple(kept.values())[:12]


def finish(
    shop: Workshop, sketch: Sketch, frames: str, slots: Mapping[str, str], *, founds: Sequence[Found] = ()
) -> AtomicDraft | None:
    """Return the draft of a sketch, or None when it is too long to be atomic."""
    if not 1 <= len(sketch.steps) <= 6:
        return None
    texts, intent = compose_texts(frames, slots, shop.rng, looked=looked_up_first(founds))
    return AtomicDraft(
        kind=sketch.kind,
        intent=intent,
        inputs=tuple(sketch.inputs),
        texts=texts,
        chain=tuple(sketch.chain),
        reference=tuple(sketch.steps),
        reply=tuple(sketch.reply),
        reply_text=sketch.reply_text or shop.rng.choice(DONE),
        completion=tuple(sketch.completion) or (intent,),
        outputs=_distinct(sketch.outputs),
        rivals=sketch.rivals,
        refusal=sketch.refusal,
    )


def _distinct(outputs: Sequence[TaskOutput]) -> tuple[TaskOutput, ...]:
    named: dict[str, TaskOutput] = {}
    for item in outputs:
        named.setdefault(item.name, item)
    return tuple(named.values())


def told_value(parameter_name: str, value: JSON, words: str, semantic: str) -> TaskInput:
    """Return an input for a value that any task may be given: nothing has to exist for it."""
    return TaskInput(name=parameter_name, value=value, words=words, semantic=semantic)


def input_source(name: str) -> Source:
    """Return the source of an input."""
    return FromInput(kind="input", name=name)
