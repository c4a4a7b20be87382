"""Runs a contract on a state, operation by operation (Weft 3.1.1, execution contracts).

This is the meaning of a contract. :mod:`weft.runtime.render` writes the same as Python; validation shows by running
both that they agree. The caller opens the transaction (``with state.call():``), so a rejection undoes everything.

Names: a case has one scope. What an ``each`` binds is seen in that element's run alone, what a ``map`` binds in its
value alone; both branches of a ``when`` bind into the scope around it. A name that is not bound is ABSENT.
"""

import copy
from typing import Any

from weft.errors import ToolFault
from weft.records import contract as steps
from weft.records import expression as exprs
from weft.records.base import JSON
from weft.runtime import expressions, operations
from weft.runtime.operations import no_case, reject, selects
from weft.runtime.state import SortKey, State, Test
from weft.runtime.values import ABSENT, json_equal

Names = dict[str, Any]
Writing = steps.Insert | steps.Update | steps.Delete | steps.Transition | steps.WriteFiles
Computed = exprs.Concat | exprs.Length | exprs.Arithmetic | exprs.Cast | exprs.Merge | exprs.ProjectFields


def run_contract(contract: steps.Contract, state: State, args: dict[str, Any]) -> JSON:
    """Run the case that the arguments select and return its result; ABSENT results are null.

    Args:
        contract: of the tool.
        state: with a call open, unless the contract only reads.
        args: checked arguments; see :class:`weft.runtime.arguments.ArgumentChecker`.

    Raises:
        ToolRejection: for a reason that the caller can act on; no case matches among them.
        ToolFault: the contract itself makes no sense on this schema.
    """
    case = select_case(contract, args)
    run = _Run(state, args)
    names: Names = {}
    run.operations(case.operations, names)
    return expressions.or_null(run.value(case.returns, names))


def select_case(contract: steps.Contract, args: dict[str, Any]) -> steps.Case:
    """Return the first case whose ``when`` matches.

    Raises:
        ToolRejection: ``invalid_argument``, listing the values that select a case.
    """
    for case in contract.cases:
        if selects(args, case.when):
            return case
    raise no_case(args, [case.when for case in contract.cases])


class _Run:
    """One run of one case."""

    def __init__(self, state: State, args: dict[str, Any]) -> None:
        self.state = state
        self.args = args

    # ------------------------------------------------------------------ operations

    def operations(self, steps: tuple[steps.Operation, ...], names: Names) -> None:
        for step in steps:
            self.operation(step, names)

    def operation(self, step: steps.Operation, names: Names) -> None:
        match step:
            case steps.Guard():
                if not self.holds(step.condition, names):
                    raise reject(step.error.code, step.error.message, self.args)
            case steps.Let():
                names[step.into] = self.value(step.value, names)
            case steps.Find():
                names[step.into] = self._find(step, names)
            case steps.Page():
                names[step.into] = self._page(step, names)
            case steps.Sort():
                names[step.into] = operations.sort_items(names.get(step.over), self._order(step.order, names))
            case steps.Each():
                names[step.into] = self._each(step, names)
            case steps.When():
                chosen = step.operations if self.holds(step.condition, names) else step.otherwise
                self.operations(chosen, names)
            case _:
                names[step.into] = self._write(step, names)

    def _find(self, step: steps.Find, names: Names) -> JSON:
        tests, order = self._tests(step.where, names), self._order(step.order, names)
        found: JSON = (
            self.state.select(step.table, tests, order) if step.many else self.state.first(step.table, tests, order)
        )
        if not found and step.missing is not None:
            raise reject(step.missing.code, step.missing.message, self.args)
        return found

    def _write(self, step: Writing, names: Names) -> JSON:
        match step:
            case steps.Insert():
                return self.state.insert(step.table, self._values(step.values, names), step.exists)
            case steps.Update():
                rows = expressions.or_null(names.get(step.rows))
                return self.state.update(step.table, rows, self._values(step.values, names))
            case steps.Delete():
                return self.state.delete(step.table, expressions.or_null(names.get(step.rows)), step.cascade)
            case steps.Transition():
                row = expressions.or_null(names.get(step.row))
                if row is None:
                    return None
                to = self.value(step.to, names)
                return self.state.transition(step.table, row, step.column, to, step.sources)
            case steps.WriteFiles():
                return self.state.workspace.write_files(
                    step.fn,
                    self._or_null(step.path, names),
                    target=self._or_null(step.target, names),
                    text=self._or_null(step.text, names),
                    old=self._or_null(step.old, names),
                    new=self._or_null(step.new, names),
                    recursive=step.recursive,
                    exists=step.exists,
                )

    def _values(self, values: dict[str, exprs.Expr], names: Names) -> Names:
        return {column: self.value(value, names) for column, value in values.items()}

    def _page(self, step: steps.Page, names: Names) -> JSON:
        return operations.page_of(
            names.get(step.over),
            limit=self._operand(step.limit, names),
            offset=self._operand(step.offset, names),
            page=self._operand(step.page, names),
            cursor=self._operand(step.cursor, names),
            default_limit=step.default_limit,
            maximum=step.maximum,
            first_page=step.first_page,
        )

    def _each(self, step: steps.Each, names: Names) -> JSON:
        results = []
        for element in expressions.items_of(self.value(step.over, names)):
            inside = {**names, step.name: element}
            self.operations(step.operations, inside)
            results.append(self.value(step.result, inside))
        return expressions.present_items(results)

    def _operand(self, expr: exprs.Expr | None, names: Names) -> Any:
        return ABSENT if expr is None else self.value(expr, names)

    def _or_null(self, expr: exprs.Expr | None, names: Names) -> Any:
        return expressions.or_null(self._operand(expr, names))

    # ------------------------------------------------------------------ rows

    def _tests(self, where: tuple[exprs.Where, ...], names: Names) -> list[Test]:
        return operations.where(*(self._test(one, names) for one in where))

    def _test(self, one: exprs.Where, names: Names) -> Test | None:
        value = None if one.value is None else self.value(one.value, names)
        make = operations.optional if one.optional else Test
        return make(
            one.test, value=value, column=one.column, path=one.path, columns=one.columns, ignore_case=one.ignore_case,
            through=one.through, near=one.near, far=one.far,
        )  # fmt: skip

    def _order(self, order: tuple[exprs.Order, ...], names: Names) -> list[SortKey]:
        return operations.order_by(*(self._sort_key(one, names) for one in order if one.by is not None or one.column))

    def _sort_key(self, one: exprs.Order, names: Names) -> SortKey | None:
        by = self._operand(one.by, names)
        descending = one.descending is not None and operations.is_descending(self.value(one.descending, names))
        return operations.sort_key(by, one.columns, descending=descending, default=one.column)

    # ------------------------------------------------------------------ expressions

    def value(self, expr: exprs.Expr, names: Names) -> Any:
        """Evaluate an expression. What it needs of the state it reads at this moment."""
        match expr:
            case exprs.Const():
                return copy.deepcopy(expr.value)
            case exprs.Arg():
                return expressions.dig(self.args, *expr.path)
            case exprs.Var():
                return expressions.dig(names.get(expr.name, ABSENT), *expr.path)
            case exprs.Now():
                return self.state.now(expr.form)
            case exprs.Absent():
                return ABSENT
            case exprs.ObjectOf():
                return expressions.without_absent(self._values(expr.fields, names))
            case exprs.ListOf():
                return expressions.present_items(self.value(item, names) for item in expr.items)
            case exprs.MapOver():
                over = expressions.items_of(self.value(expr.over, names))
                return expressions.present_items(self.value(expr.value, {**names, expr.name: one}) for one in over)
            case exprs.Coalesce():
                return expressions.first_of(*(lambda item=item: self.value(item, names) for item in expr.items))
            case exprs.Choose():
                return self.value(expr.then if self.holds(expr.condition, names) else expr.otherwise, names)
            case exprs.Select() | exprs.Aggregate() | exprs.ReadFiles():
                return self._read(expr, names)
            case _:
                return self._computed(expr, names)

    def _computed(self, expr: Computed, names: Names) -> Any:
        match expr:
            case exprs.Concat():
                return expressions.concat(*(self.value(item, names) for item in expr.items), separator=expr.separator)
            case exprs.Length():
                return expressions.length(self.value(expr.of, names))
            case exprs.Arithmetic():
                return expressions.arithmetic(expr.fn, self.value(expr.left, names), self.value(expr.right, names))
            case exprs.Cast():
                return expressions.cast_to(self.value(expr.of, names), expr.to)
            case exprs.Merge():
                return expressions.merged(*(self.value(item, names) for item in expr.items))
            case exprs.ProjectFields():
                value, fields = self.value(expr.of, names), self.value(expr.fields, names)
                return expressions.keep_fields(value, fields, expr.known, expr.always)

    def _read(self, expr: exprs.Select | exprs.Aggregate | exprs.ReadFiles, names: Names) -> JSON:
        match expr:
            case exprs.Select():
                tests, order = self._tests(expr.where, names), self._order(expr.order, names)
                return self.state.select(expr.table, tests, order, self._operand(expr.limit, names))
            case exprs.Aggregate():
                tests = self._tests(expr.where, names)
                return self.state.aggregate(expr.table, expr.fn, expr.column, tests, expr.group_by)
            case exprs.ReadFiles():
                return self.state.workspace.read_files(
                    expr.fn,
                    self._or_null(expr.path, names),
                    pattern=self._or_null(expr.pattern, names),
                    head=self._or_null(expr.head, names),
                    tail=self._or_null(expr.tail, names),
                    recursive=expr.recursive,
                )

    # ------------------------------------------------------------------ conditions

    def holds(self, condition: exprs.Condition, names: Names) -> bool:
        """Evaluate a condition."""
        match condition:
            case exprs.Compare():
                return self._compare(condition, names)
            case exprs.Present():
                value = self.value(condition.of, names)
                return value is not ABSENT and (condition.null_counts or value is not None)
            case exprs.Truthy():
                return self.value(condition.of, names) is True
            case exprs.Exists():
                return self.state.exists(condition.table, self._tests(condition.where, names))
            case exprs.Not():
                return not self.holds(condition.of, names)
            case exprs.AllOf():
                return all(self.holds(one, names) for one in condition.of)
            case exprs.AnyOf():
                return any(self.holds(one, names) for one in condition.of)
        raise ToolFault(f"there is no condition {condition!r}")

    def _compare(self, condition: exprs.Compare, names: Names) -> bool:
        left, right = self.value(condition.left, names), self.value(condition.right, names)
        if condition.test == "eq":
            return json_equal(left, right)
        if condition.test == "ne":
            return not json_equal(left, right)
        if condition.test == "in":
            return expressions.is_in(left, right)
        return expressions.compare(condition.test, left, right)
