"""Gates: what keeps a tool from being certified, and the typed reason that it gets."""

import pytest

from weft.envs.certify import blocking, refusal_of
from weft.envs.report import ToolReport
from weft.envs.soundness import touched, undeclared_writes
from weft.records.contract import Case
from weft.records.draft import Finding, FindingKind
from weft.records.expression import const
from weft.records.spec import RefusalCode
from weft.records.state import Changeset, Column, ColumnRole, ColumnType, DatabaseSchema, FileChange, RowChange, Table


def report(passed: int, tried: int, *checks: str) -> ToolReport:
    made = ToolReport("t", passed=passed, tried=tried)
    for check in checks:
        made.fail(FindingKind.MAPPING, check, "what happened")
    return made


def test_the_default_gate_asks_for_every_test_call() -> None:
    assert blocking(report(4, 4)) == []
    assert [f.check for f in blocking(report(3, 4, "boundary_call"))] == ["boundary_call"]


def test_the_papers_floor_must_be_exceeded() -> None:
    assert blocking(report(3, 4, "boundary_call"), 0.5) == []
    assert blocking(report(2, 4, "boundary_call"), 0.5)


def test_no_gate_passes_an_argument_without_effect() -> None:
    assert blocking(report(4, 4, "argument_effect"), 0.5)


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ("argument_effect", RefusalCode.NO_EFFECT),
        ("invented_argument", RefusalCode.INVENTED_ARGUMENT),
        ("effect_annotation", RefusalCode.ANNOTATION_CONFLICT),
        ("returns_schema", RefusalCode.RETURN_SCHEMA),
        ("agreement", RefusalCode.VALIDATION_FAILED),
    ],
)
def test_a_refusal_is_typed_and_quotes_its_finding(check: str, code: RefusalCode) -> None:
    finding = Finding(
        kind=FindingKind.MAPPING,
        check=check,
        tool="get",
        argument="id",
        message="what happened",
        call={"tool": "get", "arguments": {"id": 7}},
    )
    refusal = refusal_of("notes", finding)
    assert (refusal.code, refusal.subject) == (code, "notes/get/id")
    assert refusal.message == f"{check}: what happened"
    assert refusal.value == "{'id': 7}"
    assert refusal.remedy


SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="t",
            entity="t",
            key=("id",),
            columns=(
                Column(name="id", field="id", type=ColumnType.INTEGER),
                Column(name="a", field="a", type=ColumnType.TEXT),
                Column(name="at", field="at", type=ColumnType.DATETIME, role=ColumnRole.UPDATED),
            ),
        ),
    )
)
BEFORE, AFTER = {"id": 1, "a": "x", "at": "1"}, {"id": 1, "a": "y", "at": "2"}
UPDATE = RowChange(
    server="s",
    table="t",
    key={"id": 1},
    op="update",
    before={"id": 1, "a": "x", "at": "1"},
    after={"id": 1, "a": "y", "at": "2"},
)


def writes(*places: str) -> Case:
    return Case(intent="update", table="t", operations=(), returns=const(1), writes=places)


def test_clock_columns_need_no_name_and_others_do() -> None:
    assert undeclared_writes(writes("t.a"), Changeset(rows=(UPDATE,)), SCHEMA) == []
    assert undeclared_writes(writes("t"), Changeset(rows=(UPDATE,)), SCHEMA) == ["t.a"]


def test_new_rows_need_the_table_and_files_their_word() -> None:
    insert = RowChange(server="s", table="t", key={"id": 2}, op="insert", after={"id": 2})
    assert undeclared_writes(writes("t.a"), Changeset(rows=(insert,)), SCHEMA) == ["t"]
    changes = Changeset(files=(FileChange(server="s", path="a", after="x"),))
    assert undeclared_writes(writes("t"), changes, SCHEMA) == ["files"]
    assert touched(changes) == ["files"]
