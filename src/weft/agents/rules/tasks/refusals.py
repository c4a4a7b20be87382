"""Drafts of tasks whose right outcome is to change nothing and say why (Weft 3.1.2; DESIGN section 5).

The chain of such a task ends with the action that must not be taken, marked ``!``: looking and not acting is another
thing to learn than looking and acting, and no tool is covered by being left alone.
"""

from collections.abc import Iterator

from weft.agents.rules.tasks.actions import Action, Parameter, table_of
from weft.agents.rules.tasks.addressing import addressing
from weft.agents.rules.tasks.drafting import Sketch, Workshop, finish
from weft.agents.rules.tasks.finding import Found, Reader, call_of, phrase_of, told_by
from weft.agents.rules.tasks.fresh import fits, statable
from weft.agents.rules.tasks.verbs import saying
from weft.agents.rules.tasks.words import label, noun, value_words
from weft.records.contract import Transition
from weft.records.library import AtomicDraft, RefusalEvidence
from weft.records.state import Column, Row, Table
from weft.records.task import FromInput, Given, ReplyPart, Source

MISSING = ("not find", "not found", "no such", "not exist", "n't exist", "n't find", "unable to find",
           "unable to locate",
           "not locate", "n't locate", "no record", "not there", "is no", "are no", "'s no", "not in the", "n't in the",
           "nothing called", "none called", "not listed", "n't listed", "no match", "not have", "n't have", "not see",
           "n't see", "n't any", "not any", "no longer exist")  # fmt: skip


def refusal_drafts(shop: Workshop, *, most: int) -> Iterator[AtomicDraft]:
    """Yield drafts that ask for something that cannot be: a row that is not there, or a state that forbids it."""
    made = 0
    candidates = [action for action in shop.actions if action.writes and action.table]
    shop.rng.shuffle(candidates)
    for action in candidates:
        table = table_of(shop.schema, action.table)
        named = addressing(action, table) if table is not None else []
        if table is None or len(named) != 1 or named[0].plural:
            continue
        target = named[0]
        draft = _forbidden(shop, action, table, target) or _missing(shop, action, table, target)
        if draft is not None:
            yield draft
            made += 1
        if made == most:
            return


def _simple(action: Action, target: Parameter) -> bool:
    return all(not item.required or item is target for item in action.parameters)


def lookers(shop: Workshop, table: Table, action: Action) -> tuple[str, ...]:
    """Return the tools whose answer shows whether a row is there, or what state it is in."""
    tools = [
        other.tool for other in shop.actions if not other.writes and table.name in (other.table, *other.case.reads)
    ]
    acting = [
        other.tool for other in shop.actions if other.writes and other.table == table.name and other is not action
    ]
    return tuple(dict.fromkeys([*tools, action.tool, *acting]))


def _missing(shop: Workshop, action: Action, table: Table, target: Parameter) -> AtomicDraft | None:
    """Ask for an act on a row that is not there."""
    if not _simple(action, target) or action.case.intent in ("update", "upsert"):
        return None
    for reader in shop.finder.readers(table):
        if reader.own or reader.parents:
            continue
        for row in shop.rows(table.name)[:2]:
            for column in shop.finder.telling(table, row, reader.fields)[:1]:
                found = _looked(shop, reader, column, row)
                if found is not None:
                    said = "I could not find it: there is no such entry, so nothing was changed."
                    return _draft(shop, action, found, MISSING, said)
    return None


def _looked(shop: Workshop, reader: Reader, column: Column, row: Row) -> Found | None:
    """Return a look for something like a row that is not there."""
    table = reader.table
    ghost = _ghost(shop, table, column)
    if ghost is None:
        return None
    absent = {**row, column.name: ghost}
    known = told_by(column, table, absent, "").model_copy(update={"keyed": ""})
    sources: dict[str, Source] = {
        item.path: Given(kind="given", value=value, reason="how the tool is to answer") for item, value in reader.fixed
    }
    narrow = [item for item in reader.narrowing if item.column is not None and item.column.name == column.name]
    if narrow:
        sources[narrow[0].path] = FromInput(kind="input", name=known.name)
    step = call_of("look", shop.server, reader.action, sources)
    if not shop.probe.rehearse([step], {known.name: ghost}).ok:
        return None
    phrase = phrase_of(column, table, absent)
    return Found(table, row, phrase, steps=[step], chain=[reader.action.step], inputs=[known])


def _ghost(shop: Workshop, table: Table, column: Column) -> str | None:
    """Return a value like the column's that no row has, nor holds inside."""
    taken = [str(other.get(column.name)).casefold() for other in shop.probe.rows.get(table.name, ())]
    for value in shop.fresh.unused(table.name, column.name):
        if isinstance(value, str) and statable(value) and fits(column.schema_, value):
            low = value.casefold()
            if not any(low in other or other in low for other in taken):
                return value
    return None


def _forbidden(shop: Workshop, action: Action, table: Table, target: Parameter) -> AtomicDraft | None:
    """Ask for a change of state that the row's present state does not allow."""
    moves = [
        operation for operation in action.case.operations if isinstance(operation, Transition) and operation.sources
    ]
    if not moves or not _simple(action, target):
        return None
    move = moves[0]
    for row in shop.rows(table.name):
        state = row.get(move.column)
        if state in move.sources or not isinstance(state, str):
            continue
        found = shop.finder.find(table, row, prefix="", prefer=shop.wanted)
        if found is None or not found.steps or move.column not in found.fields:
            continue
        words = value_words(state, table.column(move.column), quoted=False)
        name = label(table.column(move.column), table)
        said = f"I did not do this: the {name} is already {words}, which does not allow it."
        return _draft(shop, action, found, (words,), said)
    return None


def _draft(shop: Workshop, action: Action, found: Found, reasons: tuple[str, ...], reply: str) -> AtomicDraft | None:
    sketch = Sketch(kind="refusal")
    sketch.take(found)
    sketch.chain.append(f"!{action.step}")
    sketch.refusal = RefusalEvidence(tools=lookers(shop, found.table, action))
    source = Given(kind="given", value=list(reasons), reason="why it cannot be done, as a reply may put it")
    sketch.reply = [ReplyPart(name="refusal", source=source, kind="refusal")]
    sketch.reply_text = reply
    sketch.completion = ["Nothing is changed.", "The reply says that it was not done, and why."]
    said = saying(action, [noun(table) for table in shop.schema.tables])
    target = f"the {said.whose} of {found.phrase}" if said.whose else found.phrase
    return finish(shop, sketch, "act", {"target": target, "verb": said.verb, "with": said.tail})
