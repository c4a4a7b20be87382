"""Texts say what the user knows, and leak nothing."""

import pytest

from weft.records.contract import ContractSet
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import DatabaseSchema, InitialState
from weft.records.task import TaskInput, Texts
from weft.tasks.texts import text_problems

TOOL = ToolSpec(name="close_ticket", input_schema={"type": "object"}, declared={})
DESK = Environment(
    spec=McpSpec(name="desk", title="Desk", tools=(TOOL,)),
    contracts=ContractSet(schema=DatabaseSchema(), contracts=()),
    seed=InitialState(),
)
TITLE = TaskInput(name="title", value="login_page broken", words='"login_page broken"')
DUE = TaskInput(name="due", value="2026-05-12", words="12 May 2026")
GOOD = 'Please close the ticket "login_page broken" by 12 May 2026.'


def problems(text: str, *inputs: TaskInput) -> list[str]:
    return text_problems(Texts(vague=text, partial=text, full=text), inputs, "Close the ticket.", DESK)


def test_a_good_text_has_no_problem_and_quoted_values_are_the_users_own() -> None:
    assert problems(GOOD, TITLE, DUE) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Please close the ticket by 12 May 2026.", "does not say title"),
        ('Please use close_ticket on "login_page broken" for 12 May 2026.', "close_ticket"),
        ('Set due_date of "login_page broken" to 12 May 2026.', "due_date"),
        ('Set dueDate of "login_page broken" to 12 May 2026.', "dueDate"),
        ('Close {target} "login_page broken" by 12 May 2026.', "placeholder"),
        ('close "login_page broken" by 12 May 2026.', "capital"),
        ('Close "login_page broken" by 12 May 2026', "end as a sentence"),
        ('Close a old ticket "login_page broken" by 12 May 2026.', "reads badly"),
        ('Close  "login_page broken" by 12 May 2026.', "reads badly"),
        ("", "is empty"),
    ],
)
def test_problems_are_named(text: str, said: str) -> None:
    found = problems(text, TITLE, DUE)
    assert any(said in problem for problem in found), found
