"""Progress of long commands on standard error: a bar a stage on a terminal, a line now and then elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from weft.cli.output import people
from weft.wiring.progress import Progress, Step


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Give a function that shows each step."""
    console = people()
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description:>14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[label]}"),
    )
    with Bars(*columns, console=console, transient=False) as bars:
        rows: dict[str, TaskID] = {}

        def show(step: Step) -> None:
            if step.stage not in rows:
                rows[step.stage] = bars.add_task(step.stage, total=step.total, label="")
            bars.update(rows[step.stage], completed=step.done, total=step.total, label=step.label)

        yield show


class _Lines:
    """Tells the start and end of each stage and every tenth part between."""

    def __init__(self) -> None:
        self._told: dict[str, int] = {}

    def __call__(self, step: Step) -> None:
        tenth = 10 * step.done // step.total if step.total else 10
        if self._told.get(step.stage, -1) == tenth:
            return
        self._told[step.stage] = tenth
        kept = " (kept from an earlier run)" if step.kept else ""
        people().print(f"{step.stage}: {step.done} of {step.total}{kept}", markup=False, soft_wrap=True)
