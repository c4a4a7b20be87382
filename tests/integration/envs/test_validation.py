"""A sound environment passes; each planted defect is caught by the check that is there for it."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from weft.envs.certify import blocking, certify
from weft.envs.validation import Validation, validate
from weft.records.contract import Case, Contract, Delete, Find, Insert, Update
from weft.records.draft import EnvironmentDraft, FindingKind
from weft.records.environment import Environment
from weft.records.expression import Arithmetic, Coalesce, ObjectOf, Where, arg, const, eq, obj, var
from weft.records.spec import McpSpec, Provenance
from weft.runtime import session
from weft.runtime.backend import load_backend
from weft.runtime.state import Test as RowTest

Contracts = dict[str, Contract]
Make = Callable[..., EnvironmentDraft]


def with_case(contract: Contract, **fields: Any) -> Contract:
    case = contract.cases[0].model_copy(update=fields)
    return contract.model_copy(update={"cases": (case,)})


def case_of(contracts: Contracts, tool: str) -> Case:
    return contracts[tool].cases[0]


def checks_found(outcome: Validation, tool: str) -> set[str]:
    return {finding.check for finding in outcome.findings if finding.tool == tool}


def test_a_sound_environment_has_no_finding_and_certifies_as_stateful(spec: McpSpec, make_draft: Make) -> None:
    outcome = validate(spec, make_draft())
    assert outcome.findings == []
    environment, certificate = certify(outcome, author="rules")
    assert certificate.kind == "stateful"
    assert certificate.environment == environment.hash
    assert all(tool.certified and tool.accuracy == 1.0 for tool in certificate.tools)
    shown = [a for tool in certificate.tools for a in tool.arguments]
    assert len(shown) == 16
    assert all(argument.effect_shown and argument.shown for argument in shown)
    assert {test.kind for test in environment.tests} == {"normal", "boundary"}


def test_validating_twice_gives_the_same_findings_and_tests(spec: McpSpec, make_draft: Make) -> None:
    first, second = validate(spec, make_draft()), validate(spec, make_draft())
    assert first.environment == second.environment
    assert first.checks == second.checks


def ignores_a_filter(contracts: Contracts) -> None:
    find = case_of(contracts, "list_notes").operations[0]
    assert isinstance(find, Find)
    blind = find.model_copy(update={"where": find.where[:1]})
    contracts["list_notes"] = with_case(
        contracts["list_notes"], operations=(blind, *case_of(contracts, "list_notes").operations[1:])
    )


def ignores_an_attribute(contracts: Contracts) -> None:
    insert = case_of(contracts, "create_note").operations[0]
    assert isinstance(insert, Insert)
    values = {name: value for name, value in insert.values.items() if name != "body"}
    contracts["create_note"] = with_case(
        contracts["create_note"], operations=(insert.model_copy(update={"values": values}),)
    )


def only_repeats_its_argument(contracts: Contracts) -> None:
    find = Find(op="find", into="found", table="notes", many=True)
    returns = obj(query=arg("query"), notes=var("found"))
    contracts["search_notes"] = with_case(contracts["search_notes"], operations=(find,), returns=returns)


def a_read_that_writes(contracts: Contracts) -> None:
    case = case_of(contracts, "get_note")
    touch = Update(op="update", into="x", table="notes", rows="note", values={"body": const("seen")})
    contracts["get_note"] = with_case(contracts["get_note"], operations=(*case.operations, touch))


def a_write_to_an_undeclared_column(contracts: Contracts) -> None:
    case = case_of(contracts, "archive_note")
    touch = Update(op="update", into="x", table="notes", rows="note", values={"body": const("archived")})
    contracts["archive_note"] = with_case(contracts["archive_note"], operations=(*case.operations, touch))


def a_write_to_an_undeclared_table(contracts: Contracts) -> None:
    case = case_of(contracts, "create_note")
    stray = Insert(op="insert", into="x", table="notebooks", values={"name": const("Stray")})
    contracts["create_note"] = with_case(contracts["create_note"], operations=(*case.operations, stray))


def a_result_that_breaks_its_schema(contracts: Contracts) -> None:
    note = case_of(contracts, "get_note").returns
    assert isinstance(note, ObjectOf)
    broken = ObjectOf(op="object", fields={**note.fields, "id": var("note", "title")})
    contracts["get_note"] = with_case(contracts["get_note"], returns=broken)


def a_return_schema_that_is_not_the_declared_one(contracts: Contracts) -> None:
    contracts["get_note"] = contracts["get_note"].model_copy(update={"returns_schema": {"type": "object"}})


def an_unknown_id_that_is_accepted(contracts: Contracts) -> None:
    find = Find(op="find", into="note", table="notes", where=(eq("id", arg("note_id")),))
    delete = Delete(op="delete", into="gone", table="notes", rows="note")
    contracts["delete_note"] = with_case(contracts["delete_note"], operations=(find, delete))


def a_write_that_changes_nothing(contracts: Contracts) -> None:
    case = case_of(contracts, "archive_note")
    contracts["archive_note"] = with_case(
        contracts["archive_note"], operations=case.operations[:1], returns=var("note")
    )


def a_call_that_never_succeeds(contracts: Contracts) -> None:
    find = Find(
        op="find",
        into="note",
        table="notes",
        where=(Where(test="eq", column="title", value=const("no such title")),),
        missing=case_of(contracts, "get_note").operations[0].missing,  # type: ignore[union-attr]
    )
    contracts["get_note"] = with_case(contracts["get_note"], operations=(find,))


def a_result_that_does_not_come_from_the_state(contracts: Contracts) -> None:
    canned = obj(notebooks=const([{"id": 1, "name": "Work"}]))
    contracts["list_notebooks"] = with_case(contracts["list_notebooks"], returns=canned)


def an_argument_without_a_stated_use(contracts: Contracts) -> None:
    kept = contracts["update_note"].arguments[:-1]
    contracts["update_note"] = contracts["update_note"].model_copy(update={"arguments": kept})


def an_operation_that_fails(contracts: Contracts) -> None:
    case = case_of(contracts, "search_notes")
    nonsense = Find(op="find", into="found", table="notes", many=True, where=(eq("no_such_column", const(1)),))
    contracts["search_notes"] = with_case(contracts["search_notes"], operations=(*case.operations, nonsense))


def an_invented_required_argument(contracts: Contracts) -> None:
    use = contracts["get_note"].arguments[0].model_copy(update={"provenance": Provenance.INVENTED})
    contracts["get_note"] = contracts["get_note"].model_copy(update={"arguments": (use,)})


def an_inert_argument_without_a_reason(contracts: Contracts) -> None:
    uses = contracts["list_notes"].arguments
    inert = uses[2].model_copy(update={"provenance": Provenance.INERT, "role": "inert", "evidence": ""})
    contracts["list_notes"] = contracts["list_notes"].model_copy(update={"arguments": (*uses[:2], inert, uses[3])})


DEFECTS = [
    (ignores_a_filter, "list_notes", "argument_effect"),
    (ignores_an_attribute, "create_note", "argument_effect"),
    (only_repeats_its_argument, "search_notes", "argument_effect"),
    (a_read_that_writes, "get_note", "read_writes_nothing"),
    (a_write_to_an_undeclared_column, "archive_note", "writes_declared"),
    (a_write_to_an_undeclared_table, "create_note", "writes_declared"),
    (a_result_that_breaks_its_schema, "get_note", "returns_schema"),
    (a_return_schema_that_is_not_the_declared_one, "get_note", "returns_schema"),
    (an_unknown_id_that_is_accepted, "delete_note", "boundary_call"),
    (a_write_that_changes_nothing, "archive_note", "write_shown"),
    (a_call_that_never_succeeds, "get_note", "normal_call"),
    (a_result_that_does_not_come_from_the_state, "list_notebooks", "reads_state"),
    (an_argument_without_a_stated_use, "update_note", "argument_declared"),
    (an_operation_that_fails, "search_notes", "no_fault"),
    (an_invented_required_argument, "get_note", "invented_argument"),
    (an_inert_argument_without_a_reason, "list_notes", "inert_argument"),
]


@pytest.mark.parametrize(("change", "tool", "check"), DEFECTS, ids=lambda item: getattr(item, "__name__", None))
def test_a_planted_defect_is_caught_by_its_check(
    spec: McpSpec, make_draft: Make, change: Callable[[Contracts], None], tool: str, check: str
) -> None:
    outcome = validate(spec, make_draft(change))
    assert check in checks_found(outcome, tool)
    assert blocking(outcome.tools[tool])
    blamed = {finding.tool for finding in outcome.findings}
    # A defect may also show where another tool reads what it wrote, never on unrelated tools' own checks.
    assert tool in blamed


def test_a_tool_against_its_annotation_is_refused(spec: McpSpec, make_draft: Make) -> None:
    tools = tuple(
        tool.model_copy(update={"annotations": {"readOnlyHint": True}}) if tool.name == "delete_note" else tool
        for tool in spec.tools
    )
    outcome = validate(spec.model_copy(update={"tools": tools}), make_draft())
    assert checks_found(outcome, "delete_note") == {"effect_annotation"}


def test_a_write_that_no_read_shows_is_caught(spec: McpSpec, make_draft: Make) -> None:
    def hide(contracts: Contracts) -> None:
        for name in ("get_note", "list_notes", "search_notes"):
            del contracts[name]
        # What still reads notes counts them and nothing more.
        count = obj(notes=const(0), notebooks=case_of(contracts, "list_notebooks").returns)
        contracts["list_notebooks"] = with_case(
            contracts["list_notebooks"], returns=count, reads=("notebooks", "notes")
        )

    outcome = validate(spec, make_draft(hide))
    assert "write_visible" in checks_found(outcome, "create_note")


def test_a_row_that_breaks_its_columns_schema_is_caught(spec: McpSpec, make_draft: Make) -> None:
    draft = make_draft()
    rows = {**draft.seed.rows, "notes": [{**row, "title": ""} for row in draft.seed.rows["notes"]]}
    seed = draft.seed.model_copy(update={"rows": rows})
    outcome = validate(spec, draft.model_copy(update={"seed": seed}))
    assert [(f.kind, f.check) for f in outcome.findings] == [(FindingKind.STRUCTURAL, "seed_schema")]


def test_a_row_without_its_parent_is_a_structural_finding(spec: McpSpec, make_draft: Make) -> None:
    draft = make_draft()
    rows = {**draft.seed.rows, "notebooks": []}
    outcome = validate(spec, draft.model_copy(update={"seed": draft.seed.model_copy(update={"rows": rows})}))
    assert [finding.kind for finding in outcome.findings] == [FindingKind.STRUCTURAL]
    assert outcome.findings[0].check == "loads"


def test_a_tool_served_under_a_name_that_the_spec_lacks_is_caught(spec: McpSpec, make_draft: Make) -> None:
    def rename(contracts: Contracts) -> None:
        contracts["get_note"] = contracts["get_note"].model_copy(update={"tool": "fetch_note"})

    outcome = validate(spec, make_draft(rename))
    assert checks_found(outcome, "fetch_note") == {"names_and_schemas"}


Functions = dict[str, Callable[..., Any]]


def patched(monkeypatch: pytest.MonkeyPatch, change: Callable[[Functions], None]) -> None:
    """Let sessions run a rendered backend that was changed after rendering."""

    def load(environment: Environment) -> Functions:
        functions = dict(load_backend(environment))
        change(functions)
        return functions

    monkeypatch.setattr(session, "load_backend", load)


def test_a_backend_that_differs_from_the_contract_is_caught(
    spec: McpSpec, make_draft: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(functions: Functions) -> None:
        original = functions["get_note"]
        functions["get_note"] = lambda state, args: {**original(state, args), "body": "something else"}

    patched(monkeypatch, change)
    assert "agreement" in checks_found(validate(spec, make_draft()), "get_note")


def test_a_backend_that_writes_otherwise_is_caught(
    spec: McpSpec, make_draft: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(functions: Functions) -> None:
        original = functions["update_note"]

        def shouting(state: Any, args: Any) -> Any:
            result = original(state, args)
            row = state.first("notes", [RowTest(test="eq", column="id", value=args["note_id"])])
            state.update("notes", row, {"title": str(row["title"]).upper()})
            return result

        functions["update_note"] = shouting

    patched(monkeypatch, change)
    assert "agreement" in checks_found(validate(spec, make_draft()), "update_note")


def test_a_backend_that_gives_something_else_each_time_is_caught(
    spec: McpSpec, make_draft: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(functions: Functions) -> None:
        original, counter = functions["list_notebooks"], itertools.count()
        functions["list_notebooks"] = lambda state, args: {**original(state, args), "nonce": next(counter)}

    patched(monkeypatch, change)
    assert "determinism" in checks_found(validate(spec, make_draft()), "list_notebooks")


def test_arithmetic_on_a_default_is_no_defect(spec: McpSpec, make_draft: Make) -> None:
    """A sound variation stays sound: the checks are not a comparison with one known environment."""

    def vary(contracts: Contracts) -> None:
        half = Arithmetic(op="arithmetic", fn="add", left=var("page", "total"), right=const(0))
        case = case_of(contracts, "list_notes")
        assert isinstance(case.returns, ObjectOf)
        fields = {**case.returns.fields, "total": Coalesce(op="coalesce", items=(half, const(0)))}
        contracts["list_notes"] = with_case(contracts["list_notes"], returns=ObjectOf(op="object", fields=fields))

    assert validate(spec, make_draft(vary)).findings == []
