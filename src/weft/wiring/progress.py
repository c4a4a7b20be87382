"""Progress of long work, as data for whoever shows it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One step forward.

    Attributes:
        stage: e.g. ``environments``.
        done: finished pieces of the stage.
        total: pieces of the stage.
        label: the piece that just finished, or "" at the start of a stage.
        kept: it was finished by an earlier run.
    """

    stage: str
    done: int
    total: int
    label: str = ""
    kept: bool = False


Progress = Callable[[Step], None]
"""Called after every piece, from the main thread."""


def silent(step: Step) -> None:
    """Show nothing."""
    del step
