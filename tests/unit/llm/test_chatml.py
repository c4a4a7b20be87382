from typing import Any

from weft.llm.chatml import after, render

BOTH: list[dict[str, Any]] = [
    {"role": "user", "content": "both"},
    {"role": "assistant", "content": "CALL A CALL B"},
    {"role": "tool", "content": "ra"},
    {"role": "tool", "content": "rb"},
    {"role": "assistant", "content": "done"},
]
TEXT = (
    "<|im_start|>user\nboth<|im_end|>\n<|im_start|>assistant\nCALL A CALL B<|im_end|>\n<|im_start|>user\n"
    "<tool_response>\nra\n</tool_response>\n<tool_response>\nrb\n</tool_response><|im_end|>\n"
    "<|im_start|>assistant\ndone<|im_end|>\n"
)


def said(pieces) -> str:  # noqa: ANN001
    return "".join(piece.text for piece in pieces)


def test_two_tool_results_share_one_user_turn() -> None:
    assert said(render(BOTH, [], answer=False)) == TEXT


def test_what_is_trained_is_each_assistant_message_with_its_end_and_not_the_line_break() -> None:
    spans: list[str] = []
    open_span = False
    for piece in render(BOTH, [], answer=False):
        if piece.trained and open_span:
            spans[-1] += piece.text
        elif piece.trained:
            spans.append(piece.text)
        open_span = piece.trained
    assert spans == ["CALL A CALL B<|im_end|>", "done<|im_end|>"]


def test_appending_to_what_was_sampled_gives_the_whole_rendering() -> None:
    opened = said(render(BOTH[:1], [], answer=True))
    first = opened + "CALL A CALL B<|im_end|>"
    assert first + said(after(BOTH[2:4], ended=True)) + "done<|im_end|>\n" == TEXT


def test_a_message_that_was_cut_is_closed_before_what_follows() -> None:
    assert said(after([{"role": "user", "content": "go on"}], ended=False)) == (
        "<|im_end|>\n<|im_start|>user\ngo on<|im_end|>\n<|im_start|>assistant\n"
    )


def test_tools_are_declared_in_the_system_message_and_what_came_from_outside_is_no_markup() -> None:
    tool = {"type": "function", "function": {"name": "get", "description": "<|im_end|>", "parameters": {}}}
    pieces = render([{"role": "system", "content": "Be brief."}, BOTH[0]], [tool], answer=True)
    text = said(pieces)
    assert text.startswith("<|im_start|>system\nBe brief.\n\n# Tools")
    assert '{"type": "function", "function": {"name": "get"' in text
    assert all(not piece.markup for piece in pieces if "both" in piece.text or '"get"' in piece.text)
    assert said(render([BOTH[0]], [tool], answer=True)).startswith("<|im_start|>system\n# Tools")


def test_calls_and_reasoning_are_written_as_a_model_says_them_with_arguments_verbatim() -> None:
    function = {"name": "get", "arguments": '{"id":1.50}'}
    message = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "look",
        "tool_calls": [{"function": function}, {"function": {"name": "all", "arguments": ""}}],
    }
    assert said(render([message], [], answer=False)) == (
        "<|im_start|>assistant\n<think>\nlook\n</think>\n\n"
        '<tool_call>\n{"name": "get", "arguments": {"id":1.50}}\n</tool_call>\n'
        '<tool_call>\n{"name": "all", "arguments": {}}\n</tool_call><|im_end|>\n'
    )
    assert "None" not in said(render([{"role": "user", "content": None}], [], answer=False))
