"""The published JSON Schemas are those of the records."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

from weft.records.formats import FORMATS, schema_of

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "formats"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_published_schema_is_up_to_date(name: str) -> None:
    published = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert published == schema_of(name), "run scripts/formats"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_the_schema_is_a_schema(name: str) -> None:
    assert not jsonschema_rs.validator_for(schema_of(name)).is_valid(7)


def test_no_other_files_are_published() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == sorted(FORMATS)
