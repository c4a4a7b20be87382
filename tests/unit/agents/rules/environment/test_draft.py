"""The rules author on small specs, one per operation family: what is drafted is run, not read."""

from typing import Any

import pytest

from weft.agents.rules.environment.check import check_draft
from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.records.draft import EnvironmentDraft, Finding, FindingKind
from weft.records.environment import Environment
from weft.records.spec import McpSpec, RefusalCode, ToolSpec
from weft.runtime.session import EnvironmentSession

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def tool(
    name: str,
    properties: dict[str, Any] | None = None,
    required: tuple[str, ...] = (),
    *,
    output: dict[str, Any] | None = None,
    description: str = "",
    read_only: bool | None = None,
) -> ToolSpec:
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    hints = {} if read_only is None else {"readOnlyHint": read_only}
    return ToolSpec(
        name=name,
        description=description,
        input_schema=schema,
        output_schema=output,
        annotations=hints,
        declared={"name": name, "inputSchema": schema},
    )


def draft_of(*tools: ToolSpec) -> tuple[McpSpec, EnvironmentDraft]:
    spec = McpSpec(name="server", title="Server", tools=tools)
    draft = RulesEnvironmentAuthor().draft(spec, seed=3, size=8)
    assert check_draft(spec, draft) == []
    return spec, draft


def session_of(*tools: ToolSpec) -> EnvironmentSession:
    spec, draft = draft_of(*tools)
    assert draft.refused == ()
    environment = Environment(spec=spec, contracts=draft.contracts, seed=draft.seed)
    return EnvironmentSession(environment, draft.seed, 5)


def ok(session: EnvironmentSession, name: str, arguments: dict[str, Any]) -> Any:
    result, _ = session.call(name, arguments)
    assert result.outcome == "ok", result
    return result.value


def error(session: EnvironmentSession, name: str, arguments: dict[str, Any]) -> str:
    result, changes = session.call(name, arguments)
    assert result.outcome == "error", result
    assert changes.empty
    return str(result.value["error"]["code"])


NOTES = (
    tool(
        "create_note",
        {"title": TEXT, "body": TEXT, "priority": {"type": "string", "enum": ["low", "high"]}},
        ("title",),
    ),
    tool("get_note", {"note_id": INTEGER}, ("note_id",)),
    tool("list_notes", {"priority": {"type": "string", "enum": ["low", "high"]}, "limit": INTEGER, "cursor": TEXT}),
    tool("update_note", {"note_id": INTEGER, "title": TEXT, "body": TEXT}, ("note_id",)),
    tool("delete_note", {"note_id": INTEGER}, ("note_id",)),
    tool("search_notes", {"query": TEXT}, ("query",)),
    tool("count_notes", {"priority": TEXT}),
)


def test_what_is_created_can_be_read_changed_and_deleted() -> None:
    session = session_of(*NOTES)
    made = ok(session, "create_note", {"title": "Milk", "body": "two litres", "priority": "high"})
    key = {"note_id": made["id"]}
    assert ok(session, "get_note", key)["body"] == "two litres"
    changed = ok(session, "update_note", {**key, "title": "Oat milk"})
    assert (changed["title"], changed["body"]) == ("Oat milk", "two litres")
    assert [note["id"] for note in ok(session, "search_notes", {"query": "oat MILK"})["notes"]] == [made["id"]]
    assert ok(session, "delete_note", key)["deleted"] is True
    assert error(session, "get_note", key) == "not_found"


def test_lists_filter_and_page_through_all_rows() -> None:
    session = session_of(*NOTES)
    whole = ok(session, "list_notes", {})
    first = ok(session, "list_notes", {"limit": 3})
    second = ok(session, "list_notes", {"limit": 3, "cursor": first["next_cursor"]})
    assert first["notes"] + second["notes"] == whole["notes"][:6]
    assert all(note["priority"] == "high" for note in ok(session, "list_notes", {"priority": "high"})["notes"])


def test_null_clears_an_attribute_and_absence_leaves_it() -> None:
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    session = session_of(
        tool("create_card", {"name": TEXT, "note": TEXT}, ("name",)),
        tool("get_card", {"card_id": TEXT}, ("card_id",)),
        tool("update_card", {"card_id": TEXT, "name": TEXT, "note": nullable}, ("card_id",)),
    )
    card = ok(session, "create_card", {"name": "a", "note": "b"})
    assert ok(session, "update_card", {"card_id": card["id"], "name": "c"})["note"] == "b"
    assert ok(session, "update_card", {"card_id": card["id"], "note": None})["note"] is None


def test_state_verbs_check_the_present_state() -> None:
    session = session_of(
        tool("create_ticket", {"title": TEXT}, ("title",)),
        tool("get_ticket", {"ticket_id": INTEGER}, ("ticket_id",)),
        tool("close_ticket", {"ticket_id": INTEGER}, ("ticket_id",)),
        tool("reopen_ticket", {"ticket_id": INTEGER}, ("ticket_id",)),
    )
    key = {"ticket_id": ok(session, "create_ticket", {"title": "x"})["id"]}
    assert ok(session, "close_ticket", key)["status"] == "closed"
    assert error(session, "close_ticket", key) == "invalid_state"
    assert ok(session, "reopen_ticket", key)["status"] == "open"


def test_links_join_two_entities_and_lists_follow_them() -> None:
    session = session_of(
        tool("create_task", {"name": TEXT}, ("name",)),
        tool("get_task", {"task_id": INTEGER}, ("task_id",)),
        tool("create_tag", {"name": TEXT}, ("name",)),
        tool("get_tag", {"tag_id": INTEGER}, ("tag_id",)),
        tool("add_tag_to_task", {"task_id": INTEGER, "tag_id": INTEGER}, ("task_id", "tag_id")),
        tool("remove_tag_from_task", {"task_id": INTEGER, "tag_id": INTEGER}, ("task_id", "tag_id")),
        tool("get_tags_for_task", {"task_id": INTEGER}, ("task_id",)),
    )
    task = ok(session, "create_task", {"name": "paint"})["id"]
    tag = ok(session, "create_tag", {"name": "urgent"})["id"]
    pair = {"task_id": task, "tag_id": tag}
    assert ok(session, "add_tag_to_task", pair)["tag_ids"] == [tag]
    assert error(session, "add_tag_to_task", pair) == "conflict"
    assert [item["id"] for item in ok(session, "get_tags_for_task", {"task_id": task})["tags"]] == [tag]
    ok(session, "remove_tag_from_task", pair)
    assert error(session, "remove_tag_from_task", pair) == "not_found"


def test_an_action_enum_gives_one_case_per_value_with_its_own_needs() -> None:
    actions = {"type": "string", "enum": ["create", "get", "list", "delete"]}
    session = session_of(tool("manage_labels", {"action": actions, "label_id": INTEGER, "name": TEXT}, ("action",)))
    made = ok(session, "manage_labels", {"action": "create", "name": "red"})
    assert ok(session, "manage_labels", {"action": "get", "label_id": made["id"]})["name"] == "red"
    assert error(session, "manage_labels", {"action": "get"}) == "invalid_argument"
    ok(session, "manage_labels", {"action": "delete", "label_id": made["id"]})
    assert made["id"] not in [row["id"] for row in ok(session, "manage_labels", {"action": "list"})["labels"]]


def test_a_declared_result_is_met_and_its_properties_are_stored() -> None:
    order = {
        "type": "object",
        "properties": {
            "id": INTEGER,
            "customer": TEXT,
            "total": {"type": "number"},
            "status": {"type": "string", "enum": ["new", "paid"]},
        },
        "required": ["id", "customer", "status"],
    }
    listed = {
        "type": "object",
        "properties": {"orders": {"type": "array", "items": order}, "count": INTEGER, "success": {"type": "boolean"}},
        "required": ["orders", "count", "success"],
    }
    session = session_of(
        tool("create_order", {"customer": TEXT, "total": {"type": "number"}}, ("customer", "total"), output=order),
        tool("list_orders", {"status": {"type": "string", "enum": ["new", "paid", "all"]}}, output=listed),
    )
    made = ok(session, "create_order", {"customer": "Ada", "total": 12.5})
    assert made["status"] == "new"
    found = ok(session, "list_orders", {"status": "all"})
    assert made in found["orders"]
    assert found["count"] == len(found["orders"])


def test_a_result_declared_as_one_text_holds_the_row() -> None:
    output = {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}
    session = session_of(
        tool("create_memo", {"title": TEXT}, ("title",), output=output),
        tool("list_memos", {}, output=output),
    )
    ok(session, "create_memo", {"title": "Buy stamps"})
    assert "Buy stamps" in ok(session, "list_memos", {})["result"]


def test_deleting_a_parent_takes_what_cannot_be_without_it() -> None:
    session = session_of(
        tool("create_board", {"name": TEXT}, ("name",)),
        tool("delete_board", {"board_id": INTEGER}, ("board_id",)),
        tool("create_column", {"board_id": INTEGER, "name": TEXT}, ("board_id", "name")),
        tool("get_column", {"column_id": INTEGER}, ("column_id",)),
    )
    board = ok(session, "create_board", {"name": "b"})["id"]
    column = ok(session, "create_column", {"board_id": board, "name": "c"})["id"]
    ok(session, "delete_board", {"board_id": board})
    assert error(session, "get_column", {"column_id": column}) == "not_found"
    assert error(session, "create_column", {"board_id": board, "name": "d"}) == "not_found"


def test_a_bulk_argument_is_one_row_per_element() -> None:
    item = {"type": "object", "properties": {"email": TEXT, "name": TEXT}, "required": ["email"]}
    session = session_of(
        tool("bulk_create_contacts", {"contacts": {"type": "array", "items": item}}, ("contacts",)),
        tool("list_contacts"),
    )
    before = ok(session, "list_contacts", {})["count"]
    made = ok(session, "bulk_create_contacts", {"contacts": [{"email": "a@x.org"}, {"email": "b@x.org", "name": "B"}]})
    assert [row["name"] for row in made["contacts"]] == [None, "B"]
    assert ok(session, "list_contacts", {})["count"] == before + 2


@pytest.mark.parametrize("name", ["class", "from", "$filter", "cik-A", "2fa", "naïve", "Name"])
def test_any_json_name_can_be_an_attribute(name: str) -> None:
    session = session_of(
        tool("create_item", {"label": TEXT, name: TEXT}, ("label",)),
        tool("get_item", {"item_id": INTEGER}, ("item_id",)),
    )
    made = ok(session, "create_item", {"label": "l", name: "v"})
    assert ok(session, "get_item", {"item_id": made["id"]})[name] == "v"


def test_names_that_differ_in_case_or_punctuation_stay_apart() -> None:
    _, draft = draft_of(
        tool("read-note", {"note_id": INTEGER}, ("note_id",)),
        tool("read_note", {"note_id": INTEGER}, ("note_id",)),
        tool("read.note", {"note_id": INTEGER}, ("note_id",)),
    )
    assert len({contract.function for contract in draft.contracts.contracts}) == 3


@pytest.mark.parametrize(
    ("spec_tool", "code"),
    [
        (tool("run_sql", {"sql": TEXT}, ("sql",)), RefusalCode.QUERY_LANGUAGE),
        (tool("execute_python", {"code": TEXT}, ("code",), description="Run Python code"), RefusalCode.FREE_CODE),
        (tool("take_screenshot", {"name": TEXT}), RefusalCode.EXTERNAL_WORLD),
        (tool("web_search", {"query": TEXT}, ("query",), description="Search the web"), RefusalCode.EXTERNAL_WORLD),
        (tool("convert_units", {"value": INTEGER}, ("value",)), RefusalCode.STATELESS),
        (tool("update_profile"), RefusalCode.NOTHING_TO_WRITE),
        (tool("delete_user", {"user_id": INTEGER}, ("user_id",), read_only=True), RefusalCode.ANNOTATION_CONFLICT),
    ],
)
def test_what_no_state_can_stand_for_is_refused_with_a_type(spec_tool: ToolSpec, code: RefusalCode) -> None:
    _, draft = draft_of(spec_tool, *NOTES)
    refused = next(item for item in draft.refused if item.subject == f"server/{spec_tool.name}")
    assert (refused.code, bool(refused.message), bool(refused.remedy)) == (code, True, True)


def test_a_control_argument_is_inert_with_its_reason() -> None:
    _, draft = draft_of(
        tool("list_jobs", {"timeout_ms": INTEGER, "status": TEXT}), tool("create_job", {"status": TEXT})
    )
    uses = {use.path: use for use in draft.contracts.contract("list_jobs").arguments}
    assert (uses["timeout_ms"].provenance, uses["timeout_ms"].evidence) == ("inert", "timeout")
    assert uses["status"].provenance == "inferred"


def test_drafts_are_the_same_every_time() -> None:
    first, second = draft_of(*NOTES)[1], draft_of(*NOTES)[1]
    assert first.model_dump_json() == second.model_dump_json()


def test_revision_refuses_what_a_finding_names_and_keeps_it_refused() -> None:
    spec, draft = draft_of(*NOTES)
    author = RulesEnvironmentAuthor()
    finding = Finding(
        kind=FindingKind.MAPPING, check="argument_effect", tool="count_notes", argument="priority", message="no effect"
    )
    revised = author.revise(spec, draft, [finding], seed=3, size=8)
    assert [(item.subject, item.code) for item in revised.refused] == [("server/count_notes", RefusalCode.NO_EFFECT)]
    other = finding.model_copy(update={"tool": "search_notes", "check": "normal_call"})
    again = author.revise(spec, revised, [other], seed=3, size=8)
    assert [item.code for item in again.refused] == [RefusalCode.VALIDATION_FAILED, RefusalCode.NO_EFFECT] or len(
        again.refused
    ) == 2
    assert check_draft(spec, again) == []


FILES = (
    tool("read_file", {"path": TEXT, "head": INTEGER}, ("path",)),
    tool("write_file", {"path": TEXT, "content": TEXT}, ("path", "content")),
    tool("list_directory", {"path": TEXT}, ("path",)),
    tool("move_file", {"source": TEXT, "destination": TEXT}, ("source", "destination")),
    tool("delete_file", {"path": TEXT}, ("path",)),
    tool("create_directory", {"path": TEXT}, ("path",)),
)


def test_file_tools_work_on_the_workspace_and_never_outside_it() -> None:
    session = session_of(*FILES)
    ok(session, "create_directory", {"path": "drafts"})
    ok(session, "write_file", {"path": "drafts/a.txt", "content": "one\ntwo\n"})
    assert ok(session, "read_file", {"path": "drafts/a.txt", "head": 1})["content"].strip() == "one"
    ok(session, "move_file", {"source": "drafts/a.txt", "destination": "b.txt"})
    assert session.files()["b.txt"] == "one\ntwo\n"
    assert error(session, "read_file", {"path": "drafts/a.txt"}) == "not_found"
    assert error(session, "read_file", {"path": "../../etc/passwd"}) == "outside_workspace"
    ok(session, "delete_file", {"path": "b.txt"})
    assert "b.txt" not in session.files()
