"""Renders the operations of one case to the statements of a function body (Weft 3.1.1; pure)."""

from collections.abc import Sequence
from dataclasses import replace

from weft.records import contract as steps
from weft.records import expression as exprs
from weft.runtime.render_expressions import ExpressionRenderer, fitted, leniently, nulled
from weft.runtime.render_layout import INDENT, Atom, Chain, Doc, Group, call, keyword, lines, literal
from weft.runtime.render_scope import ANY, ATOM, LIST, NUMBER, Code, Kind, Local, Scope, walk

Writing = steps.Insert | steps.Update | steps.Delete | steps.Transition | steps.WriteFiles
Direct = steps.Let | steps.Page | steps.Sort | Writing
DIRECT = (
    steps.Let,
    steps.Page,
    steps.Sort,
    steps.Insert,
    steps.Update,
    steps.Delete,
    steps.Transition,
    steps.WriteFiles,
)


class BodyWriter:
    """Writes the body of one function.

    Args:
        renderer: of the function's expressions.
        case: to write; what it never uses is not kept in a variable.
        counting: on the pass that counts row shapes nothing is laid out.
    """

    def __init__(self, renderer: ExpressionRenderer, case: steps.Case, *, counting: bool = False) -> None:
        self.renderer = renderer
        self.names = renderer.names
        self.used = _used(case)
        self.counting = counting
        self.lines: list[str] = []

    def write(self, case: steps.Case, indent: int) -> list[str]:
        """Return the lines of the body."""
        scope, operations, returns = Scope(), case.operations, case.returns
        last = operations[-1] if operations else None
        if (
            isinstance(last, DIRECT)
            and isinstance(returns, exprs.Var)
            and (returns.name, returns.path) == (last.into, ())
        ):
            self._operations(operations[:-1], scope, indent)
            result = self._direct(last, scope)
        else:
            self._operations(operations, scope, indent)
            result = self.renderer.value(returns, scope)
        doc = call("or_null", result.doc) if result.absent else result.doc
        self._put(doc, indent, "return ")
        return self.lines

    def _put(self, doc: Doc, indent: int, before: str = "", after: str = "") -> None:
        self.lines += [""] if self.counting else lines(doc, indent, before, after)

    def _bind(self, variable: str, code: Code, scope: Scope, indent: int) -> None:
        """Assign a value to its variable; a value that nobody uses is computed only where it may reject."""
        if variable not in self.used:
            if code.risky:
                self._put(code.doc, indent)
            return
        name = scope.name_for(variable, self.names)
        self._put(code.doc, indent, f"{name} = ")
        scope.bind(variable, Local(name, code.kind, code.absent))

    def _operations(self, operations: Sequence[steps.Operation], scope: Scope, indent: int) -> None:
        for step in operations:
            match step:
                case steps.Guard():
                    self._guard(step, scope, indent)
                case steps.Find():
                    self._find(step, scope, indent)
                case steps.Each():
                    self._each(step, scope, indent)
                case steps.When():
                    self._when(step, scope, indent)
                case _:
                    self._bind(step.into, self._direct(step, scope), scope, indent)

    def _direct(self, step: Direct, scope: Scope) -> Code:
        """The value of an operation that is one expression."""
        match step:
            case steps.Let():
                return self.renderer.value(step.value, scope)
            case steps.Page():
                return self._page(step, scope)
            case steps.Sort():
                return self._sort(step, scope)
        return self._writing(step, scope)

    # ------------------------------------------------------------------ one operation each

    def _raise(self, error: steps.ErrorSpec, indent: int) -> None:
        self._put(call("reject", literal(error.code), literal(error.message), Atom("args")), indent, "raise ")

    def _guard(self, step: steps.Guard, scope: Scope, indent: int) -> None:
        self._put(self.renderer.condition(step.condition, scope, negated=True).doc, indent, "if ", ":")
        self._raise(step.error, indent + INDENT)
        scope.assume(step.condition)

    def _find(self, step: steps.Find, scope: Scope, indent: int) -> None:
        docs = self.renderer.query(step.table, step.where, step.order, scope)
        look_up = call("state.select" if step.many else "state.first", *docs)
        kind = Kind("rows" if step.many else "maybe_row", step.table)
        if step.missing is None:
            self._bind(step.into, Code(look_up, risky=True, kind=kind), scope, indent)
            return
        if step.into in self.used:
            self._bind(step.into, Code(look_up, kind=kind if step.many else Kind("row", step.table)), scope, indent)
            found: Doc = Atom(scope.bound[step.into].name)
        else:
            found = look_up
        missing = Chain((("not", found),)) if step.many else Chain((("", found), ("is", Atom("None"))))
        self._put(missing, indent, "if ", ":")
        self._raise(step.missing, indent + INDENT)

    def _page(self, step: steps.Page, scope: Scope) -> Code:
        over = self._variable(step.over, scope)
        docs = [over.doc]
        for name in ("limit", "offset", "page", "cursor"):
            operand: exprs.Expr | None = getattr(step, name)
            if operand is not None:
                docs.append(keyword(name, leniently(self.renderer.value(operand, scope))))
        for name, usual in (("default_limit", 50), ("maximum", 1000), ("first_page", 1)):
            if getattr(step, name) != usual:
                docs.append(keyword(name, literal(getattr(step, name))))
        table = over.kind.table if over.kind.shape == "rows" else ""
        return Code(call("page_of", *docs), risky=True, kind=Kind("page", table))

    def _sort(self, step: steps.Sort, scope: Scope) -> Code:
        over = self._variable(step.over, scope)
        keys = self.renderer.order(step.order, scope)
        kind = over.kind if over.kind.shape == "rows" and not over.absent else LIST
        return Code(call("sort_items", over.doc, keys or Group("[", (), "]")), risky=True, kind=kind)

    def _each(self, step: steps.Each, scope: Scope, indent: int) -> None:
        over = self.renderer.value(step.over, scope)
        # The collected list gets a name of its own: what is gone through may be called like it.
        collected = self.names.take(step.into) if step.into in self.used else ""
        if collected:
            self._put(Atom("[]"), indent, f"{collected} = ")
        inside = scope.inner()
        inside.bind(step.name, self.renderer.element(step.name, over))
        self._put(self.renderer.iterated(over), indent, f"for {inside.bound[step.name].name} in ", ":")
        before = len(self.lines)
        self._operations(step.operations, inside, indent + INDENT)
        result = self.renderer.value(step.result, inside)
        if collected:
            self._put(call(f"{collected}.append", result.doc), indent + INDENT)
        elif result.risky:
            self._put(result.doc, indent + INDENT)
        if len(self.lines) == before:
            self._put(Atom("pass"), indent + INDENT)
        if collected:
            self._collect(step.into, collected, result.absent, scope, indent)

    def _collect(self, variable: str, collected: str, absent: bool, scope: Scope, indent: int) -> None:
        """Bind the list that a loop has collected."""
        value = call("present_items", Atom(collected)) if absent else Atom(collected)
        told = variable in scope.own or variable in scope.planned
        name = scope.name_for(variable, self.names) if told else collected
        if absent or name != collected:
            self._put(value, indent, f"{name} = ")
        scope.bind(variable, Local(name, LIST))

    def _when(self, step: steps.When, scope: Scope, indent: int) -> None:
        branches = (step.operations, step.otherwise)
        certain = _binds(step.operations, certainly=True) & _binds(step.otherwise, certainly=True)
        for variable in _in_order(branches):
            if variable not in self.used or variable in scope.own:
                continue
            name = scope.name_for(variable, self.names)
            if variable in certain:
                scope.planned[variable] = name
                continue
            before = scope.bound.get(variable)
            self._put(Atom(before.name if before else "ABSENT"), indent, f"{name} = ")
            scope.bind(variable, replace(before, name=name) if before else Local(name, absent=True))
        holding, failing = scope.branch(), scope.branch()
        negated = not step.operations
        self._put(self.renderer.condition(step.condition, scope, negated=negated).doc, indent, "if ", ":")
        holding.assume(step.condition)
        if isinstance(step.condition, exprs.Not):
            failing.assume(step.condition.of)
        written = len(self.lines)
        for operations, branch in zip(branches, (holding, failing), strict=True):
            if operations:
                if len(self.lines) > written:
                    self._put(Atom("else:"), indent)
                start = len(self.lines)
                self._operations(operations, branch, indent + INDENT)
                if len(self.lines) == start:
                    self._put(Atom("pass"), indent + INDENT)
        if len(self.lines) == written:
            self._put(Atom("pass"), indent + INDENT)
        _join(scope, holding, failing)

    def _writing(self, step: Writing, scope: Scope) -> Code:
        match step:
            case steps.Insert():
                docs = [literal(step.table), self._values(step.values, scope)]
                docs += [keyword("exists", literal(step.exists))] if step.exists != "error" else []
                return Code(call("state.insert", *docs), risky=True, kind=Kind("row", step.table))
            case steps.Update():
                rows = self._variable(step.rows, scope)
                doc = call("state.update", literal(step.table), rows.doc, self._values(step.values, scope))
                kept = rows.kind if rows.kind.shape in ("row", "maybe_row", "rows") and not rows.absent else ANY
                return Code(doc, risky=True, kind=kept)
            case steps.Delete():
                docs = [literal(step.table), self._variable(step.rows, scope).doc]
                docs += [keyword("cascade", literal(step.cascade))] if step.cascade else []
                return Code(call("state.delete", *docs), risky=True, kind=NUMBER)
            case steps.Transition():
                return self._transition(step, scope)
            case steps.WriteFiles():
                docs = [literal(step.fn), nulled(self.renderer.value(step.path, scope))]
                for name in ("target", "text", "old", "new"):
                    operand: exprs.Expr | None = getattr(step, name)
                    if operand is not None:
                        docs.append(keyword(name, nulled(self.renderer.value(operand, scope))))
                docs += [keyword("recursive", Atom("True"))] if step.recursive else []
                docs += [keyword("exists", literal(step.exists))] if step.exists != "replace" else []
                return Code(call("state.workspace.write_files", *docs), risky=True)

    def _transition(self, step: steps.Transition, scope: Scope) -> Code:
        row = self._variable(step.row, scope)
        docs = [literal(step.table), row.doc, literal(step.column), self.renderer.value(step.to, scope).doc]
        docs += [literal(step.sources)] if step.sources else []
        move = call("state.transition", *docs)
        if row.kind.shape == "row":
            return Code(move, risky=True, kind=row.kind)
        there = Chain((("", fitted(row, ATOM)), ("is not", Atom("None"))))
        doc = Chain((("", move), ("if", there), ("else", Atom("None"))))
        return Code(doc, risky=True, kind=Kind("maybe_row", step.table))

    def _values(self, values: dict[str, exprs.Expr], scope: Scope) -> Group:
        return self.renderer.fields({name: self.renderer.value(value, scope) for name, value in values.items()})

    def _variable(self, variable: str, scope: Scope) -> Code:
        """A variable that an operation names; null where it is not bound."""
        local = scope.bound.get(variable)
        if local is None:
            return Code(Atom("None"))
        doc: Doc = Atom(local.name)
        return Code(call("or_null", doc) if local.absent else doc, kind=ANY if local.absent else local.kind)


def _used(case: steps.Case) -> set[str]:
    """Names of the variables that something in the case reads."""
    used: set[str] = set()
    for part in walk(case):
        match part:
            case exprs.Var():
                used.add(part.name)
            case steps.Update() | steps.Delete():
                used.add(part.rows)
            case steps.Transition():
                used.add(part.row)
            case steps.Page() | steps.Sort():
                used.add(part.over)
    return used


def _binds(operations: Sequence[steps.Operation], *, certainly: bool) -> set[str]:
    """Variables that some operations bind, or (``certainly``) bind whichever way the conditions go."""
    found: set[str] = set()
    for step in operations:
        if isinstance(step, steps.When):
            one, other = (_binds(branch, certainly=certainly) for branch in (step.operations, step.otherwise))
            found |= one & other if certainly else one | other
        elif not isinstance(step, steps.Guard):
            found.add(step.into)
    return found


def _in_order(branches: Sequence[Sequence[steps.Operation]]) -> list[str]:
    """The variables that branches bind, in the order of the contract."""
    found: dict[str, None] = {}
    for operations in branches:
        for step in operations:
            if isinstance(step, steps.When):
                found.update(dict.fromkeys(_in_order((step.operations, step.otherwise))))
            elif not isinstance(step, steps.Guard):
                found[step.into] = None
    return list(found)


def _join(scope: Scope, one: Scope, other: Scope) -> None:
    """After a condition, know of each variable what both branches know."""
    for variable in one.own & other.own:
        left, right = one.bound[variable], other.bound[variable]
        kind = left.kind if left.kind == right.kind else ANY
        if left.kind.table == right.kind.table and {left.kind.shape, right.kind.shape} == {"row", "maybe_row"}:
            kind = Kind("maybe_row", left.kind.table)
        scope.bind(variable, Local(left.name, kind, left.absent or right.absent))
