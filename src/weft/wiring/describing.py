"""What an environment folder holds, as one document for `weft env show`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.records.codec import plain
from weft.records.environment import Environment
from weft.wiring.serving import read_environments


def describe(places: Sequence[Path]) -> list[dict[str, Any]]:
    """Read the environments at the places and describe each.

    Raises:
        InputError: a place holds none.
        FormatError: a file is missing or damaged.
        IntegrityError: a folder is not what its contracts or its certificate say.
    """
    return [describe_environment(environment) for environment in read_environments(places)]


def describe_environment(environment: Environment) -> dict[str, Any]:
    """Return name, kind, tables, tools, refusals and fidelity counts of an environment."""
    certificate = environment.certificate
    proofs = {each.tool: each for each in certificate.tools} if certificate is not None else {}
    specs = {tool.name: tool for tool in environment.spec.tools}
    refused = [*environment.spec.refused, *(certificate.refused if certificate is not None else ())]
    return {
        "name": environment.name,
        "title": environment.spec.title,
        "description": environment.spec.description,
        "kind": certificate.kind if certificate is not None else "not certified",
        "environment": environment.hash,
        "tables": [
            {
                "name": table.name,
                "entity": table.entity,
                "key": list(table.key),
                "columns": [column.name for column in table.columns],
                "rows": len(environment.seed.rows.get(table.name, [])),
            }
            for table in environment.contracts.schema_.tables
        ],
        "files": len(environment.seed.files),
        "clock": environment.seed.clock,
        "tools": [
            {
                "name": contract.tool,
                "description": specs[contract.tool].description,
                "effect": contract.effect,
                "intents": [case.intent for case in contract.cases],
                "reads": sorted({name for case in contract.cases for name in case.reads}),
                "writes": sorted({name for case in contract.cases for name in case.writes}),
                "not_enforced": list(proofs[contract.tool].not_enforced) if contract.tool in proofs else [],
            }
            for contract in environment.contracts.contracts
        ],
        "refused": [plain(each) for each in {each.model_dump_json(): each for each in refused}.values()],
        "fidelity": dict(certificate.fidelity) if certificate is not None else {},
        "tests": len(environment.tests),
    }
