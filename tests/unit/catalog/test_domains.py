"""First-level labels come from the words of a spec."""

from weft.catalog.domains import UNLABELLED, label, labelled
from weft.records.spec import McpSpec, ToolSpec


def spec(name: str, *tools: str, domain: str = "") -> McpSpec:
    made = tuple(ToolSpec(name=tool, input_schema={"type": "object"}, declared={"name": tool}) for tool in tools)
    return McpSpec(name=name, title=name, domain=domain, tools=made)


def test_a_named_domain_is_kept() -> None:
    assert label(spec("git", "git_commit", domain="Finance & Markets")) == "Finance & Markets"


def test_tool_names_vote() -> None:
    assert label(spec("x", "list_patients", "book_appointment")) == "Healthcare & Life Sciences"
    assert label(spec("x", "createPullRequest", "list-commits")) == "Software Development"


def test_without_any_known_word_the_general_label_is_taken() -> None:
    assert label(spec("zzz", "frobnicate")) == UNLABELLED


def test_the_label_is_written_into_the_spec() -> None:
    assert labelled(spec("x", "search_flights")).domain == "Travel & Transportation"
