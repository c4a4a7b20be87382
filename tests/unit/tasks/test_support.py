"""What answers rest on, by hand."""

from typing import Any

from weft.records.task import FromInput, FromStep, FromSteps, ReplyPart
from weft.tasks.support import supports, witnesses

RESULTS: dict[str, Any] = {
    "list": {
        "orders": [
            {"id": "o1", "title": "hinge", "status": "open", "total": 4},
            {"id": "o2", "title": "lock", "status": "open", "total": 9},
        ],
        "total": 2,
    },
    "count": {"count": 2},
}
IDENTITY = frozenset({"id", "title"})


def one(source: Any, inputs: dict[str, Any] | None = None) -> Any:
    (found,) = supports(source, inputs or {}, RESULTS, IDENTITY)
    return found


def test_a_value_of_one_row_rests_on_that_row() -> None:
    source = FromStep(kind="step", step="list", field="total", match={"id": FromInput(kind="input", name="x")})
    found = one(source, {"x": "o2"})
    assert found.strict == (({"id": "o2", "title": "lock", "total": 9},),)
    status = FromStep(kind="step", step="list", field="status", match={"id": FromInput(kind="input", name="x")})
    found = one(status, {"x": "o2"})
    assert found.required == ({"id": "o2", "title": "lock", "status": "open"},)
    assert found.lenient == (({"*id": "o2", "*title": "lock", "*status": "open"},),)


def test_a_total_rests_on_its_rows_or_on_the_figure() -> None:
    found = one(FromStep(kind="step", step="list", field="total"))
    assert found.strict == (({"id": "o1", "title": "hinge"}, {"id": "o2", "title": "lock"}),)
    assert ({"total": 2},) in found.lenient


def test_a_figure_without_rows_requires_the_same_call() -> None:
    found = one(FromStep(kind="step", step="count", field="count"))
    assert found.required == ()
    assert found.strict == (({"count": 2},),)


def test_a_fold_rests_on_every_row_it_looked_at() -> None:
    match = {"status": FromInput(kind="input", name="s")}
    found = one(FromSteps(kind="fold", step="list", fn="sum", field="total", match=match), {"s": "open"})
    assert [row["total"] for row in found.required] == [4, 9]


def test_strict_witnesses_leave_the_lenient_alternatives_out() -> None:
    part = ReplyPart(name="number", source=FromStep(kind="step", step="list", field="total"), kind="number")
    wide = witnesses([part], {"list": "shop"}, {}, RESULTS, IDENTITY)
    narrow = witnesses([part], {"list": "shop"}, {}, RESULTS, IDENTITY, strict=True)
    assert len(wide[0].alternatives) > len(narrow[0].alternatives) == 1
