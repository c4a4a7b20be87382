"""Probes of the machine that work on every platform: each tries the thing and says what happened.

A probe never raises for what it finds: what is absent is the answer. The kernel's features are in
`weft.cli.probes_kernel`.
"""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import apsw
import jsonschema_rs

GIB = 1024**3
COMMAND_SECONDS = 60.0
OLDEST_PYTHON = (3, 11)
LOW_MEMORY_GIB = 2.0
LOW_DISK_GIB = 2.0


class Status(StrEnum):
    """What a probe found."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True)
class Finding:
    """One row of `weft doctor`.

    Attributes:
        name: the thing probed.
        status: what was found.
        detail: the evidence: a version, a figure, or the system's own words.
        advice: what to do about it; empty when nothing needs doing.
        required: Weft's core does not work without it.
    """

    name: str
    status: Status
    detail: str
    advice: str = ""
    required: bool = False


def answer_of(command: list[str], seconds: float = COMMAND_SECONDS) -> tuple[bool, str]:
    """Run a command without input.

    Args:
        command: program and arguments; no shell is involved.
        seconds: after this long the command is ended and counts as failed.

    Returns:
        Whether it succeeded, and the last line that it said.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return False, f"no answer within {seconds:g} s"
    except OSError as error:
        return False, error.strerror or str(error)
    said = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return done.returncode == 0, said[-1] if said else f"exit status {done.returncode}"


def platform_name(system: str, kernel_release: str) -> str:
    """Name the platform as docs/platforms.md does: Linux, macOS, WSL, or the system's own word."""
    if system == "Linux":
        return "WSL" if "microsoft" in kernel_release.lower() else "Linux"
    return {"Darwin": "macOS"}.get(system, system)


def probe_platform() -> Finding:
    """Say which platform this is and what does not work on it."""
    name = platform_name(platform.system(), platform.release())
    detail = f"{name}, kernel {platform.release()}, {platform.machine()}"
    if name in ("Linux", "WSL"):
        return Finding("platform", Status.OK, detail)
    if name == "macOS":
        advice = "sandboxes (Landlock, seccomp, namespaces, overlayfs) need Linux; all else works"
        return Finding("platform", Status.LIMITED, detail, advice)
    return Finding("platform", Status.LIMITED, detail, "Linux, macOS and WSL are what Weft is tested for")


def probe_python() -> Finding:
    """Check the running interpreter's version."""
    detail = f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}"
    if tuple(map(int, platform.python_version_tuple()[:2])) >= OLDEST_PYTHON:
        return Finding("python", Status.OK, detail, required=True)
    return Finding("python", Status.MISSING, detail, "install Python 3.11 or newer", required=True)


def probe_sqlite() -> Finding:
    """Check that the SQLite in use holds STRICT tables to their types, and where it comes from."""
    detail = f"SQLite {apsw.sqlite_lib_version()} in apsw {apsw.apsw_version()}"
    connection = apsw.Connection(":memory:")
    try:
        connection.execute("CREATE TABLE probe (n INTEGER NOT NULL) STRICT")
        connection.execute("INSERT INTO probe VALUES ('not a number')")
    except apsw.ConstraintError:
        return Finding("sqlite", Status.OK, f"{detail}, STRICT tables", required=True)
    except apsw.Error as error:
        return Finding("sqlite", Status.MISSING, f"{detail}: {error}", "reinstall apsw", required=True)
    finally:
        connection.close()
    return Finding("sqlite", Status.MISSING, f"{detail}: STRICT is not held", "reinstall apsw", required=True)


def probe_changesets() -> Finding:
    """Check SQLite's session extension by recording one row and reading the changeset back."""
    name = "sqlite changesets"
    advice = "install apsw from a wheel of its maintainers; a build of its own may lack the session extension"
    if not hasattr(apsw, "Session"):
        return Finding(name, Status.MISSING, "apsw lacks the session extension", advice, required=True)
    connection = apsw.Connection(":memory:")
    try:
        connection.execute("CREATE TABLE probe (id INTEGER PRIMARY KEY, word TEXT) STRICT")
        session = apsw.Session(connection, "main")
        session.attach()
        connection.execute("INSERT INTO probe VALUES (1, 'row')")
        changes = [(change.op, change.new) for change in apsw.Changeset.iter(session.changeset())]
        session.close()
    except apsw.Error as error:
        return Finding(name, Status.MISSING, str(error), advice, required=True)
    finally:
        connection.close()
    if changes != [("INSERT", (1, "row"))]:
        return Finding(name, Status.MISSING, f"a row came back as {changes}", advice, required=True)
    return Finding(name, Status.OK, "a row's changeset reads back", required=True)


def probe_schema_checks() -> Finding:
    """Check that argument schemas are enforced: one good and one bad value."""
    detail = f"jsonschema-rs {version('jsonschema-rs')}"
    validator = jsonschema_rs.validator_for({"type": "object", "required": ["id"]})
    if validator.is_valid({"id": 1}) and not validator.is_valid({}):
        return Finding("schema checks", Status.OK, detail, required=True)
    advice = "reinstall jsonschema-rs"
    return Finding("schema checks", Status.MISSING, f"{detail}: a bad value passes", advice, required=True)


def probe_package(name: str, advice: str, *, required: bool = False) -> Finding:
    """Say which version of an installed distribution there is.

    Args:
        name: distribution name, as pip knows it.
        advice: what to do when it is absent.
        required: whether the core needs it.
    """
    try:
        return Finding(name, Status.OK, version(name), required=required)
    except PackageNotFoundError:
        return Finding(name, Status.MISSING, "not installed", advice, required=required)


def probe_extra(module: str, extra: str, purpose: str) -> Finding:
    """Import an optional package in a process of its own, since a broken one can end the process.

    Args:
        module: import name.
        extra: Weft's extra that installs it.
        purpose: what it is for.
    """
    name = f"{module} [{extra}]"
    works, said = answer_of([sys.executable, "-c", f"import {module}; print({module}.__version__)"])
    if works:
        return Finding(name, Status.OK, said)
    return Finding(name, Status.MISSING, said, f"for {purpose}: pip install -c constraints.txt -e '.[{extra}]'")


def probe_program(name: str, purpose: str) -> Finding:
    """Look for a program on the search path and ask its version."""
    path = shutil.which(name)
    if path is None:
        return Finding(name, Status.MISSING, "not on the search path", f"only for {purpose}")
    works, said = answer_of([path, "--version"])
    if works:
        return Finding(name, Status.OK, f"{said} at {path}")
    return Finding(name, Status.LIMITED, f"{path} --version: {said}", f"reinstall it, for {purpose}")


def probe_cores() -> Finding:
    """Count the cores that this process may use."""
    total = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    return Finding("cores", Status.OK, f"{usable} usable of {total}")


def probe_memory() -> Finding:
    """Read how much memory there is."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIB
    except (ValueError, OSError) as error:
        return Finding("memory", Status.LIMITED, f"unknown: {error}")
    if total < LOW_MEMORY_GIB:
        return Finding("memory", Status.LIMITED, f"{total:.1f} GiB", "run fewer sessions at once")
    return Finding("memory", Status.OK, f"{total:.1f} GiB")


def probe_disk(folder: Path) -> Finding:
    """Write a file in a folder, and read how much room is left there."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"probe")
        free = shutil.disk_usage(folder).free / GIB
    except OSError as error:
        advice = "run Weft where it may write, or give --out"
        return Finding("disk", Status.MISSING, f"{folder}: {error.strerror}", advice)
    if free < LOW_DISK_GIB:
        return Finding("disk", Status.LIMITED, f"{free:.1f} GiB free in {folder}", "free some room, or give --out")
    return Finding("disk", Status.OK, f"{free:.1f} GiB free in {folder}")
