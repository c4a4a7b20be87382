"""The interpreter and the rendered backend agree: results, errors, changes, rows and files, on random contracts."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.records import contract as steps
from weft.records import expression as exprs
from weft.records.environment import Environment
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, DatabaseSchema, InitialState, Table
from weft.records.trace import Outcome
from weft.runtime.render import render_backend
from weft.runtime.session import EnvironmentSession

NOTES = Table(
    name="notes",
    entity="note",
    key=("note_id",),
    columns=(
        Column(name="note_id", field="note_id", type="integer", role="id", nullable=False),
        Column(name="title", field="title", type="text", nullable=False),
        Column(name="body", field="body", type="text"),
        Column(name="pinned", field="pinned", type="boolean", nullable=False, default=False),
        Column(name="score", field="score", type="number"),
        Column(name="tags", field="tags", type="json", nullable=False, default=[]),
        Column(
            name="status",
            field="status",
            type="text",
            role="status",
            nullable=False,
            default="open",
            enum=("open", "done"),
        ),
        Column(name="due", field="due", type="datetime"),
        Column(name="updated", field="updated", type="datetime", role="updated", nullable=False),
    ),
)
COMMENTS = Table(
    name="comments",
    entity="comment",
    key=("comment_id",),
    columns=(
        Column(name="comment_id", field="comment_id", type="integer", role="id", nullable=False),
        Column(name="note_id", field="note_id", type="integer", role="foreign_key", references="notes", nullable=False),
        Column(name="text", field="text", type="text", nullable=False),
    ),
)
LABELS = Table(
    name="labels",
    entity="label",
    key=("note_id", "label"),
    id_style="natural",
    relation=True,
    columns=(
        Column(name="note_id", field="note_id", type="integer", role="foreign_key", references="notes", nullable=False),
        Column(name="label", field="label", type="text", role="key", nullable=False),
    ),
)
SCHEMA = DatabaseSchema(tables=(NOTES, COMMENTS, LABELS))
COLUMNS = {table.name: [column.name for column in table.columns] for table in SCHEMA.tables}


def note(number: int, title: str, **more: Any) -> dict[str, Any]:
    usual = {"body": None, "pinned": False, "score": None, "tags": [], "status": "open", "due": None}
    return {"note_id": number, "title": title, "updated": "2026-03-01T08:00:00Z", **usual, **more}


SEED = InitialState(
    rows={
        "notes": [
            note(1, "Milk", body="two litres", pinned=True, score=2.5, tags=["home", "a"], due="2026-03-05T10:00:00Z"),
            note(2, "bread", score=1, status="done", tags=["home"], due="2026-03-05T09:00:00+01:00"),
            note(3, "Ärger", body="100%", score=0.1),
        ],
        "comments": [{"comment_id": 1, "note_id": 1, "text": "yes"}, {"comment_id": 2, "note_id": 1, "text": "no"}],
        "labels": [{"note_id": 1, "label": "red"}, {"note_id": 2, "label": "red"}],
    },
    files={"a.txt": "one\ntwo\n", "docs/b.md": "# B\n"},
)
ARGUMENTS: dict[str, Any] = {
    "id": {"type": "integer"},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "n": {"type": ["number", "null"]},
    "list": {"type": "array"},
    "from": {"type": "object"},
    "sort": {"type": "string"},
}
SPEC_TOOL = ToolSpec(
    name="run-it",
    description="Do it.",
    input_schema={"type": "object", "properties": ARGUMENTS, "required": ["id"], "additionalProperties": False},
    declared={},
)

# Names that clash with what rendered code uses, and few of them, so that binding again is common.
VARIABLES = st.sampled_from(["note", "rows", "state", "args", "page", "class", "Note"])
TEXTS = st.sampled_from(
    ["", "milk", "home", "red", "open", "done", "2026-03-05", "desc", "title", "a.txt", "docs", "../x"]
)
NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 2.5, 0.1])
SCALARS = st.one_of(TEXTS, NUMBERS, st.booleans(), st.none())
JSON_VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from(["title", "n"]), SCALARS)
)
FIELDS = st.sampled_from(["title", "note_id", "n", "class", "total"])
TABLES = st.sampled_from(["notes", "comments", "labels"])
PATHS = st.sampled_from(
    [("id",), ("text",), ("flag",), ("n",), ("list",), ("list", 0), ("from", "title"), ("sort",), ("none",), ()]
)


def columns_of(table: str) -> st.SearchStrategy[str]:
    return st.sampled_from(COLUMNS[table])


LEAVES = ["const", "arg", "arg", "var", "var", "now", "absent"]
PARTS = ["coalesce", "concat", "object", "row", "row", "list", "map", "length", "arithmetic", "cast", "choose", "merge"]
READS = ["project", "select", "aggregate", "files"]
VARIABLE_PATHS = [(), (), ("title",), ("note_id",), ("tags",), ("tags", 0), ("items",), ("total",), (0,)]


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> exprs.Expr:
    kind = draw(st.sampled_from(LEAVES + (PARTS + READS if depth else [])))
    if kind == "const":
        return exprs.const(draw(JSON_VALUES))
    if kind == "arg":
        return exprs.arg(*draw(PATHS))
    if kind == "var":
        return exprs.var(draw(VARIABLES), *draw(st.sampled_from(VARIABLE_PATHS)))
    if kind == "now":
        return exprs.Now(op="now", form=draw(st.sampled_from(["datetime", "date"])))
    if kind == "absent":
        return exprs.Absent(op="absent")
    if kind == "row":  # the same shape again and again, so that rendering makes a function of it
        name = draw(VARIABLES)
        return exprs.obj(id=exprs.var(name, "note_id"), title=exprs.var(name, "title"))
    return draw((reads if kind in READS else composed)(kind, depth - 1))


@st.composite
def composed(draw: st.DrawFn, kind: str, depth: int) -> exprs.Expr:
    inner = values(depth)
    several = tuple(draw(st.lists(inner, max_size=3)))
    if kind == "coalesce":
        return exprs.Coalesce(op="coalesce", items=several)
    if kind == "concat":
        return exprs.Concat(op="concat", items=several, separator=draw(st.sampled_from(["", ", "])))
    if kind == "list":
        return exprs.ListOf(op="list", items=several)
    if kind == "merge":
        return exprs.Merge(op="merge", items=several)
    if kind == "object":
        return exprs.ObjectOf(op="object", fields=draw(st.dictionaries(FIELDS, inner, max_size=3)))
    if kind == "map":
        return exprs.MapOver(op="map", over=draw(inner), name=draw(VARIABLES), value=draw(inner))
    if kind == "length":
        return exprs.Length(op="length", of=draw(inner))
    if kind == "arithmetic":
        fn = draw(st.sampled_from(["add", "subtract", "multiply", "divide", "min", "max"]))
        number = st.one_of(NUMBERS.map(exprs.const), st.just(exprs.arg("n")), inner)
        return exprs.Arithmetic(op="arithmetic", fn=fn, left=draw(number), right=draw(number))
    if kind == "cast":
        return exprs.Cast(op="cast", of=draw(inner), to=draw(st.sampled_from(["text", "text", "integer", "number"])))
    return exprs.Choose(op="choose", condition=draw(conditions(depth)), then=draw(inner), otherwise=draw(inner))


@st.composite
def reads(draw: st.DrawFn, kind: str, depth: int) -> exprs.Expr:
    inner = values(depth)
    if kind == "project":
        fields = st.one_of(st.sampled_from(["title", "title, n", ""]).map(exprs.const), inner)
        return exprs.ProjectFields(
            op="project", of=draw(inner), fields=draw(fields), known=("title", "n"), always=("id",)
        )
    if kind == "files":
        fn = draw(st.sampled_from(["text", "list", "tree", "stat", "search", "grep"]))
        path, pattern = draw(st.one_of(st.none(), paths(depth))), draw(st.one_of(paths(depth), st.none()))
        head = draw(st.sampled_from([None, exprs.const(1), exprs.arg("n")]))
        return exprs.ReadFiles(op="files", fn=fn, path=path, pattern=pattern, head=head)
    table = draw(TABLES)
    where = tuple(draw(st.lists(predicates(table, depth), max_size=2)))
    if kind == "select":
        limit = draw(st.sampled_from([None, None, exprs.const(2), exprs.arg("n")]))
        return exprs.Select(op="select", table=table, where=where, order=draw(orders(table, depth)), limit=limit)
    fn, column = draw(st.sampled_from([("count", ""), ("min", "note_id"), ("sum", "note_id"), ("count", "note_id")]))
    group_by = draw(st.sampled_from([(), (), ("note_id",)]))
    return exprs.Aggregate(op="aggregate", table=table, fn=fn, column=column, where=where, group_by=group_by)


def paths(depth: int) -> st.SearchStrategy[exprs.Expr]:
    usual = st.sampled_from(["a.txt", "docs", "docs/b.md", "new/c.txt", "../x"]).map(exprs.const)
    return st.one_of(usual, usual, st.just(exprs.arg("text")), values(depth))


TESTS = ["eq", "eq", "eq", "ne", "in", "not_in", "lt", "gte", "contains", "search", "has", "has_any", "is_null", "link"]


@st.composite
def predicates(draw: st.DrawFn, table: str, depth: int) -> exprs.Where:
    test = draw(st.sampled_from(TESTS))
    optional, value = draw(st.booleans()), draw(values(max(depth, 0)))
    if test == "search":
        columns = tuple(draw(st.lists(columns_of(table), min_size=1, max_size=2)))
        return exprs.Where(test="search", columns=columns, value=value, optional=optional)
    if test == "link":
        return exprs.Where(test="link", through="labels", near="note_id", far="label", value=value, optional=optional)
    if test == "is_null":
        return exprs.Where(test="is_null", column=draw(columns_of(table)))
    ignore_case = draw(st.booleans())
    column = draw(st.one_of(st.just("note_id"), columns_of(table)))
    if column == "note_id" and draw(st.booleans()):
        value = exprs.arg("id")
    return exprs.Where(test=test, column=column, value=value, optional=optional, ignore_case=ignore_case)


def orders(table: str, depth: int) -> st.SearchStrategy[tuple[exprs.Order, ...]]:
    descending = st.one_of(st.none(), values(max(depth, 0)))
    static = st.builds(exprs.Order, column=columns_of(table), descending=descending)
    chosen = st.builds(
        exprs.Order,
        by=st.one_of(st.just(exprs.arg("sort")), values(max(depth, 0))),
        columns=st.just({"title": COLUMNS[table][1], "desc": COLUMNS[table][0]}),
        column=st.one_of(st.just(""), columns_of(table)),
        descending=descending,
    )
    return st.lists(st.one_of(static, chosen), max_size=2).map(tuple)


@st.composite
def conditions(draw: st.DrawFn, depth: int = 1) -> exprs.Condition:
    inner = ["not", "all", "any"] if depth > 0 else []
    kind = draw(st.sampled_from(["compare", "compare", "present", "present", "truthy", "exists", *inner]))
    value = values(max(depth, 0))
    if kind == "compare":
        test = draw(st.sampled_from(["eq", "ne", "lt", "lte", "gt", "gte", "in"]))
        return exprs.Compare(op="compare", test=test, left=draw(value), right=draw(value))
    if kind == "present":
        return exprs.Present(op="present", of=draw(value), null_counts=draw(st.booleans()))
    if kind == "truthy":
        return exprs.Truthy(op="truthy", of=draw(value))
    if kind == "exists":
        table = draw(TABLES)
        return exprs.Exists(op="exists", table=table, where=tuple(draw(st.lists(predicates(table, 0), max_size=2))))
    if kind == "not":
        return exprs.Not(op="not", of=draw(conditions(depth - 1)))
    parts = tuple(draw(st.lists(conditions(depth - 1), max_size=3)))
    return exprs.AllOf(op="all", of=parts) if kind == "all" else exprs.AnyOf(op="any", of=parts)


def errors() -> st.SearchStrategy[steps.ErrorSpec]:
    messages = st.sampled_from(["No {id}.", "Bad {text} in {from.title} or {none}.", 'Quote " and \\ {list.0}'])
    return st.builds(steps.ErrorSpec, code=st.sampled_from(["not_found", "invalid_state"]), message=messages)


def row_values(table: str) -> st.SearchStrategy[dict[str, exprs.Expr]]:
    text = st.sampled_from(
        [
            exprs.arg("text"),
            exprs.const("new"),
            exprs.Coalesce(op="coalesce", items=(exprs.arg("text"), exprs.const(""))),
        ]
    )
    likely = {
        "title": st.one_of(text, text, values(1)),
        "text": text,
        "note_id": st.sampled_from([exprs.arg("id"), exprs.const(1), exprs.var("note", "note_id")]),
        "label": text,
        "status": st.sampled_from([exprs.const("done"), exprs.const("open"), exprs.arg("text")]),
        "score": st.sampled_from([exprs.arg("n"), exprs.const(0.1), exprs.const(None)]),
        "body": st.one_of(text, text, values(1)),
        "tags": st.just(exprs.arg("list")),
    }
    there = {name: strategy for name, strategy in likely.items() if name in COLUMNS[table]}
    needed = {"notes": {"title"}, "comments": {"text", "note_id"}, "labels": {"label", "note_id"}}[table]
    optional = {name: strategy for name, strategy in there.items() if name not in needed}
    return st.fixed_dictionaries({name: there[name] for name in sorted(needed)}, optional=optional)


@st.composite
def operations(draw: st.DrawFn, depth: int = 2) -> steps.Operation:
    inner = ["each", "when", "when"] if depth else []
    kinds = ["guard", "let", "let", "find", "find", "find_many", "insert", "insert", "update", "delete", "transition"]
    kind = draw(st.sampled_from([*kinds, "page", "sort", "write_files", *inner]))
    into, table, of = draw(VARIABLES), draw(TABLES), draw(VARIABLES)
    if kind == "guard":
        return steps.Guard(op="guard", condition=draw(conditions()), error=draw(errors()))
    if kind == "let":
        return steps.Let(op="let", into=into, value=draw(values()))
    if kind in ("find", "find_many"):
        where = tuple(draw(st.lists(predicates(table, 1), max_size=2)))
        missing = draw(st.one_of(st.none(), errors()))
        many, order = kind == "find_many", draw(orders(table, 0))
        return steps.Find(op="find", into=into, table=table, where=where, order=order, many=many, missing=missing)
    if kind == "insert":
        exists = draw(st.sampled_from(["error", "ignore", "update"]))
        return steps.Insert(op="insert", into=into, table=table, values=draw(row_values(table)), exists=exists)
    if kind == "update":
        changed = {name: expr for name, expr in draw(row_values("notes")).items() if name != "note_id"}
        return steps.Update(op="update", into=into, table="notes", rows=of, values=changed)
    if kind == "delete":
        cascade = draw(st.sampled_from([(), ("comments", "labels")]))
        return steps.Delete(op="delete", into=into, table="notes", rows=of, cascade=cascade)
    if kind == "transition":
        to, sources = draw(values(0)), draw(st.sampled_from([(), ("open",)]))
        return steps.Transition(
            op="transition", into=into, table="notes", row=of, column="status", to=to, sources=sources
        )
    if kind == "page":
        operand = st.one_of(st.none(), st.sampled_from([exprs.const(1), exprs.const(2), exprs.arg("n")]), values(0))
        return steps.Page(
            op="page", into=into, over=of, limit=draw(operand), offset=draw(operand), page=draw(operand),
            cursor=draw(st.sampled_from([None, None, exprs.arg("text"), exprs.const("Mi4xYWQ1YmUwZA")])),
            default_limit=draw(st.sampled_from([2, 50])), first_page=draw(st.sampled_from([0, 1])),
        )  # fmt: skip
    if kind == "sort":
        return steps.Sort(op="sort", into=into, over=of, order=draw(orders("notes", 0)))
    if kind == "write_files":
        fn = draw(st.sampled_from(["write", "append", "edit", "delete", "move", "copy", "mkdir"]))
        text = st.sampled_from([exprs.arg("text"), exprs.const("one"), exprs.const("two"), None])
        return steps.WriteFiles(
            op="write_files", into=into, fn=fn, path=draw(paths(0)), target=draw(paths(0)), text=draw(text),
            old=draw(text), new=draw(text), recursive=draw(st.booleans()),
        )  # fmt: skip
    body = st.lists(operations(depth - 1), max_size=2).map(tuple)
    if kind == "when":
        return steps.When(op="when", condition=draw(conditions()), operations=draw(body), otherwise=draw(body))
    over, name, result = draw(values(1)), draw(VARIABLES), draw(values(1))
    return steps.Each(op="each", into=into, over=over, name=name, operations=draw(body), result=result)


BY_ID = (exprs.eq("note_id", exprs.arg("id")),)
PRELUDES = [
    (),
    (steps.Find(op="find", into="note", table="notes", where=BY_ID),),
    (
        steps.Find(
            op="find",
            into="note",
            table="notes",
            where=BY_ID,
            missing=steps.ErrorSpec(code="not_found", message="{id}"),
        ),
        steps.Find(op="find", into="rows", table="notes", many=True),
    ),
    (
        steps.Find(op="find", into="rows", table="notes", many=True),
        steps.Page(op="page", into="page", over="rows", limit=exprs.const(2)),
    ),
]


NEW_NOTE = {
    "title": exprs.Coalesce(op="coalesce", items=(exprs.arg("text"), exprs.const("new"))),
    "tags": exprs.arg("list"),
}
NEW_LABEL = {"note_id": exprs.const(2), "label": exprs.Concat(op="concat", items=(exprs.arg("id"), exprs.arg("text")))}
WRITES: list[tuple[steps.Operation, ...]] = [
    (),
    (steps.Insert(op="insert", into="note", table="notes", values=NEW_NOTE),),
    (steps.Insert(op="insert", into="page", table="labels", values=NEW_LABEL, exists="ignore"),),
    (steps.Update(op="update", into="rows", table="notes", rows="rows", values={"body": exprs.arg("text")}),),
    (steps.Delete(op="delete", into="state", table="notes", rows="note", cascade=("comments", "labels")),),
    (
        steps.WriteFiles(
            op="write_files", into="class", fn="append", path=exprs.const("log.txt"), text=exprs.const("x")
        ),
    ),
]


def cases() -> st.SearchStrategy[steps.Case]:
    """Something is found, mostly something is written that may be, and then comes what may."""
    when = [{}, {}, {}, {"text": "milk"}, {"flag": True}, {"n": 1, "text": "home"}, {"from.title": "red"}]
    return st.builds(
        lambda when, prelude, write, more, returns: steps.Case(
            when=when, intent="run", operations=(*prelude, *write, *more), returns=returns
        ),
        st.sampled_from(when),
        st.sampled_from(PRELUDES),
        st.sampled_from(WRITES),
        st.lists(operations(), max_size=3),
        values(),
    )


def contracts() -> st.SearchStrategy[steps.Contract]:
    return st.builds(
        steps.Contract,
        tool=st.just("run-it"),
        function=st.sampled_from(["run_it", "class", "page_of", "app"]),
        summary=st.text(max_size=20),
        effect=st.just("write"),
        cases=st.lists(cases(), min_size=1, max_size=3).map(tuple),
        returns_schema=st.just({}),
    )


def calls() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"id": st.sampled_from([1, 2, 9])},
        optional={
            "text": TEXTS,
            "flag": st.booleans(),
            "n": st.one_of(NUMBERS, st.none()),
            "list": st.lists(JSON_VALUES, max_size=3),
            "from": st.dictionaries(st.sampled_from(["title", "n"]), SCALARS, max_size=2),
            "sort": TEXTS,
        },
    )


def environment(contract: steps.Contract) -> Environment:
    spec = McpSpec(name="notes", title="Notes", tools=(SPEC_TOOL,))
    return Environment(spec=spec, contracts=steps.ContractSet(schema=SCHEMA, contracts=(contract,)), seed=SEED)


def outcome(session: EnvironmentSession, arguments: dict[str, Any]) -> Any:
    """What a call gives. A contract that makes no sense faults in both, in words that may differ."""
    result, changes = session.call("run-it", arguments)
    return (result.outcome, None if result.outcome is Outcome.FAULT else result.value, changes)


def check_agreement(contract: steps.Contract, arguments: list[dict[str, Any]]) -> None:
    made = environment(contract)
    backend = EnvironmentSession(made, SEED, 5, engine="backend")
    interpreter = EnvironmentSession(made, SEED, 5, engine="interpreter")
    for one in arguments:
        assert outcome(backend, one) == outcome(interpreter, one), render_backend(made.spec, made.contracts)
    assert backend.rows() == interpreter.rows()
    assert backend.files() == interpreter.files()
    assert backend.clock == interpreter.clock


SETTINGS = settings(
    deadline=None,
    derandomize=True,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@SETTINGS
@given(contract=contracts(), arguments=st.lists(calls(), min_size=1, max_size=4))
def test_random_contracts_run_alike_interpreted_and_rendered(
    contract: steps.Contract, arguments: list[dict[str, Any]]
) -> None:
    check_agreement(contract, arguments)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(SETTINGS, max_examples=2000)
@given(contract=contracts(), arguments=st.lists(calls(), min_size=1, max_size=4))
def test_many_random_contracts_run_alike_interpreted_and_rendered(
    contract: steps.Contract, arguments: list[dict[str, Any]]
) -> None:
    check_agreement(contract, arguments)
