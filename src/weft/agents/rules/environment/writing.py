"""Arguments of tools that write: selecting rows, setting attributes, preconditions, confirmations."""

import re
from dataclasses import replace

from weft.agents.rules.environment.blueprint import Blueprint, TablePlan
from weft.agents.rules.environment.columns import attribute, reference_target
from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.identifiers import (
    REPLIES,
    id_list,
    id_parts,
    names_main,
    one_or_many,
    refers,
    scalar_id,
)
from weft.agents.rules.environment.lexicon import NATURAL_WORDS, control_reason, is_projection
from weft.agents.rules.environment.plan import Part, Use
from weft.agents.rules.environment.reading import noun_is
from weft.agents.rules.environment.words import listed
from weft.records.spec import Provenance
from weft.records.state import ColumnRole, ColumnType

_PRECONDITIONS = frozenset(
    listed(
        "if match, etag, expected head sha, lock version, expected version, revision, sha, if none match, "
        "expected revision, version token, change key, expected sha "
    )
)
_CONFIRM = frozenset({"confirm", "confirmed", "confirmation", "i understand", "yes", "acknowledge"})
_DRY = frozenset(
    {"dry run", "dryrun", "validate only", "preview", "simulate", "preview only", "test mode", "check only", "dry"}
)
_FORCE = frozenset(
    listed("force, permanent, permanently, hard, hard delete, purge, cascade, recursive, delete all, force delete ")
)
SELECTS = listed("update, delete, transition, copy, move, assign, clear, set, run, unlink, upsert ")


def assign_write(part: Part, blueprint: Blueprint) -> None:
    """Say what each argument of a writing part is for; adds the columns that it writes."""
    table = part.main()
    selecting = part.intent.kind in SELECTS
    has_key = any(_key_grade(field, table, blueprint) >= 2 for field in part.fields)
    for field in part.fields:
        use = _control(field, part) or (
            _select(field, part, table, blueprint, has_key) if selecting else _given_key(field, part, table, blueprint)
        )
        part.uses.append(use or _attribute(field, part, table, blueprint))
    if selecting and not part.role("identifier") and part.intent.kind != "upsert":
        _fallback_selectors(part, table)


def _key_grade(field: Field, table: TablePlan, blueprint: Blueprint) -> int:
    if (
        (id_list(field) or one_or_many(field))
        and id_parts(field)[1]
        and (not id_parts(field)[0] or refers(id_parts(field)[0], table.phrase))
    ):
        return 2
    key = table.column(table.id)
    if scalar_id(field) and key.key == table.normal(field.words):
        return 3
    return names_main(field, table, blueprint) if scalar_id(field) else 0


def _control(field: Field, part: Part) -> Use | None:
    name = " ".join(field.words)
    if len(field.enum) == 1 and field.is_text:
        return Use(field, "inert", provenance=Provenance.INERT, evidence="client_hint: one value is legal")
    deletes = part.intent.kind in ("delete", "clear", "unlink")
    if name in _CONFIRM and field.type == ColumnType.BOOLEAN:
        return Use(field, "confirm", evidence="the call must be confirmed")
    if name in _DRY and field.type == ColumnType.BOOLEAN and not field.required:
        return Use(field, "dry_run", evidence="checks the call and changes nothing")
    if name in _PRECONDITIONS and part.intent.kind in SELECTS and not field.required and scalar_id(field):
        return Use(field, "precondition", part.table, evidence="must equal the stored version")
    if deletes and name in _FORCE and field.type == ColumnType.BOOLEAN:
        return Use(field, "force", part.table, evidence="lets protected rows be removed")
    if (
        is_projection(field)
        and not field.required
        and name not in ("columns", "fields", "attributes", "properties", "select")
    ):
        return Use(field, "projection", part.table, evidence="names the returned fields")
    reason = control_reason(field)
    keeps = {"locale", "client_hint", "format", "credential"}
    if (
        reason in ("timeout", "verbosity")
        or (reason and deletes)
        or (reason and reason not in keeps)
        or (reason == "client_hint" and not field.required and field.type != ColumnType.TEXT)
    ):
        return Use(field, "inert", provenance=Provenance.INERT, evidence=reason)
    return None


def _reply(field: Field, table: TablePlan, blueprint: Blueprint) -> Use | None:
    """The row that a reply answers: a reference inside the same table."""
    if _key_grade(field, table, blueprint) < 2 or field.is_array:
        return None
    key = table.column(table.id)
    column = table.find(("reply", "to", "id")) or table.plain(
        "reply_to_id", key.type, evidence=f"{field.name} names what is answered", provenance=Provenance.DECLARED
    )
    column.role, column.references, column.schema = ColumnRole.FOREIGN_KEY, table.name, key.schema
    return Use(field, "link", table, column, "", Provenance.DECLARED, "names what is answered")


def _given_key(field: Field, part: Part, table: TablePlan, blueprint: Blueprint) -> Use | None:
    if part.intent.verb in REPLIES:
        return _reply(field, table, blueprint)
    key = table.column(table.id)
    if scalar_id(field) and (key.key == table.normal(field.words) or names_main(field, table, blueprint) >= 3):
        base, suffix = id_parts(field)
        if key.key == table.normal(field.words) or (suffix and (not base or base == table.phrase)):
            return Use(field, "attribute", table, key, "", Provenance.DECLARED, "the caller names the new row")
    return None


def _select(field: Field, part: Part, table: TablePlan, blueprint: Blueprint, has_key: bool) -> Use | None:
    key = table.column(table.id)
    grade = _key_grade(field, table, blueprint)
    kind = part.intent.kind
    if len(field.words) > 1 and field.words[0] in ("new", "to", "target", "destination", "dest"):
        return None
    if grade >= 2 and part.one("identifier") is None:
        many = field.is_array or one_or_many(field)
        role = "identifier"
        column = key
        other = table.find(field.words)
        if other is not None and other is not key and grade < 3 and not many:
            column = other
        if (
            kind in ("update", "set")
            and not field.required
            and not part.when
            and any(f.required and _key_grade(f, table, blueprint) >= 2 for f in part.fields if f is not field)
        ):
            return None
        return Use(
            field,
            role,
            table,
            column,
            "in" if many else "eq",
            Provenance.DECLARED,
            "names the row",
            {"many": many, "either": "or" in field.words},
        )
    if (id_list(field) and noun_is(field, table) and kind in ("delete", "transition", "clear", "run")) and part.one(
        "identifier"
    ) is None:
        return Use(field, "identifier", table, key, "in", Provenance.DECLARED, "names the rows", {"many": True})
    if field.alternative and scalar_id(field) and not field.enum:
        column = attribute(
            field, table, blueprint, provenance=Provenance.DECLARED, evidence="one of the ways to name the row"
        )
        return Use(field, "parent", table, column, "eq", Provenance.DECLARED, "one of the ways to name the row")
    if not field.required or not scalar_id(field):
        return None
    scope = _is_scope(field, table, blueprint, has_key)
    removing = kind in ("delete", "clear", "unlink") or (kind in ("copy", "run", "move", "transition") and scope)
    if removing or (scope and kind in ("update", "set", "assign", "upsert")):
        column = attribute(
            field,
            table,
            blueprint,
            provenance=Provenance.INFERRED,
            evidence=f"{part.tool.name}.inputSchema/{field.dotted}",
        )
        if column.role == ColumnRole.ID and part.one("identifier") is not None:
            return None
        return Use(field, "parent", table, column, "eq", Provenance.DECLARED, "scope of the row")
    return None


def _is_scope(field: Field, table: TablePlan, blueprint: Blueprint, has_key: bool) -> bool:
    """True if a required argument says where the row is, not what it becomes."""
    if field.words in table.scope:
        return True
    target = reference_target(field, table, blueprint)
    column = table.find(field.words)
    if (
        target is not None
        and column is not None
        and column.role == ColumnRole.FOREIGN_KEY
        and field.words[0] not in ("new", "to", "target", "destination")
    ):
        return field.words in table.scope
    return not has_key and field.words[-1] in NATURAL_WORDS


def note_scopes(parts: list[Part]) -> None:
    """Remember which required arguments look rows up in reading and deleting tools of each table."""
    for part in parts:
        if part.problem is not None or part.table is None or part.when:
            continue
        if part.intent.kind in ("get", "list", "delete", "search"):
            for field in part.fields:
                if field.required and scalar_id(field) and field.words not in part.table.scope:
                    part.table.scope.append(field.words)


def _attribute(field: Field, part: Part, table: TablePlan, blueprint: Blueprint) -> Use:
    evidence = f"{part.tool.name}.inputSchema/{field.dotted}"
    words = field.words
    if (
        part.intent.kind in ("move", "update", "copy", "set", "assign")
        and len(words) > 1
        and words[0] in ("new", "to", "target", "destination", "dest")
    ):
        words = words[1:]
        field_for = replace(
            field,
            words=words,
            name=re.sub(r"^(new|to|target|destination|dest)[_-]?", "", field.name, flags=re.IGNORECASE) or field.name,
        )
    else:
        field_for = field
    if part.intent.kind in ("delete", "clear", "unlink") and not field.required:
        return _delete_option(field, part, table, blueprint)
    column = attribute(field_for, table, blueprint, provenance=Provenance.DECLARED, evidence=evidence)
    taken = [use for use in part.uses if use.column is column and use.role in ("attribute", "link", "status")]
    if taken and field.name != column.field and column.role != ColumnRole.ID:
        # Two arguments of one call are two attributes, however much their names are alike.
        column = table.another(field_for, column, provenance=Provenance.DECLARED, evidence=evidence)
    if field.is_array and column.type != ColumnType.JSON:
        # A list of values is no value of a scalar attribute of much the same name.
        alone = replace(column, references=None)
        column = table.another(field_for, alone, provenance=Provenance.DECLARED, evidence=evidence)
    if column.role in (ColumnRole.CREATED, ColumnRole.UPDATED):
        column.role = ColumnRole.ATTRIBUTE
    if column.role == ColumnRole.ID and part.intent.kind in SELECTS and part.one("identifier") is not None:
        column = table.add(("new", *words), field_for, provenance=Provenance.DECLARED, evidence=evidence)
    column.written = True
    role = "link" if column.references else ("status" if column.role == ColumnRole.STATUS else "attribute")
    return Use(field, role, table, column, "", Provenance.DECLARED, evidence)


def _delete_option(field: Field, part: Part, table: TablePlan, blueprint: Blueprint) -> Use:
    evidence = f"{part.tool.name}.inputSchema/{field.dotted}"
    if scalar_id(field) or field.enum:
        column = attribute(field, table, blueprint, provenance=Provenance.INVENTED, evidence=evidence)
        if field.words[-1] not in ("reason", "comment", "message", "note"):
            return Use(
                field,
                "filter",
                table,
                column,
                "eq",
                Provenance.INFERRED if column.provenance != Provenance.INVENTED else Provenance.INVENTED,
                column.evidence,
            )
    if field.type == ColumnType.BOOLEAN:
        return Use(field, "force", table, evidence="lets protected rows be removed")
    return Use(field, "inert", provenance=Provenance.INERT, evidence="client_hint: says why, and the row is gone")


def _fallback_selectors(part: Part, table: TablePlan) -> None:
    """Without an id, the required attributes that other tools look rows up by select the row."""
    for use in part.uses:
        column = use.column
        if use.role not in ("attribute", "link") or not use.field.required or column is None:
            continue
        named = use.field.words in table.scope or use.field.words[-1] in NATURAL_WORDS or bool(id_parts(use.field)[1])
        if scalar_id(use.field) and (named or column.role == ColumnRole.ID):
            use.role, use.test = "parent", "eq"
