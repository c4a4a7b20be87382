"""Writes seen by reads: what a tool wrote must show in a later call that reads the same table (Weft 3.1.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.agents.rules.seeds.argument_paths import MISSING, replaced, value_at
from weft.agents.rules.seeds.draw import stream
from weft.envs.arguments import Argument, arguments_of
from weft.envs.bench import Bench
from weft.envs.calls import CaseCalls
from weft.envs.candidates import Candidates
from weft.envs.report import NormalCall, ToolReport
from weft.envs.rowlinks import RowLinks
from weft.envs.soundness import touched
from weft.records.contract import Contract, ContractSet
from weft.records.draft import FindingKind
from weft.records.spec import ToolSpec
from weft.records.state import Row

MOST_READERS = 6
MOST_WRITES = 6
FIRST_INTENTS = ("get", "read", "list", "search", "read_file")


def _aimed(
    call: dict[str, Any], arguments: Sequence[Argument], candidates: Candidates, table: str, row: Row
) -> list[dict[str, Any]]:
    """Return a read aimed at a written row by every argument that stands for one of its columns, and as it is."""
    aimed = call
    for argument in arguments:
        value = row.get(argument.use.column) if argument.use.table == table else None
        if value is None or value_at(call, argument.steps) is MISSING:
            continue
        fits, form = candidates.fit(argument, value)
        aimed = (replaced(aimed, argument.steps, form) or aimed) if fits else aimed
    return [aimed] if aimed == call else [aimed, call]


class VisibilityCheck:
    """Checks that writes are seen by the reads of an environment.

    Args:
        bench: where calls run.
        tools: declared tools by name.
        contracts: of the served tools.
        links: the initial rows.
        reports: what is known of each tool so far; findings are added to them.
    """

    def __init__(
        self,
        bench: Bench,
        tools: Mapping[str, ToolSpec],
        contracts: ContractSet,
        links: RowLinks,
        reports: Mapping[str, ToolReport],
    ) -> None:
        self.bench, self.tools, self.links, self.reports = bench, tools, links, reports
        self.readers: dict[str, list[tuple[Contract, int]]] = {}
        for contract in contracts.contracts:
            # A tool with an action enum may write in one case and read in another: the case decides.
            for place, case in enumerate(contract.cases):
                if case.writes:
                    continue
                for table in dict.fromkeys((case.table or "files", *case.reads)):
                    self.readers.setdefault(table, []).append((contract, place))

    def check(self, contract: Contract) -> None:
        """Note ``write_visible`` on a writing tool: passed, failed, or not made when nothing reads its tables."""
        report = self.reports[contract.tool]
        writes = [call for call in report.normal if not call.seen.changes.empty][:MOST_WRITES]
        tables = list(dict.fromkeys(table for call in writes for table in touched(call.seen.changes)))
        if not writes or not any(table in self.readers for table in tables):
            return
        report.count("write_visible", len(writes))
        if not any(self._seen(call, contract.tool) for call in writes):
            message = f"no tool that reads {', '.join(tables)} shows what the call wrote"
            report.fail(FindingKind.MAPPING, "write_visible", message, call=writes[0].arguments)

    def _seen(self, write: NormalCall, tool: str) -> bool:
        reads: list[tuple[str, Any]] = []
        for table in touched(write.seen.changes):
            rows = [c.after or c.before or {} for c in write.seen.changes.rows if c.table == table]
            paths = [change.path for change in write.seen.changes.files]
            for contract, place in self._by_intent(self.readers.get(table, ())):
                reads += self._calls(contract, place, table, rows[:1], paths)
        before = [self.bench.run(*read) for read in reads]
        after = self.bench.after((tool, write.arguments), reads)
        return any((a.outcome, a.value) != (b.outcome, b.value) for a, b in zip(before, after, strict=True))

    def _by_intent(self, readers: Sequence[tuple[Contract, int]]) -> list[tuple[Contract, int]]:
        def rank(reader: tuple[Contract, int]) -> int:
            intent = reader[0].cases[reader[1]].intent
            return FIRST_INTENTS.index(intent) if intent in FIRST_INTENTS else len(FIRST_INTENTS)

        return sorted(readers, key=rank)[:MOST_READERS]

    def _calls(
        self, contract: Contract, place: int, table: str, rows: Sequence[Row], paths: Sequence[str]
    ) -> list[tuple[str, Any]]:
        """Return reads aimed at the written row or path, and one known to give something."""
        tool = self.tools[contract.tool]
        arguments = arguments_of(tool, contract)
        candidates = Candidates(self.links, self.bench.environment.seed, stream("reads", tool.name))
        calls = CaseCalls(tool, contract, place, arguments, candidates)
        found: list[tuple[str, Any]] = []
        for row in rows:
            target = row if table == calls.case.table else self.links.related(table, row, calls.case.table)
            made = calls.minimal(target)
            if made is not None:
                found += [(tool.name, call) for call in _aimed(made, arguments, candidates, table, row)]
        if table == "files":
            path_arguments = [a for a in arguments if a.use.role == "path" and len(a.steps) == 1]
            base = calls.minimal(None)
            found += [(tool.name, {**(base or {}), a.steps[0]: path}) for a in path_arguments[:1] for path in paths]
        known = [call for call in self.reports[contract.tool].normal if call.case == place]
        longest = sorted(known, key=lambda call: -len(str(call.seen.value)))[:2]
        return found + [(tool.name, call.arguments) for call in longest]
