"""The verb of a tool, as a person would say it."""

from typing import Any

import pytest

from weft.agents.rules.tasks.actions import Action
from weft.agents.rules.tasks.verbs import Saying, saying, verb_of
from weft.records.contract import Case, Contract, Transition
from weft.records.expression import Const
from weft.records.spec import ToolSpec

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def action(name: str, table: str, to: str = "", label: str = "") -> Action:
    moves = (
        (Transition(op="transition", into="row", table=table, row="row", column="status",
                    to=Const(op="const", value=to)),)
        if to
        else ()
    )  # fmt: skip
    case = Case(intent="transition", table=table, operations=moves, returns=Const(op="const", value=None))
    spec = ToolSpec(name=name, description="", input_schema=SCHEMA, declared={"name": name})
    return Action(
        Contract(tool=name, function=name, effect="write", cases=(case,), returns_schema={}), case, spec, label, ()
    )


@pytest.mark.parametrize(
    ("name", "table", "verb"),
    [
        ("receive_purchase_order", "purchase_orders", "receive"),
        ("receive_transfer", "transfers", "receive"),
        ("receive_return", "returns", "receive"),
        ("cancel_order", "orders", "cancel"),
        ("hospitalize_patient", "patients", "hospitalize"),
        ("orders_cancel", "orders", "cancel"),
        ("acme_post_message", "messages", "post"),
        ("unsnooze_alert", "alerts", "unsnooze"),
        ("check_in_appointment", "appointments", "check in"),
        ("sign_off_report", "reports", "sign off"),
        ("checkOutBook", "books", "check out"),
        ("turn_on_light", "lights", "turn on"),
        ("post_in_channel", "channels", "post"),
    ],
)
def test_the_leading_verb_wins_and_keeps_its_particle(name: str, table: str, verb: str) -> None:
    assert verb_of(action(name, table)) == verb


@pytest.mark.parametrize(
    ("name", "table", "to", "said"),
    [
        ("mark_order_delivered", "orders", "", Saying("mark", " as delivered")),
        ("mark_as_read", "messages", "", Saying("mark", " as read")),
        ("mark_no_show", "appointments", "no_show", Saying("mark", " as a no-show")),
        ("mark_invoice_as_paid", "invoices", "paid", Saying("mark", " as paid")),
        ("mark_invoice", "invoices", "paid", Saying("mark", " as paid")),
        ("lose_deal", "deals", "lost", Saying("mark", " as lost")),
        ("deal_outcome", "deals", "won", Saying("mark", " as won")),
        ("submit_issue_for_review", "issues", "in_review", Saying("submit", " for review")),
    ],
)
def test_a_state_is_said_after_the_target(name: str, table: str, to: str, said: Saying) -> None:
    assert saying(action(name, table, to)) == said


def test_a_verb_may_be_about_something_of_the_target() -> None:
    assert saying(action("check_in_patient", "appointments")) == Saying("check in", "", "patient")
    assert saying(action("check_in_device", "loans"), ["device"]) == Saying("check in", "", "device")
    assert saying(action("check_in_device", "loans")) == Saying("check in")


def test_the_case_of_a_tool_with_several_says_its_verb() -> None:
    assert verb_of(action("manage_order", "orders", label="approve")) == "approve"
