"""SFT data (Weft 3.3.1): accepted segments as OpenAI-format JSON Lines, rejected attempts apart.

A line holds ``messages`` and ``tools`` in the OpenAI form, the ``arguments`` text exactly as sampled, and a ``weft``
object
with what is needed to replay it (task, seed, initial states) and the tool results as recorded. Data from scripted
policies goes to files named ``*.scripted.jsonl``, so that nobody trains on it by accident.
"""

from collections.abc import Iterable, Sequence

from weft.records.batch import SftExample
from weft.records.trace import LedgerEntry, Segment, Trajectory


def is_scripted(trajectory: Trajectory) -> bool:
    """True if a scripted policy sampled it."""
    return trajectory.policy.startswith("scripted:")


def example_of(trajectory: Trajectory) -> SftExample:
    """Return the SFT example of a passing trajectory: its system prompt and every accepted segment in order."""
    messages = [{"role": "system", "content": trajectory.system}]
    messages += [message.openai() for segment in trajectory.segments for message in segment.messages]
    return SftExample(messages=tuple(messages), tools=trajectory.tools, weft=_about(trajectory))


def rejected_of(trajectory: Trajectory) -> list[SftExample]:
    """Return one example per rejected attempt: the accepted prefix before its turn, then the attempt."""
    order = [segment.node for segment in trajectory.segments]
    found = []
    for attempt in trajectory.rejected:
        prefix = trajectory.segments[: order.index(attempt.node)] if attempt.node in order else trajectory.segments
        messages = [{"role": "system", "content": trajectory.system}]
        messages += [message.openai() for segment in (*prefix, attempt) for message in segment.messages]
        about = {
            **_about(trajectory),
            "node": attempt.node,
            "attempt": attempt.attempt,
            "passed": attempt.passed,
            "cause": attempt.cause,
            "checks": attempt.checks,
        }
        found.append(SftExample(messages=tuple(messages), tools=trajectory.tools, weft=about))
    return found


def _about(trajectory: Trajectory) -> dict[str, object]:
    return {
        "task": trajectory.task,
        "task_hash": trajectory.task_hash,
        "view": trajectory.view,
        "disclosure": trajectory.disclosure,
        "harness": trajectory.harness,
        "policy": trajectory.policy,
        "seed": trajectory.seed,
        "initial_state": trajectory.initial_state,
        "passed": trajectory.passed,
        "turns": [segment.node for segment in trajectory.segments],
        "attempts": [segment.attempt for segment in trajectory.segments],
        "calls": [_call(entry) for segment in trajectory.segments for entry in segment.ledger],
    }


def _call(entry: LedgerEntry) -> dict[str, object]:
    return {"server": entry.server, "tool": entry.tool, "outcome": entry.outcome.value}


def sft_files(trajectories: Iterable[Trajectory]) -> dict[str, list[SftExample]]:
    """Return the lines of each SFT file by name, in the order of the trajectories.

    Names: ``sft.jsonl`` and ``rejected.jsonl`` for model policies, ``sft.scripted.jsonl`` and
    ``rejected.scripted.jsonl`` for
    scripted ones. Only passing trajectories go to ``sft``; the rejected attempts of all go to ``rejected``.
    """
    files: dict[str, list[SftExample]] = {}
    for trajectory in trajectories:
        kind = "scripted.jsonl" if is_scripted(trajectory) else "jsonl"
        if trajectory.passed:
            files.setdefault(f"sft.{kind}", []).append(example_of(trajectory))
        files.setdefault(f"rejected.{kind}", []).extend(rejected_of(trajectory))
    return files


def attempts_per_turn(trajectories: Iterable[Trajectory]) -> dict[int, tuple[int, int]]:
    """Return by attempt number: how many attempts were made, and how many of them were accepted."""
    made: dict[int, list[int]] = {}
    for trajectory in trajectories:
        judged: Sequence[Segment] = [*trajectory.segments, *trajectory.rejected]
        for segment in judged:
            row = made.setdefault(segment.attempt, [0, 0])
            row[0] += 1
            row[1] += segment.passed is True
    return {number: (row[0], row[1]) for number, row in sorted(made.items())}
