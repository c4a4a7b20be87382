"""`weft doctor` tries things, and the command line's edge turns what goes wrong into exit codes."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from weft import __version__
from weft.cli import doctor, probes, probes_kernel
from weft.cli import main as main_module
from weft.cli.probes import Finding, Status
from weft.errors import InputError

SECONDS = 60


def weft(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "weft", *arguments],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def exit_code_of(command: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> int:
    """Run `weft do` in this process, where `do` is the given function."""
    app = typer.Typer()
    app.command("do")(command)
    monkeypatch.setattr(main_module, "COMMANDS", (*main_module.COMMANDS, app))
    with pytest.raises(SystemExit) as left:
        main_module.main(["do"])
    return int(str(left.value.code))


class TestDoctor:
    def test_prints_one_json_document_with_a_row_for_every_probe(self, tmp_path: Path) -> None:
        done = weft("doctor", "--json")
        document = json.loads(done.stdout)
        assert done.returncode == 0, done.stderr
        assert document["ok"] is True
        assert document["version"] == __version__
        assert len(document["checks"]) == len(doctor.list_probes(tmp_path))
        for row in document["checks"]:
            assert set(row) == {"name", "status", "detail", "advice", "required"}
            assert row["status"] in {"ok", "limited", "missing"}
            assert row["detail"]
            assert row["advice"] or row["status"] == "ok", row

    def test_finds_the_core_working_where_the_tests_run(self) -> None:
        for probe in (
            probes.probe_sqlite,
            probes.probe_changesets,
            probes.probe_schema_checks,
            probes.probe_python,
        ):
            assert probe().status is Status.OK

    def test_is_not_ok_when_something_the_core_needs_is_missing(self) -> None:
        rows = [Finding("a", Status.MISSING, "gone", "mend it"), Finding("b", Status.OK, "1", required=True)]
        assert doctor.summarise(rows)["ok"] is True
        rows.append(Finding("c", Status.MISSING, "gone", "mend it", required=True))
        assert doctor.summarise(rows)["ok"] is False

    def test_an_absent_package_or_program_is_missing_with_advice(self) -> None:
        for found in (
            probes.probe_package("no-such-distribution-here", "install it"),
            probes.probe_program("no-such-program-here", "nothing"),
            probes.probe_extra("no_such_module_here", "train", "nothing"),
        ):
            assert found.status is Status.MISSING
            assert found.advice

    def test_a_folder_that_cannot_be_written_is_named(self, tmp_path: Path) -> None:
        absent = tmp_path / "absent"
        for found in (probes.probe_disk(absent), probes_kernel.probe_reflink(absent)):
            assert found.status is Status.MISSING
            assert str(absent) in found.detail

    def test_probing_a_folder_leaves_nothing_in_it(self, tmp_path: Path) -> None:
        probes.probe_disk(tmp_path)
        probes_kernel.probe_reflink(tmp_path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("system", "release", "name"),
        [
            ("Linux", "6.8.0-45-generic", "Linux"),
            ("Linux", "5.15.153.1-microsoft-standard-WSL2", "WSL"),
            ("Darwin", "24.1.0", "macOS"),
            ("FreeBSD", "14.1", "FreeBSD"),
        ],
    )
    def test_names_the_platform(self, system: str, release: str, name: str) -> None:
        assert probes.platform_name(system, release) == name

    @pytest.mark.parametrize(
        ("abi", "status"),
        [(-1, Status.MISSING), (1, Status.LIMITED), (3, Status.LIMITED), (4, Status.OK), (7, Status.OK)],
    )
    def test_judges_the_landlock_abi(self, abi: int, status: Status) -> None:
        assert probes_kernel.landlock_finding(abi, "Function not implemented").status is status

    def test_a_command_without_an_answer_is_ended(self) -> None:
        works, said = probes.answer_of([sys.executable, "-c", "import sys; input()"], seconds=30)
        assert not works
        assert "EOF" in said
        works, said = probes.answer_of(
            [sys.executable, "-c", "import signal; signal.sigwait({signal.SIGUSR1})"], seconds=0.2
        )
        assert (works, said) == (False, "no answer within 0.2 s")


class TestEdge:
    def test_version_is_that_of_the_package(self) -> None:
        done = weft("--version")
        assert (done.returncode, done.stdout) == (0, f"weft {__version__}\n")

    def test_an_unknown_command_is_a_usage_error_that_names_it(self) -> None:
        done = weft("docter")
        assert done.returncode == 2
        assert "docter" in done.stderr
        assert "Traceback" not in done.stderr

    def test_an_error_of_wefts_own_is_one_line_without_a_traceback(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fail() -> None:
            raise InputError("--tasks [is] 'many';\n give a whole number")

        assert exit_code_of(fail, monkeypatch) == 1
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err == "weft: --tasks [is] 'many'; give a whole number\n"

    def test_an_interruption_says_how_to_continue(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def stop() -> None:
            raise KeyboardInterrupt

        assert exit_code_of(stop, monkeypatch) == main_module.INTERRUPTED == 130
        assert re.search("interrupted.*continues", capsys.readouterr().err)

    def test_a_fault_of_the_programs_keeps_its_traceback(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def break_down() -> None:
            raise RuntimeError("a fault")

        app = typer.Typer()
        app.command("do")(break_down)
        monkeypatch.setattr(main_module, "COMMANDS", (*main_module.COMMANDS, app))
        with pytest.raises(RuntimeError, match="a fault"):
            main_module.main(["do"])

    def test_a_reader_that_goes_away_ends_the_command_quietly(self) -> None:
        script = f"'{sys.executable}' -m weft doctor --json | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=SECONDS, check=False)
        assert (done.returncode, done.stderr) == (main_module.READER_GONE, "")
