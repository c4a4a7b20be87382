"""One tool call as one transaction over rows, files, clock and ids (Weft 3.1.1; DESIGN 5).

SQLite's session extension records the rows that the call changed. The recorder is opened by the first write, so that
reads cost nothing.
"""

from types import TracebackType
from typing import Any

import apsw

from weft.errors import ToolFault
from weft.records.state import Changeset, Row, RowChange
from weft.runtime.changes import ordered, row_change
from weft.runtime.clock import ticked
from weft.runtime.meta import Meta
from weft.runtime.reads import Reader
from weft.runtime.tables import TablePlan
from weft.runtime.workspace import Workspace


class Transaction:
    """Begins, keeps and undoes the calls of one state, one after the other."""

    def __init__(self, reader: Reader, meta: Meta, workspace: Workspace) -> None:
        self.running = False
        self._reader = reader
        self._database = reader.database
        self._meta = meta
        self._workspace = workspace
        self._name = meta.values["name"]
        workspace.seal()
        self._recorder: apsw.Session | None = None
        self._before: dict[str, str] = {}

    def begin(self) -> None:
        """Start a call.

        Raises:
            ToolFault: one is running.
        """
        self.idle("start another call")
        self.running = True
        self._workspace.begin()

    def idle(self, what: str) -> None:
        """Make sure that no call is running.

        Raises:
            ToolFault: one is.
        """
        if self.running:
            raise ToolFault(f"the state of {self._name!r} cannot {what} while a call is running")

    def open(self) -> None:
        """Before a write to rows: begin the database transaction and record changes, unless that has been done.

        Raises:
            ToolFault: no call is running.
        """
        if self._recorder is None:
            if not self.running:
                raise ToolFault(f"a write to {self._name!r} needs a call; use `with state.call():`")
            self._before = dict(self._meta.values)
            self._database.execute("BEGIN")
            self._recorder = apsw.Session(self._database, "main")
            self._recorder.attach()

    def finish(self) -> Changeset:
        """End the call and keep it; when nothing changed in the end, undo it. Return the changes."""
        self.running = False
        self._workspace.seal()
        if self._recorder is None and not self._workspace.changed:
            return Changeset()
        try:
            rows = self._row_changes()
            files = self._workspace.changes(self._name)
            if not rows and not files:
                self.undo()
                return Changeset()
            self._commit()
        except BaseException:
            self.undo()
            raise
        return Changeset.model_construct(rows=rows, files=files)

    def undo(self) -> None:
        """End the call and leave everything as it was at its beginning."""
        self.running = False
        self._workspace.seal()
        self._workspace.rollback()
        if self._recorder is not None:
            self._stop_recording()
            if self._database.in_transaction:  # SQLite ends it itself when it runs out of memory
                self._database.execute("ROLLBACK")
            self._meta.restore(self._before)

    def _commit(self) -> None:
        clock = ticked(self._meta.values["clock"])
        if self._recorder is None:  # only files changed
            self._meta.values["clock"] = clock
            self._meta.save()
            return
        self._meta.values["clock"] = clock
        self._meta.save()
        try:
            self._database.execute("COMMIT")
        except apsw.ConstraintError as error:
            raise ToolFault(f"the rows of {self._name!r} would not fit together after this call") from error
        self._stop_recording()

    def _stop_recording(self) -> None:
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def _row_changes(self) -> tuple[RowChange, ...]:
        if self._recorder is None or self._recorder.is_empty:
            return ()
        found = []
        for change in apsw.Changeset.iter(self._recorder.changeset()):
            plan = self._reader.plan.tables.get(change.name)
            if plan is None:  # the runtime's own table
                continue
            before, after = self._versions(plan, change.old, change.new)
            one = row_change(self._name, plan.name, plan.key, before, after)
            if one is not None:
                found.append(one)
        return ordered(found)

    def _versions(self, plan: TablePlan, old: Any, new: Any) -> tuple[Row | None, Row | None]:
        """Both versions of a changed row, whole; the recorder gives only what changed of an updated one."""
        if old is None:
            return None, plan.row(new)
        if new is None:
            return plan.row(old), None
        after = self._reader.stored(plan, [old[plan.index[name]] for name in plan.key])
        assert after is not None
        before = tuple(now if was is apsw.no_change else was for was, now in zip(old, after, strict=True))
        return plan.row(before), plan.row(after)


class Call:
    """One tool call on a state: all of it or nothing. A context manager, made by :meth:`State.call`.

    On success the clock ticks once if rows or files changed, and :attr:`changes` says what did. On any exception, and
    when nothing changed in the end, the state is exactly as before, ids included.

    Attributes:
        changes: row and file changes of the call, known when the block has ended.
    """

    def __init__(self, transaction: Transaction) -> None:
        self.changes = Changeset()
        self._transaction = transaction

    def __enter__(self) -> "Call":
        self._transaction.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._transaction.undo()
        else:
            self.changes = self._transaction.finish()
