"""Soundness of one tool, proven by running it (Weft 3.1.1, execution-based validation)."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from weft.agents.rules.seeds.draw import stream
from weft.envs.arguments import Argument, arguments_of, matching_case, undeclared_uses, unused_properties
from weft.envs.bench import Bench, Observation
from weft.envs.boundary import boundary_calls
from weft.envs.calls import CaseCalls
from weft.envs.candidates import Candidates
from weft.envs.effects import EffectProber
from weft.envs.report import NormalCall, ToolReport
from weft.envs.rowlinks import RowLinks
from weft.records.contract import Case, Contract
from weft.records.draft import FindingKind
from weft.records.spec import Provenance, ToolSpec
from weft.records.state import Changeset, ColumnRole, DatabaseSchema, Row
from weft.records.trace import Outcome
from weft.runtime.dialects import compile_schema

WANTED_NORMAL = 3
MOST_TRIES = 12
CLOCKED = frozenset({ColumnRole.CREATED, ColumnRole.UPDATED})


class ToolExaminer:
    """Runs one tool's calls and notes every failed check.

    Args:
        bench: where calls run.
        empty: a bench of the same environment without rows and files, or None when that state is not possible.
        tool: the spec's tool.
        contract: its contract.
        links: the initial rows.
    """

    def __init__(self, bench: Bench, empty: Bench | None, tool: ToolSpec, contract: Contract, links: RowLinks) -> None:
        self.bench, self.empty, self.tool, self.contract = bench, empty, tool, contract
        self.schema: DatabaseSchema = links.schema
        candidates = Candidates(links, bench.environment.seed, stream("calls", tool.name))
        self.arguments = arguments_of(tool, contract)
        self.cases = [
            CaseCalls(tool, contract, place, self.arguments, candidates) for place in range(len(contract.cases))
        ]
        self.report = ToolReport(tool.name)

    def examine(self) -> ToolReport:
        """Run every check of the tool and return the report."""
        self._declarations()
        for calls in self.cases:
            found = self._normal_calls(calls)
            self.report.normal += found
            if found:
                self._boundary(calls, found[0].arguments)
        self._effects()
        self._observations()
        if self.contract.effect == "read":
            self._reads_state()
        return self.report

    # ------------------------------------------------------------------ what the contract says

    def _declarations(self) -> None:
        self.report.count("argument_declared", len(self.contract.arguments))
        for path in undeclared_uses(self.tool, self.contract):
            message = f"the contract uses {path!r}, which the input schema does not declare"
            self.report.fail(FindingKind.MAPPING, "argument_declared", message, argument=path)
        for name in unused_properties(self.tool, self.contract):
            message = f"the input schema declares {name!r}, for which the contract states no use"
            self.report.fail(FindingKind.MAPPING, "argument_declared", message, argument=name)
        self.report.count("returns_schema")
        declared = self.tool.output_schema
        if declared is not None and self.contract.returns_schema != declared:
            message = "the contract's return schema is not the one that the spec declares"
            self.report.fail(FindingKind.MAPPING, "returns_schema", message)
        elif not self.contract.returns_schema:
            self.report.fail(FindingKind.MAPPING, "returns_schema", "the contract declares no return schema")

    # ------------------------------------------------------------------ normal calls

    def _normal_calls(self, calls: CaseCalls) -> list[NormalCall]:
        """Return successful calls of a case; a case without one fails ``normal_call``."""
        found: list[NormalCall] = []
        failed: tuple[dict[str, Any], Observation] | None = None
        for place, (call, target) in enumerate(self._tries(calls)):
            if place >= MOST_TRIES or len(found) >= WANTED_NORMAL:
                break
            seen = self._run(call)
            if seen.ok and not any(known.arguments == call for known in found):
                found.append(NormalCall(calls.position, call, target, seen))
            elif not seen.ok:
                failed = failed or (call, seen)
        if not found:
            found = self._with_options(calls)
        self.report.count("normal_call")
        self.report.tried += max(1, len(found))
        self.report.passed += len(found)
        if not found:
            self._no_normal_call(calls, failed)
            return []
        return found + self._variants(calls, found[0])

    def _tries(self, calls: CaseCalls) -> list[tuple[dict[str, Any], Row | None]]:
        targets = calls.targets()
        turns = [(calls.minimal(target, 0), target) for target in targets]
        turns += [(calls.minimal(target, turn), target) for turn in (1, 2, 3) for target in targets[:2]]
        return [(call, target) for call, target in turns if call is not None]

    def _with_options(self, calls: CaseCalls) -> list[NormalCall]:
        """Return calls with optional arguments, for cases that need one of several."""
        for target in calls.targets()[:3]:
            base = calls.minimal(target)
            if base is None:
                return []
            options = [calls.alone(base, argument, target) for argument in calls.relevant if not argument.required]
            tried = [(call, self._run(call)) for call in [calls.many(base, target), *options] if call]
            found = [NormalCall(calls.position, call, target, seen) for call, seen in tried if seen.ok]
            if found:
                return found
        return []

    def _variants(self, calls: CaseCalls, first: NormalCall) -> list[NormalCall]:
        """Return successful calls with each optional argument alone and with many, around the first normal call."""
        found: list[NormalCall] = []
        many = calls.many(first.arguments, first.target)
        alone = [calls.alone(first.arguments, argument, first.target, 1) for argument in calls.relevant]
        for call in [many, *alone]:
            if call is None or call == first.arguments or self._case_of(call) != calls.position:
                continue
            seen = self._run(call)
            if seen.ok:
                found.append(NormalCall(calls.position, call, first.target, seen))
        return found

    def _no_normal_call(self, calls: CaseCalls, failed: tuple[dict[str, Any], Observation] | None) -> None:
        where = f" (case {calls.case.when})" if calls.case.when else ""
        if failed is None:
            message = f"no normal call could be made{where}: a required argument has no value that fits its schema"
            self.report.fail(FindingKind.STRUCTURAL, "normal_call", message)
            return
        call, seen = failed
        kind = FindingKind.RUNTIME if seen.outcome is Outcome.FAULT else FindingKind.MAPPING
        message = f"no normal call succeeds{where}: {seen.code}: {seen.message}"
        self.report.fail(kind, "normal_call", message, call=call)

    def _run(self, arguments: Any) -> Observation:
        return self.bench.run(self.tool.name, arguments)

    def _case_of(self, arguments: Any) -> int | None:
        return matching_case(self.contract, arguments)

    # ------------------------------------------------------------------ boundary calls

    def _boundary(self, calls: CaseCalls, base: dict[str, Any]) -> None:
        for call in boundary_calls(calls, base, 14 if len(self.cases) == 1 else 6):
            seen = self._run(call.arguments)
            self.report.boundary.append((call, seen))
            self.report.count("boundary_call")
            if not call.code:
                continue
            self.report.tried += 1
            if seen.code == call.code and seen.changes.empty:
                self.report.passed += 1
                continue
            got = "was accepted" if seen.ok else f"gave {seen.code}: {seen.message}"
            message = f"the call {call.name} must be refused with {call.code}, but {got}"
            kind = FindingKind.RUNTIME if seen.outcome is Outcome.FAULT else FindingKind.MAPPING
            body = call.arguments if isinstance(call.arguments, dict) else {}
            self.report.fail(kind, "boundary_call", message, argument=call.argument, call=body)

    # ------------------------------------------------------------------ effects of arguments

    def _effects(self) -> None:
        probers = [
            EffectProber(self.bench, calls, [(c.arguments, c.target) for c in self.report.normal if c.case == place])
            for place, calls in enumerate(self.cases)
            if any(c.case == place for c in self.report.normal)
        ]
        for argument in self.arguments:
            if argument.use.provenance is Provenance.INERT or argument.use.role == "inert":
                continue
            self.report.count("argument_effect")
            if self._selects_case(argument):
                continue
            for prober in probers:
                shown = prober.probe(argument) if any(a is argument for a in prober.calls.relevant) else None
                if shown is not None:
                    self.report.shown[argument.path] = shown
                    break
            else:
                message = f"no two calls that differ only in {argument.path!r} give different results or states"
                self.report.fail(FindingKind.MAPPING, "argument_effect", message, argument=argument.path)

    def _selects_case(self, argument: Argument) -> bool:
        """True for an argument that chooses between cases that each ran: their operations are its effect."""
        chosen = {repr(case.when.get(argument.path)) for case in self.contract.cases if argument.path in case.when}
        return len(chosen) > 1 and len({call.case for call in self.report.normal}) > 1

    # ------------------------------------------------------------------ every call that was run

    def _observations(self) -> None:
        """Hold what every call of the tool gave, probes included, against the contract."""
        observed = self.bench.observed(self.tool.name)
        for check in ("no_fault", "read_writes_nothing" if self.contract.effect == "read" else "writes_declared"):
            self.report.count(check, len(observed))
        validator = compile_schema(self.contract.returns_schema)
        failed: set[str] = set()
        for arguments, seen in observed:
            for kind, check, message in self._wrong(arguments, seen, validator):
                if check not in failed:
                    failed.add(check)
                    self.report.fail(kind, check, message, call=arguments if isinstance(arguments, dict) else {})
        self._write_shown()

    def _wrong(
        self, arguments: Any, seen: Observation, validator: jsonschema_rs.Validator
    ) -> list[tuple[FindingKind, str, str]]:
        if seen.outcome is Outcome.FAULT:
            if "return schema" in seen.message:
                return [(FindingKind.MAPPING, "returns_schema", seen.message)]
            return [(FindingKind.RUNTIME, "no_fault", seen.message)]
        if not seen.ok:
            changed = "a refused call changed the state"
            return [] if seen.changes.empty else [(FindingKind.RUNTIME, "no_fault", changed)]
        wrong: list[tuple[FindingKind, str, str]] = []
        if not validator.is_valid(seen.value):
            problem = next(iter(validator.iter_errors(seen.value))).message
            wrong.append((FindingKind.MAPPING, "returns_schema", f"a result breaks the return schema: {problem}"))
        if self.contract.effect == "read":
            if not seen.changes.empty:
                message = f"a tool that reads changed {', '.join(touched(seen.changes))}"
                wrong.append((FindingKind.MAPPING, "read_writes_nothing", message))
            return wrong
        place = self._case_of(arguments)
        if place is not None:
            beyond = undeclared_writes(self.contract.cases[place], seen.changes, self.schema)
            if beyond:
                message = f"the call wrote {', '.join(beyond)}, which the contract does not name"
                wrong.append((FindingKind.MAPPING, "writes_declared", message))
        return wrong

    def _write_shown(self) -> None:
        """Every case that claims writes must have changed the state in some call."""
        for place, case in enumerate(self.contract.cases):
            if not case.writes:
                continue
            self.report.count("write_shown")
            calls = [call for call in self.report.normal if call.case == place]
            shown = any(not call.seen.changes.empty for call in calls) or any(
                seen.ok and not seen.changes.empty and self._case_of(arguments) == place
                for arguments, seen in self.bench.observed(self.tool.name)
            )
            if calls and not shown:
                message = f"no call changed the state, although the contract writes {', '.join(case.writes)}"
                self.report.fail(FindingKind.RUNTIME, "write_shown", message, call=calls[0].arguments)
        if self.contract.effect == "write" and not any(case.writes for case in self.contract.cases):
            self.report.fail(FindingKind.MAPPING, "write_shown", "a tool that writes names nothing that it writes")

    def _reads_state(self) -> None:
        """What a read gives must depend on the state: without rows and files some call gives something else."""
        calls = [call for call in self.report.normal if self.contract.cases[call.case].reads]
        if self.empty is None or not calls:
            return
        self.report.count("reads_state", len(calls))
        for call in calls:
            bare = self.empty.run(self.tool.name, call.arguments)
            if (bare.outcome, bare.value) != (call.seen.outcome, call.seen.value):
                return
        message = "every call gives the same on a state without rows and files: the result does not come from the state"
        self.report.fail(FindingKind.RUNTIME, "reads_state", message, call=calls[0].arguments)


def touched(changes: Changeset) -> list[str]:
    """Return the tables that a changeset touches, and ``files``."""
    tables = sorted({change.table for change in changes.rows})
    return tables + (["files"] if changes.files else [])


def undeclared_writes(case: Case, changes: Changeset, schema: DatabaseSchema) -> list[str]:
    """Return what a call wrote beyond ``case.writes``: ``table`` for rows made or dropped, ``table.column`` for values.

    Columns that the runtime sets from the clock are always allowed.
    """
    beyond: list[str] = []
    clocked = {(t.name, c.name) for t in schema.tables for c in t.columns if c.role in CLOCKED}
    for change in changes.rows:
        if change.op != "update":
            if change.table not in case.writes:
                beyond.append(change.table)
            continue
        before: Mapping[str, Any] = change.before or {}
        after: Mapping[str, Any] = change.after or {}
        for column in after:
            name = f"{change.table}.{column}"
            if (
                before.get(column) != after[column]
                and name not in case.writes
                and (change.table, column) not in clocked
            ):
                beyond.append(name)
    if changes.files and not any(place == "files" or place.startswith("files.") for place in case.writes):
        beyond.append("files")
    return list(dict.fromkeys(beyond))
