"""The two commands of the README: their words, their defaults, and that they work from anywhere.

The full installation is what `.ci/run` itself does; here the scripts run against a stand-in `.venv`.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ["scripts/run", "scripts/test", "scripts/install", "scripts/lint", "scripts/check", ".ci/run"]
SECONDS = 60

ECHO = '#!/usr/bin/env bash\nprintf "%s\\n" "$@"\n'


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run with no input, and with nothing of the developer's environment but the search path."""
    environment = {"PATH": os.environ["PATH"], "CI": "true"}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A checkout in a folder with a space in its name, whose Python only prints its arguments."""
    root = tmp_path / "a clone"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    for name, text in {"scripts/install": "#!/usr/bin/env bash\n", ".venv/bin/python": ECHO}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    return root


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_is_executable_and_parses(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    done = run(["bash", "-n", str(ROOT / script)], ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_says_what_the_script_does_and_does_nothing(script: str, tmp_path: Path) -> None:
    done = run([str(ROOT / script), "--help"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "scripts/" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_run_without_options_uses_the_example_catalog(clone: Path, tmp_path: Path) -> None:
    done = run([str(clone / "scripts/run")], tmp_path)
    assert done.stdout.splitlines() == [
        *("-m", "weft", "run"),
        *("--specs", f"{clone}/examples/catalog"),
        *("--tasks", "24"),
        *("--seed", "7"),
        *("--out", f"{clone}/out/run"),
    ]


def test_the_users_options_replace_the_defaults_and_keep_their_words(clone: Path, tmp_path: Path) -> None:
    given = ["--specs", "my specs", "--tasks=40", "--out", "results", "--json"]
    done = run([str(clone / "scripts/run"), *given], tmp_path)
    assert done.stdout.splitlines() == ["-m", "weft", "run", "--seed", "7", *given]


def test_a_failing_job_ends_the_script_with_its_status(clone: Path, tmp_path: Path) -> None:
    (clone / ".venv/bin/python").write_text("#!/usr/bin/env bash\nexit 3\n", encoding="utf-8")
    assert run([str(clone / "scripts/run")], tmp_path).returncode == 3


def test_an_unknown_installation_level_is_a_usage_error(tmp_path: Path) -> None:
    done = run([str(ROOT / "scripts/install"), "everything"], tmp_path)
    assert done.returncode == 2
    assert "core" in done.stderr


def test_ruff_failing_fails_the_check_even_when_the_tests_pass(clone: Path) -> None:
    stand_in = '#!/usr/bin/env bash\n[ "$2" = ruff ] && exit 1\necho "1 passed"\n'
    (clone / ".venv/bin/python").write_text(stand_in, encoding="utf-8")
    done = run([str(clone / "scripts/check")], clone)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "1 passed"


def test_every_constraint_is_one_exact_version_without_address_or_hash() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert len(pins) > 50
    for pin in pins:
        name, _, version = pin.partition("==")
        assert name.replace("-", "").replace("_", "").replace(".", "").isalnum(), pin
        assert version.replace(".", "").isalnum(), pin
