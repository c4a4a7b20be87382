"""What contracts mean: one hand-written environment, with every result worked by hand, run by both engines.

A workshop with orders and their lines. The clock starts at 2026-03-02T09:00:00Z and ticks once for each changing call.
"""

from typing import Any

import pytest

from weft.records import contract as steps
from weft.records import expression as exprs
from weft.records.environment import Environment
from weft.records.expression import arg, const, eq, obj, var
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, DatabaseSchema, InitialState, Table
from weft.runtime.session import EnvironmentSession


def column(name: str, kind: str, **more: Any) -> Column:
    return Column(name=name, field=name, type=kind, nullable=more.pop("nullable", False), **more)


SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="orders",
            entity="order",
            key=("number",),
            id_style="natural",
            columns=(
                column("number", "text", role="key"),
                column("customer", "text"),
                column("status", "text", role="status", default="open", enum=("open", "paid", "sent")),
                column("due", "date", nullable=True),
                column("changed", "datetime", role="updated"),
            ),
        ),
        Table(
            name="lines",
            entity="line",
            key=("number", "item"),
            id_style="natural",
            columns=(
                column("number", "text", role="foreign_key", references="orders"),
                column("item", "text", role="key"),
                column("price", "number"),
                column("count", "integer", default=1),
            ),
        ),
    )
)
SEED = InitialState(
    rows={
        "orders": [
            {
                "number": "A1",
                "customer": "Ada",
                "status": "open",
                "due": "2026-03-05",
                "changed": "2026-03-01T00:00:00Z",
            },
            {"number": "A2", "customer": "Bo", "status": "paid", "due": None, "changed": "2026-03-01T00:00:00Z"},
            {
                "number": "A3",
                "customer": "ada",
                "status": "open",
                "due": "2026-03-03",
                "changed": "2026-03-01T00:00:00Z",
            },
        ],
        "lines": [
            {"number": "A1", "item": "saw", "price": 19.99, "count": 3},
            {"number": "A1", "item": "tape", "price": 0.1, "count": 2},
            {"number": "A2", "item": "glue", "price": 4, "count": 1},
        ],
    },
    files={"orders/A1.txt": "first\nsecond\n"},
)

MISSING = steps.ErrorSpec(code="not_found", message="There is no order {number}.")
FIND = steps.Find(op="find", into="order", table="orders", where=(eq("number", arg("number")),), missing=MISSING)
LINES = exprs.Select(op="select", table="lines", where=(eq("number", var("order", "number")),))
TOTAL = exprs.Arithmetic(op="arithmetic", fn="multiply", left=var("line", "price"), right=var("line", "count"))
ORDER = obj(
    number=var("order", "number"),
    customer=var("order", "customer"),
    status=var("order", "status"),
    lines=exprs.MapOver(op="map", over=LINES, name="line", value=obj(item=var("line", "item"), total=TOTAL)),
)
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def case(*operations: steps.Operation, returns: exprs.Expr, when: dict[str, Any] | None = None) -> steps.Case:
    return steps.Case(when=when or {}, intent="run", operations=operations, returns=returns)


def compare(test: Any, left: exprs.Expr, right: exprs.Expr) -> exprs.Compare:
    return exprs.Compare(op="compare", test=test, left=left, right=right)


TOOLS: dict[str, tuple[dict[str, Any], list[str], list[steps.Case]]] = {
    "get": ({"number": TEXT}, ["number"], [case(FIND, returns=ORDER)]),
    "list": (
        {
            "customer": TEXT,
            "status": {"type": "array", "items": TEXT},
            "before": TEXT,
            "sort": TEXT,
            "dir": TEXT,
            "limit": NUMBER,
            "page": NUMBER,
        },
        [],
        [
            case(
                steps.Find(
                    op="find",
                    into="found",
                    table="orders",
                    many=True,
                    where=(
                        exprs.Where(
                            test="eq", column="customer", value=arg("customer"), ignore_case=True, optional=True
                        ),
                        exprs.Where(test="in", column="status", value=arg("status"), optional=True),
                        exprs.Where(test="lt", column="due", value=arg("before"), optional=True),
                    ),
                    order=(
                        exprs.Order(
                            by=arg("sort"), columns={"due": "due", "customer": "customer"}, descending=arg("dir")
                        ),
                    ),
                ),
                steps.Page(op="page", into="page", over="found", limit=arg("limit"), page=arg("page"), default_limit=2),
                returns=obj(
                    numbers=exprs.MapOver(op="map", over=var("page", "items"), name="one", value=var("one", "number")),
                    total=var("page", "total"),
                    next=var("page", "next_page"),
                ),
            )
        ],
    ),
    "change": (
        {"number": TEXT, "action": {"enum": ["pay", "send", "note", "drop"]}, "note": TEXT},
        ["number", "action"],
        [
            case(
                FIND,
                steps.Transition(
                    op="transition",
                    into="order",
                    table="orders",
                    row="order",
                    column="status",
                    to=const("paid"),
                    sources=("open",),
                ),
                returns=obj(status=var("order", "status"), changed=var("order", "changed"), now=exprs.Now(op="now")),
                when={"action": "pay"},
            ),
            case(
                FIND,
                steps.Guard(
                    op="guard",
                    condition=compare("eq", var("order", "status"), const("paid")),
                    error=steps.ErrorSpec(code="invalid_state", message="Order {number} is not paid."),
                ),
                steps.Update(op="update", into="order", table="orders", rows="order", values={"status": const("sent")}),
                returns=obj(status=var("order", "status")),
                when={"action": "send"},
            ),
            case(
                FIND,
                steps.WriteFiles(
                    op="write_files",
                    into="file",
                    fn="append",
                    path=exprs.Concat(
                        op="concat",
                        items=(const("orders"), exprs.Concat(op="concat", items=(arg("number"), const(".txt")))),
                        separator="/",
                    ),
                    text=exprs.Coalesce(op="coalesce", items=(arg("note"), const("-\n"))),
                ),
                returns=exprs.Merge(
                    op="merge",
                    items=(
                        var("file"),
                        obj(last=exprs.ReadFiles(op="files", fn="text", path=var("file", "path"), tail=const(1))),
                    ),
                ),
                when={"action": "note"},
            ),
            case(
                FIND,
                steps.Delete(op="delete", into="gone", table="orders", rows="order", cascade=("lines",)),
                returns=obj(gone=var("gone"), left=exprs.Aggregate(op="aggregate", table="lines", fn="count")),
                when={"action": "drop"},
            ),
        ],
    ),
    "order": (
        {
            "customer": TEXT,
            "number": TEXT,
            "lines": {"type": "array", "items": {"type": "object"}},
            "due": {"type": ["string", "null"]},
        },
        ["customer", "number", "lines"],
        [
            case(
                steps.Insert(
                    op="insert",
                    into="order",
                    table="orders",
                    values={"number": arg("number"), "customer": arg("customer"), "due": arg("due")},
                ),
                steps.Each(
                    op="each",
                    into="totals",
                    over=arg("lines"),
                    name="line",
                    operations=(
                        steps.Insert(
                            op="insert",
                            into="line",
                            table="lines",
                            values={
                                "number": var("order", "number"),
                                "item": var("line", "item"),
                                "price": var("line", "price"),
                                "count": var("line", "count"),
                            },
                        ),
                    ),
                    result=TOTAL,
                ),
                steps.When(
                    op="when",
                    condition=compare("gt", exprs.Length(op="length", of=var("totals")), const(1)),
                    operations=(steps.Let(op="let", into="size", value=const("big")),),
                    otherwise=(steps.Let(op="let", into="size", value=const("small")),),
                ),
                returns=obj(size=var("size"), totals=var("totals"), line=var("line"), due=var("order", "due")),
            )
        ],
    ),
    "report": (
        {"fields": TEXT},
        [],
        [
            case(
                steps.Let(
                    op="let",
                    into="rows",
                    value=exprs.Aggregate(
                        op="aggregate", table="lines", fn="sum", column="count", group_by=("number",)
                    ),
                ),
                steps.Sort(
                    op="sort", into="rows", over="rows", order=(exprs.Order(column="value", descending=const("desc")),)
                ),
                returns=exprs.ProjectFields(
                    op="project",
                    of=obj(
                        counts=var("rows"),
                        prices=exprs.Aggregate(op="aggregate", table="lines", fn="sum", column="price"),
                        average=exprs.Aggregate(op="aggregate", table="lines", fn="avg", column="price"),
                    ),
                    fields=arg("fields"),
                    known=("counts", "prices", "average"),
                ),
            )
        ],
    ),
}


def environment() -> Environment:
    tools, contracts = [], []
    for name, (properties, required, cases) in TOOLS.items():
        schema = {"type": "object", "properties": properties, "required": required}
        tools.append(ToolSpec(name=name, input_schema=schema, declared={}))
        contracts.append(
            steps.Contract(tool=name, function=f"{name}_it", effect="write", cases=tuple(cases), returns_schema={})
        )
    spec = McpSpec(name="workshop", title="Workshop", tools=tuple(tools))
    return Environment(spec=spec, contracts=steps.ContractSet(schema=SCHEMA, contracts=tuple(contracts)), seed=SEED)


@pytest.fixture(params=["interpreter", "backend"])
def session(request: pytest.FixtureRequest) -> EnvironmentSession:
    return EnvironmentSession(environment(), SEED, 3, engine=request.param)


def value(session: EnvironmentSession, tool: str, **arguments: Any) -> Any:
    result, _ = session.call(tool, arguments)
    assert result.outcome == "ok", result
    return result.value


def error(session: EnvironmentSession, tool: str, **arguments: Any) -> tuple[str, str]:
    before = (session.rows(), session.files(), session.clock)
    result, changes = session.call(tool, arguments)
    assert result.outcome == "error", result
    assert changes.empty
    assert (session.rows(), session.files(), session.clock) == before
    return result.value["error"]["code"], result.value["error"]["message"]


def test_an_object_is_made_of_a_row_and_its_lines_with_exact_totals(session: EnvironmentSession) -> None:
    assert value(session, "get", number="A1") == {
        "number": "A1",
        "customer": "Ada",
        "status": "open",
        "lines": [{"item": "saw", "total": 59.97}, {"item": "tape", "total": 0.2}],
    }


def test_a_missing_row_rejects_with_the_arguments_value(session: EnvironmentSession) -> None:
    assert error(session, "get", number="A9") == ("not_found", "There is no order A9.")


@pytest.mark.parametrize(
    ("arguments", "numbers", "total", "following"),
    [
        ({}, ["A1", "A2"], 3, 2),
        ({"page": 2}, ["A3"], 3, None),
        ({"limit": 3}, ["A1", "A2", "A3"], 3, None),
        ({"customer": "ADA"}, ["A1", "A3"], 2, None),
        ({"status": ["paid", "sent"]}, ["A2"], 1, None),
        ({"status": []}, ["A1", "A2"], 3, 2),
        ({"before": "2026-03-04"}, ["A3"], 1, None),
        ({"sort": "due", "limit": 3}, ["A3", "A1", "A2"], 3, None),
        ({"sort": "due", "dir": "DESC", "limit": 3}, ["A1", "A3", "A2"], 3, None),
        ({"sort": "customer", "limit": 3}, ["A1", "A3", "A2"], 3, None),
    ],
)
def test_filters_orders_and_pages(
    session: EnvironmentSession, arguments: dict[str, Any], numbers: list[str], total: int, following: int | None
) -> None:
    assert value(session, "list", **arguments) == {"numbers": numbers, "total": total, "next": following}


@pytest.mark.parametrize("arguments", [{"sort": "price"}, {"limit": 0}, {"page": 0}])
def test_what_has_no_meaning_is_the_callers_error(session: EnvironmentSession, arguments: dict[str, Any]) -> None:
    assert error(session, "list", **arguments)[0] == "invalid_argument"


def test_a_transition_goes_only_from_its_sources_and_sets_the_updated_column(session: EnvironmentSession) -> None:
    assert value(session, "change", number="A1", action="pay") == {
        "status": "paid",
        "changed": "2026-03-02T09:00:00Z",
        "now": "2026-03-02T09:00:00Z",
    }
    assert session.clock == "2026-03-02T09:00:01Z"
    assert error(session, "change", number="A1", action="pay")[0] == "invalid_state"


def test_a_guard_rejects_until_its_condition_holds(session: EnvironmentSession) -> None:
    assert error(session, "change", number="A1", action="send") == ("invalid_state", "Order A1 is not paid.")
    value(session, "change", number="A1", action="pay")
    assert value(session, "change", number="A1", action="send") == {"status": "sent"}


def test_files_are_written_and_read_inside_one_call(session: EnvironmentSession) -> None:
    assert value(session, "change", number="A1", action="note", note="third\n") == {
        "path": "orders/A1.txt",
        "size": 19,
        "last": "third\n",
    }
    assert value(session, "change", number="A2", action="note") == {"path": "orders/A2.txt", "size": 2, "last": "-\n"}


def test_a_delete_takes_the_named_tables_along(session: EnvironmentSession) -> None:
    assert value(session, "change", number="A1", action="drop") == {"gone": 1, "left": 1}
    assert [row["number"] for row in session.rows()["orders"]] == ["A2", "A3"]


def test_an_action_outside_the_enum_never_reaches_the_cases(session: EnvironmentSession) -> None:
    code, message = error(session, "change", number="A1", action="zap")
    assert code == "invalid_argument"
    assert message == 'action must be one of "pay", "send", "note", "drop", got string "zap"'


def test_each_collects_results_and_keeps_its_names_to_itself(session: EnvironmentSession) -> None:
    lines = [{"item": "oak", "price": 2.5, "count": 4}, {"item": "wax", "price": 3}]
    made = value(session, "order", customer="Cy", number="B1", lines=lines)
    # `line` was bound inside the loop alone, so outside it is not there; count 1 is the column's default.
    assert made == {"size": "big", "totals": [10.0, 3], "due": None}
    assert value(session, "order", customer="Cy", number="B2", lines=[], due="2026-04-01") == {
        "size": "small",
        "totals": [],
        "due": "2026-04-01",
    }


def test_an_error_in_one_element_leaves_nothing_of_the_whole_call(session: EnvironmentSession) -> None:
    lines = [{"item": "oak", "price": 1}, {"item": "oak", "price": 2}]
    assert error(session, "order", customer="Cy", number="B1", lines=lines)[0] == "conflict"


def test_aggregates_sorts_and_projections(session: EnvironmentSession) -> None:
    # 19.99 + 0.1 + 4 = 24.09, by three lines 8.03; A1 has 3 + 2 pieces, A2 one.
    assert value(session, "report") == {
        "counts": [{"number": "A1", "value": 5}, {"number": "A2", "value": 1}],
        "prices": 24.09,
        "average": 8.03,
    }
    assert value(session, "report", fields="average") == {"average": 8.03}
    assert error(session, "report", fields="median")[1] == ("unknown field 'median'; known are counts, prices, average")
