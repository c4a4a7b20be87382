"""A small environment, notes with folders, tags, comments and pages, as one file that any test can read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.records.codec import parse_record
from weft.records.environment import Environment
from weft.runtime.state import State

DATA = Path(__file__).resolve().parents[2] / "data" / "notes.environment.json"


@pytest.fixture(scope="session")
def notes() -> Environment:
    return parse_record(Environment, DATA.read_bytes(), DATA.name)


@pytest.fixture
def state(notes: Environment) -> Iterator[State]:
    state = State.create(notes.contracts.schema_, notes.seed, seed=7, name="notes")
    yield state
    state.close()
