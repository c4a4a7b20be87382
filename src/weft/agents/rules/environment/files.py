"""Files: tools that read and change a workspace of text files."""

from weft.agents.rules.environment.plan import Part, ToolPlan
from weft.agents.rules.environment.returns import Outcome


def file_tools(tools: list[ToolPlan]) -> list[ToolPlan]:
    """The tools that act on the workspace, if the server is about files."""
    return []


def assign_file(tool: ToolPlan) -> None:
    """Say what each argument of a file tool is for."""


def build_file(part: Part) -> Outcome:
    """The operations of a file tool."""
    return Outcome([], "value")
