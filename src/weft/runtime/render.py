"""Renders ``backend.py`` of an environment from its contracts (Weft 3.1.1, executable backend; pure).

The text is deterministic and written to be read: one function per tool, called like the interpreter would run the
contract. Because it can be rendered again byte for byte, a backend that equals its rendering is trusted code and may
share a process with others. What it imports is this package's runtime and the standard library.
"""

import re
from collections.abc import Sequence

from weft.records import contract as steps
from weft.records.spec import McpSpec
from weft.runtime.dialects import reading_of
from weft.runtime.render_expressions import ExpressionRenderer
from weft.runtime.render_layout import (
    INDENT,
    WIDTH,
    Atom,
    Chain,
    Doc,
    Group,
    Label,
    call,
    docstring,
    lines,
    literal,
    text_literal,
)
from weft.runtime.render_names import HELPERS, Names
from weft.runtime.render_operations import BodyWriter
from weft.runtime.render_scope import Kind, Local, RowShape, RowShapes, Scope

MAX_SUMMARY = 400
MAX_TITLE = WIDTH - 12
_NAME = re.compile(r'"""[\s\S]*?"""|"(?:[^"\\]|\\.)*"|([A-Za-z_]\w*)')
"""Names in rendered code; texts, which are always double-quoted, are matched without one."""


def render_backend(spec: McpSpec, contracts: steps.ContractSet) -> str:
    """Return the text of ``backend.py``.

    Args:
        spec: the environment's spec.
        contracts: its contracts and schema.

    Raises:
        InputError: a contract holds a constant that is not JSON.
    """
    counting = RowShapes(contracts.schema_)
    _Module(spec, contracts, counting).functions()
    names = Names()
    functions = {contract.tool: names.take_exactly(contract.function) for contract in contracts.contracts}
    shapes = RowShapes(contracts.schema_, names, counting.repeated())
    module = _Module(spec, contracts, shapes, names, functions)
    bodies = module.functions()
    rows = module.row_functions()
    tail = module.tail()
    imports = module.imports([*rows, *bodies, *tail])
    head = "\n".join([*docstring(_about(spec), 0), "", *imports])
    gap = "\n\n\n" if rows or bodies else "\n\n"
    return head + gap + "\n\n\n".join("\n".join(block) for block in [*rows, *bodies, *tail]) + "\n"


class _Module:
    """One backend while it is rendered."""

    def __init__(
        self,
        spec: McpSpec,
        contracts: steps.ContractSet,
        shapes: RowShapes,
        names: Names | None = None,
        functions: dict[str, str] | None = None,
    ) -> None:
        self.contracts = contracts
        self.shapes = shapes
        self.names = names or Names()
        self.tools = functions or {contract.tool: contract.function for contract in contracts.contracts}
        self._required = {tool.name: _required(tool.input_schema) for tool in spec.tools}

    def functions(self) -> list[list[str]]:
        """The blocks of the tools' functions."""
        blocks: list[list[str]] = []
        for contract in self.contracts.contracts:
            blocks += self._tool(contract)
        return blocks

    def _tool(self, contract: steps.Contract) -> list[list[str]]:
        name = self.tools[contract.tool]
        if len(contract.cases) == 1 and not contract.cases[0].when:
            case = contract.cases[0]
            return [[*_signature(name), *docstring(_about_tool(contract), INDENT), *self._body(contract, case)]]
        blocks, choices = [], []
        for case in contract.cases:
            part = self.names.take(f"{name} {_case_words(case)}", private=True)
            about = docstring([_about_case(case)[0], " ".join(_about_case(case)[1:])], INDENT)
            blocks.append([*_signature(part), *about, *self._body(contract, case)])
            choices += self._choice(contract, case, part)
            if not case.when:  # the rest can never run
                break
        else:
            whens = literal([case.when for case in contract.cases])
            choices += lines(call("no_case", Atom("args"), whens), INDENT, "raise ")
        return [*blocks, [*_signature(name), *docstring(_about_tool(contract), INDENT), *choices]]

    def _choice(self, contract: steps.Contract, case: steps.Case, part: str) -> list[str]:
        run = f"return {part}(state, args)"
        if not case.when:
            return [" " * INDENT + run]
        doc: Doc = call("selects", Atom("args"), literal(case.when))
        if all(isinstance(value, str) and "." not in name for name, value in case.when.items()):
            required = self._required.get(contract.tool, frozenset())
            parts = [
                f"args[{text_literal(name)}] == {text_literal(value)}"
                if name in required
                else f"args.get({text_literal(name)}) == {text_literal(value)}"
                for name, value in case.when.items()
            ]
            doc = Chain(tuple(("and" if index else "", Atom(part)) for index, part in enumerate(parts)))
        return [*lines(doc, INDENT, "if ", ":"), " " * 2 * INDENT + run]

    def _body(self, contract: steps.Contract, case: steps.Case) -> list[str]:
        required = self._required.get(contract.tool, frozenset())
        renderer = ExpressionRenderer(required, Names(), self.shapes)
        return BodyWriter(renderer, case, counting=self.shapes.counting).write(case, INDENT)

    def row_functions(self) -> list[list[str]]:
        """The blocks of the functions that make objects of rows; rendering one may call for another."""
        blocks: list[list[str]] = []
        done: set[str] = set()
        while missing := [shape for key, shape in self.shapes.functions.items() if key not in done]:
            done.update(self.shapes.functions)
            blocks += [self._row_function(shape) for shape in missing]
        return blocks

    def _row_function(self, shape: RowShape) -> list[str]:
        renderer = ExpressionRenderer(frozenset(), Names(), self.shapes)
        scope = Scope({shape.variable: Local("row", Kind("row", shape.table))})
        code = renderer.display(shape.expr, scope)
        state = "state: State, " if shape.reads_state else ""
        return [
            f"def {shape.name}({state}row: dict[str, Any]) -> dict[str, Any]:",
            *docstring([f"What tools show of a row of {shape.table}."], INDENT),
            *lines(code.doc, INDENT, "return "),
        ]

    def imports(self, blocks: Sequence[Sequence[str]]) -> list[str]:
        """The import block: what the blocks use, of what rendered code may use."""
        used = set(_NAME.findall("\n".join(line for block in blocks for line in block)))
        found = ["from typing import Any", ""]
        for module, helpers in HELPERS.items():
            names = sorted((name for name in helpers if name in used), key=_import_order)
            if names:
                flat = f"from {module} import {', '.join(names)}"
                opened = [f"from {module} import (", *(f"    {name}," for name in names), ")"]
                found += [flat] if len(flat) <= WIDTH else opened
        return found

    def tail(self) -> list[list[str]]:
        """The table of tools and the application."""
        items = tuple(Label(f"{text_literal(tool)}: ", Atom(name)) for tool, name in self.tools.items())
        table = lines(Group("{", items, "}"), 0, "TOOLS = ")
        app = [
            "def app() -> Any:",
            *docstring(["Return the tools as a FastAPI application: uvicorn --factory backend:app."], INDENT),
            "    return application(__file__, TOOLS)",
        ]
        return [table, app]


def _import_order(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as import sorters have it."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _signature(name: str) -> list[str]:
    doc = Group(f"def {name}(", (Atom("state: State"), Atom("args: dict[str, Any]")), ")")
    return lines(doc, 0, after=" -> Any:")


def _required(schema: object) -> frozenset[str]:
    """Arguments that are there in every call that passes the input schema."""
    if not isinstance(schema, dict):
        return frozenset()
    reading = reading_of(schema)
    if "$ref" in schema and (reading.dialect is None or reading.dialect.ignores_beside_ref):
        return frozenset()
    names = schema.get("required")
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def _about(spec: McpSpec) -> list[str]:
    told = [f"Backend of the environment {spec.name}."]
    if spec.title and spec.title != spec.name and len(spec.title) + len(spec.name) < MAX_TITLE - 32:
        told = [f"Backend of the environment {spec.name} ({_one_line(spec.title, 80)})."]
    if spec.description:
        told.append(_one_line(spec.description, MAX_SUMMARY))
    told.append(
        "Rendered from contracts.json: change the contracts and render again, for a backend that differs from its "
        "rendering is not served. Each function runs one tool on a session's state; the caller checks the arguments "
        "and opens the transaction."
    )
    return told


def _about_tool(contract: steps.Contract) -> list[str]:
    told = _summary(contract.summary or f"Run the tool {contract.tool}")
    if len(contract.cases) == 1 and not contract.cases[0].when:
        told.append(" ".join(_about_case(contract.cases[0])))
    else:
        told.append("\n".join(f"- {_when_words(case)}: {' '.join(_about_case(case))}" for case in contract.cases))
    if contract.errors:
        told.append(f"Rejects with: {', '.join(contract.errors)}.")
    return told


def _about_case(case: steps.Case) -> list[str]:
    told = [f"Kind: {case.intent}{f', on {case.table}' if case.table else ''}."]
    told += [f"Reads {', '.join(case.reads)}."] if case.reads else []
    told += [f"Writes {', '.join(case.writes)}."] if case.writes else []
    return told


def _when_words(case: steps.Case) -> str:
    return " and ".join(f"{name} {literal(value).flat}" for name, value in case.when.items()) or "else"


def _case_words(case: steps.Case) -> str:
    return " ".join(str(value) for value in case.when.values()) or case.intent or "else"


def _summary(text: str) -> list[str]:
    """A text as the first line of a docstring and, where that is too short for it, the whole below."""
    line = _one_line(text, MAX_SUMMARY)
    line = line[:1].upper() + line[1:]
    line = line if line.endswith((".", "!", "?", "…")) else f"{line}."
    if len(line) <= MAX_TITLE:
        return [line]
    first = line.partition(". ")[0] + "."
    if len(first) <= MAX_TITLE:
        return [first, line[len(first) + 1 :]]
    return [line[: MAX_TITLE - 1].rpartition(" ")[0] + "…", line]


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
