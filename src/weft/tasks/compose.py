"""Composing a corpus: quotas per profile, coverage-aware sampling, and one certified task for each place (Weft A.2)."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from weft.agents.composition import CompositionAuthor
from weft.agents.reference import Unresolved
from weft.errors import InputError
from weft.ports import ToolHost
from weft.records.codec import content_hash
from weft.records.composition import Composition, CompositionResult, CompositionUsage
from weft.records.environment import Environment
from weft.records.library import AtomicLibrary
from weft.records.spec import Refusal, RefusalCode
from weft.records.task import AtomicSolution, AtomicTask, FromInput, TaskOutput
from weft.runtime.values import json_equal
from weft.tasks.binding import Drawn, propose
from weft.tasks.candidate import Candidate, Workshop
from weft.tasks.judge import schemas_of
from weft.tasks.naming import spoken_outputs
from weft.tasks.plan import plan_atomic
from weft.tasks.profiles import Fit, Profile, default_profiles, fit, quotas, redistribute
from weft.tasks.ranking import Capability, coherent
from weft.tasks.runs import Rehearsal, choices, output_of
from weft.tasks.sampling import Draw, Usage, by_need, combinations, reserve, shares
from weft.tasks.selection import Offers, Pool

COMBINATIONS = 6
"""Combinations that are tried for one place of a profile before it is given up."""

MISSES = 2
"""Places in a row that a profile may miss before it is not tried any more."""


@dataclass(slots=True)
class Catalog:
    """What a corpus is composed from.

    Attributes:
        environments: by name.
        tasks: by MCP, as they went alone.
        capabilities: by MCP.
        domains: by MCP; an MCP without a label is a domain of its own.
        offers: every binding that types and domains allow.
    """

    environments: Mapping[str, Environment]
    tasks: Mapping[str, Sequence[Drawn]]
    capabilities: Mapping[str, Capability]
    domains: Mapping[str, str]
    offers: Offers


async def compose(
    libraries: Mapping[str, AtomicLibrary],
    environments: Sequence[Environment],
    host: ToolHost,
    author: CompositionAuthor,
    *,
    count: int,
    seed: int,
    profiles: Sequence[Profile] | None = None,
    usage: Usage | None = None,
    quota: int = 4,
    mutants: int = 6,
    told: Callable[[int], None] | None = None,
) -> CompositionResult:
    """Compose ``count`` tasks.

    Args:
        libraries: certified atomic tasks by environment name.
        environments: certified.
        host: runs the tools.
        author: judges combinations and words the tasks.
        count: wanted tasks.
        seed: of every choice, of generated ids and of mutants.
        profiles: the published ones when None.
        usage: historical usage; it is counted up.
        quota: atomic tasks of each MCP that are left for use on their own; what exceeds it is drawn first.
        mutants: tried for each node, besides those that do nothing.
        told: is told the number of places that are settled, filled or not, after each.

    Raises:
        InputError: a library is of another version of its environment.
    """
    table = tuple(default_profiles() if profiles is None else profiles)
    spent = usage if usage is not None else Usage()
    catalog, refusals = await _catalog(libraries, environments, host, seed)
    capacity = {mcp: len(tasks) for mcp, tasks in catalog.tasks.items()}
    fits = {profile.name: fit(profile, capacity, catalog.domains) for profile in table}
    refusals += [note for found in fits.values() for note in found.notes]
    wanted = quotas(table, count)
    planned = redistribute(table, wanted, [name for name, found in fits.items() if found.profile is not None])
    work = _Work(catalog, Workshop(host, author, seed, mutants), spent, reserve(capacity, quota), refusals)
    made: list[Composition] = []
    settled = 0
    for profile in table:
        for number in range(planned[profile.name]):
            rng = random.Random(f"{seed}/{profile.name}/{number}")
            found = await work.place(f"task-{len(made) + 1}", _nearest(table, profile, fits), rng)
            if found is not None:
                made.append(found)
            settled += 1
            if told is not None:
                told(settled)
    return CompositionResult(
        compositions=tuple(made),
        quotas=wanted,
        planned=planned,
        refusals=tuple(refusals),
        usage=CompositionUsage(domains=dict(spent.domains), mcps=dict(spent.mcps), tasks=dict(spent.tasks)),
    )


@dataclass(slots=True)
class _Work:
    """The corpus in the making."""

    catalog: Catalog
    workshop: Workshop
    usage: Usage
    reserved: Mapping[str, int]
    refusals: list[Refusal]
    missed: Counter[str] = field(default_factory=Counter)

    async def place(self, task_id: str, profiles: Sequence[Profile], rng: random.Random) -> Composition | None:
        """Fill one place of the corpus: with its own profile, else with the nearest one that holds."""
        for profile in profiles:
            if self.missed[profile.name] >= MISSES:
                continue
            found = await self._one(task_id, profile, rng)
            if found is not None:
                self.missed[profile.name] = 0
                if profile is not profiles[0]:
                    self._moved(task_id, profiles[0], f"its place went to {profile.name}")
                return found
            self.missed[profile.name] += 1
        self._moved(task_id, profiles[0], "its place stays empty")
        return None

    async def _one(self, task_id: str, profile: Profile, rng: random.Random) -> Composition | None:
        """Try combinations until one gives a certified task."""
        catalog = self.catalog
        draws: list[Draw] = []
        for _ in range(COMBINATIONS):
            if not draws:
                draws = combinations(profile, catalog.capabilities, self.usage, rng, catalog.offers.joined)[:3]
            if not draws:
                return None
            draw = draws.pop(0)
            specs = [catalog.environments[mcp].spec for mcp in draw.mcps]
            values = coherent([catalog.capabilities[mcp] for mcp in draw.mcps], catalog.offers.joined)
            reason = self.workshop.author.incoherent(specs, values)
            if reason:
                self._refuse(task_id, draw, reason)
                continue
            self.usage.count(draw.mcps, catalog.capabilities)
            try:
                found = await self._candidate(task_id, profile, draw, rng).compose(self.workshop)
            except Exception as error:  # noqa: BLE001 - one combination must not cost the corpus; the reason is kept
                found = _broken(task_id, draw, error)
            if isinstance(found, Composition):
                self.usage.tasks.update(node.task for node in found.solution.graph.nodes)
                return found
            self.refusals.append(found)
        return None

    def _moved(self, task_id: str, profile: Profile, what: str) -> None:
        self.refusals.append(
            Refusal(
                code=RefusalCode.INFEASIBLE,
                subject=f"profile/{profile.name}/{task_id}",
                message=f"no combination of MCPs holds together in this profile: {what}",
                remedy="add environments and atomic tasks whose values meet, or ask for fewer tasks",
            )
        )

    def _candidate(self, task_id: str, profile: Profile, draw: Draw, rng: random.Random) -> Candidate:
        tasks = {}
        for mcp in draw.mcps:
            known = {item.task.id: item for item in self.catalog.tasks[mcp]}
            order = by_need(list(known), self.usage, self.reserved[mcp], rng)
            tasks[mcp] = [known[name] for name in order]
        capacity = {mcp: len(items) for mcp, items in tasks.items()}
        labelled = {mcp: self.catalog.environments[mcp].spec.domain for mcp in draw.mcps}
        return Candidate(
            id=task_id,
            profile=profile,
            environments={mcp: self.catalog.environments[mcp] for mcp in draw.mcps},
            pool=Pool(tasks, shares(draw, capacity)),
            offers=self.catalog.offers,
            domains=self.catalog.domains,
            labelled={mcp: domain for mcp, domain in labelled.items() if domain},
        )

    def _refuse(self, task_id: str, draw: Draw, reason: str) -> None:
        self.refusals.append(
            Refusal(
                code=RefusalCode.INFEASIBLE,
                subject=f"{task_id}/{'+'.join(draw.mcps)}",
                message=f"no common objective: {reason}"[:400],
                remedy="nothing to do: another combination is drawn",
            )
        )


async def _catalog(
    libraries: Mapping[str, AtomicLibrary], environments: Sequence[Environment], host: ToolHost, seed: int
) -> tuple[Catalog, list[Refusal]]:
    """Run every atomic task alone once, and describe what each MCP can add."""
    tasks: dict[str, list[Drawn]] = {}
    refusals: list[Refusal] = []
    capabilities: dict[str, Capability] = {}
    domains: dict[str, str] = {}
    by_name = {environment.name: environment for environment in environments}
    for name, environment in by_name.items():
        library = libraries.get(name)
        if library is None:
            continue
        if library.environment_hash != environment.hash:
            raise InputError(f"the atomic tasks of {name!r} are of another version of it; build them again")
        domains[name] = environment.spec.domain or f"unlabelled:{name}"
        tasks[name] = []
        for task, solution in zip(library.tasks, library.solutions, strict=True):
            found = await alone(task, solution, environment, host, seed)
            if isinstance(found, Refusal):
                refusals.append(found)
            else:
                tasks[name].append(found)
        capabilities[name] = _capability(name, domains[name], tasks[name], environment)
    return Catalog(by_name, tasks, capabilities, domains, _offers(by_name, tasks)), refusals


def _offers(environments: Mapping[str, Environment], tasks: Mapping[str, Sequence[Drawn]]) -> Offers:
    """Return every binding of the catalog, and which MCPs they join."""
    flat = [item for items in tasks.values() for item in items]
    states = {name: environment.seed for name, environment in environments.items()}
    links = propose(flat, states, schemas_of(list(environments.values())))
    joined: dict[str, set[str]] = {mcp: set() for mcp in tasks}
    for link in links:
        left, right = flat[link.source].task.server, flat[link.target].task.server
        if left != right:
            joined[left].add(right)
            joined[right].add(left)
    index = {item.task.id: number for number, item in enumerate(flat)}
    return Offers(links, index, {mcp: frozenset(others) for mcp, others in joined.items()})


def _nearest(table: Sequence[Profile], profile: Profile, fits: Mapping[str, Fit]) -> list[Profile]:
    """Return the possible profiles, fitted, from a profile on by distance; of two equally near the easier first."""
    names = [one.name for one in table]
    at = names.index(profile.name)
    order = sorted(range(len(table)), key=lambda index: (abs(index - at), index))
    found = [fits[names[index]].profile for index in order]
    return [one for one in found if one is not None]


def _broken(task_id: str, draw: Draw, error: Exception) -> Refusal:
    return Refusal(
        code=RefusalCode.INTERNAL,
        subject=f"{task_id}/{'+'.join(draw.mcps)}",
        message=f"composing failed: {type(error).__name__}: {error}"[:300],
        remedy="report it with the seed and the specs; other combinations are not touched",
    )


async def alone(
    task: AtomicTask, solution: AtomicSolution, environment: Environment, host: ToolHost, seed: int
) -> Drawn | Refusal:
    """Run an atomic task alone on its environment's seed state."""
    if task.environment.state != content_hash(environment.seed):
        return _unusable(task, "it needs an initial state of its own", "use it alone")
    task = anchored(task, solution, environment)
    async with Rehearsal(host, [environment], {environment.name: environment.seed}, seed) as rehearsal:
        (plan,) = plan_atomic(task, solution)
        run = (await rehearsal.run([plan])).nodes[task.id]
    if run.failed:
        return _unusable(task, f"its reference does not run: {run.failed}", "certify it again")
    outputs = {}
    solution = solution.model_copy(update={"outputs": (*solution.outputs, *stated_outputs(solution))})
    spoken = spoken_outputs(task, solution, environment)
    for output in solution.outputs:
        if output.name not in spoken:
            continue
        try:
            outputs[output.name] = output_of(solution, run, output.name)
        except Unresolved:
            continue
    return Drawn(task, solution, outputs, run.shape(), spoken, choices(solution, run))


ANCHORS = frozenset({"identifier", "filter", "search", "link", "parent", "bulk"})
"""Roles of arguments that look a row up."""


def anchored(task: AtomicTask, solution: AtomicSolution, environment: Environment) -> AtomicTask:
    """Return a task in which every input that looks up a row of the state says in which column it must exist."""
    keys: dict[str, str] = {}
    for step in solution.reference:
        uses = {use.path: use for use in environment.contracts.contract(step.tool).arguments}
        for path, source in step.arguments.items():
            use = uses.get(path)
            if not isinstance(source, FromInput) or use is None or use.role not in ANCHORS or not use.column:
                continue
            value = next((item.value for item in task.inputs if item.name == source.name), None)
            if any(json_equal(row.get(use.column), value) for row in environment.seed.rows.get(use.table, [])):
                keys.setdefault(source.name, f"{use.table}.{use.column}")
    inputs = tuple(
        item if item.keyed else item.model_copy(update={"keyed": keys.get(item.name, "")}) for item in task.inputs
    )
    return task.model_copy(update={"inputs": inputs})


def stated_outputs(solution: AtomicSolution) -> tuple[TaskOutput, ...]:
    """Return outputs for texts that a task's reply states and its own outputs leave out: they flow into free text."""
    known = {output.name for output in solution.outputs}
    sources = [output.source for output in solution.outputs]
    return tuple(
        TaskOutput(name=part.name, source=part.source, semantic="text")
        for part in solution.reply
        if part.kind == "text" and part.name not in known and part.source not in sources
    )


def _unusable(task: AtomicTask, reason: str, remedy: str) -> Refusal:
    return Refusal(code=RefusalCode.INFEASIBLE, subject=f"{task.server}/{task.id}", message=reason[:400], remedy=remedy)


def _capability(name: str, domain: str, tasks: Sequence[Drawn], environment: Environment) -> Capability:
    contracts = environment.contracts
    entity = {table.name: table.entity for table in contracts.schema_.tables}
    writing = {contract.tool for contract in contracts.contracts if contract.effect == "write"}
    return Capability(
        mcp=name,
        domain=domain,
        capacity=len(tasks),
        gives=frozenset(one.semantic for item in tasks for one in item.solution.outputs if one.name in item.outputs),
        takes=frozenset(one.semantic for item in tasks for one in item.task.inputs),
        entities=frozenset(table.entity for table in contracts.schema_.tables if not table.relation),
        writes=frozenset(
            one.semantic
            for item in tasks
            if any(step.tool in writing for step in item.solution.reference)
            for one in item.task.inputs
        ),
        functions=frozenset(
            f"{case.intent} {entity.get(case.table, case.table)}" for one in contracts.contracts for case in one.cases
        ),
    )
