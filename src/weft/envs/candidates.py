"""Values that one argument could take: from the rows, the schema and its role in the contract; most telling first."""

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

from weft.agents.rules.seeds.argument_paths import ELEMENT
from weft.agents.rules.seeds.facts import RowFacts, entity_words, parse_clock, words_of
from weft.agents.rules.seeds.references import as_schema, flatten
from weft.agents.rules.seeds.values import Unsatisfiable, ValueSchema
from weft.envs.arguments import Argument, known_words, places_of
from weft.envs.rowlinks import RowLinks
from weft.records.codec import canonical
from weft.records.contract import Case
from weft.records.expression import ReadFiles
from weft.records.state import ColumnType, InitialState, Row

MOST_VALUES = 8
NUMERIC = frozenset({ColumnType.INTEGER, ColumnType.NUMBER})
CREATING = frozenset({"create", "add", "insert", "upsert", "copy", "import", "clone", "duplicate", "register", "send"})
"""Intents whose attributes describe a new row."""

FIXED: dict[str, tuple[Any, ...]] = {
    "limit": (1, 2, 3, 50),
    "offset": (1, 2, 0, 4),
    "page": (2, 1, 3, 0),
    "direction": ("desc", "asc", "descending", "ascending", "DESC", "ASC", True, False, -1, 1),
    "expand": (True, False),
    "option": (True, False),
}  # fmt: skip
"""Values tried by role, before those of the schema."""


class Candidates:
    """Makes values for the arguments of one environment's tools.

    Args:
        links: the initial rows.
        initial: rows, files and clock.
        rng: of draws; one per tool keeps tools independent.
    """

    def __init__(self, links: RowLinks, initial: InitialState, rng: random.Random) -> None:
        self.links, self.initial, self.rng = links, initial, rng
        self._now = parse_clock(initial.clock)
        self._words: dict[int, dict[tuple[str | int, ...], list[str]]] = {}
        self._places: dict[int, dict[tuple[str | int, ...], list[tuple[str, str]]]] = {}
        self._common: dict[str, list[str]] = {}

    def facts(self, index: int, case: Case) -> RowFacts:
        """Return invented facts for values that no row has."""
        table = self.links.tables.get(case.table)
        words = entity_words(table.entity if table else case.table or "item", "", ())
        return RowFacts(index, words, self.rng, self._now, 60, 17)

    def values(self, argument: Argument, case: Case, target: Row | None) -> list[Any]:
        """Return up to ``MOST_VALUES`` distinct values that fit the argument's schema.

        Args:
            argument: the argument.
            case: what the call runs.
            target: the row that the call aims at, if any.
        """
        fitting = (self.fit(argument, value) for value in self._raw(argument, case, target))
        return distinct((value for found, value in fitting if found), MOST_VALUES)

    def fit(self, argument: Argument, value: Any) -> tuple[bool, Any]:
        """Return whether the value, or a form of it, fits the schema, and that form."""
        schema = argument.schema
        for form in forms_of(value, schema):
            if schema.valid(form):
                return True, form
        return False, None

    def drawn(self, argument: Argument, case: Case, index: int) -> tuple[bool, Any]:
        """Return whether a value could be drawn from the schema, and the value; a number where its column wants one."""
        table = self.links.tables.get(argument.use.table)
        column = next((c for c in table.columns if c.name == argument.use.column), None) if table else None
        if column is not None and column.type in NUMERIC and "string" in argument.schema.types:
            return self.fit(argument, str(9000 + index))
        name = next((step for step in reversed(argument.steps) if step != "[]"), argument.path)
        try:
            return True, argument.schema.draw(self.rng, name, self.facts(index, case))
        except Unsatisfiable:
            return False, None

    def unlike_rows(self, argument: Argument, value: Any) -> Any:
        """Return a value for a new row: a numbered form of it where a key or a unique column has it already."""
        table = self.links.tables.get(argument.use.table)
        column = next((c for c in table.columns if c.name == argument.use.column), None) if table else None
        if table is None or column is None or not isinstance(value, str):
            return value
        if not (column.unique or column.name in table.key):
            return value
        taken = {row.get(column.name) for row in self.links.of(table.name)}
        forms = (f"{value}{mark}{number}" for number in range(2, 9) for mark in ("-", " ", "_", ""))
        letters = (f"{value}-{letter}" for letter in "abcdef")
        options = (form for form in (*forms, *letters) if argument.schema.valid(form))
        return next((form for form in options if form not in taken), value) if value in taken else value

    def _raw(self, argument: Argument, case: Case, target: Row | None) -> Iterable[Any]:
        role = argument.use.role
        yield from FIXED.get(role, ()) if not argument.schema.enum else ()
        words = self._known(case, argument)
        if words:
            yield from ([words[0]], words[0], [words[-1]], words[-1], words[1:3], ",".join(words[:2]))
            yield from words[1:5]
        if role == "path":
            yield from self._paths(case)
        if role in ("search", "content"):
            yield from self._texts(case, argument, target)
        yield from self._from_rows(argument, case, target)
        yield from argument.schema.enum
        if "boolean" in argument.schema.types:
            yield from (True, False)
        for index in range(3):
            found, value = self.drawn(argument, case, 20 + 7 * index)
            if found:
                yield value

    def _known(self, case: Case, argument: Argument) -> list[str]:
        """Return the words that an argument may name; found once a case, since it takes a walk through all of it."""
        if id(case) not in self._words:
            self._words[id(case)] = known_words(case)
        return self._words[id(case)].get(tuple(step for step in argument.steps if step != ELEMENT), [])

    def place(self, argument: Argument, case: Case) -> tuple[str, str]:
        """Return the table and column that an argument is compared with in a case, else those of its stated use."""
        if id(case) not in self._places:
            self._places[id(case)] = places_of(case)
        stated = (argument.use.table, argument.use.column)
        compared = self._places[id(case)].get(tuple(step for step in argument.steps if step != ELEMENT), [])
        return stated if not compared or stated in compared else compared[0]

    def _from_rows(self, argument: Argument, case: Case, target: Row | None) -> Iterable[Any]:
        """Values of the argument's column: of the row aimed at first, then of others."""
        use = argument.use
        table, column = self.place(argument, case)
        if not table or not column:
            return
        near = self.links.related(case.table, target, table) if target is not None else None
        rows = self.links.of(table)
        first = [near] if near is not None else []
        values = [row.get(column) for row in [*first, *rows]]
        shared = [value for value in values if value is not None]
        if use.role == "range" and shared:
            ordered = sorted(
                shared, key=lambda v: (str(type(v)), v) if not isinstance(v, dict | list) else ("", str(v))
            )
            yield from (ordered[len(ordered) // 2], ordered[0], ordered[-1])
        foreign = self.links.foreign_values(table, column)
        for value in distinct([*shared[:1], *shared[1:], *foreign], 14):
            yield from spread_lists(value)

    def _texts(self, case: Case, argument: Argument, target: Row | None) -> Iterable[str]:
        """Words for searches: that most rows hold, of the row aimed at, rare ones, a letter; lines of files."""
        table = argument.use.table or case.table
        rows = self.links.of(table)
        row = self.links.related(case.table, target, table) if target is not None else None
        if table not in self._common:
            counts = Counter(word for one in rows for word in sorted(set(text_words(one))))
            self._common[table] = sorted(counts, key=lambda word: (-counts[word], word))
        common = self._common[table]
        yield from common[:1]
        yield from list(text_words(row))[:2] if row else ()
        yield from common[1:3]
        yield from common[-1:]
        yield from ("e", "a") if rows else ()
        if any(isinstance(node, ReadFiles) and node.fn == "search" for node in _walk(case)):
            for path in list(self.initial.files)[:3]:
                name = path.rstrip("/").rsplit("/", 1)[-1]
                yield from (f"*.{name.rsplit('.', 1)[-1]}" if "." in name else name, name)
        for text in list(self.initial.files.values())[:2]:
            yield from [line for line in text.splitlines() if line.strip()][:2]
            yield from [w for w in text.split() if w.isalpha() and len(w) > 3][:2]

    def _paths(self, case: Case) -> Iterable[str]:
        """Existing files and folders, and paths that are free."""
        files = sorted(self.initial.files)
        wants_folder = any(isinstance(n, ReadFiles) and n.fn in ("list", "tree") for n in _walk(case))
        folders = sorted({path.rsplit("/", 1)[0] for path in files if "/" in path})
        free = ["notes/new-entry.md", "reports/summary.txt"]
        yield from (*folders[:3], *files[:3]) if wants_folder else (*files[:4], *free, *folders[:2])


def _walk(case: Case) -> Iterable[Any]:
    from_parts: list[Any] = [case]
    while from_parts:
        here = from_parts.pop()
        yield here
        if hasattr(type(here), "model_fields"):
            from_parts += [getattr(here, name) for name in type(here).model_fields]
        elif isinstance(here, list | tuple):
            from_parts += list(here)
        elif isinstance(here, dict):
            from_parts += list(here.values())


def spread_lists(value: Any) -> Iterable[Any]:
    """Yield a value, and the members of a list after it: filters on list columns take one member."""
    yield value
    if isinstance(value, list):
        yield from value[:2]


def text_words(row: Row) -> Iterable[str]:
    """Yield the words of a row's texts that a search would be made of, those of short texts first."""
    texts = sorted((v for v in row.values() if isinstance(v, str) and (" " in v or v.isalpha())), key=len)
    for text in texts:
        yield from (word for word in words_of(text) if len(word) > 2)


def forms_of(value: Any, schema: ValueSchema) -> Iterable[Any]:
    """Yield a value and the other forms in which an argument may take it: listed, as text, as a date, as a number."""
    yield value
    if isinstance(value, str) and len(value) >= 20 and value[10:11] == "T":
        yield from (value[:10], value[:16], value[:19], f"{value[:19]}+00:00")
    if isinstance(value, str) and len(value) == 10 and value[4:5] == "-":
        yield f"{value}T00:00:00Z"
    if "array" in schema.types and not isinstance(value, list):
        items = flatten(as_schema(flatten(schema.schema, schema.root).get("items")), schema.root)
        name = next(iter(as_schema(items.get("properties"))), None)
        yield from ([value], [str(value)], [{name: value}] if name else [value])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
    if isinstance(value, bool):
        yield str(value).lower()
    if isinstance(value, str) and value.lstrip("-").isdigit() and len(value) < 16:
        yield int(value)
    if isinstance(value, list) and value:
        yield ",".join(str(item) for item in value)


def distinct(values: Iterable[Any], most: int) -> list[Any]:
    """Return the first ``most`` values without repeats (by JSON, so that 1 and true stay apart)."""
    seen: set[bytes] = set()
    kept: list[Any] = []
    for value in values:
        key = canonical(value)
        if key not in seen:
            seen.add(key)
            kept.append(value)
            if len(kept) >= most:
                break
    return kept
