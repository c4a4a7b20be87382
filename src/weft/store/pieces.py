"""Finished pieces of a long job, by content: what a run that was killed does not do again.

A piece is the JSON result of a pure function of its key's inputs (a spec, a seed, options, the code of Weft). It
is in place whole or not at all. Deleting the folder costs time and nothing else.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import weft
from weft.errors import FormatError
from weft.records.base import JSON
from weft.records.codec import content_hash, parse_json, plain, pretty
from weft.store.files import write_file


@cache
def code_stamp() -> str:
    """Return the hash of the installed package's own files: what was made by other code is made again."""
    root = Path(weft.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


class Pieces:
    """The pieces below one folder.

    Args:
        root: folder, made when needed.
        stamp: whatever else every piece depends on (options); part of every key, as is the code of the package.
    """

    def __init__(self, root: Path, stamp: Any) -> None:
        self._root = root
        self._stamp = stamp

    def key(self, kind: str, *inputs: Any) -> str:
        """Return the key of a piece from everything that it depends on."""
        return content_hash([kind, code_stamp(), self._stamp, *inputs])

    def get(self, kind: str, key: str) -> JSON:
        """Return a finished piece, or None. A damaged or altered file counts as not finished."""
        path = self._path(kind, key)
        try:
            kept = parse_json(path.read_bytes(), str(path))
        except (OSError, FormatError):
            return None
        whole = isinstance(kept, dict) and "piece" in kept and kept.get("hash") == content_hash(kept["piece"])
        return kept["piece"] if whole else None

    def put(self, kind: str, key: str, piece: Any) -> None:
        """Store a finished piece, with its keys in their order: what is read back makes the same bytes."""
        value = plain(piece)
        write_file(self._path(kind, key), pretty({"hash": content_hash(value), "piece": value}))

    def _path(self, kind: str, key: str) -> Path:
        return self._root / kind / f"{key}.json"
