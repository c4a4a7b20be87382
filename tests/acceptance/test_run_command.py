"""`weft run` as its users meet it: one JSON document, the same bytes each time, and no harm from being killed."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVERS = ("calendar", "notebook")
PATIENCE = 300


def weft(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "weft", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, **more)


def digests(root: Path) -> dict[str, str]:
    """Hash of every result file; wall-clock figures and work in progress are not results."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".weft" not in path.parts and path.name != "timings.json"
    }


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("specs")
    for name in SERVERS:
        shutil.copy(ROOT / "examples" / "catalog" / f"{name}.json", folder)
    (folder / "broken.json").write_text("{not json", encoding="utf-8")
    return folder


def arguments(specs: Path, out: Path, *more: str) -> tuple[str, ...]:
    base = ("run", "--specs", str(specs), "--tasks", "2", "--atomic", "6", "--seed", "7", "--out", str(out), "--json")
    return (*base, *more)


@pytest.fixture(scope="module")
def finished(specs: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    out = tmp_path_factory.mktemp("runs") / "first"
    done = weft(*arguments(specs, out))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), out


def test_standard_output_is_one_document_with_the_figures(finished: tuple[dict[str, Any], Path]) -> None:
    document, _ = finished
    environments = document["environments"]
    assert environments["attempted"] == 3
    assert environments["stateful"] == 2
    assert environments["refused"] == 1, "the broken file is refused and the run goes on"
    assert set(document["tools"]) == {"declared", "certified", "refused"}
    assert document["tasks"]["composed"] == 2
    assert document["rollouts"]["run"] == 4
    assert document["mutants"]["survived"] == 0
    assert Path(document["report"]).is_file()
    assert isinstance(document["seconds"], float)


def test_sft_lines_are_in_openai_form_and_named_as_scripted(finished: tuple[dict[str, Any], Path]) -> None:
    document, out = finished
    path = Path(document["sft"]["path"])
    assert path.name.endswith(".scripted.jsonl")
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    assert len(lines) == document["sft"]["trajectories"] > 0
    for line in lines:
        offered = {tool["function"]["name"] for tool in line["tools"]}
        assert all(tool["type"] == "function" for tool in line["tools"])
        calls = [call for message in line["messages"] for call in message.get("tool_calls", [])]
        answers = [message["tool_call_id"] for message in line["messages"] if message["role"] == "tool"]
        assert [call["id"] for call in calls] == answers
        assert {call["function"]["name"] for call in calls} <= offered
        assert all(isinstance(call["function"]["arguments"], str) for call in calls)
    assert (out / "sft" / "rejected.scripted.jsonl").is_file()


def test_every_sft_line_replays_to_the_recorded_results(finished: tuple[dict[str, Any], Path]) -> None:
    document, out = finished
    done = weft("sft", "replay", "--run", str(out), "--json")
    replayed = json.loads(done.stdout)
    assert (done.returncode, replayed["differing"]) == (0, [])
    assert replayed["lines"] == document["sft"]["trajectories"]
    assert replayed["calls"] > 0


def test_a_changed_result_is_found_by_the_replay(finished: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    document, out = finished
    lines = [json.loads(line) for line in Path(document["sft"]["path"]).read_bytes().split(b"\n") if line]
    message = next(message for message in lines[0]["messages"] if message["role"] == "tool")
    message["content"] = '{"changed":true}'
    changed = tmp_path / "changed.jsonl"
    changed.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = weft("sft", "replay", "--run", str(out), "--file", str(changed), "--json")
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["differing"]) == 1


def test_private_documents_stay_out_of_public_ones(finished: tuple[dict[str, Any], Path]) -> None:
    _, out = finished
    for path in (out / "tasks").rglob("public/*.json"):
        text = path.read_text(encoding="utf-8")
        assert '"verifier"' not in text
        assert '"reference"' not in text


def test_a_run_that_is_killed_continues_and_ends_with_the_same_bytes(
    specs: Path, finished: tuple[dict[str, Any], Path], tmp_path: Path
) -> None:
    """Killed when the first environment is in place, and again a moment later in the life of the run."""
    _, first = finished
    out = tmp_path / "second"
    command = [sys.executable, "-m", "weft", *arguments(specs, out, "--workers", "1")]
    for wanted in ("environments: 1 of", "atomic_tasks: 1 of"):
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(wanted):
                break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        process.stderr.close()
        for path in out.rglob("*.json"):
            if not path.name.startswith("."):
                json.loads(path.read_text(encoding="utf-8"))
    done = weft(*arguments(specs, out))
    assert done.returncode == 0, done.stderr
    assert "kept from an earlier run" in done.stderr
    assert digests(out) == digests(first)
    assert not list(out.rglob("*.part"))


def test_nothing_certified_is_exit_code_one(tmp_path: Path) -> None:
    url = {"type": "string", "format": "uri"}
    schema = {"type": "object", "properties": {"url": url}, "required": ["url"]}
    tool = {"name": "fetch_page", "description": "Fetch a web page.", "inputSchema": schema}
    (tmp_path / "web.json").write_text(json.dumps({"server": "web", "tools": [tool]}), encoding="utf-8")
    done = weft("run", "--specs", str(tmp_path), "--tasks", "1", "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["environments"] == {"attempted": 1, "stateful": 0, "read_only": 0, "refused": 1}
    assert "Traceback" not in done.stderr


def test_a_path_that_is_not_there_is_a_clear_message(tmp_path: Path) -> None:
    done = weft("run", "--specs", str(tmp_path / "nothing"), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert "nothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_folder_that_cannot_be_written_is_a_clear_message(specs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = weft(*arguments(specs, tmp_path / "file"))
    assert done.returncode in (1, 2)
    assert "file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_of_another_run_is_replaced_with_a_warning(specs: Path, tmp_path: Path) -> None:
    first = weft(*arguments(specs, tmp_path))
    again = weft(*arguments(specs, tmp_path))
    assert (first.returncode, again.returncode) == (0, 0)
    assert "other options" not in again.stderr
    other = weft("run", "--specs", str(specs), "--tasks", "1", "--atomic", "3", "--seed", "8", "--out", str(tmp_path))
    assert "seed 7, now 8" in other.stderr
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    kept = {path.stem for path in (tmp_path / "tasks" / "atomic" / "public").glob("*.json")}
    assert len(kept) == summary["atomic_tasks"]


def sft_lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "sft" / "sft.scripted.jsonl").read_bytes().split(b"\n") if line]


def replay_of(out: Path, lines: list[dict[str, Any]], file: Path) -> subprocess.CompletedProcess[str]:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return weft("sft", "replay", "--run", str(out), "--file", str(file), "--json")


def test_a_line_without_its_final_reply_does_not_pass(finished: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    _, out = finished
    lines = [{**line, "messages": line["messages"][:-1]} for line in sft_lines(out)]
    done = replay_of(out, lines, tmp_path / "cut.jsonl")
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["differing"]) == len(lines)


@pytest.mark.parametrize(
    "change", [{"seed": "x"}, {"turns": []}, {"task": "../../etc/passwd"}, {"task": None}, {"initial_state": None}]
)
def test_a_line_that_cannot_be_replayed_is_named(
    finished: tuple[dict[str, Any], Path], tmp_path: Path, change: dict[str, Any]
) -> None:
    _, out = finished
    first = sft_lines(out)[0]
    done = replay_of(out, [{**first, "weft": {**first["weft"], **change}}], tmp_path / "odd.jsonl")
    assert done.returncode == 1
    assert "odd.jsonl:1" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_edited_verifier_is_refused_by_the_replay(finished: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    _, out = finished
    copy = tmp_path / "copy"
    shutil.copytree(out, copy, ignore=shutil.ignore_patterns(".weft"))
    for path in (copy / "tasks" / "composed" / "private").glob("*.json"):
        solution = json.loads(path.read_text(encoding="utf-8"))
        for node in solution["nodes"].values():
            node["verifier"] = {"version": 1}
        path.write_text(json.dumps(solution), encoding="utf-8")
    done = weft("sft", "replay", "--run", str(copy), "--json")
    assert done.returncode == 1
    assert "certificate" in done.stderr
    assert "Traceback" not in done.stderr


def test_environments_of_other_specs_do_not_stay(tmp_path: Path) -> None:
    for name in SERVERS:
        catalog = ROOT / "examples" / "catalog" / f"{name}.json"
        done = weft("run", "--specs", str(catalog), "--tasks", "0", "--atomic", "2", "--out", str(tmp_path), "--json")
        assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "environments").iterdir()] == ["notebook"]
