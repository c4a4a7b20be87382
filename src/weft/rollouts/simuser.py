"""The user-simulation agent of the SimUser view (Weft 3.1.3): personas, and requests disclosed in dependency order.

The rules author varies the manner of a request by persona and never its content: every input that the request states is
kept verbatim. It discloses the next request only after a reply without tool calls, whatever that reply says.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from weft.rollouts.views import Turn


@dataclass(frozen=True, slots=True)
class Persona:
    """A manner of speaking.

    Attributes:
        name: for records.
        openings: said before the first request.
        links: said before a later request.
        closings: said after a request, possibly empty.
    """

    name: str
    openings: tuple[str, ...]
    links: tuple[str, ...]
    closings: tuple[str, ...] = ("",)


PERSONAS: tuple[Persona, ...] = (
    Persona("plain", ("",), ("",)),
    Persona(
        "polite",
        ("Hello there.", "Good morning."),
        ("Thank you.", "That helps, thanks.", "Great."),
        ("", "Thanks in advance."),
    ),
    Persona("hurried", ("Quick one.", "Short on time today."), ("Ok.", "Right.", "Next."), ("", "As fast as you can.")),
    Persona(
        "careful",
        ("I want to get this right.",),
        ("Good.", "Noted."),
        ("", "Please double-check before you change anything."),
    ),
    Persona(
        "chatty",
        ("Hi! Busy day over here.", "Hey, hope you are well."),
        ("Lovely.", "Perfect, one less thing on my list."),
        ("", "Appreciate it!"),
    ),
)


def _pick(seed: int, label: str, count: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{label}".encode()).digest()[:8], "big") % count


def sample_persona(seed: int) -> Persona:
    """Sample a persona."""
    return PERSONAS[_pick(seed, "persona", len(PERSONAS))]


def speak(turns: Sequence[Turn], persona: Persona, seed: int) -> tuple[str, ...]:
    """Return what the simulated user says at each turn."""
    said = []
    for index, turn in enumerate(turns):
        lead = persona.openings if index == 0 else persona.links
        parts = (
            lead[_pick(seed, f"lead/{index}", len(lead))],
            turn.request,
            persona.closings[_pick(seed, f"close/{index}", len(persona.closings))],
        )
        said.append(" ".join(part for part in parts if part))
    return tuple(said)
