"""Whole files or none: atomic writes, for everything that a killed run leaves behind."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from weft.errors import InputError


def write_file(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` so that a reader sees the old file or the new one, never a part.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; check the folder and the space on disk") from error


def write_tree(root: Path, files: Mapping[str, bytes]) -> None:
    """Replace the folder ``root`` by exactly ``files`` (relative path -> bytes) in one step.

    Raises:
        InputError: the folder cannot be written.
    """
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{root.name}.", suffix=".part", dir=root.parent))
        try:
            for name, data in sorted(files.items()):
                target = fresh / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
            fresh.chmod(0o755)  # mkdtemp makes it private; results are for everybody
            if root.exists():
                shutil.rmtree(root)
            fresh.replace(root)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(f"cannot write {root}: {error.strerror}; check the folder and the space on disk") from error


def sweep(root: Path) -> None:
    """Remove what killed writers left below ``root``."""
    for leftover in sorted(root.rglob(".*.part")):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
