"""Evaluating a verifier over evidence (Weft 3.2.1; the algebra of DESIGN section 5).

An evaluation gives a verdict or raises :class:`~weft.errors.VerifierError`. An error of the verifier is never a
failure of the policy.
"""

from collections.abc import Mapping

from weft.errors import VerifierError
from weft.records.state import ColumnRole, DatabaseSchema, FileChange, Table
from weft.records.verdict import CheckResult, ExpectedFile, Verdict, Verifier
from weft.verify.answers import check_answer
from weft.verify.evidence import Evidence
from weft.verify.matching import Assignment, Differing, Slots, assign, differing, match_value, mismatches
from weft.verify.witness import check_calls, check_witnesses


def evaluate(verifier: Verifier, evidence: Evidence, schemas: Mapping[str, DatabaseSchema]) -> Verdict:
    """Evaluate a verifier.

    Args:
        verifier: the checks.
        evidence: of the interval.
        schemas: by environment name, for keys and column types.

    Returns:
        Every check in a stable order, and the slots after matching.

    Raises:
        VerifierError: it cannot be evaluated: a table that is not there, an upstream value that was not given, a
            malformed test, or a search that takes too long.
    """
    try:
        return _evaluate(verifier, evidence, schemas)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise VerifierError(
            f"the verifier cannot be evaluated on this evidence: {type(error).__name__}: {error}; "
            "generate it again for this version of the environment"
        ) from error


def _evaluate(verifier: Verifier, evidence: Evidence, schemas: Mapping[str, DatabaseSchema]) -> Verdict:
    slots: Slots = dict(verifier.slots)
    for slot, source in verifier.upstream.items():
        if source not in evidence.upstream:
            raise VerifierError(
                f"slot {slot!r} takes its value from {source!r}, which was not given; "
                "evaluate upstream nodes first and skip the nodes below a failed one"
            )
        slots[slot] = evidence.upstream[source]
    changes, slots = _check_rows(verifier, evidence, schemas, slots)
    files = _check_files(verifier, evidence, slots)
    entries = (*evidence.earlier, *evidence.ledger)
    checks = [
        *changes,
        *files,
        *check_witnesses(verifier.witnesses, entries),
        *check_calls(verifier.calls, evidence, slots),
        *check_answer(verifier.answer, evidence.reply),
    ]
    if verifier.reply_required:
        there = bool(evidence.reply.strip())
        checks.append(CheckResult(name="reply", passed=there, detail="" if there else "there is no reply"))
    return Verdict(passed=all(check.passed for check in checks), checks=tuple(checks), slots=slots)


def _table(schemas: Mapping[str, DatabaseSchema], server: str, name: str) -> Table:
    if server not in schemas:
        raise VerifierError(f"no schema of environment {server!r} was given; the checks name it")
    return schemas[server].table(name)


def _volatile(verifier: Verifier, schemas: Mapping[str, DatabaseSchema]) -> dict[tuple[str, str], frozenset[str]]:
    """Columns that the runtime sets: those of role CREATED and UPDATED, and what the frame lists besides."""
    found: dict[tuple[str, str], set[str]] = {}
    for server, schema in schemas.items():
        for table in schema.tables:
            columns = {item.name for item in table.columns if item.role in (ColumnRole.CREATED, ColumnRole.UPDATED)}
            if columns:
                found[(server, table.name)] = columns
    for entry in verifier.frame.volatile:
        # A server name may hold dots; tables and columns are SQL names and cannot.
        server, name, column = entry.rsplit(".", 2)
        found.setdefault((server, name), set()).add(column)
    return {place: frozenset(columns) for place, columns in found.items()}


def _check_rows(
    verifier: Verifier, evidence: Evidence, schemas: Mapping[str, DatabaseSchema], slots: Slots
) -> tuple[list[CheckResult], Slots]:
    """Match expected row changes and hold the frame over the rest."""
    volatile = _volatile(verifier, schemas)
    places = (entry.rsplit(".", 1) for entry in verifier.frame.allowed_tables)
    free = frozenset((server, table) for server, table in places)
    for expected in verifier.changes:
        _table(schemas, expected.server, expected.table)
    actual: list[Differing] = []
    for change in evidence.changes.rows:
        columns = volatile.get((change.server, change.table), frozenset())
        seen = differing(change, _table(schemas, change.server, change.table), columns)
        if change.op != "update" or seen.columns:
            actual.append(seen)
    found = assign(verifier.changes, actual, slots, volatile, free_tables=free)
    checks = _report(verifier, actual, found, volatile)
    taken = {index for index in found.chosen if index is not None}
    others = [
        item
        for index, item in enumerate(actual)
        if index not in taken and (item.change.server, item.change.table) not in free
    ]
    detail = "; ".join(_describe(item) for item in others[:3])
    checks.append(CheckResult(name="frame", passed=not others, detail=detail))
    return checks, found.slots


def _report(
    verifier: Verifier, actual: list[Differing], found: Assignment, volatile: Mapping[tuple[str, str], frozenset[str]]
) -> list[CheckResult]:
    """Say of each expected change whether it is there, and what came nearest when it is not."""
    taken = {index for index in found.chosen if index is not None}
    checks = []
    for expected, index in zip(verifier.changes, found.chosen, strict=True):
        detail = ""
        if index is None:
            columns = volatile.get((expected.server, expected.table), frozenset())
            near = [
                mismatches(expected, item, dict(found.slots), columns)[0]
                for number, item in enumerate(actual)
                if number not in taken
                and (item.change.server, item.change.table, item.change.op)
                == (expected.server, expected.table, expected.op)
            ]
            wrong = min(near, key=len, default=[])
            detail = (
                f"nearest: {'; '.join(wrong)}" if wrong else f"no {expected.op} in {expected.server}.{expected.table}"
            )
        checks.append(CheckResult(name=expected.name, passed=index is not None, detail=detail))
    return checks


def _describe(item: Differing) -> str:
    change = item.change
    columns = f" ({', '.join(item.columns)})" if change.op == "update" else ""
    return f"{change.op} of {change.server}.{change.table} {change.key}{columns} was not asked for"


def _check_files(verifier: Verifier, evidence: Evidence, slots: Slots) -> list[CheckResult]:
    """Hold the expected file changes, and the frame over the other files."""
    changed: dict[tuple[str, str], FileChange] = {(item.server, item.path): item for item in evidence.changes.files}
    checks = [
        _check_file(expected, changed.pop((expected.server, expected.path), None), slots) for expected in verifier.files
    ]
    allowed = tuple(verifier.frame.allowed_paths)
    others = [
        f"{server}:{path}"
        for server, path in sorted(changed)
        if not any(f"{server}:{path}".startswith(prefix) for prefix in allowed)
    ]
    detail = f"not asked for: {', '.join(others[:3])}" if others else ""
    if verifier.files or others:
        checks.append(CheckResult(name="frame of files", passed=not others, detail=detail))
    return checks


def _check_file(expected: ExpectedFile, change: FileChange | None, slots: Slots) -> CheckResult:
    if change is None:
        return CheckResult(name=expected.name, passed=False, detail=f"{expected.path} did not change")
    if expected.after is None:
        gone = change.after is None
        return CheckResult(name=expected.name, passed=gone, detail="" if gone else f"{expected.path} is still there")
    held = change.after is not None and match_value(expected.after, change.after, slots) is not None
    detail = "" if held else f"{expected.path} does not hold the text that it should"
    return CheckResult(name=expected.name, passed=held, detail=detail)
