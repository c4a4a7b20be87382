"""Holds that each refusal code is explained, and that nothing else is."""

import re
from pathlib import Path

import pytest

from weft.records.spec import RefusalCode

PAGE = Path(__file__).resolve().parents[3] / "docs" / "refusals.md"


@pytest.fixture(scope="module")
def sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("code", list(RefusalCode))
def test_every_code_has_a_meaning_and_a_way_out(code: RefusalCode, sections: dict[str, str]) -> None:
    section = sections[code.value]
    assert "**Meaning.**" in section
    assert "**Way out.**" in section


def test_the_page_explains_no_other_code(sections: dict[str, str]) -> None:
    assert set(sections) == {code.value for code in RefusalCode}
