"""How people speak of what a task brings to light, so that a later request can point at it (Weft 3.1.3, pure).

A value that is to be taken from upstream must be told apart in words: it is what the upstream request asked for, or it
belongs to something that this request names, or to what it made. An output of which none holds is not used for binding.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from weft.records.contract import Contract
from weft.records.environment import Environment
from weft.records.task import (
    AtomicSolution,
    AtomicTask,
    FromInput,
    FromStep,
    ReferenceStep,
    Source,
    TaskInput,
    TaskOutput,
)

NOUNS: Mapping[str, str] = {"datetime": "date and time", "url": "link", "timezone": "time zone"}
MAKING = frozenset({"create", "upsert", "copy", "duplicate", "import", "send", "book", "reply"})


@dataclass(frozen=True, slots=True)
class Spoken:
    """How an output is spoken of.

    Attributes:
        noun: what the value is: ``email``, ``contact``.
        label: the property by which it is the value: ``title`` of an ``event``; the same as ``noun`` for most.
        whole: the value stands for the thing itself (an id or a name), not for a property of it.
        asked: the upstream request asks for it.
        made: the upstream request makes what it belongs to.
        owner: input of the upstream task that names what it belongs to, or "".
        entity: noun of what it belongs to.
    """

    noun: str
    label: str
    whole: bool
    asked: bool = False
    made: bool = False
    owner: str = ""
    entity: str = ""


def spoken_outputs(task: AtomicTask, solution: AtomicSolution, environment: Environment) -> dict[str, Spoken]:
    """Return how each output is spoken of, without those that cannot be told apart in words."""
    steps = {step.id: step for step in solution.reference}
    inputs = {item.name: item for item in task.inputs}
    found = {}
    for output in solution.outputs:
        asked = any(part.source == output.source for part in solution.reply)
        step = steps.get(output.source.step) if isinstance(output.source, FromStep) else None
        contract = environment.contracts.contract(step.tool) if step is not None else None
        entity = _entity(contract, environment)
        made = contract is not None and contract.effect == "write" and _makes(contract)
        owner = _owner(output.source, steps, inputs, environment) if not asked and not made else ""
        if asked or made or owner:
            label = _label(output, entity)
            thing = _thing(output, entity, environment)
            found[output.name] = Spoken(thing or label, label, bool(thing), asked, made, owner, entity)
    return found


def _makes(contract: Contract) -> bool:
    return any(case.intent in MAKING for case in contract.cases)


def _entity(contract: Contract | None, environment: Environment) -> str:
    table = next((case.table for case in contract.cases if case.table), "") if contract is not None else ""
    return words(environment.contracts.schema_.table(table).entity) if table else ""


def words(name: str) -> str:
    """Return an identifier as words."""
    return name.replace("_", " ").strip()


def _label(output: TaskOutput, entity: str) -> str:
    label = words(output.name)
    if entity and label.startswith(f"{entity} "):
        label = label.removeprefix(f"{entity} ")
    return NOUNS.get(label, label)


def _thing(output: TaskOutput, entity: str, environment: Environment) -> str:
    """Return the noun of the thing that a value stands for, or "" when it is a property."""
    kind, _, of = output.semantic.partition(":")
    if kind == "id":
        table = next((one for one in environment.contracts.schema_.tables if one.name == of), None)
        return words(table.entity if table is not None else of)
    if kind == "name":
        return words(of)
    return (entity or "person") if kind == "person" else ""


def _owner(
    source: Source, steps: Mapping[str, ReferenceStep], inputs: Mapping[str, TaskInput], environment: Environment
) -> str:
    """Return the input that names the row which an output belongs to: it is matched by it, or got by it."""
    if not isinstance(source, FromStep):
        return ""
    for item in source.match.values():
        if isinstance(item, FromInput) and item.name in inputs and inputs[item.name].keyed:
            return item.name
    step = steps.get(source.step)
    if step is None:
        return ""
    contract = environment.contracts.contract(step.tool)
    if contract.effect != "read" or not any(case.intent == "get" for case in contract.cases):
        return ""
    for argument in step.arguments.values():
        if isinstance(argument, FromInput) and inputs.get(argument.name) and inputs[argument.name].keyed:
            return argument.name
        if isinstance(argument, FromStep):
            return _owner(argument, steps, inputs, environment)
    return ""
