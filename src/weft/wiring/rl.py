"""Atomic-turn RL walked once over the tasks of a run, with a tiny model (Weft 3.3.2): the join for the command line.

Demonstrations by the reference policy warm the model up until it passes some of the time; then it samples a tree for
each task, and one update is made on the groups whose candidates differ. This shows that every part works together on
real environments; a model of this size learns nothing that would carry over.
"""

import importlib.util
import itertools
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from weft.errors import InputError, MissingExtra
from weft.hosts.local import LocalHost
from weft.llm.local import LocalModel
from weft.llm.tiny import tiny_policy
from weft.ports import Completion, ModelClient
from weft.records.base import JSON
from weft.records.batch import SftExample, TurnGroup, UpdateReport, WarmStartReport
from weft.records.codec import content_hash, dump_lines, pretty
from weft.records.environment import Environment
from weft.records.trace import Message
from weft.rollouts.limits import Limits
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode, rollout
from weft.rollouts.segment import derive_seed
from weft.store.files import write_file
from weft.train.alignment import rows_of
from weft.train.batching import Batch, fill
from weft.train.branching import Branching, branch
from weft.train.sft import example_of
from weft.train.trainer import Trainer, Update, WarmStart, exact, row_logprob, warm_start
from weft.wiring.episodes import Staged, scripted, stage_atomic
from weft.wiring.layout import RunFolder
from weft.wiring.progress import Progress, Step

EXTRA = ("torch", "transformers", "tokenizers")
LIMITS = Limits(steps=8, calls=12, result_chars=1200)
LONGEST = 6000
"""Characters of a demonstration with its tools above which a task is passed over: the tiny model reads slowly."""


@dataclass(frozen=True)
class RlOptions:
    """What to walk.

    Attributes:
        run: folder of a run.
        candidates: G, segments per turn.
        tasks: tasks to sample; the shortest ones are taken.
        tools: most tools offered to the model in a task: those of its reference and the first others.
        seed: of everything random.
    """

    run: Path
    candidates: int = 8
    tasks: int = 4
    tools: int = 3
    seed: int = 0


@dataclass(frozen=True)
class RlResult:
    """What the command prints.

    Attributes:
        document: of ``--json``, and of ``rl/report.json`` but for ``seconds``.
        updated: there was an update.
    """

    document: dict[str, JSON]
    updated: bool


@dataclass(frozen=True)
class Lesson:
    """A task that the model is shown and then asked to do.

    Attributes:
        staged: the task.
        offered: names of the tools that the model is told of.
        example: what the reference policy did.
    """

    staged: Staged
    offered: frozenset[str]
    example: SftExample


class FewerTools:
    """A policy that is told of some of the offered tools only, to keep a tiny model's prompts short.

    Args:
        policy: the model.
        offered: names of the tools that it is told of.
    """

    def __init__(self, policy: ModelClient, offered: frozenset[str]) -> None:
        self._policy = policy
        self._offered = offered

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._policy.name

    async def complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], *, seed: int, temperature: float = 1.0
    ) -> Completion:
        """See :class:`weft.ports.ModelClient`."""
        told = [tool for tool in tools if tool["function"]["name"] in self._offered]
        return await self._policy.complete(messages, told, seed=seed, temperature=temperature)


def require_extra() -> None:
    """Check that training can run here.

    Raises:
        MissingExtra: a package of the ``train`` extra is absent.
    """
    absent = [name for name in EXTRA if importlib.util.find_spec(name) is None]
    if absent:
        raise MissingExtra(f"weft rl train needs {', '.join(absent)}: run scripts/install train")


def walk_once(options: RlOptions, progress: Progress) -> RlResult:
    """Warm up, sample, update once; write ``rl/report.json`` and ``rl/groups.jsonl`` into the run's folder.

    Raises:
        MissingExtra: the ``train`` extra is not installed.
        InputError: the folder is not a run's, or has no atomic task that suits.
    """
    require_extra()
    started = time.monotonic()
    folder = RunFolder(options.run)
    with exact():
        lessons = anyio.run(_lessons, folder, options, progress)
        policy, warm = _warm(lessons, options, progress)
        batch, update, moved, seconds = _update(policy, lessons, options, progress)
    document = _document(options, lessons, warm, batch, update, moved)
    write_file(folder.root / "rl" / "groups.jsonl", dump_lines(batch.sampled))
    write_file(folder.root / "rl" / "report.json", pretty(document))
    timed = {"seconds": round(time.monotonic() - started, 3), "seconds_update": round(seconds, 3)}
    return RlResult({**document, **timed}, updated=not update.skipped)


async def _lessons(folder: RunFolder, options: RlOptions, progress: Progress) -> list[Lesson]:
    """Return the tasks whose demonstrations are shortest, by length and then id."""
    found: list[tuple[int, str, Lesson]] = []
    names = folder.task_names("atomic")
    environments: dict[str, Environment] = {}
    host = LocalHost()
    for number, name in enumerate(names, 1):
        task, solution = folder.read_atomic(name)
        if task.server not in environments:
            environments[task.server] = folder.read_environment(task.server)
        environment = environments[task.server]
        # Tasks with an initial state of their own keep it in their library; the environment's own is the common case.
        if task.environment.state == content_hash(environment.seed):
            staged = stage_atomic(task, solution, environment, environment.seed)
            lesson = await _demonstrated(host, staged, options)
            if lesson is not None:
                found.append((_length(lesson.example), name, lesson))
        progress(Step("demonstrations", number, len(names), name))
    chosen = [lesson for _, _, lesson in sorted(found, key=lambda one: one[:2]) if _length(lesson.example) <= LONGEST]
    if not chosen:
        raise InputError(
            f"{folder.root}: none of its {len(names)} atomic tasks has a demonstration within {LONGEST} characters; "
            "run `weft run` on more specs first"
        )
    return chosen[: options.tasks]


def _length(example: SftExample) -> int:
    return len(json.dumps([example.messages, example.tools], ensure_ascii=False))


async def _demonstrated(host: LocalHost, staged: Staged, options: RlOptions) -> Lesson | None:
    """Return a task with the reference policy's passing rollout, None if it does not pass within the limits."""
    sampled = await rollout(
        host, ReactHarness(), staged.episode, scripted(staged.plan, noise=None),
        view="agentic", limits=LIMITS, seed=derive_seed(options.seed, "demonstration"),
    )  # fmt: skip
    if not sampled.passed:
        return None
    example = example_of(sampled)
    called = {call["function"]["name"] for message in example.messages for call in message.get("tool_calls", ())}
    others = [tool["function"]["name"] for tool in example.tools if tool["function"]["name"] not in called]
    offered = frozenset({*called, *others[: max(options.tools - len(called), 0)]})
    told = tuple(tool for tool in example.tools if tool["function"]["name"] in offered)
    return Lesson(staged, offered, example.model_copy(update={"tools": told}))


def _warm(lessons: Sequence[Lesson], options: RlOptions, progress: Progress) -> tuple[LocalModel, WarmStartReport]:
    texts = [
        json.dumps(part, ensure_ascii=False) for one in lessons for part in (one.example.messages, one.example.tools)
    ]
    longest = max(len(one) for one in texts)
    policy = tiny_policy(texts, seed=derive_seed(options.seed, "weights") % (1 << 31), vocabulary=768, max_tokens=192)
    progress(Step("warm start", 0, 1, f"{len(lessons)} demonstrations, longest {longest} characters"))
    # At 0.7 nats a demonstration is repeated about every second time: some candidates pass and some fail.
    goal = WarmStart(steps=400, batch=len(lessons), learning_rate=3e-3, enough=0.7)
    report = warm_start(policy, [one.example for one in lessons], goal, seed=derive_seed(options.seed, "warm"))
    progress(Step("warm start", 1, 1, f"{report.steps} steps"))
    return policy, report


def _update(
    policy: LocalModel, lessons: Sequence[Lesson], options: RlOptions, progress: Progress
) -> tuple[Batch, UpdateReport, dict[str, JSON], float]:
    branching = Branching(candidates=options.candidates, limits=LIMITS)
    budget = 3 * len(lessons)
    offered = {one.staged.episode.task.id: one.offered for one in lessons}

    async def sample(episode: Episode, number: int) -> list[TurnGroup]:
        told = FewerTools(policy, offered[episode.task.id])
        groups = await branch(
            LocalHost(), ReactHarness(), episode, lambda *_: told,
            view="agentic", branching=branching, seed=derive_seed(options.seed, "tree", number),
        )  # fmt: skip
        progress(Step("sampling", number + 1, budget, episode.task.id))
        return groups

    async def filled() -> Batch:
        return await fill(_again(lessons), sample, wanted=len(lessons), budget=budget)

    batch = anyio.run(filled)
    rows = [(row, group.rewards[row.sample]) for group in batch.kept for row in rows_of(group)[0]]
    before = [row_logprob(policy.module, row) for row, _ in rows]
    trainer = Trainer(policy, Update(learning_rate=1e-4), decode=policy.tokenizer.decode)
    started = time.monotonic()
    report = trainer.step(batch)
    seconds = time.monotonic() - started
    after = [row_logprob(policy.module, row) for row, _ in rows]
    changes = [(reward, new - old) for (_, reward), new, old in zip(rows, after, before, strict=True)]
    return batch, report, {"rewarded": _mean(changes, 1.0), "unrewarded": _mean(changes, 0.0)}, seconds


def _again(lessons: Sequence[Lesson]) -> Iterator[Episode]:
    return itertools.cycle([one.staged.episode for one in lessons])


def _mean(changes: Sequence[tuple[float | None, float]], wanted: float) -> float | None:
    chosen = [change for reward, change in changes if reward == wanted]
    return sum(chosen) / len(chosen) if chosen else None


def _document(
    options: RlOptions,
    lessons: Sequence[Lesson],
    warm: WarmStartReport,
    batch: Batch,
    update: UpdateReport,
    moved: dict[str, JSON],
) -> dict[str, JSON]:
    return {
        "seed": options.seed,
        "candidates": options.candidates,
        "tasks": [one.staged.episode.task.id for one in lessons],
        "warm_start": warm.model_dump(mode="json"),
        "groups": [{"id": group.id, "rewards": list(group.rewards), "chosen": group.chosen} for group in batch.sampled],
        "trees": batch.tasks,
        "full": batch.full,
        "update": update.model_dump(mode="json"),
        "logprob_change": moved,
    }
