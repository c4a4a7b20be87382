"""Values that satisfy a JSON Schema: believable where the field's name says something, valid in any case."""

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any

import jsonschema_rs

from weft.agents.rules.seeds.draw import letters, uuid_text
from weft.agents.rules.seeds.facts import RowFacts, iso, singular, slug, words_of
from weft.agents.rules.seeds.meaning import guess
from weft.agents.rules.seeds.patterns import PatternNotSupported, PatternSampler
from weft.agents.rules.seeds.references import Schema, as_schema, closed, flatten, types_of

DEEPEST = 5
ATTEMPTS = 12


class Unsatisfiable(ValueError):
    """No value that fits the schema was found."""


class ValueSchema:
    """One value's schema: tells whether a value fits, and draws values that do.

    Args:
        schema: the fragment.
        root: the document that its references point into; the fragment itself by default.
    """

    def __init__(self, schema: Any, root: Schema | None = None) -> None:
        self.schema = as_schema(schema)
        self.root = self.schema if root is None else root
        self.flat = flatten(self.schema, self.root)

    @cached_property
    def closed(self) -> Schema:
        """The schema on its own, with what it refers to."""
        return closed(self.schema, self.root)

    @cached_property
    def validator(self) -> Any | None:
        """The compiled validator; None for a schema that does not compile, which then decides nothing."""
        if not self.schema:
            return None
        try:
            return jsonschema_rs.validator_for(self.closed, validate_formats=True, offline=True)
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
            return None

    def valid(self, value: Any) -> bool:
        """True if the value fits, formats included."""
        if self.validator is None:
            return True
        try:
            return bool(self.validator.is_valid(value))
        except (ValueError, OverflowError):
            return False

    @property
    def types(self) -> tuple[str, ...]:
        """JSON types allowed, through references and unions; () means any."""
        found: list[str] = list(types_of(self.flat))
        for branch in self.branches():
            found += [t for t in branch.types if t not in found]
        return tuple(found)

    @property
    def enum(self) -> tuple[Any, ...]:
        """The listed values, through references and unions; () when the value is free."""
        if "const" in self.flat:
            return (self.flat["const"],)
        if isinstance(self.flat.get("enum"), list):
            return tuple(self.flat["enum"])
        parts = [branch for branch in self.branches() if branch.types != ("null",)]
        lists = [branch.enum for branch in parts]
        return tuple(v for one in lists for v in one) if lists and all(lists) else ()

    def branches(self) -> "list[ValueSchema]":
        """The alternatives of a union at the top; empty when there is none."""
        raw = self.flat.get("anyOf") or self.flat.get("oneOf") or ()
        return [ValueSchema(as_schema(item), self.root) for item in raw] if isinstance(raw, (list, tuple)) else []

    def draw(self, rng: random.Random, name: str, facts: RowFacts, *, full: bool = False) -> Any:
        """Return a value that fits.

        Args:
            rng: of the draw.
            name: the field's name, for its meaning.
            facts: of the row.
            full: give every optional property of objects at the first level.

        Raises:
            Unsatisfiable: none was found in a bounded number of attempts.
        """
        for attempt in range(ATTEMPTS):
            try:
                value = sample(self.schema, self.root, rng, name, facts, 0, full=full, plain=attempt > ATTEMPTS // 2)
            except (Unsatisfiable, PatternNotSupported):
                continue
            if self.valid(value):
                return value
        raise Unsatisfiable(f"no value found for {name!r} with schema {str(self.schema)[:160]}")


def sample(
    schema: Schema, root: Schema, rng: random.Random, name: str, facts: RowFacts, depth: int, *, full: bool, plain: bool
) -> Any:
    """Return a candidate for the schema; whether it fits is for validation to say.

    Args:
        schema: the schema.
        root: what references point into.
        rng: of the draw.
        name: of the field.
        facts: of the row.
        depth: nesting so far; deep optional parts are left out.
        full: give every optional property at this level.
        plain: ignore the field's meaning.
    """
    flat = flatten(schema, root)
    if "const" in flat:
        return flat["const"]
    if isinstance(flat.get("enum"), list):
        present = [v for v in flat["enum"] if v is not None] or flat["enum"]
        if not present:
            raise Unsatisfiable(f"{name!r}: the enum is empty")
        return rng.choice(present)
    union = flat.get("anyOf") or flat.get("oneOf")
    if isinstance(union, list) and union:
        return _from_union(flat, [as_schema(item) for item in union], root, rng, name, facts, depth, full, plain)
    kinds = [t for t in types_of(flat) if t != "null"] or list(types_of(flat)) or [_any_type(name)]
    kind = kinds[0] if depth > DEEPEST else rng.choice(kinds)
    if kind == "object":
        return sample_object(flat, root, rng, name, facts, depth, full=full, plain=plain)
    if kind == "array":
        return sample_array(flat, root, rng, name, facts, depth, plain=plain)
    if kind == "string":
        return sample_string(flat, rng, name, facts, plain=plain)
    if kind in ("integer", "number"):
        return sample_number(flat, rng, name, facts, whole=kind == "integer", plain=plain)
    return rng.random() < 0.5 if kind == "boolean" else None


def _any_type(name: str) -> str:
    words = words_of(name)
    return "object" if words and words[-1] in ("metadata", "properties", "params", "options", "config") else "string"


def _from_union(
    flat: Schema, union: list[Schema], root: Schema, rng: random.Random, name: str, facts: RowFacts, depth: int,
    full: bool, plain: bool,
) -> Any:  # fmt: skip
    base = {key: value for key, value in flat.items() if key not in ("anyOf", "oneOf")}
    parts = [flatten({"allOf": [base, branch]} if base else branch, root) for branch in union]
    useful = [part for part in parts if types_of(part) != ("null",)] or parts
    if depth > DEEPEST - 2:
        scalars = [part for part in useful if not {"object", "array"} & set(types_of(part))]
        useful = scalars or useful
    return sample(rng.choice(useful), root, rng, name, facts, depth, full=full, plain=plain)


def sample_object(
    flat: Schema, root: Schema, rng: random.Random, name: str, facts: RowFacts, depth: int, *, full: bool, plain: bool
) -> dict[str, Any]:
    """Return an object: the required properties, and optional ones more rarely the deeper it is."""
    properties = as_schema(flat.get("properties"))
    required = [key for key in flat.get("required") or () if isinstance(key, str)]
    dependent = as_schema(flat.get("dependentRequired"))
    share = 1.0 if full else (0.7, 0.45, 0.2, 0.1)[min(depth, 3)]
    value: dict[str, Any] = {}
    for key, part in properties.items():
        needed = key in required
        if not needed and (depth >= DEEPEST - 1 or rng.random() >= share):
            continue
        try:
            value[key] = sample(as_schema(part), root, rng, key, facts, depth + 1, full=False, plain=plain)
        except (Unsatisfiable, PatternNotSupported):
            if needed:
                raise
    for key in list(value):
        required += [k for k in dependent.get(key) or () if k not in required]
    required += [key for key in _conditional(value, flat, root) if key not in required]
    extra = as_schema(flat.get("additionalProperties"))
    for key in required:
        if key not in value:
            part = as_schema(properties.get(key, extra))
            value[key] = sample(part, root, rng, key, facts, depth + 1, full=False, plain=plain)
    _map_entries(value, flat, root, rng, name, facts, depth, plain)
    return value


def _conditional(value: dict[str, Any], flat: Schema, root: Schema) -> list[str]:
    """The properties that ``then`` or ``else`` requires of an object as it is so far."""
    if not isinstance(flat.get("if"), dict):
        return []
    branch = flat.get("then") if ValueSchema(flat["if"], root).valid(value) else flat.get("else")
    return [key for key in flatten(as_schema(branch), root).get("required") or () if isinstance(key, str)]


def _map_entries(
    value: dict[str, Any], flat: Schema, root: Schema, rng: random.Random, name: str, facts: RowFacts, depth: int,
    plain: bool,
) -> None:  # fmt: skip
    """Fill an object that is a map (``additionalProperties`` or ``patternProperties`` schemas) with a few entries."""
    extra, patterns = flat.get("additionalProperties"), as_schema(flat.get("patternProperties"))
    least = flat.get("minProperties", 0)
    open_map = isinstance(extra, dict) or (extra is not False and not flat.get("properties"))
    wanted = max(least if isinstance(least, int) else 0, rng.randint(1, 2) if open_map and depth < DEEPEST else 0)
    names = as_schema(flat.get("propertyNames"))
    for place in range(wanted * 3):
        if len(value) >= wanted or (not open_map and not patterns):
            break
        if patterns:
            pattern = sorted(patterns)[place % len(patterns)]
            key, part = PatternSampler(pattern).draw(rng), as_schema(patterns[pattern])
        else:
            part = as_schema(extra) or {"type": "string"}
            key = f"{slug(facts.subject).replace('-', '_').split('_')[0]}" + (f"_{place}" if place else "")
            if isinstance(names.get("pattern"), str) and place:
                key = PatternSampler(names["pattern"], 1).draw(rng)
            elif names:
                text = {"type": "string", **names}
                key = str(sample(text, root, rng, "key", facts, depth + 1, full=False, plain=plain))
        value.setdefault(key, sample(part, root, rng, name, facts, depth + 1, full=False, plain=plain))


def sample_array(
    flat: Schema, root: Schema, rng: random.Random, name: str, facts: RowFacts, depth: int, *, plain: bool
) -> list[Any]:
    """Return an array of one to three items within the length bounds, distinct where that is asked."""
    least, most = flat.get("minItems", 0), flat.get("maxItems")
    low = least if isinstance(least, int) else 0
    high = most if isinstance(most, int) else max(low, 3)
    prefix = flat.get("prefixItems") or (flat.get("items") if isinstance(flat.get("items"), list) else None) or []
    items = flat.get("items")
    fixed = [sample(as_schema(p), root, rng, name, facts, depth + 1, full=False, plain=plain) for p in prefix]
    if items is False or (prefix and not isinstance(items, dict)):
        return fixed[: max(low, min(len(fixed), high))]
    # Arrays of arrays of arrays would grow with the power of their depth: the deep ones hold one member.
    count = 0 if depth > DEEPEST else rng.randint(1, 3) if depth <= 2 else 1
    count = max(low, min(high, max(len(fixed), count)))
    part = as_schema(items)
    found = list(fixed)
    for _ in range(4 * count):
        if len(found) >= count:
            break
        item = sample(part, root, rng, singular(words_of(name)[-1]) if words_of(name) else name, facts, depth + 1,
                      full=False, plain=plain)  # fmt: skip
        # Repeated members of a list say nothing; they stay only where there is nothing else to take.
        if item not in found or (len(found) < low and not flat.get("uniqueItems")):
            found.append(item)
    return _containing(found, flat, root, rng, name, facts, depth, high, plain)


def _containing(
    found: list[Any], flat: Schema, root: Schema, rng: random.Random, name: str, facts: RowFacts, depth: int, high: int,
    plain: bool,
) -> list[Any]:  # fmt: skip
    """Return the items with as many of them as ``contains`` asks for."""
    if not isinstance(flat.get("contains"), dict):
        return found
    wanted = ValueSchema(flat["contains"], root)
    least = flat["minContains"] if isinstance(flat.get("minContains"), int) else 1
    for _ in range(4 * least):
        if sum(wanted.valid(item) for item in found) >= least:
            break
        item = sample(wanted.schema, root, rng, name, facts, depth + 1, full=False, plain=plain)
        if item in found and flat.get("uniqueItems"):
            continue
        other = [place for place, known in enumerate(found) if not wanted.valid(known)]
        found = [*found, item] if len(found) < high else [item if p == other[-1] else k for p, k in enumerate(found)]
    return found


def sample_number(
    flat: Schema, rng: random.Random, name: str, facts: RowFacts, *, whole: bool, plain: bool
) -> int | float:
    """Return a number within the bounds and on the step, where the name's usual range allows inside it."""
    low, high = _bounds(flat, whole=whole)
    step = flat.get("multipleOf")
    if not plain:
        usual = guess(name, "integer" if whole else "number", facts, rng)
        if usual is not None and (low is None or usual >= low) and (high is None or usual <= high) and not step:
            return int(usual) if whole else usual
    start = low if low is not None else min(0, high - 100 if high is not None else 0)
    stop = high if high is not None else max(start + 100, 100)
    stop = min(stop, start + 1000) if high is not None and low is not None and stop - start > 100000 else stop
    if isinstance(step, (int, float)) and step > 0:
        first, last = -(-start // step), stop // step
        return type_step(rng.randint(int(first), int(max(first, last))) * step, whole=whole)
    if whole:
        return rng.randint(int(-(-start // 1)), max(int(-(-start // 1)), int(stop // 1)))
    return min(stop, max(start, round(rng.uniform(start, stop), 2)))


def type_step(value: float, *, whole: bool) -> int | float:
    """Return a multiple of a step free of binary noise."""
    return int(value) if whole else round(value, 6)


def _bounds(flat: Schema, *, whole: bool) -> tuple[float | None, float | None]:
    """Return the inclusive bounds; exclusive ones (also the boolean form of draft-04) are stepped inside."""
    edge = 1 if whole else 0.01

    def number(key: str) -> float | None:
        value = flat.get(key)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    low, high = number("minimum"), number("maximum")
    if flat.get("exclusiveMinimum") is True and low is not None:
        low += edge
    if flat.get("exclusiveMaximum") is True and high is not None:
        high -= edge
    above, below = number("exclusiveMinimum"), number("exclusiveMaximum")
    if above is not None:
        low = above + edge if low is None else max(low, above + edge)
    if below is not None:
        high = below - edge if high is None else min(high, below - edge)
    return low, high


def sample_string(flat: Schema, rng: random.Random, name: str, facts: RowFacts, *, plain: bool) -> str:
    """Return a string: of the format, of the name's meaning, or of the pattern; within the length bounds."""
    low = flat["minLength"] if isinstance(flat.get("minLength"), int) else 0
    high = flat["maxLength"] if isinstance(flat.get("maxLength"), int) else None
    pattern = flat.get("pattern") if isinstance(flat.get("pattern"), str) else None
    shaped = formatted(str(flat.get("format", "")), rng, name, facts)
    spoken = None if plain else guess(name, "string", facts, rng)
    fallback = facts.title if not plain else f"{slug(facts.subject)}-{rng.randint(1, 999)}"
    if pattern is None:
        return within(shaped or spoken or fallback, low, high, facts, rng)
    sampler = PatternSampler(pattern, low, high)
    for candidate in (shaped, spoken, *believable(facts, rng)):
        if candidate and sampler.fits(candidate):
            return candidate
    return sampler.draw(rng)


def within(value: str, low: int, high: int | None, facts: RowFacts, rng: random.Random) -> str:
    """Return the text cut at a word or padded with sentences, so that its length is in bounds."""
    if high is not None and len(value) > high:
        cut = value[:high].rsplit(" ", 1)[0] if " " in value[:high] else value[:high]
        value = cut if len(cut) >= max(low, 1) or high == 0 else value[:high]
    while len(value) < low:
        value = (
            (value + " " + facts.sentences(1, rng)) if low - len(value) > 4 else value + letters(rng, low - len(value))
        )
    return value if high is None else value[:high]


def formatted(form: str, rng: random.Random, name: str, facts: RowFacts) -> str | None:
    """Return a value of a standard format, or None for a format that says nothing here."""
    if form in ("date-time", "date", "time"):
        when = guess(name, "string", facts, rng)
        moment = facts.created + timedelta(hours=rng.randint(1, 400) % 20)
        if isinstance(when, str) and len(when) in (10, 20) and when[:4].isdigit() and when[4:5] == "-":
            text = when if len(when) == 20 else when + "T00:00:00Z"
        else:
            text = iso(moment)
        return text if form == "date-time" else text[:10] if form == "date" else text[11:]
    simple: dict[str, Callable[[], str]] = {
        "uuid": lambda: uuid_text(rng),
        "email": lambda: facts.person.email,
        "idn-email": lambda: facts.person.email,
        "hostname": lambda: f"{slug(facts.company)}.example.com",
        "ipv4": lambda: f"192.0.2.{rng.randint(1, 250)}",
        "ipv6": lambda: f"2001:db8::{rng.randint(1, 65000):x}",
        "duration": lambda: f"PT{rng.choice((15, 30, 45, 90))}M",
        "json-pointer": lambda: f"/{slug(facts.subject)}",
        "regex": lambda: f"^{slug(facts.subject)}",
        "json": lambda: '{"label": "' + slug(facts.subject) + '"}',
        "byte": lambda: "V2VmdA==",
        "decimal": lambda: f"{rng.randint(1, 900)}.{rng.choice((0, 25, 50, 99)):02d}",
    }  # fmt: skip
    if form in ("uri", "url", "uri-reference", "iri"):
        spoken = guess(name, "string", facts, rng)
        plain = f"https://www.{slug(facts.company)}.example.com/{slug(facts.subject)}-{rng.randint(1, 99)}"
        return spoken if isinstance(spoken, str) and spoken.startswith("https://") else plain
    return simple[form]() if form in simple else None


def believable(facts: RowFacts, rng: random.Random) -> Sequence[str]:
    """Return texts of many shapes, tried against a pattern before characters are drawn."""
    word = slug(facts.subject)
    moment = facts.created
    return (
        word.split("-")[0], word, word.replace("-", "_"), word.upper().replace("-", "_"),
        word.split("-")[0].capitalize(),
        facts.place.code, facts.place.currency, facts.place.language, facts.person.email, facts.person.login,
        iso(moment), iso(moment)[:19], iso(moment)[:16], iso(moment)[:10], iso(moment)[11:19], iso(moment)[11:16],
        moment.strftime("%Y%m%d"), f"{iso(moment - timedelta(days=14))[:10]}to{iso(moment)[:10]}",
        f"#{rng.getrandbits(24):06x}", uuid_text(rng), f"{word.upper().replace('-', '')[:4]}-{rng.randint(1, 400)}",
        f"{word}.png", f"{slug(facts.company)}/{word}", f"{slug(facts.company)}.example.com", f"/{word}", f"{word}.md",
        f"{rng.randint(1, 12)}.{rng.randint(0, 9)}.{rng.randint(0, 20)}", f"v{rng.randint(1, 9)}",
        f"+{facts.place.dialling}5550{rng.randint(1000, 9999)}",
        f"{moment.month:02d}/{moment.day:02d}/{moment.year}", letters(rng, 24, "0123456789abcdef"), letters(rng, 10),
        f"{rng.randint(100, 9999)}", f"https://www.{slug(facts.company)}.example.com/{word}", facts.title,
    )  # fmt: skip
