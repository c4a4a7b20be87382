"""A session's files: a tree of UTF-8 texts in memory (Weft 3.1.1, workspace state).

Nothing here touches a disk, so nothing outside the workspace can be read or written whatever a path says. Paths that
mean to leave it are refused all the same, with code ``outside_workspace``, because a real server would refuse them.
There are no symbolic links: no contract operation makes one, and :func:`weft.runtime.folder.read_folder` refuses them.

Rules of paths: ``/`` separates; a path is relative to the root, or starts with the root shown to the agent
(``/workspace/a.txt``), or with a lone ``/`` before something that is at the root (``/a.txt``). ``.``, doubled and
trailing slashes are ignored. Refused: ``..`` beyond the root, other absolute paths, drive letters, ``file:`` and other
URLs, a leading ``~``, backslashes, NUL and lone surrogates.
"""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from weft.errors import InputError, ToolFault, ToolRejection
from weft.records.base import JSON
from weft.records.state import FileChange, Files
from weft.runtime.values import fold, is_number, shown, unstorable

ReadFn = Literal["text", "list", "tree", "stat", "search", "grep"]
WriteFn = Literal["write", "append", "edit", "delete", "move", "copy", "mkdir"]

DEFAULT_ROOT = "/workspace"
MAX_NAME = 255
"""Bytes in one name, as on usual file systems."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(/|\\|$)")


class Workspace:
    """The files of one session. Mutators keep the old tree aside, so that a rejected call costs nothing to undo.

    Args:
        files: path -> text; ``"folder/": ""`` is an empty folder.
        root: the absolute path that agents see as the root.

    Raises:
        InputError: a path or text is not usable; the message names it.
    """

    def __init__(self, files: Mapping[str, str] | None = None, *, root: str = DEFAULT_ROOT) -> None:
        self.root = "/" + root.strip("/")
        self._files: dict[str, str] = {}
        self._dirs: frozenset[str] = frozenset({""})
        for path, text in sorted((files or {}).items()):
            self._load(path, text)
        self._kept: tuple[dict[str, str], frozenset[str]] | None = None
        self._sealed = False

    def _load(self, path: str, text: str) -> None:
        try:
            clean = self.resolve(path)
            if unstorable(text):
                raise ToolRejection("invalid_argument", "its text is not UTF-8 text")
            folder = path.endswith("/")
            if not clean or clean != path.rstrip("/") or (folder and text):
                raise ToolRejection("invalid_argument", "it is not written as a plain relative path")
            self._make_parents(clean + "/x" if folder else clean)
            if not folder:
                if clean in self._dirs:
                    raise ToolRejection("invalid_argument", "it is a folder and a file")
                self._files[clean] = text
        except ToolRejection as error:
            raise InputError(f"workspace file {shown(path)}: {error}; use paths like notes/today.md") from error

    # ------------------------------------------------------------------ the whole tree

    def share(self) -> "Workspace":
        """Return an independent workspace with the same files; nothing is copied until one of the two writes."""
        self._kept = None
        other = Workspace(root=self.root)
        other._files, other._dirs = self._files, self._dirs
        return other

    def files(self) -> Files:
        """Return all files in order of path; a folder with nothing in it as ``"folder/": ""``."""
        return _canonical(self._files, self._dirs)

    @property
    def changed(self) -> bool:
        """True if something was written since :meth:`begin`."""
        return self._kept is not None

    def begin(self) -> None:
        """Start a call: what follows can be undone by :meth:`rollback`."""
        self._kept = None
        self._sealed = False

    def seal(self) -> None:
        """Refuse writes until :meth:`begin`: a session's files change only inside a call."""
        self._sealed = True

    def rollback(self) -> None:
        """Put the tree back as it was at :meth:`begin`."""
        if self._kept is not None:
            self._files, self._dirs = self._kept
            self._kept = None

    def changes(self, server: str) -> tuple[FileChange, ...]:
        """Return what changed since :meth:`begin`, by path."""
        if self._kept is None:
            return ()
        return diff_files(_canonical(*self._kept), self.files(), server)

    # ------------------------------------------------------------------ paths

    def resolve(self, path: Any) -> str:
        """Return a path as names joined by ``/``, relative to the root; the root is ``""``.

        Raises:
            ToolRejection: ``outside_workspace`` or ``invalid_argument``.
        """
        if not isinstance(path, str):
            raise _invalid("path", path, "is not a text; send a path")
        if reason := unstorable(path):
            raise _invalid("path", path, f"holds {reason}")
        if "\0" in path:
            raise _invalid("path", path, "holds a NUL character; leave it out")
        if path.startswith(("~", "//")) or "\\" in path or _SCHEME.match(path):
            raise self._outside(path)
        names: list[str] = []
        for name in self._inside(path).split("/"):
            if name == "..":
                if not names:
                    raise self._outside(path)
                names.pop()
            elif name not in ("", "."):
                if len(name.encode()) > MAX_NAME:
                    raise _invalid("path", path, f"holds a name of more than {MAX_NAME} bytes; shorten it")
                names.append(name)
        return "/".join(names)

    def _inside(self, path: str) -> str:
        if not path.startswith("/"):
            return path
        if self.root != "/" and (path == self.root or path.startswith(self.root + "/")):
            return path[len(self.root) :]
        rest = path.strip("/")
        first = rest.split("/", 1)[0]
        if self.root == "/" or "/" not in rest or first in self._dirs:
            return rest
        raise self._outside(path)

    def _outside(self, path: str) -> ToolRejection:
        return ToolRejection(
            "outside_workspace",
            f"path {shown(path)} is outside the workspace; use a path inside {self.root}",
            {"field": "path", "value": path, "root": self.root},
        )

    # ------------------------------------------------------------------ reading

    def read_files(
        self, fn: ReadFn, path: Any = None, *, pattern: Any = None, head: Any = None, tail: Any = None,
        recursive: bool = False,
    ) -> JSON:  # fmt: skip
        """Do one of contract.ReadFiles' look-ups; None or ABSENT stands for an operand that was left out."""
        place = "" if _left_out(path) else path
        if fn == "text":
            return self.text(place, head=head, tail=tail)
        if fn == "list":
            return self.entries(place, recursive=recursive)
        if fn == "tree":
            return self.tree(place)
        if fn == "stat":
            return self.stat(place)
        if fn == "search":
            return self.search(pattern, place)
        return self.grep(pattern, place)

    def text(self, path: Any, *, head: Any = None, tail: Any = None) -> str:
        """Return a file's text, or its first ``head`` or last ``tail`` lines (both: the last of the first)."""
        lines_first, lines_last = _lines_wanted("head", head), _lines_wanted("tail", tail)
        text = self._files[self._file(path)]
        if lines_first is None and lines_last is None:
            return text
        lines = _lines(text)
        if lines_first is not None:
            lines = lines[:lines_first]
        if lines_last is not None:
            lines = lines[len(lines) - min(lines_last, len(lines)) :]
        return "".join(lines)

    def entries(self, path: Any = "", *, recursive: bool = False) -> list[dict[str, JSON]]:
        """Return ``{name, path, type, size}`` of what is in a folder, by path; with ``recursive`` at any depth."""
        folder = self._folder(path)
        return [self._entry(place) for place in self._below(folder, recursive=recursive)]

    def tree(self, path: Any = "") -> dict[str, JSON]:
        """Return the entry of a folder with its content nested under ``children``."""
        return self._branch(self._folder(path))

    def stat(self, path: Any) -> dict[str, JSON]:
        """Return ``{name, path, type, size}`` of a file or folder; size in bytes of UTF-8, 0 for a folder."""
        place = self.resolve(path)
        if place not in self._files and place not in self._dirs:
            raise _missing(path, "file or folder")
        return self._entry(place)

    def search(self, pattern: Any, path: Any = "") -> list[str]:
        """Return the paths at any depth below ``path`` whose name or path matches, files and folders, in order.

        A pattern with ``*``, ``?`` or ``[`` is a glob on the name, or on the path below ``path`` if it holds a ``/``
        (``**/`` also matches no folder at all); any other is a part of the name. Case is ignored.
        """
        folder = self._folder(path)
        wanted = fold(_text_of("pattern", pattern))
        return [place for place in self._below(folder, recursive=True) if _named_like(place, folder, wanted)]

    def grep(self, pattern: Any, path: Any = "") -> list[dict[str, JSON]]:
        """Return ``{path, line, text}`` of every line that holds the literal text, case ignored; lines from 1.

        ``path`` is a folder (searched at any depth) or one file.
        """
        wanted = fold(_text_of("pattern", pattern))
        place = self.resolve(path)
        places = [place] if place in self._files else self._below(self._folder(path), recursive=True)
        return [
            {"path": name, "line": number, "text": line.rstrip("\r\n")}
            for name in places
            if name in self._files
            for number, line in enumerate(_lines(self._files[name]), start=1)
            if wanted in fold(line)
        ]

    # ------------------------------------------------------------------ writing

    def write_files(
        self, fn: WriteFn, path: Any, *, target: Any = None, text: Any = None, old: Any = None, new: Any = None,
        recursive: bool = False, exists: Literal["replace", "error"] = "replace",
    ) -> dict[str, JSON]:  # fmt: skip
        """Do one of contract.WriteFiles' changes and return ``{path, size}`` (for ``edit`` also ``replaced``)."""
        if fn == "write":
            return self.write(path, text, exists=exists)
        if fn == "append":
            return self.append(path, text)
        if fn == "edit":
            return self.edit(path, old, new)
        if fn == "delete":
            return self.delete(path, recursive=recursive)
        if fn == "move":
            return self.move(path, target)
        if fn == "copy":
            return self.copy(path, target)
        return self.mkdir(path, exists=exists)

    def write(self, path: Any, text: Any, *, exists: Literal["replace", "error"] = "replace") -> dict[str, JSON]:
        """Make or replace a file, and its parent folders."""
        place, body = self._new_place(path), _text_of("text", text)
        if place in self._dirs:
            raise _conflict(path, "is a folder; give the path of a file")
        if exists == "error" and place in self._files:
            raise _conflict(path, "is there already; choose another path")
        if self._files.get(place) != body:
            self._put(place, body)
        return self._done(place)

    def append(self, path: Any, text: Any) -> dict[str, JSON]:
        """Add text at the end of a file, which is made if it is not there."""
        place = self._new_place(path)
        return self.write(path, self._files.get(place, "") + _text_of("text", text))

    def edit(self, path: Any, old: Any, new: Any) -> dict[str, JSON]:
        """Replace every occurrence of ``old`` by ``new``; ``replaced`` says how many."""
        place = self._file(path)
        before, after = _text_of("old", old), _text_of("new", new)
        if not before:
            raise _invalid("old", old, "is empty; give the text to replace")
        count = self._files[place].count(before)
        if not count:
            raise ToolRejection(
                "not_found",
                f"the text {shown(before)} is not in {place!r}",
                {"field": "old", "value": before, "path": place},
            )
        if before != after:
            self._put(place, self._files[place].replace(before, after))
        return {**self._done(place), "replaced": count}

    def delete(self, path: Any, *, recursive: bool = False) -> dict[str, JSON]:
        """Delete a file, or a folder that is empty (or with ``recursive`` with all in it)."""
        place = self.resolve(path)
        if not place:
            raise _invalid("path", path, "is the workspace itself, which stays; name what is in it")
        if place in self._files:
            done = self._done(place)
            self._touch()
            del self._files[place]
            return done
        if place not in self._dirs:
            raise _missing(path, "file or folder")
        below = self._below(place, recursive=True)
        if below and not recursive:
            raise _conflict(path, f"is a folder with {len(below)} entries; delete them first or delete recursively")
        self._touch()
        self._remove(place)
        return {"path": place, "size": 0}

    def move(self, path: Any, target: Any, *, exists: Literal["replace", "error"] = "error") -> dict[str, JSON]:
        """Move a file or folder with all in it; parents of the target are made, a target that is there rejects."""
        place, goal = self._transfer(path, target)
        moved = self._taken(place, goal)
        self._touch()
        self._remove(place)
        self._place(moved)
        return self._done(goal)

    def copy(self, path: Any, target: Any, *, exists: Literal["replace", "error"] = "error") -> dict[str, JSON]:
        """Copy a file or folder with all in it; parents of the target are made, a target that is there rejects."""
        place, goal = self._transfer(path, target)
        copied = self._taken(place, goal)
        self._touch()
        self._place(copied)
        return self._done(goal)

    def mkdir(self, path: Any, *, exists: Literal["replace", "error"] = "replace") -> dict[str, JSON]:
        """Make a folder and its parents; one that is there already is no change (``exists: error``: a conflict)."""
        place = self._new_place(path)
        if place in self._files or (exists == "error" and place in self._dirs):
            raise _conflict(path, "is there already; choose another path")
        if place not in self._dirs:
            self._touch()
            self._make_parents(place + "/x")
        return {"path": place, "size": 0}

    # ------------------------------------------------------------------ parts of the above

    def _touch(self) -> None:
        """Before the first change of a call, keep the tree as it was and go on with a copy."""
        if self._sealed:
            raise ToolFault("a write to the workspace needs a call; use `with state.call():`")
        if self._kept is None:
            self._kept = (self._files, self._dirs)
            self._files = dict(self._files)

    def _put(self, place: str, text: str) -> None:
        self._touch()
        self._make_parents(place)
        self._files[place] = text

    def _make_parents(self, place: str) -> None:
        parents = [place[:index] for index, letter in enumerate(place) if letter == "/"]
        for parent in parents:
            if parent in self._files:
                raise _conflict(parent, "is a file, so nothing can be inside it")
        if not self._dirs.issuperset(parents):
            self._dirs = self._dirs | frozenset(parents)

    def _new_place(self, path: Any) -> str:
        place = self.resolve(path)
        if not place:
            raise _invalid("path", path, "names the workspace itself; name a file or folder in it")
        if isinstance(path, str) and path.endswith("/.."):
            raise _invalid("path", path, "ends in '..'; name a file or folder")
        for index, letter in enumerate(place):
            if letter == "/" and place[:index] in self._files:
                raise _conflict(path, f"goes through {place[:index]!r}, which is a file")
        return place

    def _file(self, path: Any) -> str:
        place = self.resolve(path)
        if place in self._files:
            return place
        if place in self._dirs:
            raise _invalid("path", path, "is a folder; give the path of a file")
        raise _missing(path, "file")

    def _folder(self, path: Any) -> str:
        place = self.resolve(path)
        if place in self._dirs:
            return place
        if place in self._files:
            raise _invalid("path", path, "is a file; give the path of a folder")
        raise _missing(path, "folder")

    def _below(self, folder: str, *, recursive: bool) -> list[str]:
        prefix = folder + "/" if folder else ""
        found = [
            place
            for place in (*self._files, *self._dirs)
            if place and place != folder and place.startswith(prefix)
            and (recursive or "/" not in place[len(prefix) :])
        ]  # fmt: skip
        return sorted(found)

    def _entry(self, place: str) -> dict[str, JSON]:
        folder = place in self._dirs
        return {
            "name": place.rsplit("/", 1)[-1],
            "path": place,
            "type": "directory" if folder else "file",
            "size": 0 if folder else len(self._files[place].encode()),
        }

    def _branch(self, place: str) -> dict[str, JSON]:
        entry = self._entry(place)
        if entry["type"] == "directory":
            entry["children"] = [self._branch(child) for child in self._below(place, recursive=False)]
        return entry

    def _done(self, place: str) -> dict[str, JSON]:
        return {"path": place, "size": len(self._files.get(place, "").encode())}

    def _transfer(self, path: Any, target: Any) -> tuple[str, str]:
        place = self.resolve(path)
        if not place:
            raise _invalid("path", path, "is the workspace itself, which stays; name what is in it")
        if place not in self._files and place not in self._dirs:
            raise _missing(path, "file or folder")
        if _left_out(target):
            raise _invalid("target", target, "is missing; give the path to move or copy to")
        goal = self._new_place(target)
        if goal in self._files or goal in self._dirs:
            raise _conflict(target, "is there already; choose another path")
        if goal.startswith(place + "/"):
            raise _invalid("target", target, f"is inside {place!r} itself")
        return place, goal

    def _taken(self, place: str, goal: str) -> tuple[dict[str, str], list[str]]:
        """The files and folders at ``place`` as they will be named at ``goal``."""
        files = {
            goal + name[len(place) :]: text
            for name, text in self._files.items()
            if name == place or name.startswith(place + "/")
        }
        dirs = [goal + name[len(place) :] for name in self._dirs if name == place or name.startswith(place + "/")]
        return files, dirs

    def _remove(self, place: str) -> None:
        inside = place + "/"
        self._files = {
            name: text for name, text in self._files.items() if name != place and not name.startswith(inside)
        }
        self._dirs = frozenset(name for name in self._dirs if name != place and not name.startswith(inside))

    def _place(self, taken: tuple[dict[str, str], list[str]]) -> None:
        files, dirs = taken
        for name in (*files, *dirs):
            self._make_parents(name)
        self._files.update(files)
        self._dirs = self._dirs | frozenset(dirs)


def diff_files(before: Mapping[str, str], after: Mapping[str, str], server: str) -> tuple[FileChange, ...]:
    """Return the changes from one file map to another, by path."""
    return tuple(
        FileChange(server=server, path=path, before=before.get(path), after=after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _canonical(files: Mapping[str, str], dirs: frozenset[str]) -> Files:
    parents = {place.rsplit("/", 1)[0] for place in (*files, *dirs) if "/" in place}
    entries = dict(files)
    entries.update({place + "/": "" for place in dirs if place and place not in parents})
    return dict(sorted(entries.items()))


def _left_out(value: Any) -> bool:
    return value is None or value == "" or not isinstance(value, (str, int, float, list, dict, bool))


def _text_of(field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _invalid(field, value, "is not a text")
    if reason := unstorable(value):
        raise _invalid(field, value, f"holds {reason}")
    return value


def _lines_wanted(field: str, value: Any) -> int | None:
    if _left_out(value):
        return None
    if not is_number(value) or not float(value).is_integer() or value < 0:
        raise _invalid(field, value, "is not a number of lines from 0 up")
    return int(value)


def _lines(text: str) -> list[str]:
    """Split at line feeds alone, so that rare Unicode line ends stay inside a line."""
    return list(_each_line(text))


def _each_line(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _named_like(place: str, folder: str, wanted: str) -> bool:
    name = fold(place.rsplit("/", 1)[-1])
    if not any(letter in wanted for letter in "*?["):
        return wanted in name
    if "/" not in wanted:
        return fnmatchcase(name, wanted)
    below = fold(place[len(folder) + 1 if folder else 0 :])
    return fnmatchcase(below, wanted) or (wanted.startswith("**/") and fnmatchcase(below, wanted[3:]))


def _invalid(field: str, value: Any, problem: str) -> ToolRejection:
    return ToolRejection("invalid_argument", f"{field} {shown(value)} {problem}", {"field": field})


def _missing(path: Any, kind: str) -> ToolRejection:
    return ToolRejection("not_found", f"no {kind} at {shown(path)}", {"field": "path", "value": path})


def _conflict(path: Any, problem: str) -> ToolRejection:
    return ToolRejection("conflict", f"{shown(path)} {problem}", {"field": "path", "value": path})
