"""`weft env validate`: the certificate of an environment, made again by running every check, and compared."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.envs.certify import certify
from weft.envs.validation import validate
from weft.errors import FormatError, IntegrityError
from weft.records.certificate import EnvironmentCertificate
from weft.records.draft import EnvironmentDraft
from weft.records.environment import Environment
from weft.runtime.folder import read_folder
from weft.wiring.progress import Progress, Step
from weft.wiring.serving import find_folders


def prove(places: Sequence[Path], progress: Progress) -> list[dict[str, Any]]:
    """Prove the environments at the places again.

    Returns:
        For each: ``name``, ``valid``, ``problems`` in words, ``checks`` that were run and tool ``calls`` they took.

    Raises:
        InputError: a place holds no environment folder.
    """
    folders = find_folders(places)
    results = []
    for number, folder in enumerate(folders):
        progress(Step("validate", number, len(folders), folder.name))
        try:
            results.append(prove_environment(read_folder(folder)))
        except (FormatError, IntegrityError) as error:
            results.append({"name": folder.name, "valid": False, "problems": [str(error)], "checks": 0, "calls": 0})
    progress(Step("validate", len(folders), len(folders)))
    return results


def prove_environment(environment: Environment) -> dict[str, Any]:
    """Run every check of an environment and compare what comes out with its tests and its certificate."""
    draft = EnvironmentDraft(contracts=environment.contracts, seed=environment.seed)
    outcome = validate(environment.spec, draft)
    stored = environment.certificate
    again, certificate = certify(outcome, author=stored.author if stored is not None else "")
    problems = [
        f"{finding.check}: {finding.tool or environment.name}: {finding.message}" for finding in outcome.findings
    ]
    if stored is None:
        problems.append("certificate.json is not there, so nothing says that this was ever proven; build it again")
    else:
        problems += _differences(stored, certificate)
    if again.tests != environment.tests:
        problems.append("tests.json is not what the checks make of these contracts; build it again")
    checks = len(certificate.soundness) + sum(len(tool.soundness) for tool in certificate.tools)
    return {
        "name": environment.name,
        "valid": not problems,
        "problems": problems,
        "checks": checks,
        "calls": outcome.calls,
    }


def _differences(stored: EnvironmentCertificate, made: EnvironmentCertificate) -> list[str]:
    """Say where a stored certificate claims something else than what was found now."""
    problems = [
        f"certificate.json: {field}: claims {claimed!r}, found {found!r}"
        for field, claimed, found in (
            ("kind", stored.kind, made.kind),
            ("fidelity", stored.fidelity, made.fidelity),
            ("tools", [each.tool for each in stored.tools], [each.tool for each in made.tools]),
        )
        if claimed != found
    ]
    if stored.soundness != made.soundness:
        problems.append("certificate.json: soundness: claims something else than what was found")
    claims = {each.tool: each for each in stored.tools}
    problems += [
        f"certificate.json: tools: {each.tool}: claims something else than what was found"
        for each in made.tools
        if each.tool in claims and claims[each.tool] != each
    ]
    return problems
