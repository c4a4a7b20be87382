"""Changesets: their composition over an interval, and the difference of two states (pure; DESIGN 5, verifier algebra).

The composition of the changesets of consecutive calls equals the difference of the states at both ends: the last
writer wins, an insert followed by an update is an insert, one followed by a delete is nothing, and a value that came
back to what it was is nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.records.state import Changeset, DatabaseSchema, FileChange, Row, RowChange, Rows
from weft.runtime.values import json_equal
from weft.runtime.workspace import diff_files

RowId = tuple[str, str, tuple[Any, ...]]
"""Server, table and key values of a row."""


def compose(changesets: Sequence[Changeset]) -> Changeset:
    """Return the changeset of an interval from those of its calls, in order."""
    rows: dict[RowId, tuple[RowChange, Row | None, Row | None]] = {}
    files: dict[tuple[str, str], tuple[str | None, str | None]] = {}
    for changes in changesets:
        for change in changes.rows:
            first = rows.get(row_id(change))
            rows[row_id(change)] = (change, first[1] if first else change.before, change.after)
        for file in changes.files:
            seen = files.get((file.server, file.path))
            files[file.server, file.path] = (seen[0] if seen else file.before, file.after)
    composed = (
        row_change(change.server, change.table, tuple(change.key), before, after)
        for change, before, after in rows.values()
    )
    return Changeset(
        rows=ordered(change for change in composed if change is not None),
        files=tuple(
            FileChange(server=server, path=path, before=before, after=after)
            for (server, path), (before, after) in sorted(files.items())
            if before != after
        ),
    )


def diff_rows(before: Rows, after: Rows, server: str, schema: DatabaseSchema) -> tuple[RowChange, ...]:
    """Return the row changes from one state of a server to another."""
    found: list[RowChange] = []
    for table in schema.tables:
        old = {tuple(row[name] for name in table.key): row for row in before.get(table.name, [])}
        new = {tuple(row[name] for name in table.key): row for row in after.get(table.name, [])}
        for key in {**old, **new}:
            change = row_change(server, table.name, table.key, old.get(key), new.get(key))
            if change is not None:
                found.append(change)
    return ordered(found)


def diff_states(
    before: tuple[Rows, Mapping[str, str]],
    after: tuple[Rows, Mapping[str, str]],
    server: str,
    schema: DatabaseSchema,
) -> Changeset:
    """Return the changeset from one state ``(rows, files)`` of a server to another."""
    return Changeset(rows=diff_rows(before[0], after[0], server, schema), files=diff_files(before[1], after[1], server))


def row_change(server: str, table: str, key: Sequence[str], before: Row | None, after: Row | None) -> RowChange | None:
    """Return the change from one version of a row to another; None when they are equal by type (25 == 25.0)."""
    if before is None and after is None:
        return None
    if before is not None and after is not None:
        if json_equal(before, after):
            return None
        op = "update"
    else:
        op = "insert" if before is None else "delete"
    there = after if after is not None else before
    assert there is not None
    return RowChange.model_construct(
        server=server, table=table, key={name: there[name] for name in key}, op=op, before=before, after=after
    )


def row_id(change: RowChange) -> RowId:
    """Return what identifies the changed row."""
    return change.server, change.table, tuple(change.key.values())


def ordered(changes: Iterable[RowChange]) -> tuple[RowChange, ...]:
    """Return row changes by server, table and key; numbers before texts, integers by value."""
    return tuple(sorted(changes, key=lambda change: (change.server, change.table, key_order(change.key.values()))))


def key_order(values: Iterable[Any]) -> tuple[tuple[int, Any], ...]:
    """Return a sort key for the key values of a row: numbers by value, then texts by code point."""
    return tuple((1, value) if isinstance(value, str) else (0, value) for value in values)
