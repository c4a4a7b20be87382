"""Second readings of a tool: what its arguments, description and declared result say against its name's first one."""

import re
from dataclasses import replace

from weft.agents.rules.environment.fields import Field, Resolver, Schema, make_field
from weft.agents.rules.environment.identifiers import id_parts, refers, scalar_id
from weft.agents.rules.environment.intents import Intent, Words, noun
from weft.agents.rules.environment.verbs import STATE_VERBS, StateVerb
from weft.agents.rules.environment.words import tokens
from weft.records.spec import ToolSpec
from weft.records.state import ColumnType

_BECOMES = re.compile(r"\b(?:becomes?|is set to|turns?(?: in)?to|is marked(?: as)?)\s+[`'\"]?([a-z][a-z_-]*)", re.I)
_FAILS = re.compile(r"not[_ ]found|must exist|must already|does not exist", re.I)
_COUNTED = frozenset({"count", "total", "deleted", "removed", "updated"})


def reread(tool: ToolSpec, intent: Intent, fields: list[Field]) -> Intent:
    """The intent after a look at the rest of the declaration.

    A state verb with a boolean of its name sets that boolean both ways; ``mark X <state>`` and verbs that a description
    explains by ``becomes <state>`` are transitions; a tool whose declared result is a new row of another noun makes it;
    a search whose declared result is one row is a look-up.
    """
    flagged = _flag_given(intent, fields)
    if flagged is not None:
        return flagged
    made = _made(tool, intent, fields)
    if made is not None:
        return made
    marked = _becoming(tool, intent, fields)
    if marked is not None:
        return marked
    if intent.kind == "set" and _FAILS.search(tool.description):
        # What fails when the row is not there makes none.
        return replace(intent, kind="update")
    if intent.kind in ("search", "list") and tool.output_schema and _one_row(tool.output_schema):
        return replace(intent, kind="get", plural=False)
    return intent


def _flag_given(intent: Intent, fields: list[Field]) -> Intent | None:
    state = intent.state
    if intent.kind != "transition" or state is None:
        return None
    names = {state.state, state.flag, *state.aliases} - {""}
    if any(field.type == ColumnType.BOOLEAN and names & set(field.words) for field in fields):
        return replace(intent, kind="update", state=None)
    return None


def _ids(fields: list[Field]) -> list[Words]:
    """The nouns of required ids, in order."""
    return [id_parts(f)[0] for f in fields if f.required and scalar_id(f) and id_parts(f)[1] and id_parts(f)[0]]


def _becoming(tool: ToolSpec, intent: Intent, fields: list[Field]) -> Intent | None:
    """``mark_no_show``, ``mark_order_delivered``, ``dispatch_order``: one row, and nothing said but its new state."""
    names = [field for field in fields if field.required]
    if intent.kind not in ("update", "create", "send", "run") or len(names) != 1 or not scalar_id(names[0]):
        return None
    if intent.verb != "mark" and len(fields) > 1:
        return None
    said = _BECOMES.search(tool.description)
    base = id_parts(names[0])[0]
    if intent.verb == "mark":
        words = intent.phrase
        rest = words[len(base) :] if base and words[: len(base)] == base else words
        known = bool(base) and rest != words
        state = "_".join(rest) if known or not base else "_".join(words)
        if not state or any(field.type == ColumnType.BOOLEAN or field.enum for field in fields):
            return None
        phrase = base or words
    elif said is None or not base or id_parts(names[0])[1] == "":
        return None
    else:
        state, phrase = said.group(1).lower(), base
    return replace(intent, kind="transition", state=STATE_VERBS.get(state, StateVerb(state)), phrase=phrase)


def _made(tool: ToolSpec, intent: Intent, fields: list[Field]) -> Intent | None:
    """The row of another noun that an update's declared result says is new: it has an id that no argument gives."""
    if intent.kind not in ("update", "set", "transition") or not tool.output_schema or intent.phrase == ():
        return None
    resolver = Resolver(tool.output_schema)
    given = {field.name for field in fields}
    for name, schema in resolver.properties(resolver.plain(tool.output_schema)):
        words = noun(tokens(name))
        if not schema.get("properties") or words == intent.phrase or refers(words, intent.phrase):
            continue
        ids = [label for label, _ in resolver.properties(schema) if tokens(label) == (*tokens(name), "id")]
        own = [label for label in ids if label not in given]
        new = re.search(r"\bnew\b|\bmade\b|\bcreated\b", str(schema.get("description", "")), re.IGNORECASE)
        if own and new and any(refers(base, intent.phrase) for base in _ids(fields)):
            return replace(intent, kind="create", phrase=words, state=None)
    return None


def _one_row(schema: Schema) -> bool:
    """True if a declared result is one object of attributes: no list of objects in it and no count."""
    resolver = Resolver(schema)
    plain = resolver.plain(schema)
    found = [make_field(name, (name,), value, False) for name, value in resolver.properties(plain)]
    if plain.get("type") != "object":
        return False
    if len(found) == 1 and found[0].schema.get("properties") and not found[0].is_array:
        return _one_row(found[0].schema)
    if len(found) < 2:
        return False
    for field in found:
        items = field.schema.get("items")
        if field.is_array and not (isinstance(items, dict) and items.get("type") in ("string", "integer", "number")):
            return False
        if set(field.words) & _COUNTED or field.words in (("results",), ("items",), ("content",), ("text",)):
            return False
    return sum(field.type != ColumnType.JSON for field in found) >= 2
