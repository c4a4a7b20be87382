"""The rules task author: drafts from contracts and seed state, guided by what is uncovered (Weft 3.1.2, A.1)."""

import random
from collections.abc import Iterator, Sequence

from weft.agents.rules.tasks.actions import Action, actions_of
from weft.agents.rules.tasks.drafting import Workshop
from weft.agents.rules.tasks.filework import file_draft
from weft.agents.rules.tasks.finding import Finder
from weft.agents.rules.tasks.fresh import Fresh, donors
from weft.agents.rules.tasks.probing import Probe
from weft.agents.rules.tasks.reads import read_draft
from weft.agents.rules.tasks.refusals import refusal_drafts
from weft.agents.rules.tasks.writes import write_draft
from weft.records.environment import Environment
from weft.records.library import AtomicDraft, TaskFeedback
from weft.records.state import Rows

MOST_REFUSALS = 2


class RulesTaskAuthor:
    """Drafts atomic tasks by rules; implements :class:`weft.agents.tasks.TaskAuthor`.

    It remembers the environment it looked at last, because the rounds of a construction ask about the same one.
    """

    def __init__(self) -> None:
        self._last: tuple[Environment, int, Probe, Rows] | None = None

    @property
    def name(self) -> str:
        """The author's name."""
        return "rules"

    def propose(
        self, environment: Environment, feedback: TaskFeedback, *, seed: int, limit: int
    ) -> Sequence[AtomicDraft]:
        """Propose drafts: in the first round for every action, later for what is uncovered, each time another way."""
        rng = random.Random(f"tasks:{environment.name}:{seed}:{feedback.round}")
        if self._last is None or self._last[0] is not environment or self._last[1] != seed:
            self._last = (environment, seed, Probe(environment), donors(environment, seed + 1))
        _, _, probe, lent = self._last
        actions = actions_of(environment)
        shop = Workshop(
            probe=probe,
            finder=Finder(probe, actions, rng),
            fresh=Fresh(probe.rows, lent, rng),
            actions=actions,
            wanted=feedback.wanted,
            rng=rng,
        )
        drafts = list(_drafts(shop, feedback))
        # Longer chains first: what they contain is then redundant before it is run.
        drafts.sort(key=lambda draft: -len(draft.chain))
        return drafts[: 3 * limit]


def _drafts(shop: Workshop, feedback: TaskFeedback) -> Iterator[AtomicDraft]:
    wanted = set(feedback.wanted)
    for action in shop.actions:
        needed = action.step in wanted or action.tool in wanted
        if feedback.round and not needed:
            continue
        draft = _draft(shop, action, feedback.round)
        if draft is not None:
            yield draft
    if feedback.round == 0:
        yield from refusal_drafts(shop, most=MOST_REFUSALS)


def _draft(shop: Workshop, action: Action, variant: int) -> AtomicDraft | None:
    """Return a draft for an action, best one in which nobody has to know a generated id."""
    if not action.table:
        return file_draft(shop, action)
    build = write_draft if action.writes else read_draft
    for stating in (False, True):
        shop.finder.stating = stating
        draft = build(shop, action, variant=variant)
        if draft is not None:
            return draft
    return None
