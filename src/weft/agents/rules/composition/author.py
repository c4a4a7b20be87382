"""Objectives, briefs and requests by the rules (Weft 3.1.2, 3.1.3)."""

import random
import re
from collections.abc import Sequence

from weft.agents.composition import CompositionTexts, NodeWords
from weft.agents.rules.composition.phrases import Pointing, point, pointing
from weft.records.spec import McpSpec
from weft.records.task import Texts

OBJECTIVES = (
    "Get a piece of work done across {places}: {first}, and see through what follows from it.",
    "Clear a list of related errands in {places}, from the first ({first}) to the last ({last}).",
    "Bring {places} up to date together, beginning with this: {first}.",
    "Work through today's requests in {places} without losing the thread between them, up to the last one: {last}.",
    "Take what {places} know about the same matters and act on it: {first}, then {last}.",
)
OPENINGS = {
    "vague": (
        "A few things have piled up. Could you take care of them?",
        "I have a couple of things that hang together.",
        "Here is what is on my mind today.",
    ),
    "partial": (
        "Please work through the following for me, in this order, and tell me at the end what came of it.",
        "I need the following done one after the other. Some of it builds on what comes before.",
        "Could you go through this list from top to bottom? Later points use what earlier ones bring up.",
    ),
    "full": (
        "Please do this in exactly this order, take values from earlier steps as found, and answer it all at the end.",
        "These steps hang together, so keep to the order. I expect one reply at the end that answers every step.",
        "Go through this step by step, in the order given. When you are through, answer every step in one reply.",
    ),
}
CLOSINGS = {
    "vague": ("Thanks!", "That is all.", "Let me know how it went."),
    "partial": ("That is all, thanks.", "Thank you. Please sum up at the end what you found and did."),
    "full": (
        "Do nothing beyond these steps, and mention every value that I asked for in the final reply.",
        "Leave everything else untouched. In the final reply, state each value that a step asks for.",
    ),
}
LINKS = ("First, ", "Then, ", "After that, ", "Next, ", "And then: ", "Also: ", "Finally, ")
MOST_PROSE = 4
"""Requests up to which the looser briefs are running text; longer lists are numbered."""


class RulesCompositionAuthor:
    """Words composed tasks by rules; see :class:`weft.agents.composition.CompositionAuthor`."""

    name = "rules"

    def incoherent(self, specs: Sequence[McpSpec], values: str) -> str:
        """Return why the MCPs have no objective in common: the rules go by the values that can travel between them."""
        return values

    def write(self, nodes: Sequence[NodeWords], *, seed: int) -> CompositionTexts:
        """Word a composed task; see :meth:`weft.agents.composition.CompositionAuthor.write`."""
        requests = tuple(
            _request(node, index, random.Random(f"{seed}/{node.id}/turn"), numbered=False)
            for index, node in enumerate(nodes)
        )
        steps = tuple(
            _request(node, index, random.Random(f"{seed}/{node.id}/step"), numbered=True)
            for index, node in enumerate(nodes)
        )
        intents = tuple(_intent(node) for node in nodes)
        rng = random.Random(f"{seed}/{nodes[0].id}/{len(nodes)}/{nodes[0].intent}/brief")
        brief = Texts(**{level: _brief(level, [getattr(step, level) for step in steps], rng) for level in OPENINGS})
        return CompositionTexts(_objective(nodes, intents, rng), brief, requests, intents)


def _pointed(text: str, node: NodeWords, ways: Sequence[Pointing]) -> str:
    for item, how in zip(node.bound, ways, strict=True):
        text = point(text, item.input.words or str(item.input.value), how) or text
    return text


def _request(node: NodeWords, place: int, rng: random.Random, *, numbered: bool) -> Texts:
    ways = [pointing(item, place, rng, numbered=numbered) for item in node.bound]
    return Texts(**{level: _pointed(getattr(node.texts, level), node, ways) for level in ("vague", "partial", "full")})


def _intent(node: NodeWords) -> str:
    ways = [
        Pointing(
            item.noun, f"the {item.noun} {'made' if item.made else 'found'} before", item.whole, bool(item.input.keyed)
        )
        for item in node.bound
    ]
    return _pointed(node.intent, node, ways)


ALONE = re.compile(
    r" ?(?<=[.!?\"] )(?:Change nothing|Do not change anything|Nothing else (?:should|may) change)\.(?= |$)"
)
"""Sentences of a request that only make sense alone; a brief says the like once, for all of it."""


def _brief(level: str, steps: Sequence[str], rng: random.Random) -> str:
    opening, closing = rng.choice(OPENINGS[level]), rng.choice(CLOSINGS[level])
    if any("step" in step for step in steps) or len(steps) > MOST_PROSE or level == "full":
        lines = [ALONE.sub("", step).strip() for step in steps]
        body = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
        return f"{opening}\n\n{body}\n\n{closing}"
    return " ".join([opening, *steps, closing])


def _objective(nodes: Sequence[NodeWords], intents: Sequence[str], rng: random.Random) -> str:
    titles = list(dict.fromkeys(node.title for node in nodes))
    places = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return rng.choice(OBJECTIVES).format(places=places, first=_small(intents[0]), last=_small(intents[-1]))


def _small(sentence: str) -> str:
    text = sentence.rstrip(". ")
    return text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text
