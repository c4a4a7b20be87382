"""Words as a person would say them."""

from typing import Any

import pytest

from weft.agents.rules.tasks.frames import FRAMES, compose_texts, fill
from weft.agents.rules.tasks.words import (
    also,
    article,
    date_words,
    is_are,
    label,
    listed,
    meaning,
    noun,
    plural,
    relation,
    state,
    value_words,
    yes_words,
)
from weft.records.state import Column, ColumnRole, ColumnType, Table


def column(
    field: str, kind: ColumnType = ColumnType.TEXT, role: ColumnRole = ColumnRole.ATTRIBUTE, **more: Any
) -> Column:
    return Column(name=field.lower(), field=field, type=kind, role=role, **more)


def table(entity: str, *columns: Column) -> Table:
    return Table(name=entity.replace(" ", "_") + "s", entity=entity, columns=columns, key=("id",))


ORDER = table("order")


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (column("dueDate", ColumnType.DATE), "due date"),
        (column("due", ColumnType.DATE), "due date"),
        (column("starts_at", ColumnType.DATETIME), "start date"),
        (column("start", ColumnType.DATETIME), "start time"),
        (column("assignee_id", role=ColumnRole.FOREIGN_KEY), "assignee"),
        (column("is_active", ColumnType.BOOLEAN), "active"),
        (column("order_total", ColumnType.NUMBER), "total"),
        (column("size_bytes", ColumnType.INTEGER), "size in bytes"),
        (column("qty"), "quantity"),
        (column("createdAt", ColumnType.DATETIME), "creation date"),
        (column("updated_on", ColumnType.DATE), "last update"),
        (column("updated_at", ColumnType.DATETIME), "last update"),
        (column("shipped_at", ColumnType.DATETIME), "shipping date"),
        (column("closed_on", ColumnType.DATE), "closing date"),
        (column("expected_on", ColumnType.DATE), "expected date"),
        (column("created_by"), "creator"),
        (column("assigned_to"), "assignee"),
        (column("reply_to"), "reply-to"),
        (column("to_warehouse"), "destination warehouse"),
        (column("developer's replies"), "developer replies"),
    ],
)
def test_labels(item: Column, said: str) -> None:
    assert label(item, ORDER) == said


@pytest.mark.parametrize(
    ("one", "many"),
    [("stock entry", "stock entries"),
     ("order", "orders"), ("category", "categories"), ("box", "boxes"), ("person", "people"), ("day", "days"),
     ("pull request", "pull requests"), ("status", "statuses"), ("branch", "branches")],
)  # fmt: skip
def test_plurals(one: str, many: str) -> None:
    assert plural(one) == many


@pytest.mark.parametrize(
    ("phrase", "said"),
    [("order", "an order"), ("user", "a user"), ("unit", "a unit"), ("umbrella", "an umbrella"), ("hour", "an hour"),
     ("API key", "an API key"), ("URL", "a URL"), ("new order", "a new order")],
)  # fmt: skip
def test_articles(phrase: str, said: str) -> None:
    assert article(phrase) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2026-05-12", "12 May 2026"),
        ("2026-05-12T14:30:00Z", "12 May 2026 at 14:30 UTC"),
        ("2026-05-12T14:30:15+02:00", "12 May 2026 at 14:30:15 (UTC+02:00)"),
        ("2026-13-12", "2026-13-12"),
    ],
)
def test_dates(value: str, said: str) -> None:
    assert date_words(value) == said


def test_values() -> None:
    assert value_words(True) == "yes"
    assert value_words(12.5) == "12.5"
    assert value_words("Fix the sink") == '"Fix the sink"'
    assert value_words("ann@x.org") == "ann@x.org"
    assert value_words(["a", "b", "c"]) == '"a", "b" and "c"'
    status = column("status", enum=("in_progress", "done"))
    assert value_words("in_progress", status) == "in progress"
    assert listed([]) == ""


def test_scopes_join_with_in_and_then_with_and() -> None:
    phrase = 'the issue "Crash"'
    phrase += also("workspace", '"Blue"', phrase)
    phrase += also("repository", '"core"', phrase)
    assert phrase == 'the issue "Crash" in the workspace "Blue" and the repository "core"'
    assert also("priority", "high", 'the issue "Crash"') == " with the priority high"


@pytest.mark.parametrize(
    ("item", "entity", "semantic", "answer"),
    [
        (column("email"), "user", "email", "text"),
        (column("name", role=ColumnRole.NAME), "user", "person", "text"),
        (column("title", role=ColumnRole.NAME), "issue", "name:issue", "text"),
        (column("id", role=ColumnRole.ID), "order", "id:orders", "text"),
        (column("customer_id", references="customers"), "order", "id:customers", "text"),
        (column("total", ColumnType.NUMBER), "order", "money", "number"),
        (column("due", ColumnType.DATE), "order", "date", "date"),
        (column("city"), "user", "city", "text"),
        (column("gift", ColumnType.BOOLEAN), "order", "boolean", "boolean"),
        (column("note"), "order", "text", "text"),
    ],
)
def test_semantic_types(item: Column, entity: str, semantic: str, answer: str) -> None:
    found = meaning(item, table(entity))
    assert (found.semantic, found.answer) == (semantic, answer)


def test_every_frame_of_a_kind_holds_the_same_needed_slots() -> None:
    """A level that left a slot out would leave out what the user knows."""
    groups = [{"nouns", "sets", "plain_sets"}, {"details"}, {"value"}, {"target"}, {"with"}, {"first"}, {"second"},
              {"with_more"}, {"targets"}, {"ask_of"}, {"whether"}, {"many"}, {"conditions"}, {"their"}, {"measure"},
              {"scope"}, {"wish", "wish_small"}]  # fmt: skip
    for kind, levels in FRAMES.items():
        frames = [frame for level in ("vague", "partial", "full") for frame in levels[level]]
        for group in groups:
            held = [any("{" + name + "}" in frame for name in group) for frame in frames]
            if kind in ("update", "correction", "transition") and group == {"target"}:
                continue  # the phrases of values name the target themselves
            assert all(held) or not any(held), (kind, group, [f for f, h in zip(frames, held, strict=True) if not h])
        assert len({*levels["vague"]}) >= 2
        assert len({*levels["partial"]}) >= 2


def test_filled_frames_read_as_sentences() -> None:
    slots = {"target": 'the order "Oak. Shelf"', "Target": 'The order "Oak. Shelf"', "lookup": ""}
    assert fill("{target} can be deleted. thanks.", slots) == 'The order "Oak. Shelf" can be deleted. Thanks.'
    assert fill("{lookup}Then tell me the text.", slots) == "Tell me the text."
    assert fill('Set it to "Agreed.".', slots) == 'Set it to "Agreed."'


def test_texts_depend_on_the_generator_alone() -> None:
    import random

    slots = {"target": 'the order "Oak"'}
    assert compose_texts("delete", slots, random.Random(3)) == compose_texts("delete", slots, random.Random(3))


@pytest.mark.parametrize(
    ("entity", "said"),
    [("data_safety", "data safety entry"), ("cited", "cited entry"), ("stock", "stock entry"), ("feed", "feed"),
     ("order", "order")],
)  # fmt: skip
def test_what_has_no_plural_is_an_entry_of_its_kind(entity: str, said: str) -> None:
    assert noun(table(entity)) == said


@pytest.mark.parametrize(
    ("field", "said"),
    [("created_by", "created by"), ("assigned_to_id", "assigned to"), ("reply_to", "in reply to"), ("to", ""),
     ("owner", ""), ("nearby", ""), ("valid_to", "")],
)  # fmt: skip
def test_some_fields_say_a_relation(field: str, said: str) -> None:
    assert relation(field) == said


@pytest.mark.parametrize(
    ("field", "said"),
    [("is_pinned", "pinned"), ("done", "done"), ("archived", "archived"), ("gift", ""), ("send_email", ""),
     ("has_replies", ""), ("feed", "")],
)  # fmt: skip
def test_switches_that_are_states(field: str, said: str) -> None:
    assert state(column(field, ColumnType.BOOLEAN)) == said


def test_a_state_is_or_is_not() -> None:
    assert yes_words("done", True) == "done"
    assert yes_words("done", False) == "not done"


@pytest.mark.parametrize(
    ("words", "verb"),
    [("names", "are"), ("status", "is"), ("lead time in days", "is"), ("stars", "are"), ("address", "is")],
)
def test_the_verb_agrees(words: str, verb: str) -> None:
    assert is_are(words) == verb
