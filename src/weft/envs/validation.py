"""Execution-based validation of a draft: everything that a certificate must show, by running it (Weft 3.1.1)."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field

from weft.agents.rules.seeds.values import ValueSchema
from weft.catalog.normalise import as_mcp, reads_as_declared
from weft.envs.agreement import check_sequence, check_tool
from weft.envs.bench import Bench
from weft.envs.fidelity import check_fidelity
from weft.envs.ground import Ground
from weft.envs.report import ToolReport
from weft.envs.rowlinks import RowLinks
from weft.envs.soundness import ToolExaminer
from weft.envs.testlist import tests_of
from weft.envs.visibility import VisibilityCheck
from weft.errors import WeftError
from weft.records.certificate import CheckRecord
from weft.records.codec import content_hash
from weft.records.contract import Contract
from weft.records.draft import EnvironmentDraft, Finding, FindingKind
from weft.records.environment import Environment, TestCall
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import InitialState
from weft.runtime.session import Program

Known = MutableMapping[str, ToolReport]
"""Reports of tools by the hash of everything that they depend on; the caller keeps it over rounds."""


@dataclass
class Validation:
    """The outcome of validating one draft.

    Attributes:
        environment: the draft as an environment with its tests, without certificate.
        tools: report per served tool.
        checks: environment-wide checks.
        findings: every failed check, environment-wide ones first.
        calls: tool calls that were run.
    """

    environment: Environment
    tools: dict[str, ToolReport] = field(default_factory=dict)
    checks: list[CheckRecord] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    calls: int = 0

    def record(self, name: str, cases: int, found: list[Finding]) -> None:
        """Note an environment-wide check and its findings."""
        detail = found[0].message if found else ""
        self.checks.append(CheckRecord(name=name, passed=not found, cases=cases, detail=detail))
        self.findings += found


def validate(spec: McpSpec, draft: EnvironmentDraft, known: Known | None = None) -> Validation:
    """Run every check of a draft.

    Args:
        spec: what the server declares.
        draft: schema, contracts and seed state.
        known: reports from earlier rounds, which are used again for tools on which nothing changed.
    """
    known = {} if known is None else known
    environment = Environment(spec=spec, contracts=draft.contracts, seed=draft.seed)
    outcome = Validation(environment)
    declared = {tool.name: tool for tool in spec.tools}
    outcome.record("names_and_schemas", len(draft.contracts.contracts), interface_findings(spec, environment))
    outcome.record("seed_schema", sum(map(len, draft.seed.rows.values())), seed_findings(draft))
    if outcome.findings:
        return outcome
    try:
        backend = Bench(environment, Program(environment, engine="backend"))
        interpreter = Bench(environment, Program(environment, engine="interpreter"))
    except (WeftError, SyntaxError, ValueError) as error:
        outcome.record("loads", 1, loading_findings(environment, error))
        return outcome
    try:
        _examine(outcome, declared, backend, interpreter, known)
    finally:
        backend.close()
        interpreter.close()
    outcome.calls = backend.calls + interpreter.calls
    return outcome


def _examine(
    outcome: Validation, declared: dict[str, ToolSpec], backend: Bench, interpreter: Bench, known: Known
) -> None:
    """Examine every tool, then what holds between them, then the test list as a whole."""
    environment = outcome.environment
    links = RowLinks(environment.contracts.schema_, environment.seed.rows)
    empty = empty_bench(environment, backend)
    ground = Ground(environment)
    for contract in environment.contracts.contracts:
        key = content_hash([ground.under(contract), contract, declared[contract.tool].declared])
        if key not in known:
            tool = declared[contract.tool]
            report = ToolExaminer(backend, empty, tool, contract, links).examine()
            check_fidelity(tool, contract, report)
            check_tool(backend, interpreter, report)
            known[key] = report
        outcome.tools[contract.tool] = known[key].copy()
    visible = VisibilityCheck(backend, declared, environment.contracts, links, outcome.tools)
    for contract in environment.contracts.contracts:
        if contract.effect == "write":
            visible.check(contract)
    tests = tests_of(backend, environment.contracts, outcome.tools)
    outcome.environment = environment.model_copy(update={"tests": tests})
    for report in outcome.tools.values():
        outcome.findings += report.findings
    _run_tests(outcome, tests, backend, interpreter)
    if empty is not None:
        outcome.calls += empty.calls
        empty.close()


def _run_tests(outcome: Validation, tests: tuple[TestCall, ...], backend: Bench, interpreter: Bench) -> None:
    calls = [(test.tool, test.arguments) for test in tests]
    found = check_sequence(backend, interpreter, calls)
    for check in ("determinism", "agreement"):
        own = [finding for finding in found if finding.check == check]
        for finding in own:
            if finding.tool:
                outcome.tools[finding.tool].findings.append(finding)
        outcome.record(f"tests_{check}", len(calls), own)
    nothing = Finding(
        kind=FindingKind.RUNTIME, check="tests", message="no test call holds; serve a tool that can be called"
    )
    outcome.record("tests", len(tests), [] if tests or not outcome.tools else [nothing])


def interface_findings(spec: McpSpec, environment: Environment) -> list[Finding]:
    """Return findings where a served tool's name or schema is not the spec's."""
    found: list[Finding] = []
    declared = {tool.name: tool for tool in spec.tools}
    served = environment.served()
    for name in served:
        tool = declared.get(name)
        if tool is None:
            message = f"a contract serves {name!r}, which the spec does not declare"
        elif served.count(name) > 1:
            message = f"{served.count(name)} contracts serve {name!r}"
        elif as_mcp(tool.declared).get("name", name) != name:
            message = f"the tool {name!r} is declared as {as_mcp(tool.declared).get('name')!r}"
        elif not reads_as_declared(tool):
            message = f"the schemas of {name!r} are not what its declaration is read as"
        else:
            continue
        found.append(Finding(kind=FindingKind.MAPPING, check="names_and_schemas", tool=name, message=message))
    return found


def seed_findings(draft: EnvironmentDraft) -> list[Finding]:
    """Return findings where a seed row breaks its column's declared schema."""
    found: list[Finding] = []
    for table in draft.contracts.schema_.tables:
        for column in table.columns:
            if not column.schema_:
                continue
            schema = ValueSchema(column.schema_)
            for number, row in enumerate(draft.seed.rows.get(table.name, [])):
                value = row.get(column.name)
                if value is not None and not schema.valid(value):
                    message = (
                        f"seed row {number} of {table.name}: {column.name} = {str(value)[:120]!r} breaks its schema"
                    )
                    found.append(Finding(kind=FindingKind.STRUCTURAL, check="seed_schema", message=message))
                    break
    return found


def loading_findings(environment: Environment, error: Exception) -> list[Finding]:
    """Return which contracts keep the environment from loading, or one finding on the schema when none does alone."""
    found: list[Finding] = []
    for contract in environment.contracts.contracts:
        problem = _loads_alone(environment, contract)
        if problem is not None:
            message = f"the contract cannot be rendered and loaded: {problem}"
            found.append(Finding(kind=FindingKind.RUNTIME, check="loads", tool=contract.tool, message=message))
    if found and len(found) < len(environment.contracts.contracts):
        return found
    message = f"{type(error).__name__}: {error}"
    return [Finding(kind=FindingKind.STRUCTURAL, check="loads", message=message[:600])]


def _loads_alone(environment: Environment, contract: Contract) -> Exception | None:
    alone = environment.contracts.model_copy(update={"contracts": (contract,)})
    try:
        Program(environment.model_copy(update={"contracts": alone}), engine="backend")
    except (WeftError, SyntaxError, ValueError) as error:
        return error
    return None


def empty_bench(environment: Environment, backend: Bench) -> Bench | None:
    """Return a bench whose state has no rows and files, or None when the schema does not allow that."""
    nothing = InitialState(rows={}, files={}, clock=environment.seed.clock)
    try:
        return Bench(environment, backend.program, nothing)
    except WeftError:
        return None
