"""Files: tools that read and change a workspace of text files (Weft 3.1.1, workspace state)."""

from collections.abc import Sequence
from typing import Any, Literal

from weft.agents.rules.environment.fields import Field, Resolver, Schema
from weft.agents.rules.environment.lexicon import control_reason
from weft.agents.rules.environment.plan import Part, ToolPlan, Use
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.returns import Outcome, as_text
from weft.agents.rules.environment.rows import argument
from weft.agents.rules.environment.selecting import guards
from weft.agents.rules.environment.words import listed, tokens
from weft.records.contract import Each, Let, Operation, Sort, When, WriteFiles
from weft.records.expression import Arg, Expr, MapOver, Not, ObjectOf, Order, ReadFiles, Truthy, const, var
from weft.records.spec import Provenance, RefusalCode
from weft.records.state import ColumnType

_PATHS = frozenset(
    listed(
        "path, file path, filepath, dirpath, dir path, directory, folder path, folder, file, directory path, filename, "
        "source, source path, from, src, from path, old path, file name"
    )
)
_TARGETS = frozenset(listed("destination, target, to, dest, new path, destination path, target path, dst, to path"))
_CONTENTS = frozenset(listed("content, contents, text, data, body"))
_NOUNS = frozenset(listed("file, files, directory, directories, folder, folders, tree, vault, dir"))
_STAT = frozenset(listed("info, stat, metadata, stats"))
_ENTRY: Schema = {"type": "object"}

WriteFn = Literal["write", "append", "edit", "delete", "move", "copy", "mkdir"]


def file_tools(tools: Sequence[ToolPlan]) -> list[ToolPlan]:
    """The tools that act on the workspace: those about files, on a server that writes a text to a path and no more."""
    if not any(_writes_texts(tool) for tool in tools):
        return []
    return [tool for tool in tools if _about_files(tool)]


def _writes_texts(tool: ToolPlan) -> bool:
    if len(tool.parts) != 1 or tool.problem is not None or tool.parts[0].intent.reads:
        return False
    phrase = tool.parts[0].intent.phrase
    if not phrase or phrase[-1] not in ("file", "content", "vault"):
        return False
    required = [" ".join(field.words) for field in tool.fields if field.required]
    return (
        len(required) == 2 and any(name in _PATHS for name in required) and any(name in _CONTENTS for name in required)
    )


def _about_files(tool: ToolPlan) -> bool:
    if len(tool.parts) != 1 or tool.problem is not None:
        return False
    names = [" ".join(field.words) for field in tool.fields if field.required or field.path]
    paths = any(name in _PATHS or name in ("paths", "filepaths", "file paths") for name in names)
    return paths or (not tool.fields and bool(set(tokens(tool.tool.name)) & _NOUNS))


def assign_file(tool: ToolPlan) -> None:
    """Say what each argument of a file tool is for, or why it has no effect on files."""
    part = tool.parts[0]
    part.options["file"] = _operation(part)
    for field in part.fields:
        try:
            part.uses.append(_use(field, part))
        except Refused as problem:
            part.problem = problem


def _operation(part: Part) -> str:
    """The name of the file operation, by verb and nouns."""
    intent, words = part.intent, set(tokens(part.tool.name))
    many = any(" ".join(field.words) in ("paths", "filepaths", "file paths") for field in part.fields)
    contents = any(" ".join(field.words) in _CONTENTS for field in part.fields)
    sides = {field.words[0] for field in part.fields if field.type == ColumnType.TEXT}
    if sides & {"old", "find"} and sides & {"new", "replace", "replacement"} and not intent.reads:
        return "edit"
    if intent.verb in ("append", "copy", "rename"):
        return {"append": "append", "copy": "copy", "rename": "move"}[intent.verb]
    if intent.kind in ("move", "copy", "delete"):
        return intent.kind
    if intent.kind in ("set", "create", "upsert", "add", "send"):
        return "write" if contents else "mkdir"
    if intent.kind == "search":
        return "search" if any(field.words == ("pattern",) for field in part.fields) else "grep"
    if intent.reads:
        if "tree" in words:
            part.options["recursive"] = _flat_listing(part)
            return "list" if part.options["recursive"] else "tree"
        if words & _STAT:
            return "stat"
        return "list" if intent.kind == "list" and not many else "read_many" if many else "text"
    return "edit"


def _flat_listing(part: Part) -> bool:
    """True if a tree's declared result is one list of entries, told apart by their paths, with nothing inside them."""
    resolver = Resolver(part.tool.output_schema or {})
    for _, schema in resolver.properties(resolver.plain(part.tool.output_schema or {})):
        items = schema.get("items")
        names = list((items.get("properties") or {}) if isinstance(items, dict) else {})
        if "path" in names:
            return "children" not in names
    return False


def _use(field: Field, part: Part) -> Use:
    name, operation = " ".join(field.words), part.options["file"]
    if name in _TARGETS and operation in ("move", "copy"):
        return Use(field, "content", evidence="where the file goes", options={"part": "target"})
    if name in _PATHS or name in ("paths", "filepaths", "file paths"):
        return Use(field, "path", evidence="names the file", options={"part": "path"})
    if name in _CONTENTS and operation in ("write", "append"):
        return Use(field, "content", evidence="text of the file", options={"part": "text"})
    if name in ("head", "tail") and operation == "text":
        return Use(field, "limit", evidence="lines that are kept", options={"part": name})
    if name in ("pattern", "query", "text") and operation in ("search", "grep"):
        return Use(field, "search", evidence="what is looked for", options={"part": "pattern"})
    if operation == "edit" and field.is_array and len(_edit_names(field)) == 2:
        return Use(field, "content", evidence="replacements in order", options={"part": "edits"})
    sides = {"old": "old", "find": "old", "new": "new", "replace": "new", "replacement": "new"}
    if operation == "edit" and field.type == ColumnType.TEXT and field.words[0] in sides:
        side = sides[field.words[0]]
        return Use(field, "content", evidence=f"the {side} text", options={"part": side})
    if name in ("dry run", "dryrun") and operation == "edit":
        return Use(field, "dry_run", evidence="checks the call and changes nothing")
    if name in ("sort by", "sort") and operation == "list":
        return Use(field, "sort", evidence="orders the entries", options={"part": "sort"})
    if name == "confirm" and field.type == ColumnType.BOOLEAN:
        return Use(field, "confirm", evidence="the call must be confirmed")
    reason = control_reason(field)
    if reason and not field.required:
        return Use(field, "inert", provenance=Provenance.INERT, evidence=reason)
    raise Refused(
        RefusalCode.NO_EFFECT,
        f"nothing in a workspace of texts gives the argument {field.name!r} an effect",
        "bind the real server for this tool",
        path=f"#/properties/{field.name}",
        value=field.name,
    )


def _edit_names(field: Field) -> list[str]:
    """The two text properties of an edit, the old text first."""
    items = field.schema.get("items")
    properties = items.get("properties") if isinstance(items, dict) else None
    return [name for name, value in (properties or {}).items() if value.get("type") == "string"]


def _arg(part: Part, name: str) -> Arg | None:
    use = next((use for use in part.uses if use.options.get("part") == name), None)
    if use is None:
        return None
    value = argument(use.field)
    assert isinstance(value, Arg)
    return value


def build_file(part: Part) -> Outcome:
    """The operations of a file tool; its result is in the outcome's value, its text in ``extra``."""
    operation = part.options["file"]
    path = _arg(part, "path")
    if operation in ("text", "list", "tree", "stat", "search", "grep", "read_many"):
        return _build_read(part, operation, path)
    if path is None:
        raise Refused(RefusalCode.NO_ENTITY, "no argument names the file", "require a path")
    return _build_write(part, operation, path)


def _build_read(part: Part, operation: str, path: Arg | None) -> Outcome:
    pattern = _arg(part, "pattern")
    if operation in ("text", "stat", "read_many") and path is None:
        raise Refused(RefusalCode.NO_ENTITY, "no argument names the file", "require a path")
    if operation in ("search", "grep") and pattern is None:
        raise Refused(RefusalCode.NO_ENTITY, "no argument says what to look for", "require a pattern or a query")
    operations: list[Operation] = guards(part)
    fields: dict[str, Expr] = {}
    if operation == "read_many":
        assert path is not None
        text = ReadFiles(op="files", fn="text", path=var("name"))
        each = ObjectOf(op="object", fields={"path": var("name"), "content": text})
        fields["files"] = MapOver(op="map", over=path, name="name", value=each)
        properties: Schema = {"files": {"type": "array", "items": _ENTRY}}
    else:
        read = ReadFiles.model_validate(
            {
                "op": "files",
                "fn": operation,
                "path": path,
                "pattern": pattern,
                "head": _arg(part, "head"),
                "tail": _arg(part, "tail"),
                "recursive": bool(part.options.get("recursive")),
            }
        )
        operations.append(Let(op="let", into="found", value=read))
        operations += _sorting(part)
        label = {"text": "content", "stat": "entry", "search": "paths", "grep": "matches"}.get(operation, "entries")
        fields[label] = var("found")
        kind = {"text": "string", "stat": "object"}.get(operation, "array")
        properties = {label: {"type": kind} if operation != "tree" else {}}
    value = ObjectOf(op="object", fields=fields)
    text_value: Expr = var("found") if operation == "text" else as_text(next(iter(fields.values())))
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return Outcome(
        operations,
        "value",
        value=value,
        schema=schema,
        extra={"text": text_value},
        reads=["files"],
        errors=["not_found", "outside_workspace"],
    )


def _sorting(part: Part) -> list[Operation]:
    use = next((use for use in part.uses if use.options.get("part") == "sort"), None)
    if use is None:
        return []
    order = Order(by=argument(use.field), columns={"name": "name", "size": "size", "type": "type", "path": "path"})
    return [Sort(op="sort", into="found", over="found", order=(order,))]


def _build_write(part: Part, operation: str, path: Arg) -> Outcome:
    into = "done"
    extra: dict[str, Any] = {"target": _arg(part, "target"), "text": _arg(part, "text")}
    write: Operation
    edits = next((use for use in part.uses if use.options.get("part") == "edits"), None)
    old_text, new_text = _arg(part, "old"), _arg(part, "new")
    if operation == "edit" and edits is None and old_text is not None and new_text is not None:
        write = WriteFiles(op="write_files", into=into, fn="edit", path=path, old=old_text, new=new_text)
    elif operation == "edit":
        if edits is None:
            raise Refused(
                RefusalCode.NOTHING_TO_WRITE, "no argument says what the edit replaces", "require old and new texts"
            )
        old, new = _edit_names(edits.field)
        step = WriteFiles(
            op="write_files", into="step", fn="edit", path=path, old=var("edit", old), new=var("edit", new)
        )
        write = Each(
            op="each", into="steps", over=argument(edits.field), name="edit", operations=(step,), result=var("step")
        )
    else:
        if (operation in ("move", "copy") and extra["target"] is None) or (
            operation in ("write", "append") and extra["text"] is None
        ):
            raise Refused(
                RefusalCode.NOTHING_TO_WRITE, f"no argument says what the {operation} gives the file", "require it"
            )
        write = WriteFiles.model_validate(
            {"op": "write_files", "into": into, "fn": operation, "path": path, **extra, "recursive": False}
        )
    operations: list[Operation] = [*guards(part), write]
    for use in part.role("dry_run"):
        asked = Truthy(op="truthy", of=argument(use.field))
        operations = [When(op="when", condition=Not(op="not", of=asked), operations=tuple(operations))]
    where = extra["target"] if extra["target"] is not None else path
    left: dict[str, Expr] = {}
    if operation != "delete" and part.tool.output_schema and not part.role("dry_run"):
        operations.append(Let(op="let", into="entry", value=ReadFiles(op="files", fn="stat", path=where)))
        left = {"entry": var("entry")}
    value = ObjectOf(op="object", fields={"path": where, "done": const(operation)})
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "done": {"type": "string"}},
        "required": ["path", "done"],
    }
    return Outcome(
        operations,
        "value",
        value=value,
        schema=schema,
        extra={"text": as_text(value), **left},
        reads=["files"],
        writes=["files"],
        errors=["not_found", "conflict", "outside_workspace"],
    )
