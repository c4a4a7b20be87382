"""Runs the pieces of a long job on worker processes, keeps each as it is finished, and gives them back in order.

A piece is a pure function of its payload. A finished one is stored before it is counted, so a run that is killed at
any moment
continues with what is left. A worker that dies (out of memory, a crash in native code) costs the piece that killed it
and nothing else.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from types import FrameType
from typing import Any

from weft.records.base import JSON
from weft.records.codec import plain
from weft.store.pieces import Pieces
from weft.wiring.progress import Progress, Step

PIECE_SECONDS = 600.0
"""A piece that takes longer is given up, with a reason; far beyond anything regular."""

CRASH = "crash"
"""Key of a piece that could not be finished; its value says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece to be made.

    Attributes:
        label: for progress.
        inputs: everything that the piece depends on, besides the stamp of the store; the key is made of it.
        payload: what the worker gets (JSON data).
    """

    label: str
    inputs: JSON
    payload: JSON


def _watch_parent() -> None:
    """Leave no orphan: end this worker when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait_for_end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_for_end, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"took longer than {PIECE_SECONDS:g} s")


def _guarded(work: Callable[[JSON], Any], payload: JSON) -> JSON:
    """Run one piece in a worker with a time limit."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, PIECE_SECONDS)
    try:
        return plain(work(payload))
    except TimeoutError as error:
        return {CRASH: str(error)}
    except Exception as error:  # noqa: BLE001 - the edge of a worker: one piece must not cost the run
        traceback.print_exc()
        return {CRASH: f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Workers:
    """A pool of worker processes over a store of pieces. Use as a context manager.

    Args:
        pieces: where finished pieces are kept.
        count: worker processes, at least 1.
        progress: told after every piece.
    """

    def __init__(self, pieces: Pieces, *, count: int, progress: Progress) -> None:
        self._pieces = pieces
        self._count = max(1, count)
        self._progress = progress
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *error: object) -> None:
        self._end(kill=error[0] is not None)

    def map(self, stage: str, work: Callable[[JSON], Any], jobs: Sequence[Job]) -> list[JSON]:
        """Return the piece of every job, in order.

        Args:
            stage: kind of the pieces, for the store and for progress.
            work: importable function from payload to a record or JSON value.
            jobs: the pieces wanted.
        """
        keys = [self._pieces.key(stage, job.inputs) for job in jobs]
        found: list[JSON] = [self._pieces.get(stage, key) for key in keys]
        missing = [index for index, piece in enumerate(found) if piece is None]
        done = len(jobs) - len(missing)
        self._progress(Step(stage, done, len(jobs), kept=done > 0))
        suspects: list[int] = []
        for index, piece in self._batch(work, jobs, missing, suspects):
            found[index] = piece
            done += 1
            self._finish(stage, keys[index], piece, jobs[index], done, len(jobs))
        for index in sorted(suspects):
            alone: list[int] = []
            for _, piece in self._batch(work, jobs, [index], alone):
                found[index] = piece
            if alone:
                found[index] = {CRASH: "the worker process died"}
            done += 1
            self._finish(stage, keys[index], found[index], jobs[index], done, len(jobs))
        return found

    def _finish(self, stage: str, key: str, piece: JSON, job: Job, done: int, total: int) -> None:
        if not (isinstance(piece, dict) and CRASH in piece):
            self._pieces.put(stage, key, piece)
        self._progress(Step(stage, done, total, job.label))

    def _batch(
        self, work: Callable[[JSON], Any], jobs: Sequence[Job], wanted: Sequence[int], suspects: list[int]
    ) -> Any:
        """Yield ``(index, piece)`` as pieces are finished.

        What was in flight when a worker died goes to ``suspects``.
        """
        queue = list(wanted)
        running: dict[Future[JSON], int] = {}
        while queue or running:
            try:
                while queue and len(running) < 2 * self._count:
                    running[self._open().submit(_guarded, work, jobs[queue[0]].payload)] = queue[0]
                    queue.pop(0)
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    piece = future.result()
                    yield running.pop(future), piece
            except BrokenProcessPool:
                suspects.extend(running.values())
                running.clear()
                self._end(kill=True)

    def _open(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._count, mp_context=context, initializer=_watch_parent)
        return self._pool

    def _end(self, *, kill: bool) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        if kill:
            # The executor has no public way to end its processes before Python 3.14.
            for process in list((pool._processes or {}).values()):  # noqa: SLF001
                process.kill()
        pool.shutdown(wait=True, cancel_futures=True)
