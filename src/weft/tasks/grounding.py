"""Progressive state grounding: entities, then relations, then context (Weft 3.1.2).

The first round starts from each environment's seed state. Every round ends with two checks: the state fits the schema,
and every node is reachable (its whole reference runs, with the same outcomes and the same kinds of changes as the task
alone). The context round is in :mod:`weft.tasks.context`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.errors import InputError
from weft.ports import ToolHost
from weft.records.base import JSON
from weft.records.certificate import CheckRecord
from weft.records.codec import content_hash
from weft.records.environment import Environment
from weft.records.state import ColumnType, DatabaseSchema, InitialState
from weft.runtime.state import State
from weft.runtime.values import json_equal
from weft.tasks.assembly import Assembly
from weft.tasks.binding import Placement
from weft.tasks.context import distractor, habits, with_row
from weft.tasks.runs import AFTER_FAILURE, Problem, Rehearsal, Run, choices, same_outcome

States = dict[str, InitialState]

MOST_DISTRACTORS = 16
"""Distractors of one composed task that are tried."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """A grounded initial state.

    Attributes:
        states: by environment.
        checks: of each round.
        distractors: ``server.table`` of the rows that were added, with the node and policy that each flips.
    """

    states: States
    checks: tuple[CheckRecord, ...]
    distractors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Distractor:
    node: str
    policy: str
    server: str
    table: str
    row: dict[str, Any]


async def ground(
    host: ToolHost, environments: Mapping[str, Environment], assembly: Assembly, *, seed: int
) -> Grounded | list[Problem]:
    """Ground a composition's initial state in three rounds.

    Args:
        host: runs the references.
        environments: of the composition, by name, in order.
        assembly: the composition.
        seed: of the generated ids.

    Returns:
        The state, or the nodes that cannot be reached in it with the reason.
    """
    schemas = {name: environment.contracts.schema_ for name, environment in environments.items()}
    states: States = {name: environment.seed for name, environment in environments.items()}
    checks: list[CheckRecord] = []
    for name, write in (("entities", initialise_entities), ("relations", complete_relations)):
        written = write(states, assembly.placements, schemas)
        if written != states or not checks:
            problem = schema_problem(written, list(environments.values()))
            if problem:
                return [Problem(node, f"round {name}: {problem}") for node in _placed(assembly)]
            async with Rehearsal(host, list(environments.values()), written, seed) as rehearsal:
                found = unreachable(assembly, await rehearsal.run(assembly.plans))
            if found:
                return found
        states = written
        checks.append(CheckRecord(name=f"grounding_{name}", passed=True, cases=len(assembly.placements)))
    return await _enrich(host, environments, assembly, states, checks, seed)


def _placed(assembly: Assembly) -> list[str]:
    return list(dict.fromkeys(node for (node, _), link in assembly.links.items() if link.way == "placed"))


def unreachable(assembly: Assembly, run: Run) -> list[Problem]:
    """Return the nodes that do not go as their tasks go alone; those that failed after another one are left out."""
    found = []
    for name, node in run.nodes.items():
        if node.failed:
            if not node.failed.startswith(AFTER_FAILURE):
                found.append(Problem(name, node.failed))
        elif node.shape() != assembly.drawn[name].shape:
            found.append(Problem(name, "it has other outcomes or changes than the task alone"))
        elif any(
            here > alone
            for here, alone in zip(
                choices(assembly.drawn[name].solution, node), assembly.drawn[name].choices, strict=True
            )
        ):
            found.append(Problem(name, "what it looks for is not the only one any more"))
    return found


async def _enrich(
    host: ToolHost,
    environments: Mapping[str, Environment],
    assembly: Assembly,
    states: States,
    checks: list[CheckRecord],
    seed: int,
) -> Grounded:
    """Round three: add distractors where the state does not tell a careless policy from a careful one."""
    proposed = await _proposals(host, environments, assembly, states, seed)
    kept = list(proposed)
    while kept:
        enriched = _with_rows(states, kept)
        bad = await _not_flipping(host, environments, assembly, enriched, kept, seed)
        if not bad:
            break
        kept = [item for item in kept if item not in bad]
    names = tuple(f"{item.server}.{item.table} {item.node} {item.policy}" for item in kept)
    check = CheckRecord(name="grounding_context", passed=True, cases=len(kept), detail=", ".join(names)[:400])
    return Grounded(_with_rows(states, kept), (*checks, check), names)


def _with_rows(states: States, distractors: Sequence[_Distractor]) -> States:
    after = dict(states)
    for item in distractors:
        after[item.server] = with_row(after[item.server], item.table, item.row)
    return after


async def _proposals(
    host: ToolHost, environments: Mapping[str, Environment], assembly: Assembly, states: States, seed: int
) -> list[_Distractor]:
    found: list[_Distractor] = []
    async with Rehearsal(host, list(environments.values()), states, seed) as rehearsal:
        run = await rehearsal.run(assembly.plans, snapshots=True)
        for plan in assembly.plans:
            environment, node = environments[plan.server], run.nodes[plan.id]
            for habit in habits(plan, environment):
                if len(found) >= MOST_DISTRACTORS:
                    break
                if not same_outcome(await rehearsal.variant(habit.plan), node):
                    continue
                schema = environment.contracts.schema_
                added = [item.row for item in found if (item.server, item.table) == (plan.server, habit.table)]
                row = distractor(habit, node.run.results.get(habit.step), states[plan.server], schema, added)
                if row is not None:
                    found.append(_Distractor(plan.id, f"{habit.policy}:{habit.step}", plan.server, habit.table, row))
    return found


async def _not_flipping(
    host: ToolHost,
    environments: Mapping[str, Environment],
    assembly: Assembly,
    states: States,
    distractors: Sequence[_Distractor],
    seed: int,
) -> list[_Distractor]:
    """Return the distractors that break a node, do not fit their schema, or flip nothing."""
    for name, environment in environments.items():
        if schema_problem({name: states[name]}, [environment]):
            return [item for item in distractors if item.server == name]
    async with Rehearsal(host, list(environments.values()), states, seed) as rehearsal:
        run = await rehearsal.run(assembly.plans, snapshots=True)
        broken = {assembly.drawn[problem.node].task.server for problem in unreachable(assembly, run)}
        if broken:
            guilty = [item for item in distractors if item.server in broken]
            return guilty or list(distractors)
        bad = []
        for item in distractors:
            plan = assembly.plan(item.node)
            habit = next(
                one for one in habits(plan, environments[plan.server]) if f"{one.policy}:{one.step}" == item.policy
            )
            if same_outcome(await rehearsal.variant(habit.plan), run.nodes[item.node]):
                bad.append(item)
    return bad


def state_hashes(states: Mapping[str, InitialState]) -> dict[str, str]:
    """Return the content hash of each initial state."""
    return {name: content_hash(state) for name, state in states.items()}


def initialise_entities(
    states: Mapping[str, InitialState], placements: Sequence[Placement], schemas: Mapping[str, DatabaseSchema]
) -> States:
    """Round one: give each bound entity its key, and what refers to that key by a foreign key with it."""
    after = dict(states)
    for placement in placements:
        places = {(placement.table, placement.column)}
        table = schemas[placement.server].table(placement.table)
        if placement.column in table.key:
            places |= {
                (other.name, column.name)
                for other in schemas[placement.server].tables
                for column in other.columns
                if column.references == table.name
            }
        after[placement.server] = _written(after[placement.server], placement, places)
    return after


def complete_relations(
    states: Mapping[str, InitialState], placements: Sequence[Placement], schemas: Mapping[str, DatabaseSchema]
) -> States:
    """Round two: the same entity has the same value wherever it stands in its server, in JSON columns too."""
    after = dict(states)
    for placement in placements:
        places = {
            (table.name, column.name)
            for table in schemas[placement.server].tables
            for column in table.columns
            if not column.enum
        }
        after[placement.server] = _written(after[placement.server], placement, places, schemas[placement.server])
    return after


def _written(
    state: InitialState, placement: Placement, places: set[tuple[str, str]], schema: DatabaseSchema | None = None
) -> InitialState:
    nested = {
        (table.name, column.name)
        for table in (schema.tables if schema else ())
        for column in table.columns
        if column.type is ColumnType.JSON
    }

    def value_of(table: str, column: str, value: Any) -> JSON:
        if (table, column) not in places:
            return value
        if (table, column) in nested:
            return _replaced(value, placement)
        return placement.new if json_equal(value, placement.old) else value

    rows = {
        table: [{column: value_of(table, column, value) for column, value in row.items()} for row in entries]
        for table, entries in state.rows.items()
    }
    return state.model_copy(update={"rows": rows})


def _replaced(value: JSON, placement: Placement) -> JSON:
    if isinstance(value, dict):
        return {key: _replaced(item, placement) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, placement) for item in value]
    return placement.new if json_equal(value, placement.old) else value


def schema_problem(states: Mapping[str, InitialState], environments: Sequence[Environment]) -> str:
    """Return why the states do not fit their schemas, or "" if they do; each is really loaded."""
    for environment in environments:
        try:
            state = State.create(environment.contracts.schema_, states[environment.name], seed=0, name=environment.name)
        except InputError as error:
            return str(error)
        state.close()
    return ""
