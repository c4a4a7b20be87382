"""What the README shows works as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_example_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "calendar_id" in done.stdout


def test_every_linked_file_is_there() -> None:
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)]+)\)", README) if "//" not in link]
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_command_shown_exists() -> None:
    shown = sorted(set(re.findall(r"weft ((?:run|sft|env|rl|evolve|catalog|doctor)(?: [a-z]+)?)", README)))
    for command in shown:
        words = [word for word in command.split() if word != "on"]
        done = subprocess.run(
            [sys.executable, "-m", "weft", *words, "--help"], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, command
