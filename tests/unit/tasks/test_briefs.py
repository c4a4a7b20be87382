from collections.abc import Sequence

from weft.agents.composition import CompositionTexts, NodeWords
from weft.records.contract import ContractSet
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import DatabaseSchema, InitialState
from weft.records.task import AtomicSolution, AtomicTask, EnvironmentPin, FromStep, TaskInput, TaskOutput, Texts
from weft.records.verdict import Verifier
from weft.tasks.assembly import assemble
from weft.tasks.binding import Drawn, Link
from weft.tasks.briefs import words_for, write_texts
from weft.tasks.naming import Spoken

TOOL = ToolSpec(name="send_mail", input_schema={"type": "object"}, declared={})
ENVIRONMENT = Environment(
    spec=McpSpec(name="s", title="Post", tools=(TOOL,)),
    contracts=ContractSet(schema=DatabaseSchema(), contracts=()),
    seed=InitialState(),
)


def drawn(name: str, text: str, *inputs: TaskInput) -> Drawn:
    task = AtomicTask(
        id=name,
        server="s",
        kind="read",
        intent=text,
        inputs=inputs,
        environment=EnvironmentPin(name="s", hash="h", state="s"),
        texts=Texts(vague=text, partial=text, full=text),
    )
    source = FromStep(kind="step", step="s1", field="email")
    solution = AtomicSolution(
        task=name,
        chain=(),
        reference=(),
        reply_text="",
        outputs=(TaskOutput(name="email", source=source, semantic="email"),),
        verifier=Verifier(),
    )
    spoken = {"email": Spoken("email", "email", False, owner="name", entity="contact")}
    return Drawn(task, solution, {"email": "ana@x.example"}, spoken=spoken)


ASSEMBLY = assemble(
    [
        drawn("find", "Who is Ana Lima?", TaskInput(name="name", value="Ana Lima", semantic="person")),
        drawn(
            "send",
            'Write "Hi" to old@x.example.',
            TaskInput(name="to", value="old@x.example", semantic="email"),
            TaskInput(name="text", value="Hi", words='"Hi"'),
        ),
    ],
    [Link(0, "email", 1, "to", "flow", "ana@x.example")],
)
VALUES = {("n2", "to"): "ana@x.example"}


class Author:
    """Says what it is told to."""

    name = "test"

    def __init__(self, second: str, brief: str) -> None:
        self.second, self.brief = second, brief

    def incoherent(self, specs: Sequence[McpSpec], values: str) -> str:
        return values

    def write(self, nodes: Sequence[NodeWords], *, seed: int) -> CompositionTexts:
        first, second, brief = (
            Texts(vague=one, partial=one, full=one) for one in ("Who is Ana Lima?", self.second, self.brief)
        )
        return CompositionTexts("Do it.", brief, (first, second), ("Find Ana Lima.", "Write to her."))


GOOD = 'Write "Hi" to the email of Ana Lima.'


def written(second: str = GOOD, brief: str = f"Who is Ana Lima? {GOOD}") -> str:
    found = write_texts(ASSEMBLY, {"s": ENVIRONMENT}, Author(second, brief), VALUES, seed=0)
    return "" if isinstance(found, CompositionTexts) else f"{found[0].node}: {found[0].reason}"


def test_an_author_is_told_what_is_given_and_what_comes_from_where() -> None:
    first, second = words_for(ASSEMBLY, {"s": ENVIRONMENT})
    assert [item.name for item in first.given] == ["name"]
    assert [item.name for item in second.given] == ["text"]
    (bound,) = second.bound
    assert (bound.source, bound.noun, bound.owner, bound.asked) == (0, "email", "Ana Lima", False)


def test_sound_texts_pass() -> None:
    assert written() == ""


def test_a_value_that_is_to_be_found_is_not_said() -> None:
    assert "n2" in written('Write "Hi" to ana@x.example.')
    assert "which is to be found" in written('Write "Hi" to ana@x.example.')
    assert "which is to be found" in written('Write "Hi" to old@x.example.')
    assert "the brief leaks" in written(brief=f"Who is Ana Lima? {GOOD} It is ana@x.example.")


def test_what_the_user_knows_is_said_in_both_views() -> None:
    assert "does not say text" in written("Write to the email of Ana Lima.")
    assert "the brief does not say text" in written(brief="Who is Ana Lima? Write to her.")


def test_names_of_tools_do_not_show() -> None:
    assert "send_mail" in written('Use send_mail to write "Hi".')
