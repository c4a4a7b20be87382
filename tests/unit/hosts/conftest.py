"""The small notes environment of tests/data."""

from pathlib import Path

import pytest

from weft.records.codec import parse_record
from weft.records.environment import Environment

DATA = Path(__file__).resolve().parents[2] / "data" / "notes.environment.json"


@pytest.fixture(scope="session")
def notes() -> Environment:
    return parse_record(Environment, DATA.read_bytes(), DATA.name)


@pytest.fixture(scope="session")
def diary(notes: Environment) -> Environment:
    """The same tools under another name, one hour later."""
    seed = notes.seed.model_copy(update={"clock": "2026-03-02T10:00:00Z"})
    spec = notes.spec.model_copy(update={"name": "diary"})
    return notes.model_copy(update={"spec": spec, "seed": seed})
