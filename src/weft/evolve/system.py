"""The agentic interaction system that a round works on: environments, atomic tasks and compositions by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from weft.records.codec import content_hash
from weft.records.composition import Composition
from weft.records.environment import Environment
from weft.records.task import AtomicSolution, AtomicTask

Kind = Literal["atomic", "composed"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AtomicEntry:
    """Both documents of an atomic task."""

    task: AtomicTask
    solution: AtomicSolution

    @property
    def hash(self) -> str:
        """Content hash of both documents."""
        return content_hash([self.task, self.solution])


@dataclass(frozen=True, slots=True)
class System:
    """One version of the system.

    Attributes:
        environments: by name.
        atomic: by task id.
        composed: by task id.
    """

    environments: Mapping[str, Environment] = field(default_factory=dict)
    atomic: Mapping[str, AtomicEntry] = field(default_factory=dict)
    composed: Mapping[str, Composition] = field(default_factory=dict)

    def kind_of(self, task: str) -> Kind | None:
        """Return what kind of task an id names, None when it names none."""
        return "composed" if task in self.composed else "atomic" if task in self.atomic else None

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return the environments that each task needs."""
        found: dict[str, tuple[str, ...]] = {name: (entry.task.server,) for name, entry in self.atomic.items()}
        for name, item in self.composed.items():
            found[name] = tuple(pin.name for pin in item.task.environments)
        return found

    def hash_of(self, name: str) -> str:
        """Return the content hash of an environment or of a task's documents; "" when there is no such one."""
        if name in self.composed:
            return content_hash(self.composed[name])
        if name in self.atomic:
            return self.atomic[name].hash
        return content_hash(self.environments[name]) if name in self.environments else ""

    def with_environment(self, name: str, environment: Environment | None) -> "System":
        """Return the system with another environment under a name, or without it."""
        return replace(self, environments=_with(self.environments, name, environment))

    def with_atomic(self, name: str, entry: AtomicEntry | None) -> "System":
        """Return the system with other documents of an atomic task, or without it."""
        return replace(self, atomic=_with(self.atomic, name, entry))

    def with_composed(self, name: str, composition: Composition | None) -> "System":
        """Return the system with other documents of a composed task, or without it."""
        return replace(self, composed=_with(self.composed, name, composition))

    def changed(self, earlier: "System") -> tuple[str, ...]:
        """Return the tasks that are not what they were in an earlier version, in order."""
        atomic = [name for name, entry in self.atomic.items() if earlier.atomic.get(name) != entry]
        composed = [name for name, item in self.composed.items() if earlier.composed.get(name) != item]
        return (*atomic, *composed)


def _with(items: Mapping[str, T], name: str, item: T | None) -> dict[str, T]:
    """Replace in place, so that the order of the others stays."""
    if item is None:
        return {key: value for key, value in items.items() if key != name}
    return {**items, name: item}
