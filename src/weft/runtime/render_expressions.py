"""Renders the expressions of contracts to Python (Weft 3.1.1; pure).

Each method mirrors one of :mod:`weft.runtime.interpreter`. What is known of a value (a required argument, a row that
was found) makes the code plainer, never different.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from weft.records import expression as exprs
from weft.runtime.operations import is_descending
from weft.runtime.render_layout import (
    Atom,
    Chain,
    Doc,
    Group,
    Label,
    call,
    keyword,
    literal,
    parenthesised,
    text_literal,
    tuple_of,
)
from weft.runtime.render_names import Names
from weft.runtime.render_scope import (
    ANY,
    ATOM,
    BOOLEAN,
    COMPARISON,
    CONDITIONAL,
    FLAG,
    LIST,
    NUMBER,
    Code,
    Kind,
    Local,
    RowShapes,
    Scope,
)

ABSENT_CODE = Code(Atom("ABSENT"), absent=True)
ROW_PAGE_FIELDS = frozenset(
    (
        "items",
        "total",
        "count",
        "offset",
        "limit",
        "page",
        "pages",
        "has_more",
        "next_offset",
        "next_page",
        "next_cursor",
    )
)
ORDERINGS = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def fitted(code: Code, level: int) -> Doc:
    """The code as an operand: in parentheses if it binds more loosely than ``level``."""
    return parenthesised(code.doc) if code.level > level else code.doc


def leniently(code: Code) -> Doc:
    """The code where null and ABSENT mean the same: ``args.get("x")`` without a default."""
    return call("args.get", Atom(code.key)) if code.key else code.doc


def nulled(code: Code) -> Doc:
    """The code with null in place of ABSENT."""
    return call("or_null", code.doc) if code.absent and not code.key else leniently(code)


class ExpressionRenderer:
    """Renders what one function needs.

    Args:
        required: arguments that the input schema makes sure of.
        names: the function's local names.
        shapes: of the backend, with the tables' columns.
    """

    def __init__(self, required: frozenset[str], names: Names, shapes: RowShapes) -> None:
        self.columns = shapes.columns
        self.required = required
        self.names = names
        self.shapes = shapes

    # ------------------------------------------------------------------ values

    def value(self, expr: exprs.Expr, scope: Scope) -> Code:
        """Render a value."""
        match expr:
            case exprs.Const():
                return Code(literal(expr.value), kind=NUMBER if _is_number(expr.value) else ANY)
            case exprs.Arg():
                return self._arg(expr.path)
            case exprs.Var():
                return self._var(expr, scope)
            case exprs.Now():
                return Code(Atom("state.now()" if expr.form == "datetime" else f'state.now("{expr.form}")'))
            case exprs.Absent():
                return ABSENT_CODE
            case exprs.ObjectOf():
                return self._object(expr, scope)
            case exprs.ListOf():
                return self._list(expr, scope)
            case exprs.MapOver():
                return self._map(expr, scope)
            case exprs.Coalesce():
                return self._coalesce([self.value(item, scope) for item in expr.items])
            case exprs.Choose():
                return self._choose(expr, scope)
            case exprs.Select() | exprs.Aggregate() | exprs.ReadFiles():
                return self._read(expr, scope)
            case _:
                return self._computed(expr, scope)

    def _arg(self, path: Sequence[exprs.Step]) -> Code:
        if not path:
            return Code(Atom("args"))
        if len(path) > 1:
            return Code(call("dig", Atom("args"), *map(literal, path)), absent=True)
        if not isinstance(path[0], str):
            return ABSENT_CODE
        key = text_literal(path[0])
        if path[0] in self.required:
            return Code(Atom(f"args[{key}]"))
        return Code(call("args.get", Atom(key), Atom("ABSENT")), absent=True, key=key)

    def _var(self, expr: exprs.Var, scope: Scope) -> Code:
        local = scope.bound.get(expr.name)
        if local is None:
            return ABSENT_CODE
        if not expr.path:
            return Code(Atom(local.name), absent=local.absent, kind=ANY if local.absent else local.kind)
        first, rest = expr.path[0], expr.path[1:]
        known = (local.kind.shape == "row" and first in self.columns.get(local.kind.table, ())) or (
            local.kind.shape == "page" and first in ROW_PAGE_FIELDS
        )
        if not known or local.absent:
            return Code(call("dig", Atom(local.name), *map(literal, expr.path)), absent=True)
        place = Group(f"{local.name}[", (literal(str(first)),), "]", comma=False)
        if rest:
            return Code(call("dig", place, *map(literal, rest)), absent=True)
        return Code(place, kind=self._field_kind(local.kind, str(first)))

    def _field_kind(self, kind: Kind, name: str) -> Kind:
        if kind.shape != "page" or name.startswith("next_"):
            return ANY
        if name == "items":
            return Kind("rows", kind.table) if kind.table else LIST
        return ANY if name == "has_more" else NUMBER

    def _object(self, expr: exprs.ObjectOf, scope: Scope) -> Code:
        seen = self.shapes.see(expr, scope)
        if seen.shape is None:
            self.shapes.muted += seen.again
            code = self.display(expr, scope)
            self.shapes.muted -= seen.again
            return code
        row = Atom(scope.bound[seen.variable].name)
        docs = [Atom("state"), row] if seen.shape.reads_state else [row]
        return Code(call(seen.shape.name, *docs), risky=seen.shape.risky)

    def display(self, expr: exprs.ObjectOf, scope: Scope) -> Code:
        """An object, written out."""
        fields = {name: self.value(value, scope) for name, value in expr.fields.items()}
        doc: Doc = self.fields(fields)
        if any(code.absent for code in fields.values()):
            doc = call("without_absent", doc)
        return Code(doc, risky=_any_risky(fields.values()))

    def fields(self, fields: dict[str, Code]) -> Group:
        """A dictionary display."""
        return Group("{", tuple(Label(f"{text_literal(name)}: ", code.doc) for name, code in fields.items()), "}")

    def _list(self, expr: exprs.ListOf, scope: Scope) -> Code:
        items = [self.value(item, scope) for item in expr.items]
        doc: Doc = Group("[", tuple(code.doc for code in items), "]")
        if any(code.absent for code in items):
            doc = call("present_items", doc)
        return Code(doc, risky=_any_risky(items), kind=LIST)

    def _map(self, expr: exprs.MapOver, scope: Scope) -> Code:
        over = self.value(expr.over, scope)
        inside = scope.inner()
        # A comprehension has its own namespace, so only what its value can see needs another name.
        name = self.names.borrow(expr.name, {local.name for local in scope.bound.values()})
        inside.bind(expr.name, Local(name, self._element_kind(over)))
        value = self.value(expr.value, inside)
        loop = Chain((("", fitted(value, CONDITIONAL)), (f"for {name} in", self.iterated(over))), bare=True)
        doc: Doc = Group("[", (loop,), "]", comma=False)
        if value.absent:
            doc = call("present_items", doc)
        return Code(doc, risky=over.risky or value.risky, kind=LIST)

    def iterated(self, over: Code) -> Doc:
        """What to iterate: a known list itself, else the elements that it counts as."""
        if over.kind.shape in ("rows", "list") and not over.absent:
            return fitted(over, BOOLEAN)
        return call("items_of", leniently(over))

    def _element_kind(self, over: Code) -> Kind:
        return Kind("row", over.kind.table) if over.kind.shape == "rows" else ANY

    def element(self, name: str, over: Code) -> Local:
        """A new local for an element of what is gone through."""
        return Local(self.names.take(name), self._element_kind(over))

    def _coalesce(self, items: Sequence[Code]) -> Code:
        needed: list[Code] = []
        for code in items:
            needed.append(code)
            if not code.absent:
                break  # the ones after it never count
        if not needed:
            return ABSENT_CODE
        if len(needed) == 1:
            return needed[0]
        absent, risky = needed[-1].absent, _any_risky(needed)
        if _any_risky(needed[1:]):
            return Code(call("first_of", *(Label("lambda: ", code.doc) for code in needed)), absent, risky)
        if needed[0].key:
            rest = self._coalesce(needed[1:]).doc
            docs = [Atom(needed[0].key)] if rest.flat == "None" else [Atom(needed[0].key), rest]
            return Code(call("args.get", *docs), absent, risky)
        return Code(call("coalesce", *(code.doc for code in needed)), absent, risky)

    def _choose(self, expr: exprs.Choose, scope: Scope) -> Code:
        condition = self.condition(expr.condition, scope)
        constants = [part.value if isinstance(part, exprs.Const) else None for part in (expr.then, expr.otherwise)]
        if constants[0] is True and constants[1] is False:
            return replace(condition, kind=FLAG)
        if constants[0] is False and constants[1] is True:
            return replace(self.condition(expr.condition, scope, negated=True), kind=FLAG)
        holding = scope.branch()
        holding.assume(expr.condition)
        then, otherwise = self.value(expr.then, holding), self.value(expr.otherwise, scope)
        parts = (
            ("", fitted(then, BOOLEAN)),
            ("if", fitted(condition, BOOLEAN)),
            ("else", fitted(otherwise, BOOLEAN)),
        )
        risky = _any_risky((condition, then, otherwise))
        kind = then.kind if then.kind == otherwise.kind else ANY
        return Code(Chain(parts), then.absent or otherwise.absent, risky, CONDITIONAL, kind)

    def _computed(self, expr: exprs.Expr, scope: Scope) -> Code:
        match expr:
            case exprs.Concat():
                items = [self.value(item, scope) for item in expr.items]
                docs = [leniently(code) for code in items]
                if expr.separator:
                    docs.append(keyword("separator", literal(expr.separator)))
                return Code(call("concat", *docs), risky=_any_risky(items))
            case exprs.Length():
                of = self.value(expr.of, scope)
                certain = of.kind.shape in ("rows", "list") and not of.absent
                return Code(call("len" if certain else "length", leniently(of)), risky=of.risky, kind=NUMBER)
            case exprs.Arithmetic():
                left, right = self.value(expr.left, scope), self.value(expr.right, scope)
                doc = call("arithmetic", literal(expr.fn), left.doc, right.doc)
                return Code(doc, left.absent or right.absent, risky=True)
            case exprs.Cast():
                of = self.value(expr.of, scope)
                return Code(call("cast_to", of.doc, literal(expr.to)), of.absent, risky=True)
            case exprs.Merge():
                items = [self.value(item, scope) for item in expr.items]
                return Code(call("merged", *(leniently(code) for code in items)), risky=True)
            case exprs.ProjectFields():
                of, fields = self.value(expr.of, scope), self.value(expr.fields, scope)
                names = [keyword("known", literal(expr.known))]
                if expr.always:
                    names.append(keyword("always", literal(expr.always)))
                return Code(call("keep_fields", of.doc, leniently(fields), *names), of.absent, risky=True)
        raise AssertionError(f"no rendering for {type(expr).__name__}")

    # ------------------------------------------------------------------ reads

    def _read(self, expr: exprs.Select | exprs.Aggregate | exprs.ReadFiles, scope: Scope) -> Code:
        match expr:
            case exprs.Select():
                docs = self.query(expr.table, expr.where, expr.order, scope)
                if expr.limit is not None:
                    docs.append(keyword("limit", leniently(self.value(expr.limit, scope))))
                return Code(call("state.select", *docs), risky=True, kind=Kind("rows", expr.table))
            case exprs.Aggregate():
                docs = [literal(expr.table), literal(expr.fn)]
                docs += [literal(expr.column)] if expr.column else []
                tests = self.tests(expr.where, scope)
                docs += [tests if expr.column else keyword("tests", tests)] if tests else []
                docs += [keyword("group_by", literal(expr.group_by))] if expr.group_by else []
                counted = expr.fn == "count" and not expr.group_by
                return Code(call("state.aggregate", *docs), risky=True, kind=NUMBER if counted else ANY)
            case exprs.ReadFiles():
                docs = [literal(expr.fn)]
                if expr.path is not None:
                    docs.append(nulled(self.value(expr.path, scope)))
                for name in ("pattern", "head", "tail"):
                    operand: exprs.Expr | None = getattr(expr, name)
                    if operand is not None:
                        docs.append(keyword(name, nulled(self.value(operand, scope))))
                if expr.recursive:
                    docs.append(keyword("recursive", Atom("True")))
                return Code(call("state.workspace.read_files", *docs), risky=True)

    def query(self, table: str, where: Sequence[exprs.Where], order: Sequence[exprs.Order], scope: Scope) -> list[Doc]:
        """The operands of a look-up: table, tests and order."""
        docs = [literal(table)]
        tests, keys = self.tests(where, scope), self.order(order, scope)
        if tests is not None:
            docs.append(tests)
        if keys is not None:
            docs.append(keys if tests is not None else keyword("order", keys))
        return docs

    def tests(self, where: Sequence[exprs.Where], scope: Scope) -> Doc | None:
        """The row tests of a look-up, None where every row passes."""
        if not where:
            return None
        docs = [self._test(one, scope) for one in where]
        if any(isinstance(doc, Group) and doc.opening == "optional(" for doc in docs):
            return call("where", *docs)
        return Group("[", tuple(docs), "]")

    def _test(self, one: exprs.Where, scope: Scope) -> Doc:
        docs: list[Doc] = [literal(one.test)]
        value = self.value(one.value, scope) if one.value is not None else None
        for name in ("column", "path", "columns", "ignore_case", "through", "near", "far"):
            given = getattr(one, name)
            if given:
                doc = tuple_of([literal(item) for item in given]) if isinstance(given, tuple) else literal(given)
                docs.append(keyword(name, doc))
        if value is not None:
            docs.append(keyword("value", value.doc))
        may_be_left_out = value is not None and (value.absent or one.test in ("in", "has_any", "has_all"))
        return call("optional" if one.optional and may_be_left_out else "Test", *docs)

    def order(self, order: Sequence[exprs.Order], scope: Scope) -> Doc | None:
        """The sort keys of a look-up or sort, None where there are none."""
        order = [one for one in order if one.by is not None or one.column]
        if not order:
            return None
        docs = [self._sort_key(one, scope) for one in order]
        return call("order_by", *docs) if any(one.by is not None for one in order) else Group("[", tuple(docs), "]")

    def _sort_key(self, one: exprs.Order, scope: Scope) -> Doc:
        docs: list[Doc] = []
        if one.by is not None:
            docs = [leniently(self.value(one.by, scope)), literal(one.columns)]
        else:
            docs = [literal(one.column)]
        if one.descending is not None:
            if isinstance(one.descending, exprs.Const):
                docs += [keyword("descending", Atom("True"))] if is_descending(one.descending.value) else []
            else:
                chosen = self.value(one.descending, scope)
                flag = chosen.doc if chosen.kind == FLAG else call("is_descending", leniently(chosen))
                docs.append(keyword("descending", flag))
        if one.by is not None and one.column:
            docs.append(keyword("default", literal(one.column)))
        return call("sort_key" if one.by is not None else "SortKey", *docs)

    # ------------------------------------------------------------------ conditions

    def condition(self, condition: exprs.Condition, scope: Scope, *, negated: bool = False) -> Code:
        """Render a condition, or its opposite."""
        match condition:
            case exprs.Compare():
                return self._compare(condition, scope, negated)
            case exprs.Present():
                return self._present(condition, scope, negated)
            case exprs.Truthy():
                of = self.value(condition.of, scope)
                if _displayed(of):
                    return _maybe_not(Code(call("json_equal", of.doc, Atom("True")), risky=of.risky), negated)
                return _comparison(replace(of, doc=leniently(of)), "is not" if negated else "is", Atom("True"))
            case exprs.Exists():
                docs = self.query(condition.table, condition.where, (), scope)
                return _maybe_not(Code(call("state.exists", *docs), risky=True), negated)
            case exprs.Not():
                return self.condition(condition.of, scope, negated=not negated)
            case exprs.AllOf() | exprs.AnyOf():
                return self._several(condition, scope, negated)

    def _several(self, condition: exprs.AllOf | exprs.AnyOf, scope: Scope, negated: bool) -> Code:
        conjunction = isinstance(condition, exprs.AllOf)
        if not condition.of:
            return Code(Atom(str(conjunction is not negated)))
        if len(condition.of) == 1:
            return self.condition(condition.of[0], scope, negated=negated)
        inside = scope.branch()
        codes = []
        for one in condition.of:
            codes.append(self.condition(one, inside))
            if conjunction:
                inside.assume(one)
        word = "and" if conjunction else "or"
        parts = tuple((word if index else "", fitted(code, COMPARISON)) for index, code in enumerate(codes))
        return _maybe_not(Code(Chain(parts), risky=_any_risky(codes), level=BOOLEAN), negated)

    def _present(self, condition: exprs.Present, scope: Scope, negated: bool) -> Code:
        of = self.value(condition.of, scope)
        if condition.null_counts:
            if of.key:
                words = f"{of.key} not in args" if negated else f"{of.key} in args"
                return Code(Atom(words), level=COMPARISON)
            if not of.absent and not of.risky:
                return Code(Atom(str(not negated)))
            if not of.absent:  # there in any case, but finding that out may reject the call
                return _maybe_not(Code(call("bool", Group("[", (of.doc,), "]")), risky=True), negated)
            return _comparison(of, "is" if negated else "is not", Atom("ABSENT"))
        if (of.key or not of.absent) and not _displayed(of):
            return _comparison(replace(of, doc=leniently(of)), "is" if negated else "is not", Atom("None"))
        return _maybe_not(Code(call("present", of.doc), risky=of.risky), negated)

    def _compare(self, condition: exprs.Compare, scope: Scope, negated: bool) -> Code:
        left, right = self.value(condition.left, scope), self.value(condition.right, scope)
        if condition.test in ("eq", "ne"):
            return self._equality(condition, left, right, negated is (condition.test == "ne"))
        if condition.test == "in":
            texts = _texts(condition.right)
            if texts is not None:
                values = tuple_of([literal(text) for text in texts])
                return _comparison(replace(left, doc=leniently(left)), "not in" if negated else "in", values)
            code = Code(call("is_in", left.doc, leniently(right)), risky=left.risky or right.risky)
            return _maybe_not(code, negated)
        if left.kind == right.kind == NUMBER:
            return _maybe_not(_comparison(left, ORDERINGS[condition.test], fitted(right, ATOM), right.risky), negated)
        docs = (literal(condition.test), left.doc, right.doc)
        return _maybe_not(Code(call("compare", *docs), risky=left.risky or right.risky), negated)

    def _equality(self, condition: exprs.Compare, left: Code, right: Code, equal: bool) -> Code:
        constant = condition.right
        if isinstance(condition.left, exprs.Const):
            left, right, constant = right, left, condition.left
        if isinstance(constant, exprs.Const):
            if isinstance(constant.value, str) or (left.kind == right.kind == NUMBER):
                return _comparison(replace(left, doc=leniently(left)), "==" if equal else "!=", right.doc)
            if isinstance(constant.value, bool) and not _displayed(left):
                return _comparison(replace(left, doc=leniently(left)), "is" if equal else "is not", right.doc)
            if constant.value is None and not _displayed(left):
                return _comparison(left, "is" if equal else "is not", right.doc)
        code = Code(call("json_equal", left.doc, right.doc), risky=left.risky or right.risky)
        return _maybe_not(code, not equal)


def _comparison(left: Code, operator: str, right: Doc, risky: bool = False) -> Code:
    doc = Chain((("", fitted(left, ATOM)), (operator, right)))
    return Code(doc, risky=left.risky or risky, level=COMPARISON)


def _maybe_not(code: Code, negated: bool) -> Code:
    if not negated:
        return code
    return Code(Chain((("not", fitted(code, ATOM)),)), risky=code.risky, level=COMPARISON)


def _displayed(code: Code) -> bool:
    """True for literals and displays, whose identity Python warns about."""
    return code.level == ATOM and (
        code.doc.flat[0] in "\"'[{(-0123456789" or code.doc.flat in ("None", "True", "False")
    )


def _any_risky(codes: Iterable[Code]) -> bool:
    return any(code.risky for code in codes)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _texts(expr: exprs.Expr) -> list[str] | None:
    """The texts of a constant list of texts, else None."""
    if not isinstance(expr, exprs.Const) or not isinstance(expr.value, list):
        return None
    return expr.value if all(isinstance(value, str) for value in expr.value) else None
