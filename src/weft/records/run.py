"""What ``weft run`` made: the figures of its report and of its ``--json`` document."""

from typing import Any

from pydantic import Field

from weft.records.base import Record
from weft.records.spec import Refusal


class EnvironmentRow(Record):
    """One attempted server in the report.

    Attributes:
        name: slug.
        title: declared name.
        domain: label or "".
        kind: stateful, read_only or refused.
        declared: tools that the server declared.
        certified: tools certified.
        writes: certified write tools.
        tables: tables of its schema.
        rows: seed rows.
        rounds: synthesis rounds used.
        arguments: provenance -> number of arguments.
        rules: ``enforced`` and ``unenforced`` rules that the descriptions of its served tools state.
        atomic: certified atomic tasks.
        coverage: share of its tools that retained chains cover.
        refusals: why the server or its tools were refused.
    """

    name: str
    title: str
    domain: str = ""
    kind: str
    declared: int
    certified: int = 0
    writes: int = 0
    tables: int = 0
    rows: int = 0
    rounds: int = 0
    arguments: dict[str, int] = Field(default_factory=dict)
    rules: dict[str, int] = Field(default_factory=dict)
    atomic: int = 0
    coverage: float = 0.0
    refusals: tuple[Refusal, ...] = ()


class TaskRow(Record):
    """One composed task in the report."""

    id: str
    profile: str
    nodes: int
    servers: tuple[str, ...]
    domains: tuple[str, ...] = ()
    edges: int = 0
    mutants: int = 0
    killed: int = 0
    equivalents: int = 0
    objective: str = ""


class RunSummary(Record):
    """Everything that the report shows. A pure function of specs, seed and options; no wall-clock figures.

    Attributes:
        seed: of the run.
        environments: one row per attempted server, by name.
        unread: files that could not be read as specs.
        faults: pieces that Weft itself failed to make; anything here is a defect of Weft.
        tasks: composed tasks.
        task_refusals: candidates that were refused, atomic and composed, by code.
        chain_lengths: length of an atomic chain -> how many tasks.
        kinds: kind of atomic task -> how many.
        mutants: ``{"mutants", "killed", "equivalents", "survived"}`` over all certificates.
        rollouts_run: rollouts.
        rollouts_accepted: of which every turn was accepted.
        attempts: attempt number -> (made, accepted).
        rejections: check or cause -> how many attempts it failed.
        attributions: component -> failures attributed to it.
        sft: file name -> lines.
        options: what was asked for.
    """

    version: int = 1
    weft: str
    seed: int
    options: dict[str, Any] = Field(default_factory=dict)
    environments: tuple[EnvironmentRow, ...]
    unread: tuple[Refusal, ...] = ()
    faults: tuple[Refusal, ...] = ()
    tasks: tuple[TaskRow, ...] = ()
    atomic_tasks: int = 0
    task_refusals: dict[str, int] = Field(default_factory=dict)
    chain_lengths: dict[int, int] = Field(default_factory=dict)
    kinds: dict[str, int] = Field(default_factory=dict)
    mutants: dict[str, int] = Field(default_factory=dict)
    rollouts_run: int = 0
    rollouts_accepted: int = 0
    attempts: dict[int, tuple[int, int]] = Field(default_factory=dict)
    rejections: dict[str, int] = Field(default_factory=dict)
    attributions: dict[str, int] = Field(default_factory=dict)
    sft: dict[str, int] = Field(default_factory=dict)
