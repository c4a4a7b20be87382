"""One composed task from an accepted combination: select, bind, ground, verify, word, certify, and mend by kind.

A refused candidate is mended, not thrown away: a node that does not hold first loses its bindings, then gives way to
the next task of its MCP; an MCP that no binding reaches gives way to the others. The number of attempts is bounded.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.agents.composition import CompositionAuthor, CompositionTexts
from weft.errors import GraphError
from weft.ports import ToolHost
from weft.records.codec import content_hash
from weft.records.composition import Composition
from weft.records.environment import Environment
from weft.records.spec import Refusal, RefusalCode
from weft.records.task import ComposedSolution, ComposedTask, EnvironmentPin, TaskState
from weft.tasks.assembly import Assembly, assemble
from weft.tasks.binding import Drawn, choose
from weft.tasks.briefs import write_texts
from weft.tasks.certification import CertifiedComposition, Settled, bound_values, certify_composition, settle
from weft.tasks.graph import check_graph
from weft.tasks.grounding import Grounded, ground
from weft.tasks.profiles import Profile
from weft.tasks.runs import Problem
from weft.tasks.selection import Offers, Pool, select

ATTEMPTS = 14
"""Most times that one candidate is mended."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every candidate is made with.

    Attributes:
        host: runs the tools.
        author: words the tasks.
        seed: of runs and choices.
        mutants: tried for each node, besides those that do nothing.
    """

    host: ToolHost
    author: CompositionAuthor
    seed: int
    mutants: int


@dataclass(slots=True)
class Candidate:
    """A composed task in the making.

    Attributes:
        id: of the task.
        profile: fitted.
        environments: of its combination, by name.
        pool: tasks that it may draw.
        offers: every binding of the catalog.
        domains: by MCP; an MCP without a label is a domain of its own.
        labelled: MCP -> domain, for those that have a label.
    """

    id: str
    profile: Profile
    environments: Mapping[str, Environment]
    pool: Pool
    offers: Offers
    domains: Mapping[str, str]
    labelled: Mapping[str, str]

    async def compose(self, workshop: Workshop) -> Composition | Refusal:
        """Compose, mending what does not hold."""
        reason = "no attempt was made"
        for number in range(ATTEMPTS):
            breadth = len({self.domains[mcp] for mcp in self.pool.split})
            there = (self.pool.size, len(self.pool.split), breadth)
            if any(have < low for have, (low, _) in zip(there, self._ranges(), strict=True)):
                return self._refusal(f"too few tasks hold together: {reason}")
            made = await self._attempt(workshop, random.Random(f"{workshop.seed}/{self.id}/{number}"))
            if isinstance(made, Composition):
                return made
            reason = made
        return self._refusal(f"nothing held in {ATTEMPTS} attempts; the last: {reason}")

    def _ranges(self) -> tuple[tuple[int, int], ...]:
        return self.profile.tasks, self.profile.mcps, self.profile.domains

    async def _attempt(self, workshop: Workshop, rng: random.Random) -> Composition | str:
        selection = select(self.pool, self.offers.links, self.offers.index, rng)
        drawn, links = selection.drawn, choose(selection.drawn, selection.links, rng)
        lonely = unreached(drawn, [(link.source, link.target) for link in links])
        if lonely:
            return self._without(lonely)
        try:
            assembly = assemble(drawn, links)
        except GraphError as error:
            return str(error)
        environments = {name: self.environments[name] for name in dict.fromkeys(item.task.server for item in drawn)}
        expected = {key: link.value for key, link in assembly.links.items()}
        draft = write_texts(assembly, environments, workshop.author, expected, seed=workshop.seed)
        if not isinstance(draft, CompositionTexts):
            return self._mend(assembly, draft)
        grounded = await ground(workshop.host, environments, assembly, seed=workshop.seed)
        if not isinstance(grounded, Grounded):
            return self._mend(assembly, grounded)
        settled = await settle(workshop.host, environments, assembly, grounded, seed=workshop.seed)
        if not isinstance(settled, Settled):
            return self._mend(assembly, settled)
        values = bound_values(settled)
        texts = write_texts(settled.assembly, environments, workshop.author, values, seed=workshop.seed)
        if not isinstance(texts, CompositionTexts):
            return self._mend(assembly, texts)
        certified = await certify_composition(
            workshop.host, environments, settled, grounded, seed=workshop.seed, most=workshop.mutants
        )
        if not isinstance(certified, CertifiedComposition):
            return self._mend(assembly, certified)
        return self._documents(environments, settled, grounded, texts, certified)

    def _without(self, mcps: Sequence[str]) -> str:
        """Give the places of MCPs that no binding reaches to the others."""
        free = sum(self.pool.split.pop(mcp) for mcp in mcps)
        for mcp in sorted(self.pool.split, key=lambda one: self.pool.split[one] - len(self.pool.left(one))):
            room = len(self.pool.left(mcp)) - self.pool.split[mcp]
            more = max(0, min(free, room))
            self.pool.split[mcp] += more
            free -= more
        return f"no binding reaches {', '.join(mcps)}"

    def _mend(self, assembly: Assembly, problems: Sequence[Problem]) -> str:
        """Take out what does not hold, and return the first reason."""
        for problem in problems:
            node = problem.node
            bound = [key for key in assembly.links if key[0] == node]
            named = [key for key in assembly.named if key[0] == node]
            for key in bound:
                source = assembly.drawn[assembly.sources[key]].task.id
                self.pool.unbind(source, assembly.links[key].output, assembly.drawn[node].task.id, key[1])
            for key in named:
                source = assembly.drawn[assembly.named[key]].task.id
                self.pool.renaming.add((source, assembly.drawn[node].task.id, key[1]))
            if not bound and not named:
                guilty = assembly.drawn[node] if node else list(assembly.drawn.values())[-1]
                self.pool.banned.add(guilty.task.id)
        first = problems[0]
        name = assembly.drawn[first.node].task.id if first.node else "the whole"
        return f"{name}: {first.reason}"

    def _documents(
        self,
        environments: Mapping[str, Environment],
        settled: Settled,
        grounded: Grounded,
        texts: CompositionTexts,
        certified: CertifiedComposition,
    ) -> Composition:
        assembly = settled.assembly
        graph = assembly.graph(grounded.states, bound_values(settled))
        intents = dict(zip(assembly.drawn, texts.intents, strict=True))
        nodes = tuple(node.model_copy(update={"intent": intents[node.id]}) for node in graph.nodes)
        graph = graph.model_copy(update={"nodes": nodes})
        drawn = list(assembly.drawn.values())
        check_graph(graph, {item.task.id: item.task for item in drawn}, {item.task.id: item.solution for item in drawn})
        task = ComposedTask(
            id=self.id,
            profile=self.profile.name,
            objective=texts.objective,
            inputs=assembly.inputs(),
            environments=tuple(
                EnvironmentPin(name=name, hash=environment.hash, state=content_hash(grounded.states[name]))
                for name, environment in environments.items()
            ),
            brief=texts.brief,
            requests=texts.requests,
            domains=tuple(dict.fromkeys(self.labelled[name] for name in environments if name in self.labelled)),
        )
        solution = ComposedSolution(
            task=self.id,
            graph=graph,
            nodes=certified.nodes,
            verifier=settled.verified.whole,
            certificate=certified.certificate,
        )
        return Composition(task=task, solution=solution, state=TaskState(task=self.id, states=grounded.states))

    def _refusal(self, reason: str) -> Refusal:
        return Refusal(
            code=RefusalCode.INFEASIBLE,
            subject=f"{self.id}/{'+'.join(self.environments)}",
            message=reason[:400],
            remedy="build more atomic tasks for these MCPs, or let another combination be drawn",
        )


def unreached(drawn: Sequence[Drawn], links: Sequence[tuple[int, int]]) -> list[str]:
    """Return the MCPs that no chain of bindings joins to the largest group of the others."""
    servers = list(dict.fromkeys(item.task.server for item in drawn))
    group = {server: server for server in servers}
    for source, target in links:
        old, new = group[drawn[target].task.server], group[drawn[source].task.server]
        group = {server: new if name == old else name for server, name in group.items()}
    sizes = {name: sum(group[item.task.server] == name for item in drawn) for name in dict.fromkeys(group.values())}
    largest = max(sizes, key=lambda name: sizes[name]) if sizes else ""
    return [server for server in servers if group[server] != largest]
