"""Drafts of tasks on workspace files (Weft 3.1.1: file-oriented tools), from the file operations of a contract."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from weft.agents.reference import objects
from weft.agents.rules.tasks.actions import Action, argument_paths, missing_required
from weft.agents.rules.tasks.drafting import Sketch, Workshop, finish, input_source
from weft.agents.rules.tasks.finding import call_of, constant
from weft.agents.rules.tasks.fresh import NOTES, statable
from weft.records.base import JSON
from weft.records.library import AtomicDraft
from weft.records.task import FromStep, FromSteps, Given, ReplyPart, Source, TaskInput, TaskOutput

NAMES = ("summary", "checklist", "draft", "agenda", "handover", "minutes", "outline", "plan")
MOST_LISTED = 6


@dataclass(frozen=True, slots=True)
class FileUse:
    """What a file tool does.

    Attributes:
        fn: of the operation.
        paths: role of an argument (path, target, text, old, new, pattern) -> its path in the call.
    """

    fn: str
    paths: Mapping[str, str]


def file_use(action: Action) -> FileUse | None:
    """Return the first file operation of an action and the arguments that feed it."""
    found = next(_file_operations(action.case.model_dump(mode="json")), None)
    if found is None:
        return None
    paths: dict[str, str] = {}
    for role in ("path", "target", "text", "old", "new", "pattern"):
        used = next(argument_paths(found.get(role)), None)
        if used is not None:
            names = ".".join(str(step) for step in used if isinstance(step, str))
            declared = [item.path for item in action.parameters if item.path.replace("[]", "") == names]
            paths[role] = declared[0] if declared else names
    return FileUse(str(found["fn"]), paths)


def _file_operations(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("op") in ("write_files", "files"):
            yield value
        for item in value.values():
            yield from _file_operations(item)
    elif isinstance(value, list):
        for item in value:
            yield from _file_operations(item)


def file_draft(shop: Workshop, action: Action) -> AtomicDraft | None:
    """Return a draft for a file tool, or None when nothing sensible can be asked of it."""
    use = file_use(action)
    if use is None:
        return None
    files = [path for path in sorted(shop.probe.files) if not path.endswith("/")]
    shop.rng.shuffle(files)
    for path in files[:4]:
        draft = _change(shop, action, use, path) if action.writes else _ask(shop, action, use, path)
        if draft is not None:
            return draft
    return None


def _tell(sketch: Sketch, name: str, value: str, semantic: str = "text", keyed: str = "") -> Source:
    words = f'"{value}"'
    return input_source(sketch.tell(TaskInput(name=name, value=value, words=words, semantic=semantic, keyed=keyed)))


def _new_path(shop: Workshop, path: str) -> str:
    """Return a path beside a file that is not there yet."""
    here = PurePosixPath(path)
    names = [name for name in NAMES if not any(name in other for other in shop.probe.files)] or ["new-" + here.stem]
    return str(here.with_name(f"{shop.rng.choice(names)}{here.suffix or '.txt'}"))


def _fill(action: Action, values: dict[str, Source]) -> bool:
    """Fill required arguments that say how a tool is to work; False when one has no plain value."""
    for item in action.parameters:
        if item.required and item.path not in values and not any(path.startswith(item.path) for path in values):
            value = constant(item)
            if value is None:
                return False
            values[item.path] = Given(kind="given", value=value, reason="how the tool is to work")
    return not any(missing_required(action, list(values)))


def _change(shop: Workshop, action: Action, use: FileUse, path: str) -> AtomicDraft | None:
    sketch = Sketch(kind=f"file_{use.fn}")
    values: dict[str, Source] = {}
    new = _new_path(shop, path)
    wish = ""
    if "path" not in use.paths:
        return None
    if use.fn in ("write", "mkdir"):
        made = new if use.fn == "write" else new.rsplit(".", 1)[0]
        values[use.paths["path"]] = _tell(sketch, "path", made)
        wish = f'make a folder called "{made}"'
        if use.fn == "write":
            text = shop.rng.choice(NOTES) + "."
            values[use.paths.get("text", "")] = _tell(sketch, "text", text)
            wish = f'write a new file called "{made}" with the text "{text}"'
    else:
        values[use.paths["path"]] = _tell(sketch, "path", path, keyed="files.path")
        wish = f'delete the file "{path}"'
    if use.fn == "append":
        text = shop.rng.choice(NOTES) + "."
        values[use.paths.get("text", "")] = _tell(sketch, "text", text)
        wish = f'add the text "{text}" to the end of the file "{path}"'
    elif use.fn in ("move", "copy"):
        values[use.paths.get("target", "")] = _tell(sketch, "target", new)
        wish = f'{"move" if use.fn == "move" else "copy"} the file "{path}" to "{new}"'
    elif use.fn == "edit":
        old = next((line for line in shop.probe.files[path].splitlines() if _once(line, shop.probe.files[path])), None)
        if old is None:
            return None
        changed = shop.rng.choice([note for note in NOTES if note != old]) + "."
        values[use.paths.get("old", "")] = _tell(sketch, "old_text", old)
        values[use.paths.get("new", "")] = _tell(sketch, "new_text", changed)
        wish = f'replace the text "{old}" by "{changed}" in the file "{path}"'
    if "" in values or not _fill(action, values):
        return None
    sketch.steps.append(call_of("act", shop.server, action, values))
    sketch.chain.append(action.step)
    tried = shop.probe.rehearse(sketch.steps, sketch.values())
    if not tried.ok or not tried.changed:
        return None
    slots = {"wish": wish[0].upper() + wish[1:], "wish_small": wish}
    return finish(shop, sketch, "say", slots)


def _once(line: str, text: str) -> bool:
    return 8 <= len(line) <= 80 and statable(line) and text.count(line) == 1


def _ask(shop: Workshop, action: Action, use: FileUse, path: str) -> AtomicDraft | None:
    """Ask for something that a read of files shows."""
    sketch = Sketch(kind="file_read")
    values: dict[str, Source] = {}
    about = f'the file "{path}"'
    if use.fn in ("list", "tree") and "path" in use.paths:
        folder = str(PurePosixPath(path).parent)
        if folder == ".":
            return None
        values[use.paths["path"]] = _tell(sketch, "folder", folder)
        about = f'the folder "{folder}"'
    elif use.fn in ("search", "grep"):
        word = next((word for word in PurePosixPath(path).stem.split("-") if len(word) > 3 and word.isalpha()), None)
        if word is None or "pattern" not in use.paths:
            return None
        values[use.paths["pattern"]] = _tell(sketch, "word", word)
        if "path" in use.paths and any(item.path == use.paths["path"] and item.required for item in action.parameters):
            values[use.paths["path"]] = Given(kind="given", value=".", reason="the whole workspace")
        about = f'the files that match "{word}"'
    elif "path" in use.paths:
        values[use.paths["path"]] = _tell(sketch, "path", path, keyed="files.path")
    if not _fill(action, values):
        return None
    sketch.steps.append(call_of("look", shop.server, action, values))
    sketch.chain.append(action.step)
    tried = shop.probe.rehearse(sketch.steps, sketch.values())
    if not tried.ok or tried.changed:
        return None
    result = tried.results["look"]
    if use.fn == "text":
        return _copied(shop, sketch, path, result) or _quoted(shop, sketch, about, path, result)
    if use.fn == "stat":
        return _measured(shop, sketch, about, result)
    return _listed(shop, sketch, about, result)


def _text_field(result: JSON, text: str) -> str:
    """Return the field that holds a file's text, or "" when no object has one."""
    for seen in objects(result):
        for name, value in seen.items():
            if isinstance(value, str) and value.strip() and value.strip() == text.strip():
                return name
    return ""


def _copied(shop: Workshop, sketch: Sketch, path: str, result: JSON) -> AtomicDraft | None:
    """Have a text written into a new file, as it was read."""
    name = _text_field(result, shop.probe.files[path])
    writers = [(action, use) for action in shop.actions if action.writes and (use := file_use(action)) is not None]
    for action, use in writers:
        if use.fn != "write" or not name or "text" not in use.paths:
            continue
        new = _new_path(shop, path)
        values: dict[str, Source] = {
            use.paths["path"]: _tell(sketch, "target", new),
            use.paths["text"]: FromStep(kind="step", step="look", field=name),
        }
        if not _fill(action, values):
            continue
        sketch.kind = "file_copy_text"
        sketch.steps.append(call_of("write", shop.server, action, values))
        sketch.chain.append(action.step)
        if not shop.probe.rehearse(sketch.steps, sketch.values()).ok:
            return None
        wish = f'make a new file called "{new}" with exactly the text of the file "{path}"'
        return finish(shop, sketch, "say", {"wish": wish[0].upper() + wish[1:], "wish_small": wish})
    return None


def _quoted(shop: Workshop, sketch: Sketch, about: str, path: str, result: JSON) -> AtomicDraft | None:
    """Ask what a short file says."""
    text = shop.probe.files[path].strip()
    name = _text_field(result, text)
    if not name or not statable(text) or len(text) > 80:
        return None
    return _reply(shop, sketch, f"the text of {about}", FromStep(kind="step", step="look", field=name), "text", ())


def _measured(shop: Workshop, sketch: Sketch, about: str, result: JSON) -> AtomicDraft | None:
    for seen in objects(result):
        for name, value in seen.items():
            if type(value) is int and "size" in name.casefold() and value > 0:
                source = FromStep(kind="step", step="look", field=name)
                return _reply(shop, sketch, f"the size of {about} in bytes", source, "number", (value + 1, value - 1))
    return None


def _listed(shop: Workshop, sketch: Sketch, about: str, result: JSON) -> AtomicDraft | None:
    """Ask for the names that a list shows, or for their number."""
    for name in ("name", "path", "file"):
        shown = [seen[name] for seen in objects(result) if isinstance(seen.get(name), str)]
        if not shown:
            continue
        if 1 < len(shown) <= MOST_LISTED and len(set(shown)) == len(shown):
            every = FromSteps(kind="fold", step="look", fn="list", field=name)
            return _reply(shop, sketch, f"the names of everything in {about}", every, "text", ())
        count = FromSteps(kind="fold", step="look", fn="count", field=name)
        return _reply(shop, sketch, f"the number of hits in {about}", count, "number", (len(shown) - 1, len(shown) + 1))
    for seen in objects(result):
        for name, value in seen.items():
            texts = isinstance(value, list) and all(isinstance(item, str) and statable(item) for item in value)
            if texts and 1 <= len(value) <= MOST_LISTED:
                others = [path for path in sorted(shop.probe.files) if path not in value]
                source = FromStep(kind="step", step="look", field=name)
                return _reply(shop, sketch, f"the names of {about}", source, "text", tuple(others[:10]))
    return None


def _reply(
    shop: Workshop, sketch: Sketch, ask: str, source: Source, kind: str, rivals: Sequence[JSON]
) -> AtomicDraft | None:
    sketch.reply = [ReplyPart.model_validate({"name": "answer", "source": source, "kind": kind})]
    sketch.rivals = {"answer": tuple(rivals)}
    sketch.reply_text = "Here it is: {answer}."
    if not isinstance(source, FromSteps):
        semantic = "number" if kind == "number" else "text"
        sketch.outputs = [TaskOutput(name="answer", source=source, semantic=semantic)]
    return finish(shop, sketch, "read", {"ask_of": ask})
