import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, InitialState, Table
from weft.records.task import (
    AtomicSolution,
    AtomicTask,
    EnvironmentPin,
    FromStep,
    TaskInput,
    TaskOutput,
    Texts,
)
from weft.records.verdict import ExpectedChange, ValueMatch, Verifier
from weft.tasks.binding import Drawn, Link, choose, fits, placement_of, propose, renamed

SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="people",
            entity="person",
            columns=(
                Column(name="id", field="id", type=ColumnType.INTEGER, role=ColumnRole.ID),
                Column(name="email", field="email", type=ColumnType.TEXT, role=ColumnRole.KEY),
                Column(name="name", field="name", type=ColumnType.TEXT, role=ColumnRole.NAME),
            ),
            key=("id",),
        ),
    )
)
ROWS = {
    "a": [{"id": 1, "email": "ana@a.example", "name": "Ana"}],
    "b": [{"id": 5, "email": "bo@b.example", "name": "Bo"}, {"id": 6, "email": "cy@b.example", "name": "Cy"}],
}
STATES = {name: InitialState(rows={"people": rows}) for name, rows in ROWS.items()}
SCHEMAS = {"a": SCHEMA, "b": SCHEMA}


def drawn(
    server: str, name: str, *inputs: TaskInput, gives: tuple[tuple[str, str, object], ...] = (), makes: str = ""
) -> Drawn:
    said = f"Do it with {' and '.join(item.words or str(item.value) for item in inputs)}."
    task = AtomicTask(
        id=name,
        server=server,
        kind="read",
        intent=said,
        inputs=inputs,
        environment=EnvironmentPin(name=server, hash="h", state="s"),
        texts=Texts(vague=said, partial=said, full=said),
    )
    change = ExpectedChange(
        name="insert person",
        server=server,
        table="people",
        op="insert",
        key={"id": ValueMatch(kind="slot", slot="p")},
        after={"name": ValueMatch(kind="equals", value=makes)},
    )
    solution = AtomicSolution(
        task=name,
        chain=("t",),
        reference=(),
        reply_text="Done.",
        outputs=tuple(
            TaskOutput(
                name=one, source=FromStep(kind="step", step="s", field=one), semantic=of, generated=of.startswith("id:")
            )
            for one, of, _ in gives
        ),
        verifier=Verifier(changes=(change,) if makes else ()),
    )
    return Drawn(task, solution, {one: value for one, _, value in gives})


def keyed(value: str, column: str = "email", semantic: str = "email") -> TaskInput:
    return TaskInput(name=column, value=value, semantic=semantic, keyed=f"people.{column}")


def free(value: object, semantic: str, name: str = "to") -> TaskInput:
    return TaskInput(name=name, value=value, semantic=semantic)


FIND = drawn("a", "find", free("Ana", "person", "who"), gives=(("email", "email", "ana@a.example"),))


def ways(*several: Drawn) -> list[tuple[int, int, str]]:
    return [(link.source, link.target, link.way) for link in propose(several, STATES, SCHEMAS)]


def test_a_free_input_takes_a_value_of_its_type() -> None:
    assert ways(FIND, drawn("b", "send", free("x@y.example", "email"))) == [(0, 1, "flow")]
    assert ways(FIND, drawn("b", "send", free("x", "phone"))) == []


def test_a_keyed_input_of_another_server_is_placed_and_one_that_is_there_already_is_met() -> None:
    assert ways(FIND, drawn("b", "look", keyed("bo@b.example"))) == [(0, 1, "placed")]
    there = drawn("a", "found", free("Ana", "person", "who"), gives=(("email", "email", "cy@b.example"),))
    assert ways(there, drawn("b", "look", keyed("bo@b.example"))) == [(0, 1, "met")]


def test_a_generated_id_is_made_for_its_own_server_only() -> None:
    maker = drawn("a", "make", free("Dee", "person", "who"), gives=(("id", "id:people", 9),))
    wants = TaskInput(name="id", value=1, semantic="id:people", keyed="people.id")
    assert ways(maker, drawn("a", "act", wants)) == [(0, 1, "made")]
    assert ways(maker, drawn("b", "act", wants.model_copy(update={"value": 5}))) == []


def test_a_row_that_people_name_is_bound_by_the_name_that_they_gave_it() -> None:
    maker = drawn("a", "make", free("Dee", "person", "who"), makes="Dee")
    acts = drawn("a", "act", keyed("Ana", "name", "person"))
    (link,) = propose((maker, acts), STATES, SCHEMAS)
    assert (link.way, link.value) == ("named", "Dee")
    after = renamed(acts, acts.task.inputs[0], maker.task.inputs[0])
    assert after is not None
    assert after.task.texts.full == "Do it with Dee."
    assert after.task.inputs[0].value == "Dee"


def test_what_the_upstream_user_knows_already_is_not_found_by_it() -> None:
    echo = drawn("a", "echo", keyed("ana@a.example"), gives=(("email", "email", "ana@a.example"),))
    assert ways(echo, drawn("b", "send", free("x@y.example", "email"))) == []


@pytest.mark.parametrize(
    ("semantic", "item", "fit"),
    [
        ("email", free("a@b.example", "email"), True),
        ("email", free("x", "text", "body"), True),
        ("name:event", free("x", "text", "note_text"), True),
        ("enum", free("x", "text", "note_text"), False),
        ("email", free("x", "text", "job_title"), False),
        ("text", free("x", "text", "first_name"), False),
        ("number", free(3, "number"), False),
        ("date", free("2026-01-01", "datetime"), False),
    ],
)
def test_types_decide_what_fits(semantic: str, item: TaskInput, fit: bool) -> None:
    assert fits(semantic, item) is fit


def test_a_placement_writes_over_the_downstream_key() -> None:
    several = (FIND, drawn("b", "look", keyed("bo@b.example")))
    (link,) = propose(several, STATES, SCHEMAS)
    made = placement_of(several, link)
    assert made is not None
    assert (made.server, made.table, made.column, made.old, made.new) == (
        "b", "people", "email", "bo@b.example", "ana@a.example",
    )  # fmt: skip


def test_a_value_that_another_request_states_is_not_bound() -> None:
    states = drawn("a", "tell", free("ana@a.example", "email", "cc"))
    several = (FIND, states, drawn("b", "send", free("x@y.example", "email")))
    links = choose(several, [link for link in propose(several, STATES, SCHEMAS) if link.target == 2], random.Random(0))
    assert links == []


def test_an_entity_is_not_placed_twice_under_different_values() -> None:
    other = drawn("a", "other", free("Z", "person", "who"), gives=(("email", "email", "zoe@a.example"),))
    several = (FIND, other, drawn("b", "look", keyed("bo@b.example")), drawn("b", "see", keyed("bo@b.example")))
    links = [
        Link(0, "email", 2, "email", "placed", "ana@a.example"),
        Link(1, "email", 3, "email", "placed", "zoe@a.example"),
    ]
    assert len(choose(several, links, random.Random(0))) <= 1


@given(st.integers(0, 200))
def test_chosen_bindings_are_free_of_conflict(seed: int) -> None:
    several = [
        drawn(
            "ab"[index % 2],
            f"t{index}",
            free(f"u{index}@y.example", "email"),
            gives=(("email", "email", f"v{index}@y.example"),),
        )
        for index in range(6)
    ]
    links = choose(several, propose(several, STATES, SCHEMAS), random.Random(seed))
    assert links
    assert len({(link.target, link.input) for link in links}) == len(links)
    below: dict[int, set[int]] = {}
    for link in links:
        below.setdefault(link.source, set()).add(link.target)
    for start in range(6):
        reached: set[int] = set()
        frontier = [start]
        while frontier:
            frontier += [
                index for index in below.get(frontier.pop(), set()) if index not in reached and not reached.add(index)
            ]  # type: ignore[func-returns-value]
        assert start not in reached
    assert any(several[link.source].task.server != several[link.target].task.server for link in links)
    assert all(first <= second for first, second in pairwise([(link.target, link.input) for link in links]))
