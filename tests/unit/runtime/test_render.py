"""Rendered backends are deterministic, readable, and import cleanly whatever things are called."""

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from weft.errors import InputError
from weft.records import contract as steps
from weft.records import expression as exprs
from weft.records.environment import Environment
from weft.records.expression import arg, const, eq, obj, var
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import Column, DatabaseSchema, Table
from weft.runtime.backend import render_of
from weft.runtime.render import render_backend
from weft.runtime.render_layout import WIDTH, Atom, Chain, Group, docstring, lines, literal, text_literal
from weft.runtime.render_names import Names, identifier

SCHEMA = DatabaseSchema(
    tables=(
        Table(
            name="notes",
            entity="note",
            key=("id",),
            columns=(
                Column(name="id", field="id", type="integer", role="id", nullable=False),
                Column(name="title", field="title", type="text", nullable=False),
            ),
        ),
    )
)


def row(name: str) -> exprs.ObjectOf:
    return obj(id=var(name, "id"), title=var(name, "title"))


def tool(name: str, *cases: steps.Case, function: str = "", summary: str = "") -> steps.Contract:
    return steps.Contract(
        tool=name,
        function=function or identifier(name),
        summary=summary,
        effect="write",
        cases=cases,
        returns_schema={},
    )


def rendered(*contracts: steps.Contract, required: tuple[str, ...] = (), title: str = "Notes") -> str:
    schema = {"type": "object", "required": list(required)}
    spec = McpSpec(
        name="notes",
        title=title,
        tools=tuple(ToolSpec(name=c.tool, input_schema=schema, declared={}) for c in contracts),
    )
    return render_backend(spec, steps.ContractSet(schema=SCHEMA, contracts=contracts))


def body(expr: exprs.Expr, *operations: steps.Operation, required: tuple[str, ...] = ()) -> str:
    """The statements of one function, without signature and docstring."""
    text = rendered(tool("do", steps.Case(intent="run", operations=operations, returns=expr)), required=required)
    found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "do")
    return "\n".join(ast.unparse(node) for node in found.body[1:])


def test_a_backend_reads_like_code_written_by_hand(notes: Environment) -> None:
    text = render_of(notes)
    assert (
        """
def archive_note(state: State, args: dict[str, Any]) -> Any:
    \"\"\"Run the tool archive_note.

    Kind: transition, on notes. Reads notes. Writes notes.status, notes.updated_at.

    Rejects with: not_found, invalid_state.
    \"\"\"
    note = state.first("notes", [Test("eq", column="id", value=args["id"])])
    if note is None:
        raise reject("not_found", "no note {id}", args)
    note = state.transition("notes", note, "status", "archived", ["open", "done"])
    return _note(note)
"""
        in text
    )
    assert text.startswith('"""Backend of the environment notes (Notes).\n')
    assert text.endswith("    return application(__file__, TOOLS)\n")


def test_rendering_again_gives_the_same_bytes_in_another_process(notes: Environment) -> None:
    data = Path(__file__).resolve().parents[2] / "data" / "notes.environment.json"
    code = (
        "import sys; from weft.records.codec import parse_record; from weft.records.environment import Environment;"
        "from weft.runtime.backend import render_of;"
        "sys.stdout.write(render_of(parse_record(Environment, open(sys.argv[1], 'rb').read(), 'x')))"
    )
    for seed in ("0", "1"):
        run = subprocess.run(
            [sys.executable, "-c", code, str(data)],
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert run.stdout.decode() == render_of(notes)


def test_it_imports_only_the_runtime_and_typing(notes: Environment) -> None:
    imported = {node.module for node in ast.walk(ast.parse(render_of(notes))) if isinstance(node, ast.ImportFrom)}
    assert imported == {
        "typing", "weft.runtime.operations", "weft.runtime.standalone", "weft.runtime.state", "weft.runtime.values",
    }  # fmt: skip


def test_it_passes_the_linter_and_the_formatter_and_imports_without_a_warning(
    notes: Environment, tmp_path: Path
) -> None:
    file = tmp_path / "backend.py"
    file.write_text(render_of(notes), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    rules = ["--isolated", "--line-length", str(WIDTH)]
    runs = [
        [
            *ruff,
            "check",
            *rules,
            "--select",
            "E,F,I,B,A,C4,N,PIE,RET,SIM,UP,W,D2,D3",
            "--ignore",
            "D203,D213",
            str(file),
        ],
        [*ruff, "format", *rules, "--check", str(file)],
        [sys.executable, "-W", "error", "-c", "import backend; assert len(backend.TOOLS) == 9"],
    ]
    for command in runs:
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    "name", ["class", "import", "list", "state", "args", "page_of", "app", "TOOLS", "Any", "reject"]
)
def test_function_names_that_mean_something_else_are_changed_and_the_declared_name_stays(name: str) -> None:
    text = rendered(tool(name, steps.Case(intent="run", operations=(), returns=const(1)), function=name))
    namespace: dict[str, Any] = {}
    exec(compile(text, "backend.py", "exec"), namespace)
    assert namespace["TOOLS"][name](None, {}) == 1
    assert callable(namespace["app"])


def test_variables_may_be_called_anything_and_stay_apart() -> None:
    names = ["class", "state", "args", "Test", "note", "Note", "note!", "nöte", "2fa", "", "where"]
    lets = [steps.Let(op="let", into=name, value=const(index)) for index, name in enumerate(names)]
    text = rendered(
        tool(
            "do",
            steps.Case(intent="run", operations=lets, returns=exprs.ListOf(op="list", items=[var(n) for n in names])),
        )
    )
    namespace: dict[str, Any] = {}
    exec(compile(text, "backend.py", "exec"), namespace)
    assert namespace["TOOLS"]["do"](None, {}) == list(range(len(names)))


def test_arguments_may_be_called_anything() -> None:
    names = ("from", "class", "$filter", "2fa", 'quote"', "naïve", "back\\slash", "line\nbreak", "cik-A")
    given = {name: index for index, name in enumerate(names)}
    expr = exprs.ObjectOf(op="object", fields={name: arg(name) for name in names})
    namespace: dict[str, Any] = {}
    exec(compile(rendered(tool("do", steps.Case(intent="run", operations=(), returns=expr))), "b", "exec"), namespace)
    assert namespace["TOOLS"]["do"](None, given) == given


def test_texts_from_outside_cannot_leave_their_literal_or_docstring() -> None:
    nasty = 'a"""\nimport os\n"""\\N{DASH} \u202e\x00 end\\'
    case = steps.Case(intent="run", operations=(), returns=const(nasty))
    text = rendered(tool("do", case, summary=nasty), title=nasty)
    tree = ast.parse(text)
    assert [type(node).__name__ for node in tree.body] == [
        "Expr", "ImportFrom", "ImportFrom", "ImportFrom", "FunctionDef", "Assign", "FunctionDef",
    ]  # fmt: skip
    assert "\u202e" not in text
    namespace: dict[str, Any] = {}
    exec(compile(text, "b", "exec"), namespace)
    assert namespace["TOOLS"]["do"](None, {}) == nasty


def test_required_arguments_are_indexed_and_optional_ones_looked_up() -> None:
    assert body(arg("id"), required=("id",)) == "return args['id']"
    assert body(arg("id")) == "return or_null(args.get('id', ABSENT))"
    assert body(exprs.Coalesce(op="coalesce", items=(arg("limit"), const(20)))) == "return args.get('limit', 20)"


def test_what_is_required_is_not_believed_where_the_dialect_ignores_it() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "required": ["id"]}
    schema["definitions"] = {"a": {}}
    contract = tool("do", steps.Case(intent="run", operations=(), returns=arg("id")))
    spec = McpSpec(name="n", title="n", tools=(ToolSpec(name="do", input_schema=schema, declared={}),))
    assert 'args.get("id", ABSENT)' in render_backend(spec, steps.ContractSet(schema=SCHEMA, contracts=(contract,)))


def test_later_items_that_may_reject_are_evaluated_only_in_their_turn() -> None:
    risky = exprs.Cast(op="cast", of=arg("text"), to="integer")
    code = body(exprs.Coalesce(op="coalesce", items=(arg("n"), risky)))
    assert code.startswith("return or_null(first_of(lambda: args.get('n', ABSENT), lambda: cast_to(")


def test_conditions_read_like_python() -> None:
    def guard(condition: exprs.Condition) -> str:
        error = steps.ErrorSpec(code="invalid_argument", message="No.")
        return body(const(1), steps.Guard(op="guard", condition=condition, error=error)).split("\n")[0]

    present = exprs.Present(op="present", of=arg("x"))
    same = exprs.Compare(op="compare", test="eq", left=arg("x"), right=const("a"))
    among = exprs.Compare(op="compare", test="in", left=arg("x"), right=const(["a", "b"]))
    assert guard(present) == "if args.get('x') is None:"
    assert guard(exprs.Present(op="present", of=arg("x"), null_counts=True)) == "if 'x' not in args:"
    assert guard(exprs.Not(op="not", of=same)) == "if args.get('x') == 'a':"
    assert guard(among) == "if args.get('x') not in ('a', 'b'):"
    assert guard(exprs.Truthy(op="truthy", of=arg("x"))) == "if args.get('x') is not True:"
    assert (
        guard(exprs.AnyOf(op="any", of=(same, present)))
        == "if not (args.get('x') == 'a' or args.get('x') is not None):"
    )
    # 1 == True in Python but not in JSON, so numbers go through json_equal.
    assert guard(exprs.Compare(op="compare", test="eq", left=arg("x"), right=const(1))) == (
        "if not json_equal(args.get('x', ABSENT), 1):"
    )


def test_a_row_shape_that_tools_share_becomes_one_function() -> None:
    find = steps.Find(
        op="find", into="note", table="notes", where=(eq("id", arg("id")),),
        missing=steps.ErrorSpec(code="not_found", message="No."),
    )  # fmt: skip
    everything = exprs.MapOver(op="map", over=exprs.Select(op="select", table="notes"), name="n", value=row("n"))
    get = tool("get", steps.Case(intent="get", operations=(find,), returns=row("note")))
    listing = tool("list_all", steps.Case(intent="list", operations=(), returns=everything))
    both, alone = rendered(get, listing), rendered(get)
    assert both.count("def _note(row: dict[str, Any])") == 1
    assert "return _note(note)" in both
    assert '[_note(n) for n in state.select("notes")]' in both
    assert "def _note(" not in alone
    assert 'return {"id": note["id"], "title": note["title"]}' in alone


def test_what_nobody_uses_is_not_kept_in_a_variable() -> None:
    insert = steps.Insert(op="insert", into="made", table="notes", values={"title": arg("title")})
    assert body(const(True), insert, steps.Let(op="let", into="x", value=const(1)), required=("title",)) == (
        "state.insert('notes', {'title': args['title']})\nreturn True"
    )


def test_cases_become_functions_behind_a_dispatch() -> None:
    cases = [
        steps.Case(when={"action": "get it"}, intent="get", operations=(), returns=const(1)),
        steps.Case(when={"action": 2}, intent="put", operations=(), returns=const(2)),
        steps.Case(intent="rest", operations=(), returns=const(3)),
        steps.Case(when={"action": "never"}, intent="never", operations=(), returns=const(4)),
    ]
    text = rendered(tool("do", *cases))
    assert 'if args.get("action") == "get it":\n        return _do_get_it(state, args)' in text
    assert 'if selects(args, {"action": 2}):\n        return _do_2(state, args)' in text
    assert "    return _do_rest(state, args)" in text
    assert "never(state" not in text
    namespace: dict[str, Any] = {}
    exec(compile(text, "b", "exec"), namespace)
    run = namespace["TOOLS"]["do"]
    assert [run(None, {"action": action}) for action in ("get it", 2, 2.0, True)] == [1, 2, 2, 3]


def test_lines_stay_within_the_width_where_there_is_a_place_to_break() -> None:
    fields = {
        f"field_{number}": exprs.Coalesce(op="coalesce", items=(arg("a", "b"), arg("c", "d"))) for number in range(9)
    }
    condition = exprs.AllOf(
        op="all", of=tuple(exprs.Present(op="present", of=arg("argument", str(n))) for n in range(9))
    )
    choice = exprs.Choose(
        op="choose", condition=condition, then=exprs.ObjectOf(op="object", fields=fields), otherwise=const("x" * 60)
    )
    text = rendered(tool("do", steps.Case(intent="run", operations=(), returns=choice)))
    assert max(map(len, text.split("\n"))) <= WIDTH
    ast.parse(text)


@pytest.mark.parametrize("value", ["", 'a"b', "tab\t", "\\", "é", "\u2028", "\ud83d", "🍸", "\x7f", "a\r\n"])
def test_a_text_literal_means_its_text(value: str) -> None:
    assert ast.literal_eval(text_literal(value)) == value
    assert text_literal(value).encode("utf-8").isascii() or value.isprintable()


@pytest.mark.parametrize("value", [None, True, 0, -1.5, 1e300, [], [1, {"a": [None]}], {"k": "v"}, list(range(200))])
def test_a_literal_means_its_value(value: Any) -> None:
    text = "\n".join(lines(literal(value)))
    assert json.dumps(ast.literal_eval(text)) == json.dumps(value)
    assert max(map(len, text.split("\n"))) <= WIDTH


def test_a_constant_that_is_not_json_is_refused() -> None:
    with pytest.raises(InputError, match="not JSON"):
        literal({"a": float("nan")})


def test_a_long_chain_is_put_in_parentheses_and_a_bare_one_is_not() -> None:
    chain = Chain((("", Atom("a" * 60)), ("if", Atom("b" * 60)), ("else", Atom("c"))))
    assert lines(chain, 0, "x = ") == ["x = (", "    " + "a" * 60, "    if " + "b" * 60, "    else c", ")"]
    inside = Group("[", (Chain(chain.parts[:2], bare=True),), "]", comma=False)
    assert lines(inside) == ["[", "    " + "a" * 60, "    if " + "b" * 60, "]"]


def test_docstrings_are_wrapped_with_a_summary_line() -> None:
    assert docstring(["Short."], 4) == ['    """Short."""']
    assert docstring(["One.", "- a: b\n- c: d"], 4) == ['    """One.', "", "    - a: b", "    - c: d", '    """']
    assert docstring(["back\\slash"], 0) == ['r"""back\\slash"""']


def test_names_are_given_once() -> None:
    names = Names()
    assert [names.take(name) for name in ("note", "Note", "note", "class", "class", "createdAt", "日本")] == [
        "note", "note_2", "note_3", "class_", "class_2", "created_at", "value",
    ]  # fmt: skip
    assert names.take("note", private=True) == "_note"
    assert names.borrow("note", {"note"}) == "note_2"
    assert names.borrow("note", frozenset()) == "note"
