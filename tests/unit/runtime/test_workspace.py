from collections.abc import Callable
from typing import Any

import pytest

from weft.errors import InputError, ToolRejection
from weft.runtime.values import ABSENT
from weft.runtime.workspace import Workspace, diff_files


@pytest.fixture
def tree() -> Workspace:
    return Workspace({
        "readme.md": "Hello\nWorld\nhello again\n",
        "docs/a.txt": "alpha",
        "docs/deep/b.txt": "bêta\r\nBÊTA",
        "empty/": "",
    })  # fmt: skip


def rejected(code: str, run: Callable[[], Any]) -> ToolRejection:
    with pytest.raises(ToolRejection) as caught:
        run()
    assert caught.value.code == code, caught.value
    return caught.value


@pytest.mark.parametrize(
    "path",
    ["docs/a.txt", "./docs//a.txt", "/docs/a.txt", "/workspace/docs/a.txt", "docs/deep/../a.txt", "docs/./a.txt/"],
)
def test_one_file_has_many_spellings(tree: Workspace, path: str) -> None:
    assert tree.text(path) == "alpha"


@pytest.mark.parametrize(
    "path",
    ["../a.txt", "docs/../../x", "/etc/hostname", "/proc/self/environ", "/workspace/../x", "/workspace-secret/x", "~/x",
     "~root", "..\\x", "C:\\x", "C:/x", "file:///etc/passwd", "https://x.example/a", "//server/share", "/.."],
)  # fmt: skip
def test_paths_that_leave_the_workspace_are_refused_in_words(tree: Workspace, path: str) -> None:
    for run in (
        lambda: tree.text(path),
        lambda: tree.write(path, "x"),
        lambda: tree.copy("docs", path),
        lambda: tree.move("docs", path),
        lambda: tree.mkdir(path),
        lambda: tree.entries(path),
    ):
        error = rejected("outside_workspace", run)
        assert "outside the workspace" in str(error)
        assert "/workspace" in str(error)
    assert not tree.changed


@pytest.mark.parametrize("path", ["a\0.png", "\ud800", "x" * 256, 3, None, True])
def test_paths_that_are_no_paths_are_refused(tree: Workspace, path: object) -> None:
    rejected("invalid_argument", lambda: tree.write(path, "x"))
    assert not tree.changed


def test_names_in_any_script_and_with_control_characters_round_trip(tree: Workspace) -> None:
    for name in ("日本/ノート.txt", "שלום.txt", "e\u0301", "tab\there", "a b", "..hidden", "-rf", "*.txt"):
        tree.write(name, "𝄞\0\ufeff\u2028")
        assert tree.text(name) == "𝄞\0\ufeff\u2028"
        assert name in tree.files()


def test_the_root_that_agents_see_can_be_chosen() -> None:
    tree = Workspace({"a/b.txt": "x"}, root="/data/projects/")
    assert tree.text("/data/projects/a/b.txt") == "x"
    assert rejected("outside_workspace", lambda: tree.text("/data/other/b.txt")).details["root"] == "/data/projects"
    assert Workspace({"a/b.txt": "x"}, root="/").text("/a/b.txt") == "x"


def test_listing_gives_name_path_type_and_size(tree: Workspace) -> None:
    assert tree.read_files("list") == [
        {"name": "docs", "path": "docs", "type": "directory", "size": 0},
        {"name": "empty", "path": "empty", "type": "directory", "size": 0},
        {"name": "readme.md", "path": "readme.md", "type": "file", "size": 24},
    ]
    assert [entry["path"] for entry in tree.entries("docs", recursive=True)] == [
        "docs/a.txt", "docs/deep", "docs/deep/b.txt",
    ]  # fmt: skip
    assert tree.stat("docs/deep/b.txt")["size"] == 12
    assert tree.tree("docs")["children"][1]["children"] == [
        {"name": "b.txt", "path": "docs/deep/b.txt", "type": "file", "size": 12}
    ]


def test_heads_and_tails_are_lines(tree: Workspace) -> None:
    assert tree.read_files("text", "readme.md", head=1) == "Hello\n"
    assert tree.read_files("text", "readme.md", tail=2.0, head=ABSENT) == "World\nhello again\n"
    assert tree.text("readme.md", head=2, tail=1) == "World\n"
    assert tree.text("readme.md", head=0) == ""
    assert tree.text("readme.md", tail=99) == tree.text("readme.md")
    for wrong in (-1, 1.5, True, "x", float("inf")):
        rejected("invalid_argument", lambda wrong=wrong: tree.text("readme.md", head=wrong))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.TXT", ["docs/a.txt", "docs/deep/b.txt"]),
        ("**/*.md", ["readme.md"]),
        ("docs/*/b.txt", ["docs/deep/b.txt"]),
        ("ead", ["readme.md"]),
        ("e?pty", ["empty"]),
        ("", ["docs", "docs/a.txt", "docs/deep", "docs/deep/b.txt", "empty", "readme.md"]),
        ("nothing", []),
    ],
)
def test_searching_names_takes_globs_or_parts(tree: Workspace, pattern: str, found: list[str]) -> None:
    assert tree.read_files("search", None, pattern=pattern) == found


def test_grep_is_literal_and_ignores_case(tree: Workspace) -> None:
    assert tree.read_files("grep", pattern="HELLO") == [
        {"path": "readme.md", "line": 1, "text": "Hello"},
        {"path": "readme.md", "line": 3, "text": "hello again"},
    ]
    assert [hit["line"] for hit in tree.grep("bêta", "docs/deep/b.txt")] == [1, 2]
    assert tree.grep(".*", "") == []
    rejected("not_found", lambda: tree.grep("x", "nowhere"))


def test_what_is_not_there_or_of_another_kind_is_said(tree: Workspace) -> None:
    assert "no file at 'docs/none'" in str(rejected("not_found", lambda: tree.text("docs/none")))
    rejected("invalid_argument", lambda: tree.text("docs"))
    rejected("invalid_argument", lambda: tree.entries("readme.md"))
    rejected("not_found", lambda: tree.entries("none"))
    rejected("not_found", lambda: tree.stat("none"))


def test_writing_makes_parents_and_says_path_and_size(tree: Workspace) -> None:
    assert tree.write_files("write", "new/place/ü.txt", text="ü") == {"path": "new/place/ü.txt", "size": 2}
    assert tree.stat("new/place")["type"] == "directory"
    assert tree.write_files("append", "log.txt", text="a") == {"path": "log.txt", "size": 1}
    assert tree.append("log.txt", "b")["size"] == 2
    rejected("conflict", lambda: tree.write("log.txt", "c", exists="error"))
    rejected("conflict", lambda: tree.write("docs", "c"))
    rejected("conflict", lambda: tree.write("readme.md/x", "c"))
    rejected("invalid_argument", lambda: tree.write("", "c"))
    rejected("invalid_argument", lambda: tree.write("x", 3))
    rejected("invalid_argument", lambda: tree.write("x", "\ud800"))


def test_absolute_paths_into_a_new_folder_are_outside_unless_they_start_with_the_root(tree: Workspace) -> None:
    rejected("outside_workspace", lambda: tree.write("/newdir/a.txt", "x"))
    assert tree.write("/workspace/newdir/a.txt", "x")["path"] == "newdir/a.txt"


def test_editing_replaces_every_occurrence(tree: Workspace) -> None:
    assert tree.write_files("edit", "readme.md", old="l", new="L") == {"path": "readme.md", "size": 24, "replaced": 5}
    assert "the text 'zzz' is not in" in str(rejected("not_found", lambda: tree.edit("readme.md", "zzz", "y")))
    rejected("invalid_argument", lambda: tree.edit("readme.md", "", "y"))
    rejected("not_found", lambda: tree.edit("none", "a", "b"))


def test_folders_are_deleted_only_when_empty_or_on_request(tree: Workspace) -> None:
    assert tree.write_files("delete", "empty") == {"path": "empty", "size": 0}
    assert tree.delete("docs/a.txt") == {"path": "docs/a.txt", "size": 5}
    rejected("conflict", lambda: tree.delete("docs"))
    tree.delete("docs", recursive=True)
    assert list(tree.files()) == ["readme.md"]
    rejected("not_found", lambda: tree.delete("docs"))
    rejected("invalid_argument", lambda: tree.delete("/", recursive=True))


def test_a_folder_stays_when_its_last_file_goes(tree: Workspace) -> None:
    tree.delete("docs/deep/b.txt")
    assert tree.files()["docs/deep/"] == ""


def test_moving_and_copying_take_whole_folders(tree: Workspace) -> None:
    assert tree.write_files("move", "docs", target="archive/2026") == {"path": "archive/2026", "size": 0}
    assert tree.text("archive/2026/deep/b.txt").startswith("bêta")
    rejected("not_found", lambda: tree.entries("docs"))
    assert tree.write_files("copy", "readme.md", target="copy.md")["size"] == 24
    assert tree.text("copy.md") == tree.text("readme.md")
    rejected("conflict", lambda: tree.copy("readme.md", "copy.md"))
    rejected("conflict", lambda: tree.move("readme.md", "archive"))
    rejected("invalid_argument", lambda: tree.move("archive", "archive/inside"))
    rejected("not_found", lambda: tree.move("none", "x"))
    rejected("invalid_argument", lambda: tree.move("readme.md", None))


def test_making_a_folder_twice_is_no_change(tree: Workspace) -> None:
    tree.begin()
    tree.mkdir("docs")
    assert not tree.changed
    rejected("conflict", lambda: tree.mkdir("docs", exists="error"))
    rejected("conflict", lambda: tree.mkdir("readme.md"))
    tree.mkdir("x/y")
    assert tree.files()["x/y/"] == ""


def test_writing_the_same_text_is_no_change(tree: Workspace) -> None:
    tree.begin()
    tree.write("docs/a.txt", "alpha")
    tree.edit("docs/a.txt", "al", "al")
    assert tree.changes("s") == ()
    assert not tree.changed


def test_changes_say_before_and_after_and_can_be_undone(tree: Workspace) -> None:
    before = tree.files()
    tree.begin()
    tree.write("docs/a.txt", "omega")
    tree.write("empty/x", "1")
    tree.move("docs/deep", "shallow")
    tree.delete("readme.md")
    assert tree.changes("s") == diff_files(before, tree.files(), "s")
    assert [(change.path, change.before, change.after) for change in tree.changes("s")] == [
        ("docs/a.txt", "alpha", "omega"),
        ("docs/deep/b.txt", "bêta\r\nBÊTA", None),
        ("empty/", "", None),
        ("empty/x", None, "1"),
        ("readme.md", "Hello\nWorld\nhello again\n", None),
        ("shallow/b.txt", None, "bêta\r\nBÊTA"),
    ]
    tree.rollback()
    assert tree.files() == before


def test_shared_copies_do_not_see_each_other(tree: Workspace) -> None:
    tree.write("docs/a.txt", "mine")
    other = tree.share()
    third = tree.share()
    other.write("docs/a.txt", "theirs")
    tree.delete("readme.md")
    tree.mkdir("late")
    assert (tree.text("docs/a.txt"), other.text("docs/a.txt"), third.text("docs/a.txt")) == ("mine", "theirs", "mine")
    assert third.text("readme.md")
    assert "late/" not in other.files()


@pytest.mark.parametrize(
    "files",
    [{"../x": ""}, {"/abs": "x"}, {"a//b": "x"}, {"a": "x", "a/b": "y"}, {"a/": "text"}, {"": "x"}, {"~": "x"},
     {"a": "\ud800"}, {"a\0": "x"}],
)  # fmt: skip
def test_initial_files_with_unusable_paths_are_refused_by_name(files: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="workspace file"):
        Workspace(files)
