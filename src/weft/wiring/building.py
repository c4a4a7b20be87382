"""`weft env build`: from specs to one certified folder for each environment, and `build.json` with every reason.

Each server is built by itself on a worker process: one that fails, crashes or takes too long costs no other. A finished
one is kept below ``OUT/.weft`` and not made again (Weft 3.1.1; Agent-World, environment synthesis).
"""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.agents.rules.environment.draft import RulesEnvironmentAuthor
from weft.catalog.domains import labelled
from weft.catalog.dumps import read_specs
from weft.envs.synthesis import synthesise
from weft.records.base import JSON
from weft.records.codec import parse_record, plain, pretty
from weft.records.environment import Environment
from weft.records.spec import McpSpec, Refusal, RefusalCode
from weft.runtime.folder import SPEC, write_folder
from weft.runtime.render import render_backend
from weft.store.files import sweep, write_file
from weft.store.pieces import Pieces
from weft.wiring.pool import CRASH, Job, Workers
from weft.wiring.progress import Progress

STAGE = "environments"
BUILD = "build.json"


@dataclass(frozen=True)
class BuildOptions:
    """What to build.

    Attributes:
        specs: files and folders.
        out: folder for the environments.
        seed: of everything random.
        size: wanted rows of a main table.
        workers: processes.
    """

    specs: Sequence[Path]
    out: Path
    seed: int = 0
    size: int = 12
    workers: int = 1


@dataclass(frozen=True)
class Built:
    """What became of one server.

    Attributes:
        spec: as it was read.
        environment: the certified one, or None.
        refusals: of the server and its tools, besides those of the spec.
        rounds: of validation.
    """

    spec: McpSpec
    environment: Environment | None
    refusals: tuple[Refusal, ...]
    rounds: int = 0

    @property
    def kind(self) -> str:
        """Kind of the certificate, or refused."""
        certificate = self.environment.certificate if self.environment is not None else None
        return certificate.kind if certificate is not None else "refused"


def build_environments(options: BuildOptions, progress: Progress) -> dict[str, Any]:
    """Build every environment, write the folders and ``build.json``, and return what that file holds.

    Raises:
        InputError: a path of the specs is not there, or the output folder cannot be written.
    """
    specs, refusals = read_specs(list(options.specs))
    work = options.out / ".weft"
    sweep(options.out) if options.out.is_dir() else None
    pieces = Pieces(work / "pieces", {"seed": options.seed, "size": options.size})
    with Workers(pieces, count=options.workers, progress=progress) as workers:
        built = make_environments([labelled(spec) for spec in specs], options, workers)
    document = summarise(built, refusals)
    write_file(options.out / BUILD, pretty(document))
    return document


def make_environments(specs: Sequence[McpSpec], options: BuildOptions, workers: Workers) -> list[Built]:
    """Build the environment of every spec and write the folders of the certified ones below ``options.out``.

    Args:
        specs: with names that differ.
        options: seed, size and where to write.
        workers: an open pool; its pieces are stamped with seed and size.
    """
    jobs = [Job(spec.name, plain(spec), _payload(spec, options)) for spec in specs]
    found = workers.map(STAGE, build_piece, jobs)
    built = [_built(spec, piece) for spec, piece in zip(specs, found, strict=True)]
    for each in built:
        _write(each, options.out)
    return built


def build_piece(payload: JSON) -> JSON:
    """Build one environment (runs on a worker)."""
    spec = parse_record(McpSpec, payload["spec"], "spec")
    if not spec.tools:
        return {"environment": None, "refusals": [plain(_nothing_usable(spec))], "rounds": 0}
    author = RulesEnvironmentAuthor()
    result = asyncio.run(synthesise(spec, author, seed=payload["seed"], size=payload["size"]))
    return {
        "environment": plain(result.environment),
        "refusals": [plain(each) for each in result.refusals],
        "rounds": len(result.rounds),
    }


def summarise(built: Sequence[Built], unread: Sequence[Refusal]) -> dict[str, Any]:
    """Return the document of ``build.json``.

    Args:
        built: what became of each server.
        unread: why files or servers never became a spec.
    """
    kinds = [each.kind for each in built]
    certified = {each.spec.name: len(_served(each)) for each in built}
    declared = sum(each.spec.declared_tools for each in built)
    refused_tools = [row for each in built for row in _refused_tools(each)]
    return {
        "environments": {
            "attempted": len(built) + len(unread),
            "stateful": kinds.count("stateful"),
            "read_only": kinds.count("read_only"),
            "refused": kinds.count("refused") + len(unread),
        },
        "tools": {
            "declared": declared,
            "certified": sum(certified.values()),
            "refused": declared - sum(certified.values()),
        },
        "tools_declared": declared,
        "tools_refused": refused_tools,
        "servers": [
            {
                "name": each.spec.name,
                "title": each.spec.title,
                "kind": each.kind,
                "folder": each.spec.name if each.kind != "refused" else None,
                "tools_declared": each.spec.declared_tools,
                "tools_certified": certified[each.spec.name],
                "environment": each.environment.hash if each.kind != "refused" and each.environment else None,
            }
            for each in built
        ],
        "warnings": [plain(warning) for each in built for warning in each.spec.warnings],
        "refusals": [plain(each) for each in unread]
        + [plain(reason) for each in built for reason in _whole_server(each)],
    }


def _payload(spec: McpSpec, options: BuildOptions) -> JSON:
    return {"spec": plain(spec), "seed": options.seed, "size": options.size}


def _built(spec: McpSpec, piece: Any) -> Built:
    if CRASH in piece:
        reason = Refusal(
            code=RefusalCode.INTERNAL,
            subject=spec.name,
            message=f"building it failed: {piece[CRASH]}",
            remedy="report it with the spec; the other servers are not touched",
        )
        return Built(spec, None, (reason,))
    refusals = tuple(parse_record(Refusal, each, f"{spec.name}: refusal") for each in piece["refusals"])
    if piece["environment"] is None:
        return Built(spec, None, refusals, piece["rounds"])
    return Built(spec, parse_record(Environment, piece["environment"], spec.name), refusals, piece["rounds"])


def _write(built: Built, out: Path) -> None:
    folder = out / built.spec.name
    if built.kind != "refused" and built.environment is not None:
        backend = render_backend(built.environment.spec, built.environment.contracts)
        write_folder(built.environment, folder, backend=backend)
    elif (folder / SPEC).is_file():
        # An earlier build certified it and this one does not: what is there would contradict build.json.
        shutil.rmtree(folder)


def _served(built: Built) -> list[str]:
    return built.environment.served() if built.kind != "refused" and built.environment is not None else []


def reasons_of(built: Built) -> list[Refusal]:
    """Return every reason of a server and its tools once, in the order in which they arose."""
    environment = built.environment
    reasons = [*built.spec.refused, *built.refusals]
    if environment is not None:
        reasons += environment.spec.refused
        reasons += environment.certificate.refused if environment.certificate is not None else ()
    return list({(reason.code, reason.subject, reason.path): reason for reason in reasons}.values())


def _whole_server(built: Built) -> list[Refusal]:
    return [reason for reason in reasons_of(built) if "/" not in reason.subject]


def _refused_tools(built: Built) -> list[dict[str, Any]]:
    prefix = f"{built.spec.name}/"
    rows = []
    for reason in reasons_of(built):
        if reason.subject.startswith(prefix):
            tool = _tool_in(reason.subject.removeprefix(prefix), built.spec)
            rows.append({"server": built.spec.name, "tool": tool, **plain(reason)})
    return rows


def _tool_in(rest: str, spec: McpSpec) -> str:
    """The tool that a subject's end names: a tool's own name may hold slashes, and an argument may follow it."""
    names = sorted((tool.name for tool in spec.tools), key=len, reverse=True)
    return next((name for name in names if rest == name or rest.startswith(f"{name}/")), rest)


def _nothing_usable(spec: McpSpec) -> Refusal:
    return Refusal(
        code=RefusalCode.NO_GOOD_TOOL,
        subject=spec.name,
        message=f"none of the {spec.declared_tools} declared tools is usable",
        remedy="see the reasons of its tools",
    )
