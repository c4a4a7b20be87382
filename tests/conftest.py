"""What every test gets: no ambient settings, and the optional packages and real specs that are there."""

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TRAIN_PACKAGES = ("torch", "transformers")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked `train` where its packages are absent, with that reason."""
    absent = [name for name in TRAIN_PACKAGES if importlib.util.find_spec(name) is None]
    if absent:
        reason = f"needs {' and '.join(absent)}: scripts/install train"
        for item in items:
            if item.get_closest_marker("train"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def _no_ambient_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the developer's own settings and keys out of the tests."""
    for name in list(os.environ):
        if name.startswith("WEFT_") or name == "OPENAI_API_KEY":
            monkeypatch.delenv(name)
    # Rich and typer fold their messages at the terminal's width; a test must not depend on it.
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="session")
def real_specs() -> Path:
    """The folder of real `tools/list` dumps beside the checkout."""
    folder = ROOT.parent / "shared" / "specs" / "servers"
    if not folder.is_dir():
        pytest.skip(f"no real specs at {folder}")
    return folder
