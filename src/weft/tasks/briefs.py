"""Briefs and requests of a composed task, and what is checked of them (Weft 3.1.3).

Both views say every input that the user knows, in its own words, and neither says a value that is to be found or made
on the way. Names of tools and fields never show.
"""

from collections.abc import Mapping, Sequence

from weft.agents.composition import BoundWords, CompositionAuthor, CompositionTexts, NodeWords
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.records.task import TaskInput, Texts
from weft.tasks.assembly import Assembly
from weft.tasks.runs import Problem
from weft.tasks.texts import text_problems, words_of
from weft.verify.answers import plain_text

LEVELS = ("vague", "partial", "full")


def words_for(assembly: Assembly, environments: Mapping[str, Environment]) -> tuple[NodeWords, ...]:
    """Return the nodes as an author may speak of them, in the stored order."""
    found = []
    for name, item in assembly.drawn.items():
        bound = [_bound(assembly, name, entry) for entry in item.task.inputs if (name, entry.name) in assembly.links]
        given = tuple(entry for entry in item.task.inputs if (name, entry.name) not in assembly.links)
        title = environments[item.task.server].spec.title
        found.append(NodeWords(name, title, item.task.intent, item.task.texts, given, tuple(bound)))
    return tuple(found)


def _bound(assembly: Assembly, node: str, entry: TaskInput) -> BoundWords:
    """Return how a bound input may be spoken of. What it belongs to is named only if the upstream request names it."""
    source = assembly.sources[node, entry.name]
    upstream = assembly.drawn[source]
    spoken = upstream.spoken[assembly.links[node, entry.name].output]
    owner = next((item for item in upstream.task.inputs if item.name == spoken.owner), None)
    said = ""
    if owner is not None and (source, owner.name) not in assembly.links:
        said = words_of(owner)
        if owner.semantic != "person":
            said = f"the {spoken.entity} {said}" if owner.semantic.startswith("name:") else f"the {spoken.entity}"
    # In free text the value stands for itself: the title of an event, not the event.
    written = entry.semantic == "text"
    return BoundWords(
        input=entry,
        source=list(assembly.drawn).index(source),
        noun=spoken.label if written else spoken.noun,
        whole=spoken.whole and not written,
        made=spoken.made,
        asked=spoken.asked,
        owner=said,
        entity=spoken.entity,
    )


def write_texts(
    assembly: Assembly,
    environments: Mapping[str, Environment],
    author: CompositionAuthor,
    values: Mapping[tuple[str, str], JSON],
    *,
    seed: int,
) -> CompositionTexts | list[Problem]:
    """Have a composition worded, and check every text.

    Args:
        assembly: the composition.
        environments: by name.
        author: of the texts.
        values: of the bound inputs in the reference, by (node, input).
        seed: of the choice among wordings.

    Returns:
        The texts, or the nodes whose texts do not hold with the reason.
    """
    words = words_for(assembly, environments)
    texts = author.write(words, seed=seed)
    problems = []
    for node, request, intent in zip(words, texts.requests, texts.intents, strict=True):
        hidden = [*_hidden(node, values), *(item.input.value for item in node.bound)]
        found = [
            *text_problems(request, node.given, intent, environments[assembly.drawn[node.id].task.server]),
            *_leaks(_plain(request, node.given), hidden),
            *(f"{item.input.name} is null" for item in node.bound if values[node.id, item.input.name] is None),
        ]
        if found:
            problems.append(Problem(node.id, f"its texts do not hold: {found[0]}"))
    return problems or _check_brief(texts, words, values)


def _hidden(node: NodeWords, values: Mapping[tuple[str, str], JSON]) -> list[JSON]:
    """Return the values of a node that are to be found or made on the way."""
    return [values[node.id, item.input.name] for item in node.bound]


def _plain(texts: Texts, given: Sequence[TaskInput]) -> dict[str, str]:
    """Return the texts in plain form, without what the user knows: a hidden value may be part of that."""
    words = sorted({plain_text(words_of(item)) for item in given} - {""}, key=lambda one: (-len(one), one))
    plain = {}
    for level in LEVELS:
        text = f" {plain_text(getattr(texts, level))} "
        for said in words:
            text = text.replace(said, "…")
        plain[level] = text
    return plain


def _leaks(plain: Mapping[str, str], values: Sequence[JSON]) -> list[str]:
    """Return which of the values that are to be found a text says; small numbers stand anywhere by chance."""
    telling = [value for value in values if not isinstance(value, (int, float)) or abs(value) >= 1000]
    said = [(value, plain_text(str(value))) for value in telling]
    return [
        f"{level}: says {value!r}, which is to be found"
        for level, text in plain.items()
        for value, word in said
        if word and _stands(word, text)
    ]


def _stands(needle: str, hay: str) -> bool:
    """Return whether a value stands in a text on word boundaries."""
    start = hay.find(needle)
    while start >= 0:
        before, after = hay[start - 1 : start], hay[start + len(needle) : start + len(needle) + 1]
        if not (before.isalnum() and needle[0].isalnum()) and not (after.isalnum() and needle[-1].isalnum()):
            return True
        start = hay.find(needle, start + 1)
    return False


def _check_brief(
    texts: CompositionTexts, words: Sequence[NodeWords], values: Mapping[tuple[str, str], JSON]
) -> CompositionTexts | list[Problem]:
    bare = _plain(texts.brief, [item for node in words for item in node.given])
    full = {level: plain_text(getattr(texts.brief, level)) for level in LEVELS}
    for node in words:
        leaks = _leaks(bare, _hidden(node, values))
        if leaks:
            return [Problem(node.id, f"the brief leaks: {leaks[0]}")]
        said = [(item.name, plain_text(words_of(item))) for item in node.given]
        for level, text in full.items():
            lost = next((name for name, word in said if word not in text), None)
            if lost is not None:
                return [Problem(node.id, f"the brief does not say {lost} ({level})")]
    return texts
