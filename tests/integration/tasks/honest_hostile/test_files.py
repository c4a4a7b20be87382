"""Tasks on workspace files, over a hand-written file server."""

from collections.abc import Callable
from typing import Any

from weft.agents.rules.tasks.author import RulesTaskAuthor
from weft.hosts.local import LocalHost
from weft.records.contract import ArgumentUse, Case, Contract, ContractSet, WriteFiles
from weft.records.environment import Environment
from weft.records.expression import Expr, ReadFiles, arg, obj, var
from weft.records.library import AtomicLibrary
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import DatabaseSchema, InitialState
from weft.tasks.atomic import build_atomic

FILES = {
    "notes/roadmap.md": "Roadmap\nShip the importer in May.\nHire two people.\n",
    "notes/budget.md": "Budget\nKeep the travel costs low.\n",
    "docs/guide.md": "Read this first.\n",
    "docs/faq.md": "Ask Ann.\n",
}


def tool(name: str, intent: str, operation: WriteFiles | None, returns: Expr, *paths: str) -> tuple[ToolSpec, Contract]:
    schema = {
        "type": "object",
        "properties": {path: {"type": "string"} for path in paths},
        "required": list(paths),
        "additionalProperties": False,
    }
    roles: dict[str, Any] = {"text": "content", "old": "content", "new": "content", "pattern": "search"}
    case = Case(
        intent=intent,
        operations=(operation,) if operation else (),
        returns=returns,
        reads=("files",),
        writes=("files",) if operation else (),
    )
    uses = tuple(
        ArgumentUse(path=path, role=roles.get(path, "path"), provenance="declared", required=True) for path in paths
    )
    effect: Any = "write" if operation else "read"
    contract = Contract(tool=name, function=name, effect=effect, cases=(case,), arguments=uses, returns_schema={})
    return ToolSpec(name=name, input_schema=schema, declared={"name": name}), contract


def write(fn: Any, **more: Any) -> WriteFiles:
    return WriteFiles(op="write_files", into="done", fn=fn, path=arg("path"), **more)


def read(fn: Any, **more: Any) -> ReadFiles:
    return ReadFiles(op="files", fn=fn, path=arg("path"), **more)


TOOLS = (
    tool("write_text", "write_file", write("write", text=arg("text")), var("done"), "path", "text"),
    tool("append_text", "append", write("append", text=arg("text")), var("done"), "path", "text"),
    tool("edit_text", "edit", write("edit", old=arg("old"), new=arg("new")), var("done"), "path", "old", "new"),
    tool("move_item", "move", write("move", target=arg("target")), var("done"), "path", "target"),
    tool("delete_item", "delete", write("delete"), var("done"), "path"),
    tool("make_folder", "create", write("mkdir"), var("done"), "path"),
    tool("read_text", "read_file", None, obj(content=read("text")), "path"),
    tool("list_folder", "list", None, obj(entries=read("list")), "path"),
    tool("file_size", "stat", None, obj(file=read("stat")), "path"),
    tool(
        "find_files", "search", None, obj(paths=ReadFiles(op="files", fn="search", pattern=arg("pattern"))), "pattern"
    ),
)
BINDER = Environment(
    spec=McpSpec(name="binder", title="Binder", tools=tuple(spec for spec, _ in TOOLS)),
    contracts=ContractSet(schema=DatabaseSchema(), contracts=tuple(contract for _, contract in TOOLS)),
    seed=InitialState(files=FILES),
)


def test_every_file_tool_gets_a_certified_task(local: LocalHost, run: Callable[..., Any]) -> None:
    async def build() -> AtomicLibrary:
        return await build_atomic(BINDER, RulesTaskAuthor(), local, seed=4)

    library = run(build)
    assert library.uncovered == ()
    assert [item.refusal.message for item in library.findings if item.refusal.code != "redundant"] == []
    kinds = {task.kind for task in library.tasks}
    assert {"file_append", "file_edit", "file_move", "file_delete", "file_mkdir", "file_copy_text"} <= kinds
    copy = next(item for item in library.solutions if item.chain == ("read_text", "write_text"))
    assert copy.verifier.files[0].after is not None
    assert copy.verifier.files[0].after.value in FILES.values()
