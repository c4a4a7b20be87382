"""Pieces are made on workers, kept, and given back in order."""

import os
import signal
from pathlib import Path

from weft.store.pieces import Pieces
from weft.wiring.pool import CRASH, Job, Workers
from weft.wiring.progress import Step, silent


def square(payload: int) -> dict[str, int]:
    return {"square": payload * payload}


def die_at_three(payload: int) -> dict[str, int]:
    if payload == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": payload * payload}


def jobs(count: int) -> list[Job]:
    return [Job(str(number), number, number) for number in range(count)]


def test_pieces_come_back_in_order_and_are_kept(tmp_path: Path) -> None:
    steps: list[Step] = []
    pieces = Pieces(tmp_path, 0)
    with Workers(pieces, count=2, progress=steps.append) as workers:
        made = workers.map("squares", square, jobs(7))
    assert made == [{"square": number * number} for number in range(7)]
    assert steps[-1].done == steps[-1].total == 7
    # a second run makes nothing: its work would fail
    with Workers(pieces, count=1, progress=steps.append) as workers:
        assert workers.map("squares", die_at_three, jobs(7)) == made
    assert steps[-1].kept


def test_a_worker_that_dies_costs_its_own_piece_alone(tmp_path: Path) -> None:
    pieces = Pieces(tmp_path, 0)
    with Workers(pieces, count=2, progress=silent) as workers:
        made = workers.map("squares", die_at_three, jobs(6))
    assert [CRASH in piece for piece in made] == [False, False, False, True, False, False]
    assert pieces.get("squares", pieces.key("squares", 3)) is None


def fail_at_three(payload: int) -> dict[str, int]:
    if payload == 3:
        raise ValueError("planned")
    return {"square": payload * payload}


def test_a_piece_that_raises_says_why_and_costs_no_other(tmp_path: Path) -> None:
    with Workers(Pieces(tmp_path, 0), count=2, progress=silent) as workers:
        made = workers.map("squares", fail_at_three, jobs(6))
    assert made[3] == {CRASH: "ValueError: planned"}
    assert [piece for piece in made if CRASH not in piece] == [{"square": n * n} for n in (0, 1, 2, 4, 5)]
