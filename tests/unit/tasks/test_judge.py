import pytest

from weft.errors import VerifierError
from weft.records.state import Changeset, Column, ColumnRole, ColumnType, DatabaseSchema, RowChange, Table
from weft.records.trace import LedgerEntry, Outcome
from weft.records.verdict import AnswerPart, ExpectedChange, ValueMatch, Verifier
from weft.tasks.judge import VerifierJudge

SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="notes",
            entity="note",
            columns=(
                Column(name="id", field="id", type=ColumnType.INTEGER, nullable=False, role=ColumnRole.ID),
                Column(name="text", field="text", type=ColumnType.TEXT),
            ),
            key=("id",),
        ),
    )
)


def insert(key: int, text: str) -> LedgerEntry:
    row = {"id": key, "text": text}
    change = RowChange(server="s", table="notes", key={"id": key}, op="insert", after=row)
    return LedgerEntry(
        index=0, server="s", tool="add", outcome=Outcome.OK, result=row, changes=Changeset(rows=(change,))
    )


def update(key: int, before: str, after: str) -> LedgerEntry:
    change = RowChange(
        server="s",
        table="notes",
        key={"id": key},
        op="update",
        before={"id": key, "text": before},
        after={"id": key, "text": after},
    )
    return LedgerEntry(index=1, server="s", tool="set", outcome=Outcome.OK, changes=Changeset(rows=(change,)))


def expected(op: str, slot: str, text: str) -> ExpectedChange:
    return ExpectedChange.model_validate(
        {
            "name": f"{op} note",
            "server": "s",
            "table": "notes",
            "op": op,
            "key": {"id": ValueMatch(kind="slot", slot=slot)},
            "after": {"text": ValueMatch(kind="equals", value=text)},
        }
    )


MAKE = Verifier(changes=(expected("insert", "note_1", "a"),), exports=("note_1",))
SET = Verifier(changes=(expected("update", "n1_note_1", "b"),), upstream={"n1_note_1": "n1.note_1"})
WHOLE = Verifier(
    changes=(expected("insert", "note_1", "b"),), answer=(AnswerPart(name="n2 text", value="b", kind="text"),)
)
JUDGE = VerifierJudge(("n1", "n2"), {"n1": MAKE, "n2": SET}, WHOLE, {"s": SCHEMA})


def test_a_node_is_judged_with_the_ids_that_upstream_nodes_really_made() -> None:
    first = JUDGE.judge(["n1"], ledger=[insert(7, "a")], earlier=[], reply="Done.", slots={})
    assert first.passed
    assert first.slots == {"note_1": 7}
    slots = {"n1": first.slots}
    second = JUDGE.judge(["n2"], ledger=[update(7, "a", "b")], earlier=[insert(7, "a")], reply="Done.", slots=slots)
    assert second.passed
    other = JUDGE.judge(["n2"], ledger=[update(8, "a", "b")], earlier=[insert(7, "a")], reply="Done.", slots=slots)
    assert not other.passed


def test_a_node_below_one_that_was_not_judged_has_no_verdict() -> None:
    with pytest.raises(VerifierError, match=r"n1\.note_1"):
        JUDGE.judge(["n2"], ledger=[update(7, "a", "b")], earlier=[], reply="Done.", slots={})


def test_all_nodes_take_the_verifier_of_the_whole_and_report_checkpoints() -> None:
    ledger = [insert(7, "a"), update(7, "a", "b")]
    verdict = JUDGE.judge(["n1", "n2"], ledger=ledger, earlier=[], reply="It says b.", slots={})
    assert verdict.passed
    assert [check.name for check in verdict.checks if check.name.startswith("checkpoint")] == [
        "checkpoint n1", "checkpoint n2",
    ]  # fmt: skip


def test_checkpoints_tell_how_far_a_failed_turn_got() -> None:
    verdict = JUDGE.judge(["n1", "n2"], ledger=[insert(7, "a")], earlier=[], reply="It says b.", slots={})
    assert not verdict.passed
    reached = {check.name: check.passed for check in verdict.checks if check.name.startswith("checkpoint")}
    assert reached == {"checkpoint n1": True, "checkpoint n2": False}


def test_no_reply_and_some_of_the_nodes_are_told_apart() -> None:
    assert not JUDGE.judge(["n1"], ledger=[insert(7, "a")], earlier=[], reply=None, slots={}).passed
    with pytest.raises(VerifierError, match="ask for one of n1, n2 or for all"):
        JUDGE.judge(["n2", "n1"], ledger=[], earlier=[], reply="", slots={})
