"""What declarations mean besides the verb of the name: drafted on small specs and shown by running them."""

from functools import partial
from typing import Any

import anyio
import pytest

from weft.agents.rules.environment.check import check_draft
from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.agents.rules.environment.lexicon import range_side
from weft.envs.synthesis import synthesise
from weft.records.draft import EnvironmentDraft, Finding, FindingKind
from weft.records.environment import Environment
from weft.records.spec import McpSpec, RefusalCode, ToolSpec
from weft.runtime.session import EnvironmentSession

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
MOMENT = {"type": "string", "format": "date-time"}
DAY = {"type": "string", "format": "date"}


def schema_of(properties: dict[str, Any], required: tuple[str, ...] | None = None) -> dict[str, Any]:
    needed = list(properties) if required is None else list(required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def tool(
    name: str, schema: dict[str, Any] | None = None, output: dict[str, Any] | None = None, description: str = ""
) -> ToolSpec:
    given = schema or {"type": "object"}
    declared: dict[str, Any] = {"name": name, "description": description, "inputSchema": given}
    if output is not None:
        declared["outputSchema"] = output
    return ToolSpec(name=name, description=description, input_schema=given, output_schema=output, declared=declared)


def rows(name: str, properties: dict[str, Any], required: tuple[str, ...] | None = None) -> dict[str, Any]:
    return schema_of({name: {"type": "array", "items": schema_of(properties, required)}})


def draft_of(*tools: ToolSpec) -> tuple[McpSpec, EnvironmentDraft]:
    spec = McpSpec(name="server", title="Server", tools=tools)
    draft = RulesEnvironmentAuthor().draft(spec, seed=3, size=8)
    assert check_draft(spec, draft) == []
    return spec, draft


def session_of(*tools: ToolSpec) -> EnvironmentSession:
    spec, draft = draft_of(*tools)
    assert draft.refused == ()
    return EnvironmentSession(Environment(spec=spec, contracts=draft.contracts, seed=draft.seed), draft.seed, 5)


def ok(session: EnvironmentSession, name: str, arguments: dict[str, Any]) -> Any:
    result, _ = session.call(name, arguments)
    assert result.outcome == "ok", result
    return result.value


def code(session: EnvironmentSession, name: str, arguments: dict[str, Any]) -> str:
    result, changes = session.call(name, arguments)
    assert result.outcome == "error", result
    assert changes.empty
    return str(result.value["error"]["code"])


def test_a_create_without_arguments_makes_a_row_that_others_read() -> None:
    session = session_of(tool("add_tick"), tool("list_ticks"), tool("count_ticks"))
    before = ok(session, "count_ticks", {})["count"]
    ok(session, "add_tick", {})
    assert ok(session, "count_ticks", {})["count"] == before + 1


def test_a_create_without_arguments_that_nothing_reads_writes_nothing() -> None:
    _, draft = draft_of(tool("create_marker"))
    assert [refusal.code for refusal in draft.refused] == [RefusalCode.NOTHING_TO_WRITE]


def test_each_branch_of_a_root_union_names_the_row_in_its_own_way() -> None:
    either = {"oneOf": [schema_of({"page_id": INTEGER}), schema_of({"title": TEXT})]}
    session = session_of(
        tool("create_page", schema_of({"title": TEXT})),
        tool("get_page", schema_of({"page_id": INTEGER})),
        tool("list_pages"),
        tool("archive_page", either),
    )
    page = ok(session, "create_page", {"title": "Unheard of"})
    assert ok(session, "archive_page", {"title": "Unheard of"})["id"] == page["id"]
    assert code(session, "archive_page", {"title": "No such page"}) == "not_found"
    assert code(session, "archive_page", {}) == "invalid_argument"


def test_a_name_that_only_ends_in_a_verb_leaves_the_description_to_speak() -> None:
    session = session_of(
        tool("create_page", schema_of({"title": TEXT})),
        tool("get_page", schema_of({"page_id": INTEGER})),
        tool("no_type", {"properties": {"page_id": INTEGER}, "required": ["page_id"]}, description="Delete a page."),
    )
    page = ok(session, "create_page", {"title": "Short-lived"})
    ok(session, "no_type", {"page_id": page["id"]})
    assert code(session, "get_page", {"page_id": page["id"]}) == "not_found"


def test_two_arguments_whose_names_differ_in_case_are_two_attributes() -> None:
    session = session_of(
        tool("create_filing", schema_of({"Name": TEXT, "name": TEXT})), tool("get_filing", schema_of({"id": INTEGER}))
    )
    made = ok(session, "create_filing", {"Name": "Upper", "name": "lower"})
    found = ok(session, "get_filing", {"id": made["id"]})
    assert (found["Name"], found["name"]) == ("Upper", "lower")


@pytest.mark.parametrize(
    ("words", "description", "expected"),
    [
        (("start", "after"), "", ("gt", ("start",))),
        (("start", "before"), "", ("lt", ("start",))),
        (("created", "after"), "On or after this moment.", ("gte", ("created",))),
        (("released", "from"), "", ("gte", ("released",))),
        (("max", "price"), "", ("lte", ("price",))),
        (("title",), "", ("", ("title",))),
    ],
)
def test_bounds_take_their_edge_in_unless_the_word_leaves_it_out(
    words: tuple[str, ...], description: str, expected: tuple[str, tuple[str, ...]]
) -> None:
    assert range_side(words, description) == expected


def test_a_window_compares_instants_whatever_their_offset() -> None:
    session = session_of(
        tool("create_event", schema_of({"title": TEXT, "start": MOMENT})),
        tool("list_events", schema_of({"start_after": MOMENT, "start_before": MOMENT}, ())),
    )
    for title, start in (("a", "2026-08-21T16:00:00.000Z"), ("b", "2026-08-22T01:00:00+09:00")):
        ok(session, "create_event", {"title": title, "start": start})
    ok(session, "create_event", {"title": "c", "start": "2026-08-22T00:00:00Z"})
    window = {"start_after": "2026-08-21T15:30:00Z", "start_before": "2026-08-21T17:00:00Z"}
    assert [event["title"] for event in ok(session, "list_events", window)["events"]] == ["a", "b"]
    edge = {"start_after": "2026-08-21T16:00:00Z", "start_before": "2026-08-21T17:00:00Z"}
    assert ok(session, "list_events", edge)["events"] == []


def test_a_bound_maps_to_the_declared_day_and_takes_in_the_last_one() -> None:
    shown = {"app_id": INTEGER, "title": TEXT, "released_on": DAY}
    _, draft = draft_of(
        tool("create_app", schema_of({"title": TEXT, "released_on": DAY}), schema_of(shown)),
        tool("list_apps", schema_of({"released_from": DAY, "released_to": DAY}, ()), rows("apps", shown)),
    )
    uses = {use.path: use.column for use in draft.contracts.contract("list_apps").arguments}
    assert uses == {"released_from": "released_on", "released_to": "released_on"}


def test_no_column_is_called_by_a_bare_preposition() -> None:
    shown = {"app_id": INTEGER, "title": TEXT, "updated_on": DAY}
    _, draft = draft_of(tool("create_app", schema_of({"title": TEXT})), tool("list_apps", None, rows("apps", shown)))
    assert "on" not in [column.name for column in draft.contracts.schema_.tables[0].columns]


def test_averages_and_counts_come_from_the_rows_and_no_rows_give_null() -> None:
    mean = schema_of({"count": INTEGER, "mean": {"type": ["number", "null"]}})
    session = session_of(
        tool("add_value", schema_of({"series": TEXT, "value": NUMBER})),
        tool("average_values", schema_of({"series": TEXT}), mean, "Average of a series."),
    )
    for value in (1, 2, 6):
        ok(session, "add_value", {"series": "s", "value": value})
    assert ok(session, "average_values", {"series": "s"}) == {"count": 3, "mean": 3}
    assert ok(session, "average_values", {"series": "empty"}) == {"count": 0, "mean": None}


def test_totals_per_group_count_and_add_up_each_group() -> None:
    stage = {"type": "string", "enum": ["open", "won"]}
    groups = rows("stages", {"stage": stage, "deal_count": INTEGER, "total_amount": NUMBER})
    session = session_of(
        tool("create_deal", schema_of({"name": TEXT, "stage": stage, "amount": NUMBER, "owner": TEXT})),
        tool("list_deals", schema_of({"owner": TEXT}, ())),
        tool("sum_deals_by_stage", schema_of({"owner": TEXT}, ()), groups),
    )
    for amount in (2, 5):
        ok(session, "create_deal", {"name": "x", "stage": "won", "amount": amount, "owner": "me"})
    found = ok(session, "sum_deals_by_stage", {"owner": "me"})
    assert found == {"stages": [{"stage": "won", "deal_count": 2, "total_amount": 7}]}


def test_the_last_row_is_the_newest_one_and_null_when_there_is_none() -> None:
    session = session_of(
        tool("create_user", schema_of({"name": TEXT})),
        tool("clear_users", None, None, "Delete all users."),
        tool("last_user", None, {"type": ["string", "null"]}, "Name of the last user or null."),
    )
    ok(session, "create_user", {"name": "Ana"})
    assert ok(session, "last_user", {}) == "Ana"
    ok(session, "clear_users", {})
    assert ok(session, "last_user", {}) is None


def test_a_transition_starts_only_from_the_states_that_the_description_names() -> None:
    states = {"type": "string", "enum": ["booked", "checked_in", "no_show", "cancelled"]}
    shown = schema_of({"appointment_id": INTEGER, "reason": TEXT, "status": states})
    one = schema_of({"appointment_id": INTEGER})
    session = session_of(
        tool("book_appointment", schema_of({"reason": TEXT}), shown),
        tool("get_appointment", one, shown),
        tool("check_in_patient", one, shown, "Record that the patient has come: booked becomes checked_in."),
        tool("mark_no_show", one, shown, "The patient did not come: booked becomes no_show."),
    )
    number = ok(session, "book_appointment", {"reason": "check-up"})["appointment_id"]
    assert ok(session, "check_in_patient", {"appointment_id": number})["status"] == "checked_in"
    assert code(session, "mark_no_show", {"appointment_id": number}) == "invalid_state"


def test_a_state_verb_with_a_boolean_sets_the_flag_both_ways() -> None:
    session = session_of(
        tool("create_note", schema_of({"title": TEXT})),
        tool("get_note", schema_of({"note_id": INTEGER})),
        tool("pin_note", schema_of({"note_id": INTEGER, "is_pinned": FLAG})),
    )
    number = ok(session, "create_note", {"title": "x"})["id"]
    assert ok(session, "pin_note", {"note_id": number, "is_pinned": True})["pinned"] is True
    assert ok(session, "pin_note", {"note_id": number, "is_pinned": False})["pinned"] is False


def test_a_name_is_unique_inside_what_holds_it() -> None:
    both = schema_of({"note_id": INTEGER, "tag": TEXT})
    session = session_of(
        tool("create_note", schema_of({"title": TEXT})),
        tool("get_note", schema_of({"note_id": INTEGER})),
        tool("add_tag", both),
        tool("remove_tag", both),
        tool("list_tags", schema_of({"note_id": INTEGER})),
    )
    one, two = (ok(session, "create_note", {"title": title})["id"] for title in ("a", "b"))
    ok(session, "add_tag", {"note_id": one, "tag": "meeting"})
    ok(session, "add_tag", {"note_id": two, "tag": "meeting"})
    assert code(session, "add_tag", {"note_id": one, "tag": "meeting"}) == "conflict"
    ok(session, "remove_tag", {"note_id": one, "tag": "meeting"})
    assert ok(session, "list_tags", {"note_id": one})["tags"] == []


def test_things_in_a_holder_are_joined_by_the_table_that_links_them() -> None:
    pair = schema_of({"watchlist_id": INTEGER, "app_id": INTEGER})
    app = {"app_id": INTEGER, "title": TEXT}
    added = schema_of({"watchlist_id": INTEGER, "app_id": INTEGER, "added_at": MOMENT})
    tools = (
        tool("create_watchlist", schema_of({"name": TEXT})),
        tool("get_watchlist", schema_of({"watchlist_id": INTEGER})),
        tool("list_apps", schema_of({"title": TEXT}, ()), rows("apps", app)),
        tool("get_app", schema_of({"app_id": INTEGER}), schema_of(app)),
        tool("add_app_to_watchlist", pair, added),
        tool("remove_app_from_watchlist", pair),
        tool("list_watchlist_apps", schema_of({"watchlist_id": INTEGER}), rows("apps", app)),
    )
    _, draft = draft_of(*tools)
    assert sorted(table.name for table in draft.contracts.schema_.tables) == [
        "applications", "watchlist_applications", "watchlists",
    ]  # fmt: skip
    session = session_of(*tools)
    number = ok(session, "create_watchlist", {"name": "mine"})["id"]
    known = ok(session, "list_apps", {})["apps"][0]
    linked = ok(session, "add_app_to_watchlist", {"watchlist_id": number, "app_id": known["app_id"]})
    assert linked["added_at"].startswith("20")
    assert not linked["added_at"].startswith("1970")
    assert ok(session, "list_watchlist_apps", {"watchlist_id": number})["apps"] == [known]
    ok(session, "remove_app_from_watchlist", {"watchlist_id": number, "app_id": known["app_id"]})
    assert ok(session, "list_watchlist_apps", {"watchlist_id": number})["apps"] == []


def test_moments_come_from_the_clock_or_from_the_transition_of_their_name() -> None:
    later = {"type": ["string", "null"], "format": "date-time"}
    shown = schema_of({"ticket_id": INTEGER, "title": TEXT, "opened_at": MOMENT, "closed_at": later})
    one = schema_of({"ticket_id": INTEGER})
    session = session_of(
        tool("create_ticket", schema_of({"title": TEXT}), shown),
        tool("get_ticket", one, shown),
        tool("close_ticket", one, shown),
    )
    made = ok(session, "create_ticket", {"title": "x"})
    assert made["closed_at"] is None
    assert made["opened_at"] >= session.clock[:10]
    closed = ok(session, "close_ticket", {"ticket_id": made["ticket_id"]})
    assert closed["closed_at"] > made["opened_at"]


def test_a_draft_that_gives_an_email_back_is_an_email() -> None:
    status = {"type": "string", "enum": ["sent", "draft"]}
    mail = schema_of({"email_id": INTEGER, "subject": TEXT, "status": status})
    given = schema_of({"email": mail})
    session = session_of(
        tool("send_email", schema_of({"subject": TEXT}), given),
        tool("create_draft", schema_of({"subject": TEXT}), given),
        tool("update_draft", schema_of({"email_id": INTEGER, "subject": TEXT}), given),
        tool("get_email", schema_of({"email_id": INTEGER}), given),
        tool("list_emails", schema_of({"status": status}, ())),
    )
    assert ok(session, "send_email", {"subject": "a"})["email"]["status"] == "sent"
    made = ok(session, "create_draft", {"subject": "b"})["email"]
    assert made["status"] == "draft"
    ok(session, "update_draft", {"email_id": made["email_id"], "subject": "c"})
    assert ok(session, "get_email", {"email_id": made["email_id"]})["email"]["subject"] == "c"


def test_a_required_result_that_nothing_gives_is_counted_as_invented() -> None:
    shown = schema_of({"order_id": INTEGER, "item": TEXT, "total_price": NUMBER})
    _, draft = draft_of(
        tool("create_order", schema_of({"item": TEXT}), shown),
        tool("get_order", schema_of({"order_id": INTEGER}), shown),
    )
    assert draft.contracts.contract("create_order").invented_returns == ("total_price",)
    assert draft.contracts.contract("get_order").invented_returns == ()


def test_revision_takes_the_next_reading_before_it_refuses() -> None:
    spec, draft = draft_of(
        tool("create_task", schema_of({"title": TEXT, "owner_name": TEXT, "owner_team": TEXT})),
        tool("list_tasks", schema_of({"owner": TEXT}, ())),
    )
    author, seen = RulesEnvironmentAuthor(), []
    finding = Finding(
        kind=FindingKind.MAPPING, check="argument_effect", tool="list_tasks", argument="owner", message="no effect"
    )
    for _ in range(8):
        seen.append([use.column for c in draft.contracts.contracts if c.tool == "list_tasks" for use in c.arguments])
        draft = author.revise(spec, draft, [finding], seed=3, size=8)
        if draft.refused:
            break
    assert ["owner_name"] in seen
    assert ["owner_team"] in seen
    assert [refusal.code for refusal in draft.refused] == [RefusalCode.NO_EFFECT]


def test_a_server_of_these_readings_certifies_whole() -> None:
    status = {"type": "string", "enum": ["open", "closed"]}
    shown = schema_of({"ticket_id": INTEGER, "title": TEXT, "status": status, "opened_at": MOMENT})
    counts = rows("counts", {"status": status, "ticket_count": INTEGER})
    spec = McpSpec(
        name="tickets",
        title="Tickets",
        tools=(
            tool("create_ticket", schema_of({"title": TEXT}), shown),
            tool("get_ticket", schema_of({"ticket_id": INTEGER}), shown),
            tool("close_ticket", schema_of({"ticket_id": INTEGER}), shown),
            tool("count_tickets_by_status", None, counts),
            tool("get_latest_ticket", None, shown),
        ),
    )
    result = anyio.run(partial(synthesise, spec, RulesEnvironmentAuthor(), seed=5))
    assert result.refusals == ()
    assert result.environment is not None
    assert result.environment.certificate is not None
    assert result.environment.certificate.kind == "stateful"
