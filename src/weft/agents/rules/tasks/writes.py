"""Drafts of tasks that change something: create, update, correct, move on, delete, link, bulk (Weft 3.1.2)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weft.agents.rules.tasks.actions import IDLE, Action, Parameter, missing_required, table_of
from weft.agents.rules.tasks.addressing import address, addressing, looked_up
from weft.agents.rules.tasks.drafting import (
    Sketch,
    Workshop,
    finish,
    input_source,
    made_outputs,
    observed_outputs,
    told_value,
)
from weft.agents.rules.tasks.finding import Found, call_of, constant, refers_to
from weft.agents.rules.tasks.verbs import EDITING, saying, verb_of
from weft.agents.rules.tasks.words import (
    article,
    field_label,
    label,
    listed,
    meaning,
    noun,
    relation,
    split,
    state,
    value_words,
    yes_words,
)
from weft.records.base import JSON
from weft.records.library import AtomicDraft
from weft.records.state import ColumnRole, Row, Table
from weft.records.task import BuildList, Given, Source

MOST_OPTIONAL = 2
MOVING = frozenset({"move on", "mark", "move", "advance", "track"})
"""Verbs of a change of state that names the new state."""
REACHING = frozenset({"move", "reschedule", "transfer", "assign", "reassign", "rename", "migrate", "upgrade",
                      "downgrade", "promote", "demote", "convert", "relocate", "postpone", "forward", "send",
                      "switch", "reroute", "allocate", "copy"})  # fmt: skip
"""Verbs whose values say where to: ``reschedule the visit to the slot ...``."""
ASIDE = frozenset({"reason", "note", "notes", "comment", "comments", "message", "text", "body", "from", "by",
                   "quantity", "amount", "subject", "description", "title"})  # fmt: skip
"""Words of values that go with an act and are not what it leads to."""
ATTRIBUTES = ("attribute", "status", "quantity", "content", "option")


@dataclass(slots=True)
class Written:
    """Arguments of a write as they come together, and how the texts say them."""

    values: dict[str, Source] = field(default_factory=dict)
    founds: list[Found] = field(default_factory=list)
    told: list[tuple[Parameter, str]] = field(default_factory=list)
    references: list[tuple[Parameter, Found]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


def write_draft(shop: Workshop, action: Action, *, tries: int = 3, variant: int = 0) -> AtomicDraft | None:
    """Return a draft for a write, or None when nothing sensible can be asked of it.

    Args:
        shop: to build with.
        action: the write.
        tries: most rows that are tried.
        variant: 0 takes the best way to each row, higher numbers others.
    """
    table = table_of(shop.schema, action.table) if action.table else None
    if table is None:
        return None
    named = addressing(action, table)
    rows: Sequence[Row | None] = shop.rows(table.name)[:tries] if named else [None] * 2
    for row in rows:
        draft = _attempt(shop, action, table, named, row, variant)
        if draft is not None:
            return draft
    return None


def _attempt(
    shop: Workshop, action: Action, table: Table, named: Sequence[Parameter], row: Row | None, variant: int
) -> AtomicDraft | None:
    sketch = Sketch(kind=kind_of(action, named))
    written = Written()
    if row is not None and not _aim(shop, written, named, table, row, variant):
        return None
    if not _fill(shop, action, table, sketch, written, named, row):
        return None
    if any(missing_required(action, list(written.values))):
        return None
    for found in written.founds:
        sketch.take(found)
        sketch.outputs += observed_outputs(found)
    sketch.steps.append(call_of("act", shop.server, action, written.values))
    sketch.chain.append(action.step)
    tried = shop.probe.rehearse(sketch.steps, sketch.values())
    if not tried.ok or tried.changes[-1].empty:
        return None
    made = made_outputs(table, "act", tried)
    sketch.outputs = [*made, *sketch.outputs]
    if any(item.steps for item in written.founds) and named and sketch.kind in ("update", "act", "upsert"):
        sketch.kind = "lookup_then_act"
    return _said(shop, sketch, action, table, named, written)


def kind_of(action: Action, named: Sequence[Parameter]) -> str:
    """Return the kind of task that a write makes."""
    intent = action.case.intent
    if any(item.plural for item in named):
        return "bulk"
    if intent in ("create", "update", "delete", "transition", "link", "unlink", "upsert"):
        return "create" if intent == "upsert" and not named else intent
    return "act" if named else "create"


def _aim(shop: Workshop, written: Written, named: Sequence[Parameter], table: Table, row: Row, variant: int) -> bool:
    """Add the way to the row that is acted on, or to two of them for a bulk act."""
    rows = [row]
    if any(item.plural for item in named):
        rows += [other for other in shop.rows(table.name) if other != row][:1]
    gathered: dict[str, list[Source]] = {}
    for number, wanted in enumerate(rows):
        prefix = "" if number == 0 else f"other{number}_"
        found = address(shop, table, wanted, named, prefix=prefix, variant=variant)
        if found is None:
            return False
        written.founds += found.founds
        written.targets.append(found.phrase)
        for path, source in found.sources.items():
            gathered.setdefault(path, []).append(source)
    for item in named:
        path, sources = item.path, gathered[item.path]
        if not item.plural:
            written.values[path] = sources[0]
        elif path.endswith("[]") or "[]" not in path:
            written.values[path.removesuffix("[]")] = BuildList(kind="list", items=tuple(sources))
        else:
            written.values[path] = sources[0]
            written.targets = written.targets[:1]
    return True


def _fill(
    shop: Workshop,
    action: Action,
    table: Table,
    sketch: Sketch,
    written: Written,
    named: Sequence[Parameter],
    row: Row | None,
) -> bool:
    """Fill the other arguments: required ones, and a few optional ones that a user might care about."""
    optional: list[Parameter] = []
    narrowing = looked_up(action, table)
    for item in action.parameters:
        if item in named or item.path in written.values:
            continue
        if not item.required and tuple(item.path.replace("[]", "").split(".")) in narrowing:
            continue  # it narrows what is found, and the row is found by other arguments
        if item.required:
            if not _one(shop, table, sketch, written, item, row):
                return False
        elif (item.role in ATTRIBUTES and item.column is not None and item.role not in IDLE) or (
            item.role in ("parent", "link") and not item.plural and not named
        ):
            optional.append(item)
    shop.rng.shuffle(optional)
    optional.sort(
        key=lambda item: (item.column is None or item.column.role is not ColumnRole.NAME, item.role == "status")
    )
    enough = len(written.told) + len(written.references)
    wanted = MOST_OPTIONAL if not named else max(0, 2 - enough) or (0 if enough else 1)
    if action.case.intent in ("update", "upsert") and not written.told:
        wanted = shop.rng.choice((1, 1, 2))
    for item in optional:
        # A state is said in a sentence of its own, so it does not stand beside other values.
        if wanted <= 0 or (named and written.told and _states(item)):
            break
        if named and item.column is not None and item.column.role is ColumnRole.NAME and len(optional) > 2:
            continue  # renaming what was just looked up by its name reads oddly
        if item.schema.get("type") in ("object", "array") and _nested(item):
            continue
        wanted -= _one(shop, table, sketch, written, item, row)
        if named and written.told and _states(written.told[-1][0]):
            break
    return True


def _states(item: Parameter) -> bool:
    return item.schema.get("type") == "boolean" and bool(state(item.column, item.leaf))


def _nested(item: Parameter) -> bool:
    """Return whether a value has parts with names of their own, which reads badly in a request."""
    items = item.schema.get("items")
    inner = items.get("type") if isinstance(items, dict) else None
    return item.schema.get("type") == "object" or inner in ("object", "array")


def _one(shop: Workshop, table: Table, sketch: Sketch, written: Written, item: Parameter, row: Row | None) -> bool:
    """Fill one argument; False when there is no sensible value."""
    reference = refers_to(item, shop.schema)
    if reference is not None and not item.plural:
        return _refer(shop, written, item, reference, row)
    if reference is not None and item.plural and not item.path.count("."):
        return _refer(shop, written, item, reference, row, many=True)
    if item.role in IDLE or item.role == "action":
        value = constant(item)
        if value is None and item.enum:
            value = item.enum[0]
        if value is None:
            value = shop.fresh.value(item)
            return value is not None and _tell(shop, table, sketch, written, item, value)
        written.values[item.path] = Given(
            kind="given", value=value, reason="how the tool is to answer, not what is wanted"
        )
        return True
    value = shop.fresh.value(item, row)
    return value is not None and _tell(shop, table, sketch, written, item, value)


def _tell(shop: Workshop, table: Table, sketch: Sketch, written: Written, item: Parameter, value: JSON) -> bool:
    """Let the user state a value."""
    column = item.column
    words = said_value(value, item)
    if isinstance(value, bool) and state(column, item.leaf):
        words = yes_words(state(column, item.leaf), value)
    owner = table_of(shop.schema, item.use.table) or table
    semantic = meaning(column, owner).semantic if column is not None else "text"
    if column is None and isinstance(value, (int, float)):
        semantic = "boolean" if isinstance(value, bool) else "number"
    name = sketch.tell(told_value("_".join(split(item.leaf)) or "value", value, words, semantic))
    written.values[item.path] = input_source(name)
    written.told.append((item, words))
    return True


def said_value(value: JSON, item: Parameter) -> str:
    """Return how the texts say a new value."""
    if isinstance(value, dict):
        return ", ".join(f"{field_label(name)} {value_words(part)}" for name, part in value.items())
    if isinstance(value, list) and any(isinstance(part, dict) for part in value):
        return "; ".join(said_value(part, item) if isinstance(part, dict) else value_words(part) for part in value)
    if item.enum and isinstance(value, str):
        return value_words(value, quoted=False)
    return value_words(value, item.column)


def _refer(
    shop: Workshop, written: Written, item: Parameter, reference: str, row: Row | None, *, many: bool = False
) -> bool:
    """Let an argument hold the key of another row, which is looked up by what the user calls it."""
    table = table_of(shop.schema, reference)
    if table is None:
        return False
    column = item.column
    old = row.get(column.name) if row is not None and column is not None else None
    for other in shop.rows(table.name)[:4]:
        if other.get(table.key[0]) == old:
            continue
        found = shop.finder.find(table, other, prefix=f"ref{len(written.founds)}_", prefer=shop.wanted, depth=1)
        source = found.source(table.key[0]) if found is not None else None
        if found is None or source is None:
            continue
        path = item.path.removesuffix("[]") if many else item.path
        written.values[path] = BuildList(kind="list", items=(source,)) if many else source
        written.founds.append(found)
        written.references.append((item, found))
        return True
    return False


# How it is said


def _said(
    shop: Workshop, sketch: Sketch, action: Action, table: Table, named: Sequence[Parameter], written: Written
) -> AtomicDraft | None:
    if not named:
        return _said_create(shop, sketch, action, table, written)
    phrase = written.targets[0]
    slots = {"target": phrase}
    said = saying(action, [noun(other) for other in shop.schema.tables])
    if said.tail.startswith((" for ", " to ")) and (written.told or written.references):
        said = replace(said, tail="")  # the values say it better
    founds = written.founds
    if len(written.targets) > 1:
        slots.update(
            targets=listed(written.targets), verb=said.verb, **{"with": said.tail + _with(written, table, said.verb)}
        )
        return finish(shop, sketch, "bulk", slots, founds=founds)
    intent = action.case.intent
    if intent == "delete" and not written.told and not written.references:
        return finish(shop, sketch, "delete", slots, founds=founds)
    if intent in ("link", "unlink") and len(written.references) == 1:
        more = _with(written, table, references=False)
        slots.update(first=written.references[0][1].phrase, second=phrase, with_more=more and f" Do it{more}.")
        return finish(shop, sketch, intent, slots, founds=founds)
    states = len(written.told) == 1 and _states(written.told[0][0]) and not written.references
    plain = intent in ("update", "upsert") or _only_status(written)
    if said.verb == "rename" and len(written.told) == 1 and not written.references:
        slots.update(verb="rename", **{"with": f" to {written.told[0][1]}"})
        return finish(shop, sketch, "act", slots, founds=founds)
    if (
        plain
        and not states
        and not said.tail
        and said.verb in EDITING | MOVING
        and (written.told or written.references)
    ):
        return _said_update(shop, sketch, action, table, written, slots)
    if states:
        slots.update(verb="mark", **{"with": f" as {written.told[0][1]}"})
        return finish(shop, sketch, "act", slots, founds=founds)
    if said.whose:
        slots["target"] = f"the {said.whose} of {phrase}"
    slots.update(verb=said.verb, **{"with": said.tail + _with(written, table, said.verb)})
    return finish(shop, sketch, "act", slots, founds=founds)


def _only_status(written: Written) -> bool:
    return len(written.told) == 1 and written.told[0][0].role == "status" and not written.references


def _said_update(
    shop: Workshop, sketch: Sketch, action: Action, table: Table, written: Written, slots: dict[str, str]
) -> AtomicDraft | None:
    pairs = _pairs(written, table)
    if action.case.intent == "transition" and len(pairs) == 1 and written.told and written.told[0][0].role == "status":
        name, words = pairs[0]
        slots.update(value=words, label_of=f"the {name} of {slots['target']}")
        return finish(shop, sketch, "transition", slots, founds=written.founds)
    (first, value), *rest = pairs
    tail = [f"the {name} to {words}" for name, words in rest]
    spoken = [f"the {name} {words}" for name, words in pairs[: len(written.told)]]
    spoken += [_said_reference(item, found, table) for item, found in written.references]
    slots.update(
        nouns=listed(spoken),
        sets=listed([f"the {first} of {slots['target']} to {value}", *tail]),
        plain_sets=listed([f"the {first} to {value}", *tail]),
    )
    correct = not written.references and shop.rng.random() < 0.25
    if correct:
        sketch.kind = "correction"
    return finish(shop, sketch, "correction" if correct else "update", slots, founds=written.founds)


def _said_create(shop: Workshop, sketch: Sketch, action: Action, table: Table, written: Written) -> AtomicDraft | None:
    thing = noun(table)
    if table.relation and len(written.references) >= 2:
        (_, first), (_, second), *others = written.references
        more = _with(Written(told=written.told, references=others), table)
        slots = {"first": first.phrase, "second": second.phrase, "with_more": more and f" Do it{more}."}
        return finish(shop, sketch, "link", slots, founds=written.founds)
    details = _details(written, table)
    slots = {"a_new": article(f"new {thing}"), "a_thing": article(thing), "details": details}
    if action.case.intent not in ("create", "upsert", "link") and verb_of(action) not in ("add", "create", "make"):
        slots = {"verb": verb_of(action), "target": article(thing), "with": " " + details if details else ""}
        return finish(shop, sketch, "act", slots, founds=written.founds)
    return finish(shop, sketch, "create", slots, founds=written.founds) if details else None


def _details(written: Written, table: Table) -> str:
    """Return ``called "X" for Ann Miller, with the quantity 5 and the due date 12 May 2026``."""
    called, others, marks = "", [], []
    for item, words in written.told:
        column = item.column
        if column is not None and column.role is ColumnRole.NAME and item.use.table == table.name and not called:
            called = f"called {words}"
        elif _states(item):
            marks.append(words)
        elif relation(item.leaf):
            called += f" {relation(item.leaf)} {words}"
        else:
            others.append(_said_pair(_name(item, table), words, item))
    owners = []
    for item, found in written.references:
        name = _name(item, table)
        same = set(split(name)) <= set(split(noun(found.table)))
        if relation(item.leaf):
            called += f" {relation(item.leaf)} {found.phrase}"
        elif same or name in ("parent", "owner", "container"):
            owners.append(found.phrase)
        else:
            others.append(f"{found.phrase} as the {name}")
    text = " ".join([called, f"for {listed(owners)}" if owners else ""]).strip()
    if others:
        text += (" " if text and not owners else ", " if text else "") + "with " + listed(others)
    text += f", marked as {listed(marks)}" if marks and text else f"marked as {listed(marks)}" if marks else ""
    return text.replace(" ,", ",").strip()


def _name(item: Parameter, table: Table) -> str:
    if item.column is not None and item.use.table == table.name:
        return label(item.column, table)
    return field_label(item.leaf, table, reference=item.role in ("parent", "link", "identifier"))


def _said_reference(item: Parameter, found: Found, table: Table) -> str:
    """Return another row with its part in this: ``Ann Miller as the owner``; the row alone where that is clear."""
    name = _name(item, table)
    clear = set(split(name)) <= set(split(noun(found.table)))
    if relation(item.leaf) == "in reply to":
        return f"a reply to {found.phrase}"
    return found.phrase if clear else f"{found.phrase} as the {name}"


def _said_pair(name: str, words: str, item: Parameter) -> str:
    """Return a value with its name: ``the quantity 5``, and ``"gift" set to yes`` for a switch that is no state."""
    if item.schema.get("type") == "boolean" and state(item.column, item.leaf):
        return f"the state {words}"
    return f'"{name}" set to {words}' if item.schema.get("type") == "boolean" else f"the {name} {words}"


def _pairs(written: Written, table: Table) -> list[tuple[str, str]]:
    pairs = [(_name(item, table), words) for item, words in written.told]
    return pairs + [(_name(item, table), found.phrase) for item, found in written.references]


def _with(written: Written, table: Table, verb: str = "", *, references: bool = True) -> str:
    """Return what goes with an act: `` to the stage won``, `` because of "a typo"``, `` with the note "Hi."``."""
    told = [(item, _said_pair(_name(item, table), words, item)) for item, words in written.told]
    if references:
        told += [(item, _said_reference(item, found, table)) for item, found in written.references]
    reasons = [words for item, words in written.told if split(item.leaf)[-1:] == ["reason"]]
    aside = [said for item, said in told if set(split(item.leaf)) & ASIDE or item.schema.get("type") == "boolean"]
    asides = [said for item, said in told if said in aside and split(item.leaf)[-1:] != ["reason"]]
    main = [said for item, said in told if said not in aside]
    lead = "to" if verb.split(" ")[0] in REACHING else "with"
    text = f" {lead} {listed(main)}" if main else ""
    text += f" because of {listed(reasons)}" if reasons else ""
    return text + (f" with {listed(asides)}" if asides else "")
