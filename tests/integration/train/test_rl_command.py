"""`weft rl train` on a small run folder, and what it says when it cannot."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from weft.cli import main as main_module
from weft.records.batch import TurnGroup
from weft.records.codec import parse_record, pretty, split_lines
from weft.records.task import AtomicSolution
from weft.runtime.folder import write_folder
from weft.runtime.render import render_backend
from weft.wiring import rl
from weft.wiring.layout import RunFolder


def weft(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main_module.main(arguments)
    return int(left.value.code or 0)


@pytest.fixture
def run(moves: Any, tmp_path: Path) -> Path:
    """The folder of a run with one environment and two atomic tasks."""
    folder = RunFolder(tmp_path / "out")
    for one in moves:
        (environment,) = one.episode.environments
        backend = render_backend(environment.spec, environment.contracts)
        write_folder(environment, folder.environments / environment.name, backend=backend)
        solution: AtomicSolution = one.plan[0].solution
        for part, document in (("public", one.episode.task), ("private", solution)):
            path = folder.task("atomic", part, one.episode.task.id)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(pretty(document))
    return folder.root


ARGUMENTS = ("--group", "4", "--tasks", "1", "--seed", "2", "--json")


@pytest.mark.train
def test_one_update_is_walked_and_reported(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="needs torch: scripts/install train")
    assert weft("rl", "train", "--run", str(run), *ARGUMENTS) == 0
    document = json.loads(capsys.readouterr().out)
    update = document["update"]
    assert update["kept"] >= 1
    assert update["rows"] == 4 * update["kept"]
    assert update["tokens"] > 0
    assert document["warm_start"]["loss_last"] < document["warm_start"]["loss_first"]
    assert document["logprob_change"]["rewarded"] > document["logprob_change"]["unrewarded"]
    stored = json.loads((run / "rl" / "report.json").read_bytes())
    assert stored == {key: value for key, value in document.items() if not key.startswith("seconds")}
    groups = [
        parse_record(TurnGroup, line, "groups") for line, _ in split_lines((run / "rl" / "groups.jsonl").read_bytes())
    ]
    assert [group.id for group in groups] == [group["id"] for group in document["groups"]]
    assert all(segment.tokens for group in groups for segment in group.segments)


@pytest.mark.train
@pytest.mark.slow
def test_the_same_seed_writes_the_same_bytes(run: Path) -> None:
    pytest.importorskip("torch", reason="needs torch: scripts/install train")
    written = []
    for _ in range(2):
        assert weft("rl", "train", "--run", str(run), *ARGUMENTS) == 0
        written.append({path.name: path.read_bytes() for path in sorted((run / "rl").iterdir())})
    assert written[0] == written[1]
    assert sorted(written[0]) == ["groups.jsonl", "report.json"]


def test_without_the_extra_the_message_names_it(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(rl.importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    assert weft("rl", "train", "--run", str(run)) == 1
    assert "weft rl train needs torch: run scripts/install train" in capsys.readouterr().err
    assert not (run / "rl").exists()


@pytest.mark.train
def test_a_folder_without_tasks_is_named_with_the_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="needs torch: scripts/install train")
    assert weft("rl", "train", "--run", str(tmp_path)) == 1
    assert "run `weft run` on more specs first" in capsys.readouterr().err
