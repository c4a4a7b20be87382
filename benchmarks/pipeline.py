"""Environments, atomic tasks and rollouts per second on this machine, with peak memory; prints JSON.

    python benchmarks/pipeline.py --json [--specs examples/catalog] [--tasks 12] [--seed 7]

One process does everything, so the figures are per core. Each stage is timed on its own; ``calls`` are tool calls
through the local host, checks and ledger included.
"""

import argparse
import asyncio
import json
import platform
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from weft.agents.rules.composition.author import RulesCompositionAuthor
from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.catalog.domains import labelled
from weft.catalog.dumps import read_specs
from weft.envs.synthesis import synthesise
from weft.hosts.local import LocalHost
from weft.records.environment import Environment
from weft.rollouts.react import ReactHarness
from weft.tasks.atomic import build_atomic
from weft.tasks.compose import compose
from weft.train.prefix import sample
from weft.wiring.episodes import scripted, stage_composed

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]


def timed(work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    """Run a coroutine to its end; return its result and the seconds that it took."""

    async def go() -> T:
        return await work()

    start = time.perf_counter()
    result = asyncio.run(go())
    return result, time.perf_counter() - start


def peak_mib() -> float:
    """Peak resident memory of this process in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 if sys.platform != "darwin" else 1024 * 1024), 1)


def rate(count: int, seconds: float) -> dict[str, float]:
    """Count, seconds, and count per second."""
    return {"count": count, "seconds": round(seconds, 3), "per_second": round(count / seconds, 2) if seconds else 0.0}


async def call_rate(environments: list[Environment], seed: int, wanted: int) -> tuple[int, int]:
    """Make the environments' own test calls over and over; return reads and writes made."""
    host = LocalHost()
    reads = writes = 0
    while reads + writes < wanted:
        for environment in environments:
            effects = {contract.tool: contract.effect for contract in environment.contracts.contracts}
            group = await host.open([environment], seed=seed)
            for test in environment.tests:
                await group.call(environment.name, test.tool, test.arguments)
                if effects[test.tool] == "read":
                    reads += 1
                else:
                    writes += 1
            await group.close()
    return reads, writes


def measure(specs: Path, tasks: int, seed: int) -> dict[str, Any]:
    """Run every stage once and return the figures."""
    found, _ = read_specs([specs])
    author, host = RulesEnvironmentAuthor(), LocalHost()
    report: dict[str, Any] = {"machine": {"python": platform.python_version(), "system": platform.platform()}}

    async def environments() -> list[Environment]:
        results = [await synthesise(labelled(spec), author, seed=seed) for spec in found]
        return [result.environment for result in results if result.environment is not None]

    made, seconds = timed(environments)
    report["environments"] = rate(len(made), seconds) | {"attempted": len(found)}
    report["environments"]["tools"] = sum(len(environment.served()) for environment in made)

    async def libraries() -> dict[str, Any]:
        return {each.name: await build_atomic(each, RulesTaskAuthor(), host, seed=seed, limit=24) for each in made}

    library, seconds = timed(libraries)
    report["atomic_tasks"] = rate(sum(len(each.tasks) for each in library.values()), seconds)

    used = {name: each for name, each in library.items() if each.tasks}
    composed, seconds = timed(lambda: compose(used, made, host, RulesCompositionAuthor(), count=tasks, seed=seed))
    report["composed_tasks"] = rate(len(composed.compositions), seconds)

    async def rollouts() -> tuple[int, int]:
        by_name = {each.name: each for each in made}
        calls = accepted = 0
        for number, item in enumerate(composed.compositions):
            staged = stage_composed(item.task, item.solution, by_name, item.state.states)
            for view in ("simuser", "agentic"):
                made_ = await sample(
                    host,
                    ReactHarness(),
                    staged.episode,
                    scripted(staged.plan, noise=0.3),
                    view=view,
                    seed=seed + number,
                )
                calls += sum(len(segment.ledger) for segment in (*made_.segments, *made_.rejected))
                accepted += made_.passed is True
        return calls, accepted

    (calls, accepted), seconds = timed(rollouts)
    report["rollouts"] = rate(2 * len(composed.compositions), seconds) | {"tool_calls": calls, "accepted": accepted}

    (reads, writes), seconds = timed(lambda: call_rate(made, seed, 2000))
    report["tool_calls"] = rate(reads + writes, seconds) | {"reads": reads, "writes": writes}
    report["peak_memory_mib"] = peak_mib()
    return report


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document (the default prints the same)")
    parser.add_argument("--specs", type=Path, default=ROOT / "examples" / "catalog")
    parser.add_argument("--tasks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    print(json.dumps(measure(options.specs, options.tasks, options.seed), indent=2))


if __name__ == "__main__":
    main()
