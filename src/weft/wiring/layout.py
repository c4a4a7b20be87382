"""Where everything of a run stands below its folder, and how it is read back.

::

    OUT/
      summary.json  report.html  timings.json
      environments/<name>/            environment folders
      tasks/atomic/public/<id>.json   tasks/atomic/private/<id>.json   tasks/atomic/libraries/<environment>.json
      tasks/composed/{public,private,states}/<id>.json
      rollouts/<view>.scripted.jsonl
      sft/*.jsonl
      .weft/                          finished pieces; may be deleted
"""

from pathlib import Path

from weft.errors import InputError
from weft.records.codec import parse_record, split_lines
from weft.records.environment import Environment
from weft.records.task import AtomicSolution, AtomicTask, ComposedSolution, ComposedTask, TaskState
from weft.records.trace import Trajectory
from weft.runtime.folder import read_folder


class RunFolder:
    """The folder of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def environments(self) -> Path:
        """Environment folders."""
        return self.root / "environments"

    @property
    def work(self) -> Path:
        """Work in progress; may be deleted."""
        return self.root / ".weft"

    def task(self, kind: str, part: str, name: str) -> Path:
        """Return the file of a task document.

        Args:
            kind: ``atomic`` or ``composed``.
            part: ``public``, ``private``, ``states`` or ``libraries``.
            name: task id.
        """
        return self.root / "tasks" / kind / part / f"{name}.json"

    def read_environment(self, name: str) -> Environment:
        """Read one environment.

        Raises:
            InputError: it is not there.
        """
        folder = self.environments / name
        if not folder.is_dir():
            raise InputError(
                f"no environment {name!r} in {self.environments}; build it with `weft run` or `weft env build`"
            )
        return read_folder(folder)

    def environment_names(self) -> list[str]:
        """Names of the environments, sorted."""
        if not self.environments.is_dir():
            raise InputError(f"{self.root} is not the folder of a run: it has no environments/; start with `weft run`")
        return sorted(path.name for path in self.environments.iterdir() if path.is_dir() and path.name[0] != ".")

    def task_names(self, kind: str) -> list[str]:
        """Ids of the tasks of a kind, sorted."""
        return sorted(path.stem for path in self.task(kind, "public", "x").parent.glob("*.json"))

    def read_atomic(self, name: str) -> tuple[AtomicTask, AtomicSolution]:
        """Read both documents of an atomic task."""
        public, private = self.task("atomic", "public", name), self.task("atomic", "private", name)
        return (
            parse_record(AtomicTask, _bytes(public), public.name),
            parse_record(AtomicSolution, _bytes(private), private.name),
        )

    def read_composed(self, name: str) -> tuple[ComposedTask, ComposedSolution, TaskState]:
        """Read the documents and states of a composed task."""
        public, private = self.task("composed", "public", name), self.task("composed", "private", name)
        states = self.task("composed", "states", name)
        return (
            parse_record(ComposedTask, _bytes(public), public.name),
            parse_record(ComposedSolution, _bytes(private), private.name),
            parse_record(TaskState, _bytes(states), states.name),
        )

    def read_trajectories(self) -> list[Trajectory]:
        """Read every stored rollout, in file order."""
        found = []
        for path in sorted((self.root / "rollouts").glob("*.jsonl")):
            lines = split_lines(path.read_bytes())
            found += [parse_record(Trajectory, line, path.name) for line, complete in lines if complete]
        return found


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; run `weft run` with this --out first") from error
