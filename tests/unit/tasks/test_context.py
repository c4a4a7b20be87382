import pytest

from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, InitialState, Table
from weft.records.task import AtomicSolution
from weft.records.verdict import Verifier
from weft.tasks.context import Habit, distractor, with_row
from weft.tasks.plan import NodePlan

PLAN = NodePlan("n1", "s", AtomicSolution(task="t", chain=(), reference=(), reply_text="", verifier=Verifier()), {})


def schema(kind: ColumnType = ColumnType.INTEGER) -> DatabaseSchema:
    return DatabaseSchema(
        tables=(
            Table(
                name="people",
                entity="person",
                columns=(
                    Column(name="id", field="id", type=kind, role=ColumnRole.ID),
                    Column(name="name", field="name", type=ColumnType.TEXT, role=ColumnRole.NAME),
                    Column(name="email", field="email", type=ColumnType.TEXT, unique=True),
                    Column(name="made", field="made", type=ColumnType.DATETIME, role=ColumnRole.CREATED),
                ),
                key=("id",),
            ),
        )
    )


ROWS = [
    {"id": 4, "name": "Ana", "email": "ana@x.example", "made": "2026-01-01"},
    {"id": 9, "name": "Bo", "email": "bo@x.example", "made": "2026-01-02"},
]
STATE = InitialState(rows={"people": ROWS})
SHOWN = {"people": [{"id": 4, "name": "Ana"}]}


def habit(policy: str = "ignores_filter", column: str = "name", table: str = "people") -> Habit:
    return Habit(policy, "s1", PLAN, column, table)


def test_a_row_for_who_ignores_a_filter_differs_where_the_filter_looks_and_comes_first() -> None:
    assert distractor(habit(), SHOWN, STATE, schema()) == {
        "id": 3, "name": "Bo", "email": "ana2@x.example", "made": "2026-01-01",
    }  # fmt: skip


def test_a_row_for_who_takes_the_first_hit_is_found_by_the_same_search() -> None:
    row = distractor(habit("takes_first_hit"), SHOWN, STATE, schema())
    assert row is not None
    assert row["name"] == "Ana (2)"


def test_a_second_distractor_takes_another_key_and_another_unique_value() -> None:
    first = distractor(habit(), SHOWN, STATE, schema())
    assert first is not None
    second = distractor(habit(), SHOWN, STATE, schema(), [first])
    assert second is not None
    assert (second["id"], second["email"]) == (2, "ana3@x.example")
    assert with_row(STATE, "people", second).rows["people"] == [second, *ROWS]


def test_text_keys_keep_their_look() -> None:
    rows = [{**row, "id": f"usr_{row['id']}k"} for row in ROWS]
    row = distractor(habit(), {"id": "usr_4k"}, InitialState(rows={"people": rows}), schema(ColumnType.TEXT))
    assert row is not None
    assert row["id"] == "usr_4a"


@pytest.mark.parametrize(
    "hopeless", [habit(column=""), habit(table=""), habit(column="id"), habit(column="made")]
)  # fmt: skip
def test_nothing_is_proposed_where_nothing_can_be_overlooked(hopeless: Habit) -> None:
    assert distractor(hopeless, SHOWN, STATE, schema()) is None


def test_nothing_is_proposed_for_a_row_that_the_state_does_not_hold() -> None:
    assert distractor(habit(), {"people": [{"id": 77}]}, STATE, schema()) is None
