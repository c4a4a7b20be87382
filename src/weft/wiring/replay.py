"""Replays SFT lines: each recorded call, from the recorded initial state, must give what was recorded."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.errors import FormatError, InputError, IntegrityError
from weft.hosts.local import LocalHost
from weft.ports import SessionGroup
from weft.records.batch import SftExample
from weft.records.codec import content_hash, parse_record, split_lines
from weft.records.environment import Environment
from weft.records.task import ComposedSolution
from weft.rollouts.limits import Limits
from weft.rollouts.react import parse_arguments, shown
from weft.rollouts.segment import session_seed
from weft.wiring.episodes import Staged, stage_composed
from weft.wiring.layout import RunFolder
from weft.wiring.progress import Progress, Step


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of replaying one line: every difference, in words."""

    task: str
    calls: int
    problems: tuple[str, ...]


def read_examples(path: Path) -> list[SftExample]:
    """Read an SFT file; a half-written last line is left out.

    Raises:
        InputError: the file is not there.
        FormatError: a line is no SFT example.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; run `weft run` first") from error
    lines = [line for line, complete in split_lines(data) if complete]
    return [parse_record(SftExample, line, f"{path.name}:{number}") for number, line in enumerate(lines, 1)]


def replay_file(folder: RunFolder, path: Path, progress: Progress) -> list[Replayed]:
    """Replay every line of an SFT file against the environments and tasks of its run.

    Raises:
        InputError: a task or environment that a line names is not in the folder.
    """
    examples = read_examples(path)
    environments: dict[str, Environment] = {}
    found = []
    for number, example in enumerate(examples, 1):
        name = _checked(example, f"{path.name}:{number}")
        task, solution, state = folder.read_composed(name)
        _proven(solution, name)
        for pin in task.environments:
            if pin.name not in environments:
                environments[pin.name] = folder.read_environment(pin.name)
        staged = stage_composed(task, solution, environments, state.states)
        found.append(asyncio.run(replay(example, staged)))
        progress(Step("replay", number, len(examples), name))
    return found


def _checked(example: SftExample, place: str) -> str:
    """Return the task id of a line that has what a replay needs.

    Raises:
        FormatError: naming the line and what it lacks.
    """
    about, requests = example.weft, sum(message.get("role") == "user" for message in example.messages)
    name, turns = about.get("task"), about.get("turns")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise FormatError(f"{place}: weft.task is {name!r:.80}; a task id of the run is wanted")
    if not isinstance(about.get("seed"), int) or not isinstance(about.get("initial_state"), dict):
        raise FormatError(f"{place}: weft.seed or weft.initial_state is missing; the line cannot be replayed")
    if not isinstance(turns, list) or not turns or len(turns) != requests:
        raise FormatError(f"{place}: weft.turns does not align with {requests} requests; the line cannot be replayed")
    return name


def _proven(solution: ComposedSolution, name: str) -> None:
    """Refuse verifiers that are not the ones that their certificates prove.

    Raises:
        IntegrityError: naming the task.
    """
    parts = [(name, solution.verifier, solution.certificate)]
    parts += [(f"{name}, node {node}", each.verifier, each.certificate) for node, each in solution.nodes.items()]
    for what, verifier, certificate in parts:
        if certificate is not None and certificate.verifier != content_hash(verifier):
            raise IntegrityError(
                f"the verifier of {what} is not the one that its certificate proves; run `weft run` again"
            )


def _reply(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the final reply of a turn, or None when it does not end with one."""
    last = messages[-1]
    done = last["role"] == "assistant" and not last.get("tool_calls")
    return last.get("content") if done else None


async def replay(example: SftExample, staged: Staged) -> Replayed:
    """Replay one line on fresh sessions and judge each turn."""
    about = example.weft
    episode = staged.episode
    recorded = about["initial_state"]
    problems = []
    for name, state in sorted(episode.states.items()):
        if recorded.get(name) != (actual := content_hash(state)):
            problems.append(f"the state of {name} is {actual[:12]}, recorded {str(recorded.get(name))[:12]}")
    seed = session_seed(about["seed"])
    group = await LocalHost().open(episode.environments, seed=seed, states=episode.states)
    calls = 0
    slots: dict[str, Mapping[str, Any]] = {}
    try:
        for nodes, messages in zip(_turns(about, staged), _split(example.messages), strict=True):
            start = len(await group.ledger())
            calls += await _calls(group, messages, problems)
            ledger = await group.ledger()
            verdict = episode.judge.judge(
                nodes, ledger=ledger[start:], earlier=ledger[:start], reply=_reply(messages), slots=slots
            )
            slots[nodes[0]] = verdict.slots
            problems += [f"{check.name}: {check.detail}" for check in verdict.checks if not check.passed]
    finally:
        await group.close()
    return Replayed(episode.task.id, calls, tuple(problems))


def _turns(about: Mapping[str, Any], staged: Staged) -> list[tuple[str, ...]]:
    """Return the nodes of each recorded turn; an Agentic turn has no node name and asks for all."""
    return [(node,) if node else staged.episode.order for node in about["turns"]]


def _split(messages: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the messages of each turn; a turn begins with the user's request."""
    turns: list[list[Mapping[str, Any]]] = []
    for message in messages:
        if message["role"] == "user":
            turns.append([])
        if turns:
            turns[-1].append(message)
    return turns


async def _calls(group: SessionGroup, messages: Sequence[Mapping[str, Any]], problems: list[str]) -> int:
    """Make the recorded calls of a turn and note each result that differs."""
    offered = {tool.name: tool for tool in group.tools()}
    recorded = {message.get("tool_call_id"): message["content"] for message in messages if message["role"] == "tool"}
    made = 0
    for message in messages:
        for call in message.get("tool_calls", []):
            function = call["function"]
            tool = offered.get(function["name"])
            try:
                arguments = parse_arguments(function["arguments"])
            except FormatError:
                continue  # the harness answered it; no tool was called
            if tool is None:
                continue
            made += 1
            result = await group.call(tool.server, tool.spec.name, arguments, call_id=call["id"])
            if shown(result.value, Limits().result_chars) != recorded.get(call["id"]):
                problems.append(
                    f"{function['name']}({function['arguments']}) gives {json.dumps(result.value)[:120]}, "
                    f"recorded {str(recorded.get(call['id']))[:120]}"
                )
    return made
