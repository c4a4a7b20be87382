"""Rules that descriptions state: which of them a contract keeps is recorded, and the others are listed."""

from typing import Any

from weft.agents.rules.environment.clauses import allowed_states, clauses_of
from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.envs.fidelity import fidelity_counts, unenforced_rules
from weft.records.contract import ContractSet
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.runtime.session import EnvironmentSession

STATES = ("draft", "open", "on_the_way", "closed")


def drafted(*told: tuple[str, str, dict[str, Any]]) -> ContractSet:
    tools = []
    for name, description, properties in told:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        declared = {"name": name, "description": description, "inputSchema": schema}
        tools.append(ToolSpec(name=name, description=description, input_schema=schema, declared=declared))
    spec = McpSpec(name="server", title="Server", tools=tuple(tools))
    return RulesEnvironmentAuthor().draft(spec, seed=3, size=8).contracts


def test_a_sentence_of_two_failures_states_two_rules() -> None:
    told = "Give it a day. Fails with not_found for an unknown event and with invalid_state when it is closed."
    assert [(c.code, c.condition) for c in clauses_of(told)] == [
        ("not_found", "for an unknown event"),
        ("invalid_state", "when it is closed"),
    ]


def test_the_states_that_pass_follow_from_the_condition() -> None:
    def passing(told: str) -> tuple[Any, ...]:
        return allowed_states(clauses_of(told)[-1], "status", STATES)

    assert passing("Fails with invalid_state when the order is not on the way.") == ("on_the_way",)
    assert passing("Fails with invalid_state unless the order is draft or open.") == ("draft", "open")
    assert passing("Fails with invalid_state for a closed order.") == ("draft", "open", "on_the_way")
    assert passing("Pay it: open becomes closed. Fails with invalid_state otherwise.") == ("open",)
    assert passing("Fails with invalid_state once the kitchen works.") == ()


def test_what_is_kept_and_what_is_not_are_counted_and_listed() -> None:
    told = "Return one note. Fails with not_found. A note cannot be read twice."
    contracts = drafted(
        ("get_note", told, {"note_id": {"type": "integer"}}),
        ("create_note", "Write a note.", {"title": {"type": "string"}}),
    )
    rules = contracts.contract("get_note").stated_rules
    assert [(rule.text, rule.enforced, rule.by) for rule in rules] == [
        ("Fails with not_found.", True, "find"),
        ("A note cannot be read twice.", False, ""),
    ]
    assert unenforced_rules(contracts.contract("get_note")) == ("description: A note cannot be read twice.",)
    assert fidelity_counts(contracts)["rules"] == {"enforced": 1, "unenforced": 1}


STATUS = {"type": "string", "enum": ["draft", "issued", "paid"]}
INVOICE = {
    "type": "object",
    "properties": {
        "invoice_id": {"type": "integer"},
        "status": STATUS,
        "email": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
    },
    "required": ["invoice_id", "status", "email", "created_at"],
}
ROWS = {"type": "object", "properties": {"invoices": {"type": "array", "items": INVOICE}}, "required": ["invoices"]}


def session() -> EnvironmentSession:
    number, text = {"type": "integer"}, {"type": "string"}
    told: list[tuple[str, str, dict[str, Any], dict[str, Any] | None]] = [
        ("get_invoice", "Return one invoice.", {"invoice_id": number}, INVOICE),
        ("find_invoice_by_email", "Return the invoice with this email, ignoring case.", {"email": text}, INVOICE),
        ("list_invoices", "List invoices, newest first.", {}, ROWS),
        ("create_invoice", "Make an invoice.", {"email": text}, INVOICE),
        (
            "delete_invoice",
            "Delete an invoice. Fails with invalid_state when it is not a draft.",
            {"invoice_id": number},
            None,
        ),
    ]
    tools = []
    for name, description, properties, output in told:
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        declared = {"name": name, "description": description, "inputSchema": schema}
        tools.append(
            ToolSpec(name=name, description=description, input_schema=schema, output_schema=output, declared=declared)
        )
    spec = McpSpec(name="server", title="Server", tools=tuple(tools))
    draft = RulesEnvironmentAuthor().draft(spec, seed=3, size=8)
    assert draft.refused == ()
    assert all(rule.enforced for contract in draft.contracts.contracts for rule in contract.stated_rules)
    return EnvironmentSession(Environment(spec=spec, contracts=draft.contracts, seed=draft.seed), draft.seed, 5)


def test_a_call_in_a_state_that_the_description_forbids_is_rejected_and_in_another_goes_through() -> None:
    live = session()
    rows = live.call("list_invoices", {})[0].value["invoices"]
    draft = next(row for row in rows if row["status"] == "draft")
    other = next(row for row in rows if row["status"] != "draft")
    rejected = live.call("delete_invoice", {"invoice_id": other["invoice_id"]})[0]
    assert rejected.value["error"]["code"] == "invalid_state"
    assert live.call("delete_invoice", {"invoice_id": draft["invoice_id"]})[0].outcome == "ok"


def test_rows_come_newest_first_and_text_is_found_whatever_its_case() -> None:
    live = session()
    rows = live.call("list_invoices", {})[0].value["invoices"]
    made = [row["created_at"] for row in rows]
    assert len(set(made)) > 1
    assert made == sorted(made, reverse=True)
    found = live.call("find_invoice_by_email", {"email": rows[0]["email"].upper()})[0].value
    assert found["email"] == rows[0]["email"]
