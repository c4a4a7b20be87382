"""References inside a schema: where each ``$ref`` leads, without ever loading anything (pure)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urldefrag, urljoin

from weft.runtime.dialects import DIALECTS, Dialect, Subschema, escape, subschemas

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_META_SCHEMAS: Final = frozenset(dialect.uri.removesuffix("#") for dialect in DIALECTS)


@dataclass(frozen=True)
class Reference:
    """A reference.

    Attributes:
        path: JSON path of the keyword.
        holder: path of the schema that has it.
        text: as written.
        target: path of the schema that it leads to, or None.
        external: it leads out of the schema, to this absolute or relative address.
    """

    path: str
    holder: str
    text: str
    target: str | None = None
    external: str = ""


class SchemaMap:
    """Every subschema by its path, the addresses that they give themselves, and the references among them.

    Attributes:
        parts: the subschemas by path, in document order; places that only a reference makes a schema come last.
        references: where each reference leads.
    """

    def __init__(self, schema: Any, dialect: Dialect) -> None:
        """Find all of it."""
        self.parts: dict[str, Subschema] = {}
        self.references: list[Reference] = []
        self._root = schema
        self._id = "id" if dialect.name == "draft-04" else "$id"
        self._bases: dict[str, str] = {}
        self._resources: dict[str, str] = {"": "#"}
        self._anchors: dict[tuple[str, str], str] = {}
        pending = self._take_in(schema, "#", "")
        while pending:
            pending += self._references_of(pending.pop(0))

    def _take_in(self, schema: Any, path: str, base: str) -> list[Subschema]:
        new = [part for part in subschemas(schema, path) if part.path not in self.parts]
        for part in new:
            self.parts[part.path] = part
            self._bases[part.path] = self._own_base(part, self._bases.get(part.parent, base))
        return new

    def _own_base(self, part: Subschema, base: str) -> str:
        if not isinstance(part.schema, dict):
            return base
        declared = part.schema.get(self._id)
        if isinstance(declared, str):
            if declared.startswith("#"):
                self._anchors[base, declared[1:]] = part.path
            else:
                base = urldefrag(_join(base, declared)).url
                self._resources[base] = part.path
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = part.schema.get(keyword)
            if isinstance(name, str):
                self._anchors[base, name] = part.path
        return base

    def _references_of(self, part: Subschema) -> list[Subschema]:
        new: list[Subschema] = []
        if isinstance(part.schema, dict):
            for keyword in _REFERENCES:
                text = part.schema.get(keyword)
                if isinstance(text, str):
                    reference = self._follow(part, keyword, text)
                    self.references.append(reference)
                    if reference.target is not None and reference.target not in self.parts:
                        target = _at(self._root, reference.target)
                        new += self._take_in(target, reference.target, self._bases[part.path])
        return new

    def _follow(self, part: Subschema, keyword: str, text: str) -> Reference:
        place = f"{part.path}/{keyword}"
        address, fragment = urldefrag(_join(self._bases[part.path], text))
        fragment = unquote(fragment)
        root = self._resources.get(address)
        if root is None:
            return Reference(place, part.path, text, external="" if address in _META_SCHEMAS else address)
        if not fragment:
            return Reference(place, part.path, text, root)
        if not fragment.startswith("/"):
            return Reference(place, part.path, text, self._anchors.get((address, fragment)))
        target = root + _tidy(fragment)
        found = isinstance(_at(self._root, target), (dict, bool))
        return Reference(place, part.path, text, target if found else None)


def in_place_cycle(found: SchemaMap) -> list[str]:
    """Return the paths of the first cycle of schemas that refer to each other without any content, or [].

    A cycle through ``properties`` or ``items`` describes a recursive value and is fine; one through ``$ref`` and
    ``allOf`` alone describes nothing, and checking a value against it would never end.
    """
    onward: dict[str, list[str]] = {path: [] for path in found.parts}
    for path, part in found.parts.items():
        if part.in_place:
            onward[part.parent].append(path)
    for reference in found.references:
        if reference.target is not None:
            onward[reference.holder].append(reference.target)
    done: set[str] = set()
    for start in onward:
        if start not in done and (cycle := _cycle_from(start, onward, done)):
            return cycle
    return []


def _cycle_from(start: str, onward: dict[str, list[str]], done: set[str]) -> list[str]:
    trail = [start]
    walks: list[Iterator[str]] = [iter(onward[start])]
    while trail:
        step = next(walks[-1], None)
        if step is None:
            done.add(trail.pop())
            walks.pop()
        elif step in trail:
            return [*trail[trail.index(step) :], step]
        elif step not in done:
            trail.append(step)
            walks.append(iter(onward[step]))
    return []


def _join(base: str, reference: str) -> str:
    # urljoin drops the base of a bare fragment when the base is a urn: or another opaque address.
    return base + reference if reference.startswith("#") or not reference else urljoin(base, reference)


def _tidy(fragment: str) -> str:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in fragment.split("/")[1:]]
    return "".join("/" + escape(step) for step in steps)


def _at(root: Any, path: str) -> Any:
    """Return what is at a JSON path, None where there is nothing."""
    value = root
    for step in path.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def is_meta_schema(reference: Reference) -> bool:
    """True if a reference without a target names a published meta-schema, which the checker knows by heart."""
    return reference.target is None and not reference.external and urldefrag(reference.text).url in _META_SCHEMAS
