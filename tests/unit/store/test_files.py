"""Files are whole or not there."""

from pathlib import Path

import pytest

from weft.errors import InputError
from weft.store.files import sweep, write_file, write_tree
from weft.store.pieces import Pieces


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b.json"
    write_file(target, b"old")
    write_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert [path.name for path in target.parent.iterdir()] == ["b.json"]


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    write_tree(tmp_path / "env", {"spec.json": b"1", "workspace/a.txt": b"x"})
    write_tree(tmp_path / "env", {"spec.json": b"2"})
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == ["env", "env/spec.json"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="file"):
        write_file(tmp_path / "file" / "x.json", b"")


def test_leftovers_of_killed_writers_are_swept(tmp_path: Path) -> None:
    (tmp_path / ".x.json.abc.part").write_bytes(b"half")
    (tmp_path / ".env.abc.part").mkdir()
    (tmp_path / "x.json").write_bytes(b"whole")
    sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_a_piece_is_found_by_everything_it_depends_on(tmp_path: Path) -> None:
    first = Pieces(tmp_path, {"weft": "1"})
    key = first.key("environment", {"spec": 1}, 7)
    first.put("environment", key, {"made": True})
    assert first.get("environment", key) == {"made": True}
    assert first.get("environment", first.key("environment", {"spec": 1}, 8)) is None
    assert Pieces(tmp_path, {"weft": "2"}).key("environment", {"spec": 1}, 7) != key


def test_a_damaged_piece_counts_as_not_finished(tmp_path: Path) -> None:
    pieces = Pieces(tmp_path, 0)
    key = pieces.key("k")
    pieces.put("k", key, 1)
    (tmp_path / "k" / f"{key}.json").write_bytes(b'{"half":')
    assert pieces.get("k", key) is None


def test_an_altered_piece_counts_as_not_finished(tmp_path: Path) -> None:
    pieces = Pieces(tmp_path, 0)
    key = pieces.key("k")
    path = tmp_path / "k" / f"{key}.json"
    pieces.put("k", key, {"content": "honest"})
    path.write_bytes(path.read_bytes().replace(b"honest", b"edited"))
    assert pieces.get("k", key) is None
    for odd in (b"{}", b"5", b"[]"):
        path.write_bytes(odd)
        assert pieces.get("k", key) is None
    path.unlink()
    path.mkdir()
    assert pieces.get("k", key) is None
