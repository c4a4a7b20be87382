"""``weft evolve`` over a run's folder: attribution, a round into another folder, and clear refusals."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from weft.cli.main import build_app
from weft.wiring.progress import silent
from weft.wiring.run import RunOptions, run_all

CATALOG = Path(__file__).resolve().parents[3] / "examples" / "catalog"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evolve") / "run"
    specs = [CATALOG / "notebook.json", CATALOG / "calendar.json"]
    result = run_all(RunOptions(specs=specs, out=out, tasks=2, seed=7, atomic=12, noise=0.6), silent)
    assert result.certified
    return out


@pytest.fixture
def copied(run_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(run_folder, tmp_path / "run"))


def weft(*words: str, code: int = 0) -> Any:
    found = CliRunner().invoke(build_app(), ["evolve", *words])
    assert found.exit_code == code, f"{found.output}\n{found.stderr}"
    return json.loads(found.stdout) if "--json" in words and code == 0 else found.output + found.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".weft" not in path.relative_to(folder).parts
    }


def test_a_sound_run_has_failures_of_its_policy_and_a_round_leaves_it_as_it_is(
    run_folder: Path, tmp_path: Path
) -> None:
    found = weft("attribute", "--run", str(run_folder), "--json")
    assert set(found["counts"]) == {"policy"}
    assert found["failures"] == len(found["attributions"]) > 0
    assert all(item["evidence"] for item in found["attributions"])
    before = contents(run_folder)
    out = tmp_path / "next"
    report = weft("run", "--run", str(run_folder), "--out", str(out), "--json")
    assert report["counts"] == found["counts"]
    assert report["revisions"] == report["selected"] == []
    assert contents(run_folder) == before, "the run is left as it is"
    after = contents(out)
    assert json.loads(after["report.json"]) == report
    assert {
        name: data for name, data in after.items() if name.startswith(("environments/", "tasks/", "rollouts/"))
    } == {
        name: data
        for name, data in before.items()
        if name.startswith(("environments/", "tasks/", "rollouts/"))
        and "libraries/" not in name
        and not name.endswith("attributions.json")
    }


def test_a_damaged_environment_folder_is_blamed_and_written_again(
    copied: Path, run_folder: Path, tmp_path: Path
) -> None:
    backend = copied / "environments" / "notebook" / "backend.py"
    backend.write_text(backend.read_text(encoding="utf-8") + "\nstolen = True\n", encoding="utf-8")
    found = weft("attribute", "--run", str(copied), "--json")
    blamed = [item for item in found["attributions"] if item["component"] == "environment"]
    assert [item["subject"] for item in blamed] == ["notebook"]
    assert "backend.py" in blamed[0]["evidence"][0]["finding"]
    out = tmp_path / "next"
    weft("run", "--run", str(copied), "--out", str(out))
    intact = run_folder / "environments" / "notebook"
    assert contents(out / "environments" / "notebook") == contents(intact)


def test_an_environment_of_which_only_the_spec_is_left_is_made_again_from_it(
    copied: Path, run_folder: Path, tmp_path: Path
) -> None:
    (copied / "environments" / "notebook" / "contracts.json").write_text("{", encoding="utf-8")
    out, again = tmp_path / "next", tmp_path / "after"
    report = weft("run", "--run", str(copied), "--out", str(out), "--json")
    made = {item["subject"]: item for item in report["revisions"]}
    assert made["notebook"]["action"] == "rebuilt"
    assert contents(out / "environments") == contents(run_folder / "environments")
    # What came out is the folder of a run again: the next round finds nothing but the policy's failures.
    assert set(weft("run", "--run", str(out), "--out", str(again), "--json")["counts"]) == {"policy"}


def test_the_same_round_writes_the_same_bytes(copied: Path, tmp_path: Path) -> None:
    (copied / "environments" / "notebook" / "contracts.json").write_text("{", encoding="utf-8")
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two, two):  # a folder that a round wrote may be written again
        weft("run", "--run", str(copied), "--out", str(out))
    assert contents(one) == contents(two)


def test_what_cannot_be_used_is_refused_with_the_way_out(run_folder: Path, tmp_path: Path) -> None:
    assert "lie within each other" in weft("run", "--run", str(run_folder), "--out", str(run_folder), code=1)
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("keep", encoding="utf-8")
    assert "empty folder" in weft("run", "--run", str(run_folder), "--out", str(taken), code=1)
    assert (taken / "mine.txt").read_text(encoding="utf-8") == "keep"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "weft run" in weft("attribute", "--run", str(empty), code=1)
    weft("attribute", "--run", str(tmp_path / "absent"), code=2)
