"""The virtual clock: RFC 3339 UTC in whole seconds. It moves only when a call changes something (pure)."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from weft.errors import InputError
from weft.records.base import JSON
from weft.records.state import ColumnType
from weft.runtime.values import instant, shown

TICK_SECONDS = 1
"""Seconds that one mutating call takes."""


def parse_clock(text: str, what: str = "clock") -> str:
    """Return a clock reading in canonical form (``YYYY-MM-DDTHH:MM:SSZ``).

    Raises:
        InputError: the text is not a date-time.
    """
    moment = instant(text)
    if moment is None:
        raise InputError(f"{what}: {shown(text)} is not a date-time; use RFC 3339 like 2026-03-02T09:00:00Z")
    return _spell(moment[0], what)


def ticked(clock: str, seconds: int = TICK_SECONDS) -> str:
    """Return a canonical clock reading ``seconds`` later."""
    return _spell(epoch(clock) + seconds, "clock")


def epoch(clock: str) -> int:
    """Return the seconds since 1970 of a canonical clock reading."""
    return int(datetime.fromisoformat(clock).timestamp())


def latest(clocks: Iterable[str]) -> str:
    """Return the latest of some clock readings, in canonical form; a group shares one clock."""
    return max(parse_clock(clock) for clock in clocks)


def reading(clock: str, kind: ColumnType) -> JSON:
    """Return the clock in the form that a column of type ``kind`` holds; seconds since 1970 for numbers."""
    if kind is ColumnType.DATE:
        return clock[:10]
    if kind is ColumnType.TIME:
        return clock[11:19]
    if kind in (ColumnType.INTEGER, ColumnType.NUMBER):
        return epoch(clock)
    return clock


def _spell(seconds: int, what: str) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError as error:
        raise InputError(f"{what}: {seconds} seconds is beyond the year 9999; start from an earlier clock") from error
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
