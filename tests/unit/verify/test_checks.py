"""Hand-worked verdicts: what must be there, what must not, and what is equal by type."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from weft.errors import VerifierError
from weft.records.state import Changeset, FileChange, RowChange
from weft.records.trace import LedgerEntry, Outcome
from weft.records.verdict import (
    AnswerPart,
    ExpectedCall,
    ExpectedChange,
    ExpectedFile,
    Frame,
    ValueMatch,
    Verifier,
    Witness,
)
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence

Make = Callable[..., RowChange]
ORDER = {"id": "ord_1", "customer_id": "cus_1", "status": "open", "total": 25, "due": "2026-03-04T10:00:00Z",
         "created_at": "2026-03-01T00:00:00Z", "updated_at": "2026-03-01T00:00:00Z"}  # fmt: skip


def equals(value: Any, as_type: Any = "json") -> ValueMatch:
    return ValueMatch(kind="equals", value=value, as_type=as_type)


def slot(name: str) -> ValueMatch:
    return ValueMatch(kind="slot", slot=name)


ANY = ValueMatch(kind="any")
CLOSE = ExpectedChange(
    name="update order", server="shop", table="orders", op="update",
    key={"id": equals("ord_1")}, after={"status": equals("closed")},
)  # fmt: skip


def verdict(verifier: Verifier, schemas: Any, *rows: RowChange, **more: Any) -> Any:
    evidence = Evidence(changes=Changeset(rows=rows, files=more.pop("files", ())), **{"reply": "Done.", **more})
    return evaluate(verifier, evidence, schemas)


def failed(found: Any) -> list[str]:
    return [check.name for check in found.checks if not check.passed]


def test_the_expected_update_passes_and_volatile_columns_do_not_count(schemas: Any, update: Make) -> None:
    change = update("orders", ORDER, status="closed", updated_at="2026-03-02T09:00:01Z")
    assert verdict(Verifier(changes=(CLOSE,)), schemas, change).passed


def test_doing_nothing_fails_with_what_is_missing(schemas: Any) -> None:
    found = verdict(Verifier(changes=(CLOSE,)), schemas)
    assert failed(found) == ["update order"]
    assert "no update in shop.orders" in found.checks[0].detail


def test_an_empty_reply_fails(schemas: Any, update: Make) -> None:
    assert failed(
        verdict(Verifier(changes=(CLOSE,)), schemas, update("orders", ORDER, status="closed"), reply=" ")
    ) == ["reply"]


def test_another_column_changed_as_well_fails(schemas: Any, update: Make) -> None:
    found = verdict(Verifier(changes=(CLOSE,)), schemas, update("orders", ORDER, status="closed", total=26))
    assert failed(found) == ["update order", "frame"]
    assert "total changed to 26" in found.checks[0].detail


def test_a_number_spelt_otherwise_is_no_change(schemas: Any, update: Make) -> None:
    assert verdict(Verifier(changes=(CLOSE,)), schemas, update("orders", ORDER, status="closed", total=25.0)).passed


def test_an_instant_in_another_offset_is_the_same_value(schemas: Any, update: Make) -> None:
    move = CLOSE.model_copy(update={"after": {"due": equals("2026-03-05T12:00:00Z", "datetime")}})
    assert verdict(Verifier(changes=(move,)), schemas, update("orders", ORDER, due="2026-03-05T13:00:00+01:00")).passed
    assert not verdict(Verifier(changes=(move,)), schemas, update("orders", ORDER, due="2026-03-05T13:00:00Z")).passed


def test_an_update_that_only_touches_volatile_columns_is_no_change(schemas: Any, update: Make) -> None:
    touched = update("orders", ORDER, updated_at="2026-03-02T09:00:01Z")
    assert verdict(Verifier(), schemas, touched).passed


def test_an_extra_row_fails_the_frame_unless_its_table_is_free(schemas: Any, update: Make, insert: Make) -> None:
    rows = (insert("lines", id=9, order_id="ord_1", product="pen", quantity=1, note=None),
            update("orders", ORDER, status="closed"))  # fmt: skip
    assert failed(verdict(Verifier(changes=(CLOSE,)), schemas, *rows)) == ["frame"]
    free = Verifier(changes=(CLOSE,), frame=Frame(allowed_tables=("shop.lines",)))
    assert verdict(free, schemas, *rows).passed


def test_a_listed_volatile_column_may_differ(schemas: Any, update: Make) -> None:
    change = update("orders", ORDER, status="closed", total=26)
    assert verdict(Verifier(changes=(CLOSE,), frame=Frame(volatile=("shop.orders.total",))), schemas, change).passed


NEW = (
    ExpectedChange(name="insert customer", server="shop", table="customers", op="insert", key={"id": slot("c")},
                   after={"name": equals("Ann"), "email": equals("ann@x.org")}),
    ExpectedChange(name="insert order 1", server="shop", table="orders", op="insert", key={"id": slot("o1")},
                   after={"customer_id": slot("c"), "status": equals("open"), "total": equals(5), "due": ANY,
                          "created_at": ANY, "updated_at": ANY}),
    ExpectedChange(name="insert order 2", server="shop", table="orders", op="insert", key={"id": slot("o2")},
                   after={"customer_id": slot("c"), "status": equals("open"), "total": equals(5), "due": ANY,
                          "created_at": ANY, "updated_at": ANY}),
    ExpectedChange(name="insert line", server="shop", table="lines", op="insert", key={"id": slot("l")},
                   after={"order_id": slot("o2"), "product": equals("pen"), "quantity": equals(2),
                          "note": equals({"$text": ["for ", {"$slot": "o2"}]})}),
)  # fmt: skip


def new_rows(insert: Make, customer: str, first: str, second: str, line: int, owner: str) -> list[RowChange]:
    clock = {"due": None, "created_at": "2026-03-02T09:00:01Z", "updated_at": "2026-03-02T09:00:02Z"}
    order = {"customer_id": customer, "status": "open", "total": 5.0, **clock}
    return [
        insert("customers", id=customer, name="Ann", email="ann@x.org"),
        insert("orders", id=first, **order),
        insert("orders", id=second, **order),
        insert("lines", id=line, order_id=owner, product="pen", quantity=2, note=f"for {owner}"),
    ]


def test_two_orders_alike_are_told_apart_by_the_line_that_refers_to_one(schemas: Any, insert: Make) -> None:
    for owner in ("ord_a", "ord_b"):
        found = verdict(Verifier(changes=NEW), schemas, *new_rows(insert, "cus_7", "ord_a", "ord_b", 4, owner))
        assert found.passed
        assert found.slots["o2"] == owner
        assert {found.slots["o1"], found.slots["o2"]} == {"ord_a", "ord_b"}


def test_a_line_of_an_order_that_was_not_made_fails(schemas: Any, insert: Make) -> None:
    rows = new_rows(insert, "cus_7", "ord_a", "ord_b", 4, "ord_c")
    assert not verdict(Verifier(changes=NEW), schemas, *rows).passed


@hypothesis_settings(max_examples=40, deadline=None)
@given(ids=st.lists(st.text("abcdef0123456789", min_size=6, max_size=8), min_size=3, max_size=3, unique=True),
       line=st.integers(1, 10**6), order=st.permutations(range(4)))  # fmt: skip
def test_generated_ids_may_be_anything_and_writes_may_come_in_any_order(
    schemas: Any, insert: Make, ids: list[str], line: int, order: list[int]
) -> None:
    rows = new_rows(insert, ids[0], ids[1], ids[2], line, ids[2])
    assert verdict(Verifier(changes=NEW), schemas, *[rows[index] for index in order]).passed


@hypothesis_settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_change_of_a_single_tested_column_is_rejected(schemas: Any, insert: Make, data: st.DataObject) -> None:
    rows = new_rows(insert, "cus_7", "ord_a", "ord_b", 4, "ord_b")
    tested = [(0, "name"), (0, "email"), (1, "customer_id"), (1, "status"), (1, "total"), (2, "total"), (3, "order_id"),
              (3, "product"), (3, "quantity"), (3, "note")]  # fmt: skip
    index, name = data.draw(st.sampled_from(tested))
    old = (rows[index].after or {})[name]
    new = data.draw(st.one_of(st.none(), st.integers(), st.text(max_size=6)).filter(lambda value: value != old))
    rows[index] = rows[index].model_copy(update={"after": {**(rows[index].after or {}), name: new}})
    assert not verdict(Verifier(changes=NEW), schemas, *rows).passed


def test_a_bound_slot_must_hold_its_value(schemas: Any, update: Make) -> None:
    mine = CLOSE.model_copy(update={"key": {"id": slot("order")}})
    change = update("orders", ORDER, status="closed")
    assert verdict(Verifier(changes=(mine,), slots={"order": "ord_1"}), schemas, change).passed
    assert not verdict(Verifier(changes=(mine,), slots={"order": "ord_2"}), schemas, change).passed


def test_an_upstream_slot_takes_the_value_that_the_upstream_node_really_made(schemas: Any, update: Make) -> None:
    mine = CLOSE.model_copy(update={"key": {"id": slot("order")}})
    verifier = Verifier(changes=(mine,), upstream={"order": "n1.order_1"})
    change = update("orders", ORDER, status="closed")
    assert verdict(verifier, schemas, change, upstream={"n1.order_1": "ord_1"}).passed
    assert not verdict(verifier, schemas, change, upstream={"n1.order_1": "ord_3"}).passed
    with pytest.raises(VerifierError, match=r"n1\.order_1"):
        verdict(verifier, schemas, change)


def test_a_verifier_for_a_table_that_is_not_there_is_an_error_and_no_failure(schemas: Any) -> None:
    wrong = CLOSE.model_copy(update={"table": "invoices"})
    with pytest.raises(VerifierError, match="invoices"):
        verdict(Verifier(changes=(wrong,)), schemas)


def test_a_search_without_end_is_an_error_and_no_failure(schemas: Any, insert: Make) -> None:
    wanted, rows = [], []
    for number in range(9):  # the first and the last must share a note, and no two rows do
        after = {
            "order_id": ANY,
            "product": ANY,
            "quantity": ANY,
            "note": slot("shared" if number in (0, 8) else f"n{number}"),
        }
        wanted.append(ExpectedChange(name=f"l{number}", server="shop", table="lines", op="insert",
                                     key={"id": slot(f"id{number}")}, after=after))  # fmt: skip
        rows.append(insert("lines", id=number, order_id="ord_1", product="pen", quantity=1, note=f"note {number}"))
    with pytest.raises(VerifierError, match="steps"):
        verdict(Verifier(changes=tuple(wanted)), schemas, *rows)


def test_a_flood_of_rows_is_a_failure_without_any_search(schemas: Any, insert: Make) -> None:
    rows = [insert("lines", id=n, order_id="ord_1", product="pen", quantity=1, note=None) for n in range(500)]
    want = ExpectedChange(name="line", server="shop", table="lines", op="insert", key={"id": slot("l")},
                          after={"order_id": ANY, "product": equals("pen"), "quantity": ANY, "note": ANY})  # fmt: skip
    assert failed(verdict(Verifier(changes=(want,)), schemas, *rows)) == ["frame"]


def test_files_are_held_like_rows(schemas: Any) -> None:
    want = ExpectedFile(name="write a.txt", server="shop", path="a.txt", after=equals("hello"))
    verifier = Verifier(files=(want,), frame=Frame(allowed_paths=("shop:tmp/",)))
    right = FileChange(server="shop", path="a.txt", after="hello")
    assert verdict(verifier, schemas, files=(right,)).passed
    assert verdict(verifier, schemas, files=(right, FileChange(server="shop", path="tmp/x", after=""))).passed
    assert failed(verdict(verifier, schemas, files=(right, FileChange(server="shop", path="b", after="")))) == [
        "frame of files"
    ]
    assert failed(verdict(verifier, schemas, files=(right.model_copy(update={"after": "hallo"}),))) == ["write a.txt"]
    gone = Verifier(files=(want.model_copy(update={"after": None}),))
    assert verdict(gone, schemas, files=(FileChange(server="shop", path="a.txt", before="x"),)).passed


def entry(tool: str, result: Any, outcome: Outcome = Outcome.OK, **arguments: Any) -> LedgerEntry:
    return LedgerEntry(index=0, server="shop", tool=tool, arguments=arguments, outcome=outcome, result=result)


STATUS = Witness(name="status", server="shop", alternatives=(({"id": "ord_1", "status": "open"},),
                                                             ({"*key": "ord_1", "*value": "open"},)))  # fmt: skip


@pytest.mark.parametrize(
    ("ledger", "passes"),
    [
        ([entry("list", {"orders": [{"id": "ord_1", "status": "open", "total": 3}]})], True),
        ([entry("get", {"order": {"number": "ord_1", "state": "open"}})], True),
        ([entry("list", {"orders": [{"id": "ord_1"}, {"status": "open"}]})], False),
        ([entry("get", {"id": "ord_1", "status": "open"}, Outcome.ERROR)], False),
        ([], False),
    ],
)
def test_an_answer_needs_a_return_that_shows_it(schemas: Any, ledger: list[LedgerEntry], *, passes: bool) -> None:
    answer = AnswerPart(name="status", value="open", kind="text", rivals=("closed",))
    verifier = Verifier(witnesses=(STATUS,), answer=(answer,))
    assert verdict(verifier, schemas, reply="It is open.", ledger=tuple(ledger)).passed is passes
    assert verdict(verifier, schemas, reply="It is open.", earlier=tuple(ledger)).passed is passes


def test_a_refusal_counts_when_the_tool_said_why_or_a_read_showed_it(schemas: Any) -> None:
    call = ExpectedCall(name="looked", server="shop", tools=("get", "cancel"), error_codes=("not_found",))
    answer = AnswerPart(name="refusal", value=("could not find", "no order", "does not exist"), kind="refusal")
    verifier = Verifier(calls=(call,), answer=(answer,))
    error = {"error": {"code": "not_found", "message": "no such order", "details": {}}}
    said = "I could not find order 99, so nothing was cancelled."
    assert verdict(verifier, schemas, reply=said, ledger=(entry("cancel", error, Outcome.ERROR),)).passed
    assert verdict(verifier, schemas, reply=said, earlier=(entry("get", {"orders": []}),)).passed
    assert not verdict(verifier, schemas, reply=said).passed
    assert not verdict(verifier, schemas, reply="Order 99 is cancelled.", ledger=(entry("get", {"orders": []}),)).passed
    bad = {"error": {"code": "invalid_argument", "message": "id must be a string"}}
    assert not verdict(verifier, schemas, reply=said, ledger=(entry("get", bad, Outcome.ERROR),)).passed
