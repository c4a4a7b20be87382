"""The same task in its views."""

import pytest

from weft.errors import InputError
from weft.records.task import ComposedTask, Texts
from weft.records.trace import StopReason
from weft.rollouts.limits import Limits
from weft.rollouts.simuser import PERSONAS, sample_persona, speak
from weft.rollouts.views import turns_of


def texts(word: str) -> Texts:
    return Texts(vague=f"{word} vague", partial=f"{word} partial", full=f"{word} full")


TASK = ComposedTask(
    id="task-1",
    profile="Simple",
    objective="o",
    environments=(),
    brief=texts("brief"),
    requests=(texts("one"), texts("two")),
)


def test_agentic_asks_once_for_all_nodes() -> None:
    (turn,) = turns_of(TASK, ("n1", "n2"), "agentic", "partial")
    assert (turn.nodes, turn.request) == (("n1", "n2"), "brief partial")


def test_simuser_asks_once_per_node_in_order() -> None:
    turns = turns_of(TASK, ("n1", "n2"), "simuser", "vague")
    assert [(turn.nodes, turn.request) for turn in turns] == [(("n1",), "one vague"), (("n2",), "two vague")]


def test_requests_must_align_with_the_order() -> None:
    with pytest.raises(InputError, match="2 requests for 1 nodes"):
        turns_of(TASK, ("n1",), "simuser", "full")


@pytest.mark.parametrize("seed", range(20))
def test_a_persona_never_changes_what_is_asked(seed: int) -> None:
    turns = turns_of(TASK, ("n1", "n2"), "simuser", "full")
    persona = sample_persona(seed)
    said = speak(turns, persona, seed)
    assert [turn.request in text for turn, text in zip(turns, said, strict=True)] == [True, True]
    assert said == speak(turns, persona, seed)


def test_every_persona_is_sampled() -> None:
    assert {sample_persona(seed).name for seed in range(100)} == {persona.name for persona in PERSONAS}


def test_steps_are_checked_before_calls() -> None:
    limits = Limits(steps=2, calls=1)
    assert limits.spent(0, 0) is None
    assert limits.spent(2, 1) is StopReason.STEP_LIMIT
    assert limits.spent(1, 1) is StopReason.CALL_LIMIT


def test_a_turn_over_several_nodes_has_the_budget_of_all() -> None:
    assert Limits(steps=60, calls=120).over(40) == Limits(steps=2400, calls=4800)


def test_a_budget_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="calls"):
        Limits(calls=0)
