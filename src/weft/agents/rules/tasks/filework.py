"""Drafts of tasks on workspace files (Weft 3.1.1: file-oriented tools)."""

from weft.agents.rules.tasks.actions import Action
from weft.agents.rules.tasks.drafting import Workshop
from weft.records.library import AtomicDraft


def file_drafts(shop: Workshop, action: Action, *, variant: int = 0) -> AtomicDraft | None:
    """Return a draft for a file tool, or None when nothing sensible can be asked of it."""
    return None
