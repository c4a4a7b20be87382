"""Certificates of environments: what may be served, and as what (DESIGN section 5; Agent-World's tool retention)."""

from collections.abc import Mapping
from typing import Literal

from weft import __version__
from weft.envs.fidelity import argument_fidelity, fidelity_counts, unenforced_rules
from weft.envs.report import ToolReport
from weft.envs.validation import Validation
from weft.records.certificate import EnvironmentCertificate, ToolCertificate
from weft.records.contract import Contract
from weft.records.draft import Finding
from weft.records.environment import Environment
from weft.records.spec import Refusal, RefusalCode, ToolSpec
from weft.runtime.arguments import unenforced_keywords

ACCURACY_GATE = 1.0
"""Default of the accuracy gate; Agent-World's own is 0.5, which must be exceeded."""

BY_ACCURACY = frozenset({"normal_call", "boundary_call"})
"""Checks whose failures count through the accuracy alone, so that a lower gate can pass them."""

CODES: Mapping[str, RefusalCode] = {
    "argument_effect": RefusalCode.NO_EFFECT,
    "invented_argument": RefusalCode.INVENTED_ARGUMENT,
    "inert_argument": RefusalCode.INERT_ARGUMENT,
    "effect_annotation": RefusalCode.ANNOTATION_CONFLICT,
    "returns_schema": RefusalCode.RETURN_SCHEMA,
}
"""Refusal codes of single checks; any other check gives ``validation_failed``."""


def blocking(report: ToolReport, accuracy_gate: float = ACCURACY_GATE) -> list[Finding]:
    """Return the findings that keep a tool from being certified; [] when it may be.

    Args:
        report: of the tool.
        accuracy_gate: share of test calls that must be exceeded; 1.0 asks for all of them.
    """
    enough = report.accuracy >= 1.0 if accuracy_gate >= 1.0 else report.accuracy > accuracy_gate
    return [finding for finding in report.findings if not (enough and finding.check in BY_ACCURACY)]


def refusal_of(server: str, finding: Finding) -> Refusal:
    """Return the typed reason for which a tool is not served, quoting the finding."""
    subject = f"{server}/{finding.tool}" + (f"/{finding.argument}" if finding.argument else "")
    remedy = {
        "argument_effect": "map the argument to state, or declare it inert with a typed reason",
        "invented_argument": "describe what the argument means, or make it optional",
        "effect_annotation": "correct the annotation or the description of the tool",
        "returns_schema": "declare an output schema that the described result satisfies",
    }.get(finding.check, "revise the contract so that the quoted call gives what it must")
    return Refusal(
        code=CODES.get(finding.check, RefusalCode.VALIDATION_FAILED),
        subject=subject,
        message=f"{finding.check}: {finding.message}",
        remedy=remedy,
        value=str(finding.call.get("arguments", ""))[:200] if finding.call else "",
    )


def certify(
    validation: Validation, *, author: str, accuracy_gate: float = ACCURACY_GATE
) -> tuple[Environment, EnvironmentCertificate]:
    """Return the environment with its certificate.

    The kind is ``stateful`` with a certified write tool whose write was shown, ``read_only`` with certified read tools
    alone, else ``refused``; an environment-wide failed check or a missing test refuses it.

    Args:
        validation: of the environment, after the failing tools were taken out.
        author: who drafted it.
        accuracy_gate: see :func:`blocking`.
    """
    environment = validation.environment
    declared = {tool.name: tool for tool in environment.spec.tools}
    tools = tuple(
        tool_certificate(declared[contract.tool], contract, validation.tools[contract.tool], accuracy_gate)
        for contract in environment.contracts.contracts
        if contract.tool in validation.tools
    )
    certificate = EnvironmentCertificate(
        name=environment.name,
        environment=environment.hash,
        kind=kind_of(validation, tools),
        soundness=tuple(validation.checks),
        tools=tools,
        refused=environment.spec.refused,
        fidelity=dict(fidelity_counts(environment.contracts)),
        author=author,
        weft=__version__,
    )
    return environment.model_copy(update={"certificate": certificate}), certificate


def kind_of(validation: Validation, tools: tuple[ToolCertificate, ...]) -> Literal["stateful", "read_only", "refused"]:
    """Return the kind of environment that its certified tools make.

    A server that only writes is stateful too: its writes are shown in the state, which is what verifiers look at.
    """
    if not validation.environment.tests or any(not check.passed for check in validation.checks):
        return "refused"
    certified = [tool for tool in tools if tool.certified]
    writes = [
        tool
        for tool in certified
        if tool.effect == "write" and any(c.name == "write_shown" and c.passed and c.cases for c in tool.soundness)
    ]
    if writes:
        return "stateful"
    return "read_only" if any(tool.effect == "read" for tool in certified) else "refused"


def tool_certificate(tool: ToolSpec, contract: Contract, report: ToolReport, accuracy_gate: float) -> ToolCertificate:
    """Return the certificate of one tool."""
    return ToolCertificate(
        tool=contract.tool,
        certified=not blocking(report, accuracy_gate),
        effect=contract.effect,
        soundness=report.checks(),
        arguments=argument_fidelity(contract, report),
        not_enforced=(*unenforced_keywords(tool.input_schema), *unenforced_rules(contract)),
        accuracy=report.accuracy,
    )
