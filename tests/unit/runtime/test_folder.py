import json
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.errors import FormatError, InputError, IntegrityError
from weft.records.certificate import EnvironmentCertificate
from weft.records.environment import Environment
from weft.runtime.backend import render_of
from weft.runtime.folder import read_folder, write_folder


def certified(notes: Environment) -> Environment:
    certificate = EnvironmentCertificate(
        name="notes", environment=notes.hash, kind="stateful", soundness=(), tools=(), weft="test"
    )
    return notes.model_copy(update={"certificate": certificate})


@pytest.fixture
def folder(notes: Environment, tmp_path: Path) -> Path:
    environment = certified(notes)
    write_folder(environment, tmp_path / "envs" / "notes", backend=render_of(environment))
    return tmp_path / "envs" / "notes"


def test_what_is_written_is_read_back_equal(folder: Path, notes: Environment) -> None:
    read = read_folder(folder)
    assert read == certified(notes)
    assert read.hash == notes.hash
    assert sorted(path.name for path in folder.iterdir()) == [
        "backend.py", "certificate.json", "contracts.json", "schema.sql", "seed.json", "spec.json", "tests.json",
        "workspace",
    ]  # fmt: skip
    assert (folder / "workspace" / "pages" / "welcome.md").read_bytes() == b"# Welcome\nRead me.\n"
    assert (folder / "workspace" / "empty").is_dir()
    assert "files" not in json.loads((folder / "seed.json").read_bytes())


def test_writing_twice_gives_the_same_bytes_and_leaves_nothing_beside(folder: Path, notes: Environment) -> None:
    def content() -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = content()
    (folder.parent / ".notes.new").mkdir()  # a writer that was killed
    (folder.parent / ".notes.old").mkdir()
    write_folder(certified(notes), folder, backend=render_of(notes))
    assert content() == before
    assert [path.name for path in folder.parent.iterdir()] == ["notes"]


def test_an_environment_without_certificate_or_tests_is_fine(notes: Environment, tmp_path: Path) -> None:
    bare = notes.model_copy(update={"tests": ()})
    write_folder(bare, tmp_path / "bare", backend=render_of(bare))
    assert read_folder(tmp_path / "bare") == bare


def test_a_place_that_holds_something_else_is_not_replaced(notes: Environment, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="mine is there and is no environment folder"):
        write_folder(notes, tmp_path / "mine", backend="")
    assert (tmp_path / "mine" / "thesis.txt").exists()
    (tmp_path / "hollow").mkdir()
    write_folder(notes, tmp_path / "hollow", backend=render_of(notes))
    assert read_folder(tmp_path / "hollow").name == "notes"


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return apply


def put(name: str, data: bytes) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)

    return apply


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (lambda folder: (folder / "spec.json").unlink(), FormatError, r"notes/spec\.json: cannot be read"),
        (lambda folder: (folder / "backend.py").unlink(), FormatError, r"notes/backend\.py: cannot be read"),
        (put("spec.json", b"{"), FormatError, r"notes/spec\.json: not valid JSON"),
        (put("contracts.json", b"[]"), FormatError, r"notes/contracts\.json: \(root\)"),
        (edit("spec.json", '"title": "Notes"', '"title": 5'), FormatError, r"notes/spec\.json: title"),
        (edit("contracts.json", '"op": "insert"', '"op": "eval"'), FormatError, r"notes/contracts\.json: contracts/0"),
        (edit("contracts.json", '"tool": "get_note"', '"tool": "nope"'), FormatError, "1/tool: 'nope' is not in"),
        (edit("contracts.json", '"function": "get_note"', '"function": "create_note"'), FormatError, "is there twice"),
        (edit("contracts.json", '"no note {id}"', '"no note"'), IntegrityError, r"notes/backend\.py: .*not trusted"),
        (edit("contracts.json", '"default": "open"', '"default": "done"'), IntegrityError, r"certificate\.json"),
        (edit("schema.sql", "STRICT", "strict"), IntegrityError, r"notes/schema\.sql"),
        (edit("backend.py", "import", "import os, "), IntegrityError, r"notes/backend\.py"),
        (put("backend.py", b"\xff"), FormatError, r"notes/backend\.py: is not UTF-8"),
        (edit("seed.json", '"title": "Buy milk"', '"title": 5'), FormatError, "table 'notes', row 0, column 'title'"),
        (edit("seed.json", '"rows"', '"clock": "noon", "rows"'), FormatError, r"seed\.json: clock"),
        (edit("seed.json", '"rows"', '"files": {"a": "b"}, "rows"'), FormatError, r"seed\.json: files"),
        (edit("seed.json", "Buy milk", "Buy soap"), IntegrityError, r"certificate\.json: environment"),
        (put("tests.json", b"{}"), FormatError, r"tests\.json: \(root\)"),
        (put("tests.json", b'[{"name": 1}]'), FormatError, r"tests\.json: 0"),
        (put("certificate.json", b"{}"), FormatError, r"notes/certificate\.json"),
        (put("workspace/pages/x.bin", b"\xff\x00"), FormatError, r"workspace/pages/x\.bin: is not UTF-8"),
        (put("workspace/new.txt", b"x"), IntegrityError, r"certificate\.json: environment"),
        (lambda folder: (folder / "workspace" / "l").symlink_to("/etc"), FormatError, "l: is a symbolic link"),
    ],
)  # fmt: skip
def test_damage_is_named_by_file_and_field(
    folder: Path, damage: Callable[[Path], None], error: type[Exception], message: str
) -> None:
    damage(folder)
    with pytest.raises(error, match=message) as caught:
        read_folder(folder)
    assert str(folder.parent) not in str(caught.value)


def test_reading_runs_nothing_of_the_folder(folder: Path, tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    text = (folder / "backend.py").read_text(encoding="utf-8")
    (folder / "backend.py").write_text(f"open({str(trap)!r}, 'w')\n" + text, encoding="utf-8")
    with pytest.raises(IntegrityError):
        read_folder(folder)
    assert not trap.exists()


def test_a_folder_without_workspace_has_no_files(notes: Environment, tmp_path: Path) -> None:
    bare = notes.model_copy(update={"seed": notes.seed.model_copy(update={"files": {}})})
    write_folder(bare, tmp_path / "bare", backend=render_of(bare))
    (tmp_path / "bare" / "workspace").rmdir()
    assert read_folder(tmp_path / "bare") == bare


def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"nowhere/spec\.json: cannot be read"):
        read_folder(tmp_path / "nowhere")
