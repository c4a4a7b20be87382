from weft.records.state import Column, ColumnRole, ColumnType, DatabaseSchema, InitialState, Table
from weft.tasks.assembly import places_of
from weft.tasks.binding import Placement
from weft.tasks.grounding import complete_relations, initialise_entities


def column(name: str, kind: ColumnType = ColumnType.TEXT, **more: object) -> Column:
    return Column.model_validate({"name": name, "field": name, "type": kind, **more})


SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="users", entity="user", columns=(column("email", role=ColumnRole.ID), column("tier")), key=("email",)
        ),
        Table(
            name="orders",
            entity="order",
            columns=(
                column("id", ColumnType.INTEGER, role=ColumnRole.ID),
                column("user", references="users"),
                column("billed_to"),
                column("history", ColumnType.JSON),
                column("tier", enum=("x@old.example",)),
            ),
            key=("id",),
        ),
    )
)
OLD, NEW = "x@old.example", "y@new.example"
STATE = InitialState(
    rows={
        "users": [{"email": OLD, "tier": "gold"}, {"email": "z@z.example", "tier": "basic"}],
        "orders": [
            {"id": 1, "user": OLD, "billed_to": OLD, "history": [{"by": OLD}, "kept"], "tier": OLD},
            {"id": 2, "user": "z@z.example", "billed_to": "z@z.example", "history": [], "tier": OLD},
        ],
    }
)
PLACED = Placement("s", "users", "email", OLD, NEW, "email")


def test_round_one_gives_the_entity_its_key_and_what_refers_to_it() -> None:
    rows = initialise_entities({"s": STATE}, [PLACED], {"s": SCHEMA})["s"].rows
    assert rows["users"][0] == {"email": NEW, "tier": "gold"}
    assert rows["orders"][0]["user"] == NEW
    assert rows["orders"][0]["billed_to"] == OLD


def test_round_two_makes_the_entity_the_same_wherever_it_stands_but_in_fixed_choices() -> None:
    first = initialise_entities({"s": STATE}, [PLACED], {"s": SCHEMA})
    rows = complete_relations(first, [PLACED], {"s": SCHEMA})["s"].rows
    assert rows["orders"][0] == {"id": 1, "user": NEW, "billed_to": NEW, "history": [{"by": NEW}, "kept"], "tier": OLD}
    assert rows["orders"][1] == STATE.rows["orders"][1]
    assert STATE.rows["users"][0]["email"] == OLD  # the seed is not touched


def test_places_name_every_column_that_holds_the_value() -> None:
    assert places_of({"s": STATE}, "s", OLD) == (
        "s.orders.billed_to", "s.orders.tier", "s.orders.user", "s.users.email",
    )  # fmt: skip
