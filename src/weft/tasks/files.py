"""Tasks on disk: public and private documents apart, initial states by content (DESIGN section 4; pure bytes).

``tasks/<id>.json`` is what a harness may read. ``private/<id>.json`` holds reference, verifier and certificate and
never goes
where an agent or a harness can see it. ``states/<hash>.json`` holds initial states; they are not secret and not shown.
"""

import re
from collections.abc import Iterable, Mapping

from weft.errors import FormatError, InputError
from weft.records.codec import canonical, content_hash, parse_record, pretty
from weft.records.library import AtomicLibrary
from weft.records.state import InitialState
from weft.records.task import AtomicSolution, AtomicTask, ComposedSolution, ComposedTask

PUBLIC = "tasks"
PRIVATE = "private"
STATES = "states"

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")

Public = AtomicTask | ComposedTask
Private = AtomicSolution | ComposedSolution


def _checked(task_id: str) -> str:
    if not _ID.fullmatch(task_id):
        raise InputError(f"task id {task_id!r} is not usable as a file name; use a-z, 0-9, '.', '_' and '-'")
    return task_id


def task_files(task: Public, solution: Private) -> dict[str, bytes]:
    """Return the two documents of a task by relative path.

    Raises:
        InputError: the id is no file name, or the documents are of different tasks.
    """
    if solution.task != task.id:
        raise InputError(f"the private document is of task {solution.task!r} and the public one of {task.id!r}")
    name = _checked(task.id)
    return {f"{PUBLIC}/{name}.json": pretty(task), f"{PRIVATE}/{name}.json": pretty(solution)}


def state_file(state: InitialState) -> tuple[str, bytes]:
    """Return the path and bytes of an initial state, named by its content."""
    return f"{STATES}/{content_hash(state)}.json", canonical(state) + b"\n"


def library_files(library: AtomicLibrary, states: Iterable[InitialState]) -> dict[str, bytes]:
    """Return everything of a library by relative path: documents, states, and the report without private parts."""
    files: dict[str, bytes] = {}
    for task, solution in zip(library.tasks, library.solutions, strict=True):
        files.update(task_files(task, solution))
    files.update(state_file(state) for state in states)
    files["library.json"] = pretty(library.model_copy(update={"tasks": (), "solutions": ()}))
    return dict(sorted(files.items()))


def read_atomic(files: Mapping[str, bytes], task_id: str) -> tuple[AtomicTask, AtomicSolution]:
    """Read both documents of an atomic task.

    Raises:
        FormatError: one is missing, is not what it should be, or belongs to another task.
    """
    name = _checked(task_id)
    public, private = f"{PUBLIC}/{name}.json", f"{PRIVATE}/{name}.json"
    for path in (public, private):
        if path not in files:
            raise FormatError(f"{path} is not there; a task has a public and a private document")
    task = parse_record(AtomicTask, files[public], public)
    solution = parse_record(AtomicSolution, files[private], private)
    if task.id != task_id or solution.task != task_id:
        raise FormatError(f"{public} and {private} are of tasks {task.id!r} and {solution.task!r}, not {task_id!r}")
    return task, solution
