"""Sentence frames: how a person asks for each kind of task, at three levels of disclosure (Weft 3.1.3, pure).

Every frame holds every slot with a needed value, so that no level leaves out what the user knows; ``vague`` leaves
out the how. Frames are chosen by the task's own random generator.
"""

import json
import random
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from weft.agents.rules.tasks.pronouns import looking, pronounced
from weft.records.task import Texts

FRAMES: dict[str, dict[str, list[str]]] = json.loads(
    resources.files("weft.agents.rules.tasks").joinpath("frames.json").read_text(encoding="utf-8")
)
"""Kind -> level -> frames, in ``frames.json``."""

DONE = ("Done.", "That is done.", "It is done as you asked.", "All set.")


def sentence(text: str) -> str:
    """Return a text with its first letter capital and single spaces."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def fill(frame: str, slots: Mapping[str, str]) -> str:
    """Fill a frame; sentences begin with a capital."""
    text = frame
    for name, value in slots.items():
        text = text.replace("{" + name + "}", value)
    text = re.sub(r'( in the [a-z ]+ "[^"]*")(?: and)? in the ', r"\1 and the ", text)
    text = re.sub(r"^\s*Then (?=\w)", "", text)
    # A quotation that ends a sentence brings its own full stop.
    return re.sub(r"([.!?])\"\.(?=\s|$)", r'\1"', sentences(text))


def sentences(text: str) -> str:
    """Return a text in which every sentence that a frame began starts with a capital."""
    text = sentence(text)
    for mark in (". ", "? ", "! "):
        head, *rest = text.split(mark)
        # A quotation may hold such marks; only text outside quotation marks is touched.
        done = head
        for part in rest:
            inside = done.count('"') % 2 == 1
            done += mark + (part if inside or not part else part[:1].upper() + part[1:])
        text = done
    return text


def compose_texts(
    kind: str, slots: Mapping[str, str], rng: random.Random, *, looked: Sequence[str] = ()
) -> tuple[Texts, str]:
    """Return the three texts and the intent of a task.

    Args:
        kind: which frames.
        slots: phrases by slot name; ``Name`` is filled from ``name``.
        rng: chooses the frames.
        looked: phrases of what has to be looked up first; full disclosure says so, naming each once.
    """
    filled = {"lookup": "", "be": "is", **slots}
    filled.update({name[:1].upper() + name[1:]: sentence(value) for name, value in slots.items() if value})
    if looked:
        filled["lookup"] = looking(looked) + " "
    levels = FRAMES[kind]
    texts = {level: fill(rng.choice(levels[level]), filled) for level in ("vague", "partial")}
    # Two things cannot both be "it", so they are looked up after they have been named.
    frames = [frame for frame in levels["full"] if len(looked) < 2 or not frame.startswith("{lookup}")]
    texts["full"] = sentences(pronounced(fill(rng.choice(frames or levels["full"]), filled), looked))
    intent = fill(rng.choice(levels["intent"]), filled)
    return Texts(**texts), intent
