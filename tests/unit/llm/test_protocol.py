import json

import pytest

from weft.llm.protocol import parse_spoken


def calls_of(text: str) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in parse_spoken(text).calls]


def test_a_call_inside_reasoning_does_not_count() -> None:
    text = (
        '<think>maybe <tool_call>{"name": "delete_note", "arguments": {"note_id": 1}}</tool_call> no</think>\n'
        '<tool_call>{"name": "get_note", "arguments": {"note_id": 1}}</tool_call>'
    )
    spoken = parse_spoken(text)
    assert calls_of(text) == [("get_note", {"note_id": 1})]
    assert spoken.reasoning is not None
    assert "delete_note" in spoken.reasoning
    assert (spoken.content, spoken.faults) == ("", ())


def test_tags_inside_a_string_mean_nothing() -> None:
    text = '<tool_call>{"name": "create_note", "arguments": {"title": "use </tool_call> to <think> end"}}</tool_call>'
    assert calls_of(text) == [("create_note", {"title": "use </tool_call> to <think> end"})]


def test_reasoning_that_is_never_closed_has_no_calls_and_is_shown_as_sampled() -> None:
    text = '<think>never closed <tool_call>{"name": "delete_note", "arguments": {}}</tool_call>'
    spoken = parse_spoken(text)
    assert (spoken.calls, spoken.content, spoken.faults) == ((), text, ("malformed_reasoning",))


def test_reasoning_that_the_prompt_opened_ends_at_its_tag() -> None:
    text = 'I might <tool_call>{"name": "drop"}</tool_call></think>ok<tool_call>{"name": "list_notes"}</tool_call>'
    spoken = parse_spoken(text)
    assert calls_of(text) == [("list_notes", {})]
    assert (spoken.content, spoken.faults) == ("ok", ())


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "create_note", "arguments": {"title": "x"}}',  # cut before its end
        "The markup is `<tool_call>{...}</tool_call>`.",
        '<tool_call>{"name": 3}</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        '<tool_call>{"name": "a", "name": "b"}</tool_call>',
        '<tool_call>{"name": "a", "arguments": {"x": NaN}}</tool_call>',
        '<tool_call>["a"]</tool_call>',
        "<tool_call></tool_call>",
        "words </tool_call>",
        '<tool_call>{"name": "a", "arguments": ' + "[" * 100_000 + "</tool_call>",
    ],
)
def test_a_malformed_call_does_not_run_and_stays_in_the_content(text: str) -> None:
    spoken = parse_spoken(text)
    assert spoken.calls == ()
    assert spoken.content == text
    assert spoken.faults == ("malformed_call",)


def test_arguments_keep_the_text_that_was_sampled() -> None:
    (call,) = parse_spoken('<tool_call>\n{"arguments": {"b":1.50,  "a": "\\u00e9"}, "name": "f"}\n</tool_call>').calls
    assert call.arguments == '{"b":1.50,  "a": "\\u00e9"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<tool_call>\n{"name": "get", "arguments": {"id": 42}}\n</tool_call>', [("get", {"id": 42})]),
        ('<tool_call>{"name": "add_tick", "arguments": {}}</tool_call>', [("add_tick", {})]),
        (
            '<tool_call>{"name": "sum", "arguments": {"numbers": [{"v": 1}, {"v": -2.5e3}]}}</tool_call>',
            [("sum", {"numbers": [{"v": 1}, {"v": -2500.0}]})],
        ),
        (
            'Sure.<tool_call>{"name": "set", "arguments": {"why": "\\"quoted\\" \\u00e9 🍸 }}"}}</tool_call>',
            [("set", {"why": '"quoted" é 🍸 }}'})],
        ),
        (
            '<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call><tool_call>{"name": "b"}</tool_call> bye',
            [("a", {"x": 1}), ("b", {})],
        ),
    ],
)
def test_well_formed_calls_are_read_in_order(text: str, expected: list[tuple[str, object]]) -> None:
    assert calls_of(text) == expected
    assert parse_spoken(text).faults == ()


def test_a_good_call_beside_a_malformed_one_still_counts() -> None:
    spoken = parse_spoken('<tool_call>{"name": "a"}</tool_call><tool_call>{"name": </tool_call>')
    assert [call.name for call in spoken.calls] == ["a"]
    assert spoken.faults == ("malformed_call",)
