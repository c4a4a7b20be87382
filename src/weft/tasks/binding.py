"""Typed bindings between an upstream task's outputs and a downstream task's inputs (Weft 3.1.2, pure).

A binding is proposed here by semantic type and domain of values; that it holds is shown by running the chain on the
grounded state (:mod:`weft.tasks.grounding`). There are five ways in which a downstream input can take its value:

``flow``
    the input is free (any value of its type will do): the upstream value just flows in;
``made``
    the upstream task of the same server makes the row that the downstream task acts on: its generated id flows;
``named``
    the same, but people know the row by the name that they gave it: the downstream request names it so;
``met``
    the value is already a key in the downstream table, in exactly one row;
``placed``
    grounding writes the upstream's value over the key of the downstream entity, wherever it stands in its server.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from weft.records.base import JSON
from weft.records.state import DatabaseSchema, InitialState
from weft.records.task import AtomicSolution, AtomicTask, TaskInput, TaskOutput, Texts
from weft.runtime.values import json_equal
from weft.tasks.naming import Spoken

Way = Literal["flow", "made", "named", "met", "placed"]

MEANINGLESS = frozenset({"number", "integer", "boolean", "enum", "json", "time", "language", "currency", "timezone"})
"""Types whose values say too little for one to stand for another."""

VAGUE = frozenset({"text", "date", "datetime", "money"})
"""Types that flow into a free input but name no business object: never placed or met across servers."""

TEXTUAL = frozenset({"text", "email", "person", "city", "country", "phone", "address", "company", "url"})
"""Types whose values can be written into free text; ``name:...`` is another."""

CONTENT = frozenset(
    {"body", "comment", "content", "description", "details", "message", "note", "notes", "reason", "subject", "summary"}
    | {"text", "title", "topic", "label", "purpose", "caption", "instructions", "remarks", "memo"}
)
"""Last words of the names of inputs that hold free text."""

STRENGTH: Mapping[str, int] = {"made": 4, "named": 4, "placed": 3, "met": 3, "flow": 2}


@dataclass(frozen=True, slots=True)
class Drawn:
    """An atomic task that was drawn for a composition.

    Attributes:
        task: public document.
        solution: private document.
        outputs: value of each output in a run of the task alone, where it was observed.
        shape: how that run went (:class:`weft.tasks.runs.NodeRun`).
        spoken: how each of these outputs is spoken of.
        choices: between how many values each of its sources had the choice (:func:`weft.tasks.runs.choices`).
    """

    task: AtomicTask
    solution: AtomicSolution
    outputs: Mapping[str, JSON]
    shape: tuple[tuple[str, ...], ...] = ()
    spoken: Mapping[str, Spoken] = field(default_factory=dict)
    choices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A proposed binding. ``source`` and ``target`` are places in the list of drawn tasks.

    Attributes:
        source: upstream task.
        output: its output.
        target: downstream task.
        input: its input.
        way: how the value gets there; when it is ``named``, ``output`` is an input of the upstream task.
        value: of the output in a run of the upstream task alone; another one in each run when ``way`` is ``made``.
    """

    source: int
    output: str
    target: int
    input: str
    way: Way
    value: JSON


@dataclass(frozen=True, slots=True)
class Placement:
    """A key value to be written over another one in one server's state."""

    server: str
    table: str
    column: str
    old: JSON
    new: JSON
    semantic: str


def fits(semantic: str, item: TaskInput) -> bool:
    """Return whether a value of a semantic type can stand for an input."""
    if not item.keyed and item.semantic == "text":
        written = semantic in TEXTUAL or semantic.startswith("name:")
        return written and _holds_text(item.name)
    return semantic == item.semantic and semantic not in MEANINGLESS


def _holds_text(name: str) -> bool:
    """Return whether an input holds free text, going by its name; a job title and a text to be replaced do not."""
    parts = name.casefold().split("_")
    return parts[-1] in CONTENT and not set(parts) & {"job", "old", "find", "search"}


def propose(
    drawn: Sequence[Drawn], states: Mapping[str, InitialState], schemas: Mapping[str, DatabaseSchema]
) -> list[Link]:
    """Return every binding that types and domains allow, in the order of targets and sources."""
    giving: dict[str, list[int]] = {}
    by_server: dict[str, list[int]] = {}
    for index, entry in enumerate(drawn):
        by_server.setdefault(entry.task.server, []).append(index)
        for semantic in dict.fromkeys(one.semantic for one in entry.solution.outputs if one.name in entry.outputs):
            giving.setdefault(semantic, []).append(index)
    found: list[Link] = []
    for target, below in enumerate(drawn):
        for item in below.task.inputs:
            if not _apart(item, below.task) or "birth" in item.name.casefold():
                continue
            sources = {index for semantic in giving if fits(semantic, item) for index in giving[semantic]}
            for source in sorted(sources - {target}):
                found += _between(source, drawn[source], target, below, item, states, schemas)
            for source in by_server[below.task.server] if item.keyed else ():
                name = named_by(drawn[source], below, item)
                if source != target and name is not None and renamed(below, item, name) is not None:
                    found.append(Link(source, name.name, target, item.name, "named", name.value))
    return found


def _apart(item: TaskInput, task: AtomicTask) -> bool:
    """Return whether the texts can speak of an input without touching another one: neither's words hold the other's."""
    said = item.words or str(item.value)
    others = [one.words or str(one.value) for one in task.inputs if one.name != item.name]
    return not any(said in other or other in said for other in others)


def named_by(above: Drawn, below: Drawn, item: TaskInput) -> TaskInput | None:
    """Return the input of an upstream task by which a downstream one could name the row that it makes, or None."""
    table, column = item.keyed.split(".", 1)
    if above.task.server != below.task.server or _shared(below, item, table):
        return None
    for change in above.solution.verifier.changes:
        test = change.after.get(column)
        if change.op == "insert" and change.table == table and test is not None and test.kind == "equals":
            return next((one for one in above.task.inputs if not one.keyed and json_equal(one.value, test.value)), None)
    return None


def _shared(below: Drawn, item: TaskInput, table: str) -> bool:
    """Return whether another input of a task speaks of the same table; both must then stay with one row."""
    return any(one.keyed.startswith(f"{table}.") and one.name != item.name for one in below.task.inputs)


def _between(
    source: int,
    above: Drawn,
    target: int,
    below: Drawn,
    item: TaskInput,
    states: Mapping[str, InitialState],
    schemas: Mapping[str, DatabaseSchema],
) -> Iterator[Link]:
    known = [entry.value for entry in above.task.inputs]
    for output in above.solution.outputs:
        if output.name not in above.outputs or not fits(output.semantic, item) or "birth" in output.name.casefold():
            continue
        value = above.outputs[output.name]
        if type(value) is not type(item.value) or any(json_equal(value, one) for one in known):
            continue
        if not _scalar(value) or (not item.keyed and not _telling(value)):
            continue
        way = _way(output, value, above.task.server, below, item, states, schemas)
        if way is not None:
            yield Link(source, output.name, target, item.name, way, value)


def _way(
    output: TaskOutput,
    value: JSON,
    server: str,
    below: Drawn,
    item: TaskInput,
    states: Mapping[str, InitialState],
    schemas: Mapping[str, DatabaseSchema],
) -> Way | None:
    same = server == below.task.server
    local = output.semantic.startswith("id:")
    if local and not same:
        return None
    if not item.keyed:
        return None if local or output.generated else "flow"
    table, column = item.keyed.split(".", 1)
    rows = states[below.task.server].rows.get(table, [])
    # Another row than the one the task was written for must not contradict what else its texts say of that row.
    alone = not _shared(below, item, table)
    if output.generated:
        return "made" if local and alone else None
    found = sum(json_equal(row.get(column), value) for row in rows)
    if found == 1 and (same or item.semantic not in VAGUE):
        return "met" if alone or json_equal(item.value, value) else None
    if (
        found
        or same
        or item.semantic in VAGUE
        or not isinstance(value, str)
        or not _writable(schemas[below.task.server], table, column)
    ):
        return None
    return "placed" if sum(json_equal(row.get(column), item.value) for row in rows) == 1 else None


def _writable(schema: DatabaseSchema, table: str, column: str) -> bool:
    found = next(
        (item for entry in schema.tables if entry.name == table for item in entry.columns if item.name == column), None
    )
    return found is not None and not found.enum and found.references is None


def _scalar(value: JSON) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != ""


def _telling(value: JSON) -> bool:
    """Return whether a value is so special that it will not stand in other texts by chance."""
    if isinstance(value, str):
        return len(value) >= 5 and (not value.isalpha() or not value.islower())
    return isinstance(value, (int, float)) and (abs(value) >= 1000 or value != int(value))


def choose(drawn: Sequence[Drawn], possible: Sequence[Link], rng: random.Random, *, share: float = 0.6) -> list[Link]:
    """Choose bindings that do not conflict.

    First those that join servers which nothing joins yet, then the strongest of the rest, until ``share`` of the nodes
    has one. An input is bound once, the chosen bindings are acyclic, no entity is placed twice under different values,
    and no value that is to be found is stated by another task. Dates, amounts and texts that flow into a free input are
    kept rare: any other would do there.

    Args:
        drawn: the tasks.
        possible: from :func:`propose`.
        rng: breaks ties.
        share: most nodes with a bound input, as a share.
    """
    chosen = _Chosen(drawn)
    weight = {index: rng.random() for index in range(len(possible))}
    order = sorted(
        range(len(possible)),
        key=lambda index: (
            drawn[possible[index].source].task.server == drawn[possible[index].target].task.server,
            -STRENGTH[possible[index].way],
            possible[index].way == "flow" and _semantic(drawn, possible[index]) in VAGUE,
            weight[index],
        ),
    )
    vaguely = 0
    for joining in (True, False):
        for index in order:
            link = possible[index]
            if joining and not chosen.joins(link):
                continue
            if not joining and len(chosen.targets) >= share * len(drawn) and link.target not in chosen.targets:
                continue
            vague = link.way == "flow" and _semantic(drawn, link) in VAGUE
            if vague and not joining and vaguely >= len(drawn) // 6:
                continue
            vaguely += chosen.take(link) and vague
    return sorted(chosen.links, key=lambda link: (link.target, link.input))


def _semantic(drawn: Sequence[Drawn], link: Link) -> str:
    return next(item.semantic for item in drawn[link.target].task.inputs if item.name == link.input)


class _Chosen:
    """Bindings chosen so far, and what they rule out."""

    MOST_IN, MOST_OUT = 2, 3

    def __init__(self, drawn: Sequence[Drawn]) -> None:
        self.drawn = drawn
        self.links: list[Link] = []
        self.targets: set[int] = set()
        self._group = {item.task.server: item.task.server for item in drawn}
        self._below: dict[int, set[int]] = {index: set() for index in range(len(drawn))}
        self._placed: list[Placement] = []

    def joins(self, link: Link) -> bool:
        """Return whether a binding joins two groups of servers."""
        return self._of(link.source) != self._of(link.target)

    def _of(self, index: int) -> str:
        return self._group[self.drawn[index].task.server]

    def take(self, link: Link) -> bool:
        """Take a binding if nothing speaks against it."""
        if not self._free(link):
            return False
        self.links.append(link)
        self.targets.add(link.target)
        self._below[link.source].add(link.target)
        placement = placement_of(self.drawn, link)
        if placement is not None:
            self._placed.append(placement)
        old, new = self._of(link.target), self._of(link.source)
        self._group = {server: new if group == old else group for server, group in self._group.items()}
        return True

    def _free(self, link: Link) -> bool:
        if any((one.target, one.input) == (link.target, link.input) for one in self.links):
            return False
        if sum(one.target == link.target for one in self.links) >= self.MOST_IN:
            return False
        if sum(one.source == link.source for one in self.links) >= self.MOST_OUT:
            return False
        if any((one.source, one.output, one.target) == (link.source, link.output, link.target) for one in self.links):
            return False
        return not self._reaches(link.target, link.source) and self._unsaid(link) and self._placeable(link)

    def _reaches(self, start: int, goal: int) -> bool:
        frontier, seen = [start], {start}
        while frontier:
            here = frontier.pop()
            if here == goal:
                return True
            frontier += [index for index in sorted(self._below[here]) if index not in seen]
            seen |= self._below[here]
        return False

    def _unsaid(self, link: Link) -> bool:
        """No task states the value in an input that stays given."""
        if link.way in ("made", "named"):
            return True
        bound = {(one.target, one.input) for one in (*self.links, link)}
        return not any(
            json_equal(item.value, link.value) and (index, item.name) not in bound
            for index, entry in enumerate(self.drawn)
            for item in entry.task.inputs
        )

    def _placeable(self, link: Link) -> bool:
        made = placement_of(self.drawn, link)
        sources = {json_equal(one.value, placed.old) for one in (*self.links, link) for placed in self._placed}
        if made is None:
            return True not in sources
        for index, entry in enumerate(self.drawn):
            for item in entry.task.inputs:
                stated = entry.task.server == made.server and json_equal(item.value, made.old)
                if stated and (index, item.name) != (link.target, link.input):
                    return False
        if any(json_equal(one.value, made.old) for one in self.links):
            return False
        return not any(
            placed.server == made.server and (json_equal(placed.new, made.new) or json_equal(placed.old, made.old))
            for placed in self._placed
        )


def placement_of(drawn: Sequence[Drawn], link: Link) -> Placement | None:
    """Return what grounding must write for a binding; None when it need not write anything."""
    if link.way != "placed":
        return None
    entry = drawn[link.target]
    item = next(one for one in entry.task.inputs if one.name == link.input)
    table, column = item.keyed.split(".", 1)
    return Placement(entry.task.server, table, column, item.value, link.value, item.semantic)


def renamed(below: Drawn, item: TaskInput, name: TaskInput) -> Drawn | None:
    """Return a downstream task that names a row as the upstream task did, or None if its texts do not name one."""
    old, new = item.words or str(item.value), name.words or str(name.value)
    texts = {level: getattr(below.task.texts, level) for level in ("vague", "partial", "full")}
    if not all(old in text for text in texts.values()):
        return None
    inputs = tuple(
        one.model_copy(update={"value": name.value, "words": new}) if one.name == item.name else one
        for one in below.task.inputs
    )
    task = below.task.model_copy(
        update={
            "inputs": inputs,
            "intent": below.task.intent.replace(old, new),
            "texts": Texts(**{level: text.replace(old, new) for level, text in texts.items()}),
        }
    )
    return replace(below, task=task)
