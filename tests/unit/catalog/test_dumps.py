import json
from pathlib import Path
from typing import Any

import pytest

from weft.catalog import dumps
from weft.catalog.dumps import read_listings, read_specs
from weft.catalog.listing import dump_of
from weft.errors import InputError

TOOL = {"name": "create_note", "description": "Create.", "inputSchema": {"type": "object", "properties": {}}}
FUNCTION = {"name": "create_note", "description": "Create.", "parameters": TOOL["inputSchema"]}


def write(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "document",
    [
        {"server": "notes", "tools": [TOOL]},
        {"tools": [TOOL]},
        [TOOL],
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}},
        [{"type": "function", "function": FUNCTION}],
        [{"type": "function", **FUNCTION}],
        {"name": "notes", "title": "notes", "tools": [{"name": "x", "input_schema": {}, "declared": TOOL}]},
        {"serverInfo": {"name": "notes", "version": "2"}, "tools": [TOOL]},
        [{"server": "notes", "tools": [TOOL]}],
    ],
)
def test_every_form_gives_the_same_tool(tmp_path: Path, document: Any) -> None:
    specs, refusals = read_specs([write(tmp_path, "notes.json", document)])
    assert refusals == []
    (spec,) = specs
    (tool,) = spec.tools
    assert spec.name == "notes" or spec.name == "notes-1"
    assert (tool.name, tool.description, tool.input_schema) == ("create_note", "Create.", TOOL["inputSchema"])


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        write(tmp_path, f"{name}.json", {"server": f"server-{name}", "tools": [TOOL]})
    write(tmp_path, "readme.txt", "not read")
    assert [spec.name for spec in read_specs([tmp_path])[0]] == ["server-a", "server-b", "server-c"]


def test_servers_whose_names_are_alike_stay_apart(tmp_path: Path) -> None:
    for number, title in enumerate(["foo-bar", "foo_bar", "Foo-Bar", "foo bar", "foo-bar-2"]):
        write(tmp_path, f"{number}.json", {"server": title, "tools": [TOOL]})
    specs, _ = read_specs([tmp_path])
    assert [spec.name for spec in specs] == ["foo-bar", "foo_bar", "foo-bar-3", "foo-bar-4", "foo-bar-2"]
    assert [spec.title for spec in specs] == ["foo-bar", "foo_bar", "Foo-Bar", "foo bar", "foo-bar-2"]


def test_what_cannot_be_read_is_a_reason_and_the_rest_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "MAX_BYTES", 2000)
    write(tmp_path, "a.json", "{not json")
    write(tmp_path, "b.json", {"server": "large", "tools": [TOOL] * 100})
    write(tmp_path, "c.json", {"hello": 1})
    write(tmp_path, "d.json", "42")
    write(tmp_path, "e.json", {"server": "empty", "tools": []})
    write(tmp_path, "f.json", {"server": "notes", "tools": [TOOL]})
    write(tmp_path, "g.json", '[{"name": NaN}]')
    specs, refusals = read_specs([tmp_path])
    assert [spec.name for spec in specs] == ["notes"]
    assert [(each.code.value, each.subject) for each in refusals] == [
        ("not_json", "a.json"),
        ("too_large", "b.json"),
        ("not_a_spec", "c.json"),
        ("not_a_spec", "d.json"),
        ("not_json", "g.json"),
        ("no_tools", "empty"),
    ]
    assert all(each.message and each.remedy for each in refusals)
    assert not any(str(tmp_path) in each.model_dump_json() for each in refusals)


def test_a_path_that_is_not_there_is_a_mistake_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not there"):
        read_specs([tmp_path / "absent.json"])
    with pytest.raises(InputError, match=r"no \.json file"):
        read_specs([tmp_path])


def test_a_dump_that_was_written_reads_back(tmp_path: Path) -> None:
    document = {"server": "Notes", "version": "1", "licence": "MIT", "description": "d", "tools": [TOOL, TOOL, 5]}
    (listing,), _ = read_listings([write(tmp_path, "a.json", document)])
    (again,), _ = read_listings([write(tmp_path, "a.json", dump_of(listing))])
    assert again == listing


def test_every_real_dump_is_read_whole(real_specs: Path) -> None:
    specs, refusals = read_specs([real_specs])
    assert refusals == []
    assert len({spec.name for spec in specs}) == len(specs) > 50
    for spec in specs:
        assert len(spec.tools) == spec.declared_tools, spec.refused
