"""Probes of components by themselves: what differs from what was certified. Each gives findings; none decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.envs.certify import certify
from weft.envs.validation import validate
from weft.errors import WeftError
from weft.evolve.failure import Failure
from weft.records.certificate import EnvironmentCertificate, TaskCertificate
from weft.records.codec import content_hash
from weft.records.draft import EnvironmentDraft
from weft.records.environment import Environment, TestCall
from weft.records.revision import EvidenceItem
from weft.records.state import InitialState
from weft.records.trace import LedgerEntry, Outcome
from weft.records.verdict import Verifier
from weft.runtime.session import EnvironmentSession

MOST_FINDINGS = 5
"""Findings of one probe that are quoted."""

Cache = dict[str, tuple[EvidenceItem, ...]]


@dataclass(slots=True)
class EnvironmentProbe:
    """Finds what is wrong with environments; keeps what it found, by content, as long as it lives."""

    _quick: Cache = field(default_factory=dict)
    _thorough: Cache = field(default_factory=dict)

    def quick(self, environment: Environment) -> tuple[EvidenceItem, ...]:
        """Return where an environment differs from what its certificate proves, or fails its tests now."""
        key = content_hash(environment)
        if key not in self._quick:
            self._quick[key] = (*certificate_findings(environment), *test_findings(environment))
        return self._quick[key]

    def thorough(self, environment: Environment) -> tuple[EvidenceItem, ...]:
        """Return the same and, where that is nothing, what running every check of construction again finds."""
        found = self.quick(environment)
        if found:
            return found
        key = content_hash(environment)
        if key not in self._thorough:
            self._thorough[key] = validation_findings(environment)
        return self._thorough[key]


def certificate_findings(environment: Environment) -> tuple[EvidenceItem, ...]:
    """Return where an environment is not the one that its certificate proves."""
    certificate = environment.certificate
    if certificate is None:
        return (_item("certificate", f"{environment.name} has no certificate"),)
    if certificate.environment != environment.hash:
        finding = (
            f"{environment.name} is {environment.hash[:12]}, its certificate proves {certificate.environment[:12]}"
        )
        return (_item("certificate", finding),)
    return ()


def test_findings(environment: Environment) -> tuple[EvidenceItem, ...]:
    """Return which of an environment's own tests do not hold, run in order from its seed state."""
    try:
        session = EnvironmentSession(environment, environment.seed, 0)
    except (WeftError, SyntaxError, ValueError) as error:
        return (_item("environment_tests", f"{environment.name} cannot be opened: {error}"[:300]),)
    found = []
    for test in environment.tests:
        result, changes = session.call(test.tool, test.arguments)
        code = _code(result.value) if result.is_error else ""
        changed = sorted({change.table for change in changes.rows} | ({"files"} if changes.files else set()))
        wrong = _wrong(test, result.outcome, code, changed)
        if wrong:
            found.append(_item("environment_tests", f"{environment.name}: {test.name}: {wrong}"[:300], test.tool))
    return tuple(found)


def _wrong(test: TestCall, outcome: Outcome, code: str, changed: list[str]) -> str:
    """Say how a call differs from its test, or ""."""
    if outcome.value != test.outcome or (test.code and code != test.code):
        got, wanted = f"{outcome.value} {code}".strip(), f"{test.outcome} {test.code}".strip()
        return f"gives {got} where {wanted} is expected"
    if changed != sorted(test.changes):
        return f"changes {changed or 'nothing'} where {sorted(test.changes) or 'nothing'} is expected"
    return ""


def validation_findings(environment: Environment) -> tuple[EvidenceItem, ...]:
    """Run every check of construction and return what fails, and where certificate or tests claim something else."""
    draft = EnvironmentDraft(contracts=environment.contracts, seed=environment.seed)
    outcome = validate(environment.spec, draft)
    stored = environment.certificate
    found = [
        _item("validation", f"{one.check}: {one.tool or environment.name}: {one.message}"[:300], one.tool)
        for one in outcome.findings
    ]
    if stored is None:
        return tuple(found)
    again, made = certify(outcome, author=stored.author)
    found += _claims(stored, made)
    if not found:
        found += [
            _item("validation", f"tests.json: {test.name}: not a test of these contracts", test.tool)
            for test in environment.tests
            if test not in again.tests
        ]
    return tuple(found)


def _claims(stored: EnvironmentCertificate, made: EnvironmentCertificate) -> list[EvidenceItem]:
    """Return what a stored certificate claims of its tools and what running the checks now does not show."""
    now = {tool.tool: tool for tool in made.tools}
    found = []
    for tool in stored.tools:
        if tool.tool not in now:
            found.append(_item("validation", f"certificate.json claims {tool.tool}, which is not served", tool.tool))
        elif now[tool.tool] != tool:
            claimed, shown = tool.model_dump(mode="json"), now[tool.tool].model_dump(mode="json")
            fields = ", ".join(name for name in claimed if claimed[name] != shown[name])
            found.append(
                _item("validation", f"certificate.json: {tool.tool}: {fields}: not what the checks show now", tool.tool)
            )
    return found


def faults(ledger: tuple[LedgerEntry, ...]) -> list[LedgerEntry]:
    """Return the calls that ended in a fault of the environment."""
    return [entry for entry in ledger if entry.outcome is Outcome.FAULT]


def version_findings(failure: Failure) -> dict[str, EvidenceItem]:
    """Return the environments that are not the ones on which the task was certified."""
    return {
        environment.name: _item(
            "pinned_version",
            f"the task was certified on {environment.name} {wanted[:12]}, which is now {environment.hash[:12]}",
        )
        for environment in failure.environments
        if (wanted := failure.versions.get(environment.name)) is not None and wanted != environment.hash
    }


def state_findings(states: Mapping[str, InitialState], pinned: Mapping[str, str]) -> list[EvidenceItem]:
    """Return where initial states are not the ones that a task pins."""
    return [
        _item("state_hash", f"the state of {name} is {content_hash(state)[:12]}, pinned is {wanted[:12]}")
        for name, state in sorted(states.items())
        if (wanted := pinned.get(name)) is not None and wanted != content_hash(state)
    ]


def state_differences(states: Mapping[str, InitialState], fresh: Mapping[str, InitialState]) -> list[EvidenceItem]:
    """Return the first rows and files in which states differ from what construction would make."""
    found = []
    for name in sorted(fresh):
        here, wanted = states[name], fresh[name]
        tables = sorted({*here.rows, *wanted.rows})
        places = [table for table in tables if here.rows.get(table) != wanted.rows.get(table)]
        paths = sorted({*here.files, *wanted.files})
        places += [path for path in paths if here.files.get(path) != wanted.files.get(path)]
        found += [_item("state_substitution", f"{name}: {place} differs from the seed state") for place in places]
    return found[:MOST_FINDINGS]


def verifier_findings(place: str, verifier: Verifier, certificate: TaskCertificate | None) -> list[EvidenceItem]:
    """Return where a verifier is not the one that its certificate proves."""
    actual = content_hash(verifier)
    if certificate is None:
        return [_item("certificate", f"the verifier of {place} has no certificate")]
    if certificate.verifier == actual:
        return []
    finding = f"the verifier of {place} is {actual[:12]}, its certificate proves {certificate.verifier[:12]}"
    return [_item("certificate", finding)]


def _code(value: object) -> str:
    error = value.get("error") if isinstance(value, dict) else None
    return str(error.get("code", "")) if isinstance(error, dict) else ""


def _item(probe: str, finding: str, tool: str = "") -> EvidenceItem:
    return EvidenceItem(probe=probe, finding=finding, tool=tool)
