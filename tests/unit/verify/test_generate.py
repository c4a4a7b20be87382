"""A verifier written from evidence accepts that evidence, its renamings, and nothing that differs."""

from collections.abc import Callable
from typing import Any

import pytest

from weft.errors import VerifierError
from weft.records.state import Changeset, FileChange, RowChange
from weft.verify.checks import evaluate
from weft.verify.evidence import Evidence
from weft.verify.generate import Claims, SlotValue, generate_tested, generate_verifier, generated_slots

Make = Callable[..., RowChange]


def order(insert: Make, name: str, due: str = "2026-03-02T09:00:01Z", total: int = 5) -> RowChange:
    return insert("orders", id=name, customer_id="cus_1", status="open", total=total, due=due,
                  created_at="2026-03-02T09:00:01Z", updated_at="2026-03-02T09:00:01Z")  # fmt: skip


def line(insert: Make, number: int, owner: str, note: str | None = None) -> RowChange:
    return insert("lines", id=number, order_id=owner, product="pen", quantity=1, note=note)


def evidence(*rows: RowChange, files: tuple[FileChange, ...] = ()) -> Evidence:
    return Evidence(Changeset(rows=rows, files=files), reply="Done.")


def test_generated_ids_become_slots_in_every_table_and_text(schemas: Any, insert: Make) -> None:
    first = evidence(order(insert, "ord_5k2p9x"), line(insert, 7, "ord_5k2p9x", "part of ord_5k2p9x"))
    slots = generated_slots(first, schemas)
    assert [(item.slot, item.value) for item in slots] == [("order_1", "ord_5k2p9x"), ("line_1", 7)]
    verifier = generate_verifier(first, schemas, slots, Claims())
    assert verifier.exports == ("order_1", "line_1")
    assert verifier.changes[1].after["order_id"].slot == "order_1"
    again = evidence(order(insert, "ord_zz81qq"), line(insert, 12, "ord_zz81qq", "part of ord_zz81qq"))
    assert evaluate(verifier, again, schemas).passed
    crossed = evidence(order(insert, "ord_zz81qq"), line(insert, 12, "ord_zz81qq", "part of ord_5k2p9x"))
    assert not evaluate(verifier, crossed, schemas).passed


def test_a_number_that_happens_to_equal_an_id_is_no_slot(schemas: Any, insert: Make) -> None:
    seven = insert("lines", id=7, order_id="ord_1", product="pen", quantity=7, note=None)
    first = evidence(seven)
    verifier = generate_verifier(first, schemas, generated_slots(first, schemas), Claims())
    assert verifier.changes[0].after["quantity"].kind == "equals"
    other = insert("lines", id=8, order_id="ord_1", product="pen", quantity=7, note=None)
    assert evaluate(verifier, evidence(other), schemas).passed


def test_a_column_that_the_clock_set_is_found_by_a_second_run_and_freed(schemas: Any, insert: Make) -> None:
    runs = [evidence(order(insert, "ord_aaaa11")), evidence(order(insert, "ord_bbbb22", due="2026-03-02T10:01:02Z"))]
    made = generate_tested(runs, schemas, generated_slots(runs[0], schemas), Claims())
    assert made.revisions == (("shop", "orders", "due"),)
    assert all(verdict.passed for verdict in made.verdicts)


def test_runs_that_differ_otherwise_have_no_verifier(schemas: Any, insert: Make) -> None:
    runs = [evidence(order(insert, "ord_aaaa11")), evidence(order(insert, "ord_bbbb22", total=6))]
    with pytest.raises(VerifierError, match="total is 6"):
        generate_tested(runs, schemas, generated_slots(runs[0], schemas), Claims())


def test_an_upstream_id_becomes_a_slot_that_takes_its_run_time_value(schemas: Any, insert: Make) -> None:
    first = evidence(line(insert, 7, "ord_5k2p9x"))
    slots = [*generated_slots(first, schemas), SlotValue("up_order", "ord_5k2p9x", "shop", "orders", "n1.order_1")]
    verifier = generate_verifier(first, schemas, slots, Claims())
    assert verifier.upstream == {"up_order": "n1.order_1"}
    assert "up_order" not in verifier.exports
    later = Evidence(evidence(line(insert, 9, "ord_other1")).changes, reply="ok", upstream={"n1.order_1": "ord_other1"})
    assert evaluate(verifier, later, schemas).passed


def test_updates_test_only_what_changed_and_deletes_only_the_key(schemas: Any, insert: Make, update: Make) -> None:
    before = order(insert, "ord_1").after or {}
    gone = RowChange(server="shop", table="orders", key={"id": "ord_2"}, op="delete", before={**before, "id": "ord_2"})
    changed = evidence(update("orders", before, status="closed", updated_at="2026-03-02T09:00:09Z"), gone)
    verifier = generate_verifier(changed, schemas, [], Claims())
    assert verifier.changes[0].after.keys() == {"status"}
    assert verifier.changes[1].after == {}
    assert evaluate(verifier, changed, schemas).passed
    assert [item.criterion for item in verifier.rubric][:2] == [
        "The order is changed: status 'closed'.",
        "The order is gone.",
    ]


def test_files_hold_their_text_and_the_ids_in_it(schemas: Any, insert: Make) -> None:
    first = evidence(
        order(insert, "ord_5k2p9x"), files=(FileChange(server="shop", path="log.md", after="made ord_5k2p9x\n"),)
    )
    verifier = generate_verifier(first, schemas, generated_slots(first, schemas), Claims())
    other = evidence(
        order(insert, "ord_q7q7q7"), files=(FileChange(server="shop", path="log.md", after="made ord_q7q7q7\n"),)
    )
    assert evaluate(verifier, other, schemas).passed
    wrong = evidence(
        order(insert, "ord_q7q7q7"), files=(FileChange(server="shop", path="log.md", after="made ord_5k2p9x\n"),)
    )
    assert not evaluate(verifier, wrong, schemas).passed
