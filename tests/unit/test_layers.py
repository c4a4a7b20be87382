"""Holds how the package is layered: who may import whom, and a few rules that a reader relies on.

The source is read, never imported, so that the table also holds for modules whose optional packages are
absent. Every rule is shown to fail on a small package that breaks it.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "weft"

BASE = frozenset({"records", "ports", "config", "errors"})
GROUND = BASE | {"runtime"}
ROLES = GROUND | {"agents"}

PARTS = frozenset({"catalog", "envs", "tasks", "verify", "rollouts", "evolve", "train", "arena", "evaluation"})
ADAPTERS = frozenset({"hosts", "megamcp", "llm", "store"})

# package -> the packages of weft that it may import. A package without a row fails the test: give it one.
MAY_IMPORT: dict[str, frozenset[str]] = {
    "errors": frozenset(),
    "config": frozenset({"errors"}),
    "records": frozenset({"errors", "config"}),
    "ports": frozenset({"records", "errors", "config"}),
    "runtime": BASE,
    "agents": GROUND,
    # parts, lowest row first; those of one row do not import each other
    "catalog": ROLES,
    "verify": ROLES,
    "envs": ROLES | {"catalog", "verify"},
    "tasks": ROLES | {"catalog", "verify"},
    "rollouts": ROLES | {"catalog", "verify"},
    "evolve": ROLES | {"catalog", "verify", "envs", "tasks", "rollouts"},
    "train": ROLES | {"verify", "rollouts"},
    "evaluation": ROLES | {"catalog", "verify", "envs", "tasks", "rollouts"},
    "arena": ROLES | {"catalog", "verify", "envs", "tasks", "rollouts", "train"},
    # adapters
    "llm": BASE,
    "store": BASE,
    "hosts": GROUND,
    "megamcp": GROUND | {"store"},
    "testing": BASE,
    # the top
    "dashboard": BASE,
    "wiring": ROLES | PARTS | ADAPTERS | {"dashboard"},
    "cli": frozenset({"wiring", "config", "dashboard", "records", "errors"}),
    "__init__": frozenset(),
    "__main__": frozenset({"cli"}),
}

# Heavy and optional: these may be imported inside a function: the core works without them, or starts faster.
MAY_BE_IMPORTED_LATE = frozenset(
    {
        "accelerate",
        "datasets",
        "fastapi",
        "obstore",
        "peft",
        "psycopg",
        "pyarrow",
        "ray",
        "tokenizers",
        "torch",
        "transformers",
        "trl",
        "uvicorn",
    }
)

MAX_LINES = 800
EMPTY_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc", "core"})
ENVIRONMENT_READERS = frozenset({"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"})


@dataclass(frozen=True)
class Import:
    """One imported module, absolute; `late` is inside a function, `typing` is under TYPE_CHECKING."""

    target: str
    line: int
    late: bool
    typing: bool


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    tree: ast.Module
    lines: int

    @property
    def package(self) -> str:
        """The row of the table: the first name below weft."""
        return package_of(self.name) or "__init__"


def package_of(target: str) -> str:
    """`weft.envs.schema` -> `envs`; `weft` itself -> the empty name."""
    return [*target.split("."), ""][1]


def read_modules(source: Path) -> dict[str, Module]:
    modules = {}
    for path in sorted(source.rglob("*.py")):
        parts = ("weft", *path.relative_to(source).with_suffix("").parts)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        modules[name] = Module(name, path, ast.parse(text, str(path)), text.count("\n"))
    return modules


def imports_of(module: Module, known: dict[str, Module]) -> Iterator[Import]:
    """Every import of a module; `from weft.records import spec` names the module when there is one."""

    def visit(node: ast.AST, late: bool, typing: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, late, typing)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module.path}:{node.lineno}: relative import; write it from weft on"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield Import(full if full in known else str(node.module), node.lineno, late, typing)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                yield from visit(child, late, True)
            for child in node.orelse:
                yield from visit(child, late, typing)
        else:
            inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from visit(child, inside, typing)

    yield from visit(module.tree, False, False)


def is_own(target: str) -> bool:
    return target == "weft" or target.startswith("weft.")


def wrong_directions(modules: dict[str, Module]) -> list[str]:
    found = []
    for module in modules.values():
        if module.package not in MAY_IMPORT:
            found.append(f"{module.path}: package '{module.package}' has no row in MAY_IMPORT")
            continue
        # The root holds only the version, so everyone may read it.
        allowed = MAY_IMPORT[module.package] | {module.package, ""}
        found += [
            f"{module.path}:{seen.line}: {module.package} may not import {seen.target}"
            for seen in imports_of(module, modules)
            if is_own(seen.target) and package_of(seen.target) not in allowed
        ]
    return found


def cycles(modules: dict[str, Module]) -> list[str]:
    """The first cycle among imports that run when a module is loaded, as a path of names."""
    graph = {
        name: {
            seen.target
            for seen in imports_of(module, modules)
            if seen.target in modules and not seen.late and not seen.typing
        }
        for name, module in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def late_imports(modules: dict[str, Module]) -> list[str]:
    return [
        f"{module.path}:{seen.line}: {seen.target} is imported inside a function"
        for module in modules.values()
        for seen in imports_of(module, modules)
        if seen.late and seen.target.split(".")[0] not in MAY_BE_IMPORTED_LATE
    ]


def too_long(modules: dict[str, Module]) -> list[str]:
    return [f"{m.path}: {m.lines} lines; split it by noun" for m in modules.values() if m.lines > MAX_LINES]


def empty_names(modules: dict[str, Module]) -> list[str]:
    return [
        f"{module.path}: a module named for nothing in particular"
        for module in modules.values()
        if EMPTY_NAMES & set(module.name.split("."))
    ]


def environment_reads(modules: dict[str, Module]) -> list[str]:
    found = []
    for module in modules.values():
        if module.package == "cli":
            continue
        for node in ast.walk(module.tree):
            attribute = isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT_READERS
            named = (
                isinstance(node, ast.ImportFrom)
                and node.module == "os"
                and any(alias.name in ENVIRONMENT_READERS for alias in node.names)
            )
            if (attribute and ast.unparse(node.value) == "os") or named:
                found.append(f"{module.path}:{node.lineno}: only weft.cli reads the environment")
    return found


RULES = [wrong_directions, cycles, late_imports, too_long, empty_names, environment_reads]


@pytest.fixture(scope="module")
def modules() -> dict[str, Module]:
    found = read_modules(SOURCE)
    assert "weft.cli.main" in found, f"no package at {SOURCE}"
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule, modules: dict[str, Module]) -> None:  # noqa: ANN001
    assert not (found := rule(modules)), "\n" + "\n".join(found)


def test_no_part_may_import_an_adapter_and_no_adapter_a_part() -> None:
    for part in PARTS:
        assert not MAY_IMPORT[part] & ADAPTERS, part
    for adapter in ADAPTERS:
        assert not MAY_IMPORT[adapter] & PARTS, adapter


def test_the_table_itself_has_no_cycle() -> None:
    order = list(TopologicalSorter(MAY_IMPORT).static_order())
    assert order.index("errors") < order.index("records") < order.index("wiring") < order.index("cli")


BROKEN = [
    (wrong_directions, {"envs/a.py": "from weft.hosts import local\n", "hosts/local.py": ""}),
    (wrong_directions, {"records/a.py": "import weft.runtime.state\n", "runtime/state.py": ""}),
    (wrong_directions, {"envs/a.py": "from weft import tasks\n", "tasks/__init__.py": ""}),
    (wrong_directions, {"surprise/a.py": ""}),
    (cycles, {"envs/a.py": "from weft.envs import b\n", "envs/b.py": "from weft.envs.a import f\n"}),
    (late_imports, {"envs/a.py": "def f():\n    from weft.envs import b\n", "envs/b.py": ""}),
    (late_imports, {"envs/a.py": "async def f():\n    import json\n"}),
    (too_long, {"envs/a.py": "x = 1\n" * (MAX_LINES + 1)}),
    (empty_names, {"envs/utils.py": ""}),
    (empty_names, {"common/a.py": ""}),
    (environment_reads, {"envs/a.py": "import os\nhome = os.environ['HOME']\n"}),
    (environment_reads, {"envs/a.py": "from os import getenv\n"}),
]


def write(folder: Path, files: dict[str, str]) -> dict[str, Module]:
    for name, text in {"__init__.py": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_modules(folder)


@pytest.mark.parametrize(("rule", "files"), BROKEN)
def test_a_broken_package_is_caught(rule, files: dict[str, str], tmp_path: Path) -> None:  # noqa: ANN001
    assert rule(write(tmp_path, files))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_sound_package_passes(rule, tmp_path: Path) -> None:  # noqa: ANN001
    sound = {
        "errors.py": "",
        "records/__init__.py": "",
        "records/spec.py": "from weft import __version__\nfrom weft.errors import WeftError\n",
        "envs/build.py": "from weft.records import spec\ndef f():\n    import torch.nn\n",
        "cli/main.py": "import os\nhome = os.environ['HOME']\n",
        "catalog/a.py": "import typing\nif typing.TYPE_CHECKING:\n    from weft.catalog import b\n",
        "catalog/b.py": "from weft.catalog import a\n",
    }
    assert not rule(write(tmp_path, sound))
