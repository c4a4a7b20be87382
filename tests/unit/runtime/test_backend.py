"""A backend is its contracts' rendering, loaded as functions; anything else is not trusted."""

import sys

import pytest

from weft.errors import IntegrityError
from weft.records.environment import Environment
from weft.runtime.backend import Functions, check_rendering, load_backend, render_of
from weft.runtime.state import State


def test_the_functions_are_found_by_declared_name_in_order(notes: Environment) -> None:
    functions = load_backend(notes)
    assert list(functions) == notes.served()
    assert functions["tag.note"].__name__ == "tag_note"


def test_a_function_runs_on_a_state(notes: Environment, state: State) -> None:
    functions = load_backend(notes)
    with state.call() as call:
        made = functions["create_note"](state, {"title": "New"})
    assert made["title"] == "New"
    assert [change.table for change in call.changes.rows] == ["notes"]
    assert functions["get_note"](state, {"id": made["id"]}) == made


def test_loading_leaves_no_module_behind_and_shares_only_through_the_callers_cache(notes: Environment) -> None:
    before = set(sys.modules)
    cache: dict[str, Functions] = {}
    first = load_backend(notes, cache=cache)
    assert load_backend(notes, cache=cache) is first
    assert load_backend(notes) is not first
    assert len(cache) == 1
    assert not [name for name in set(sys.modules) - before if "backend" in name]


def test_another_contract_gives_another_backend(notes: Environment) -> None:
    cache: dict[str, Functions] = {}
    load_backend(notes, cache=cache)
    contracts = notes.contracts.model_copy(update={"contracts": notes.contracts.contracts[:2]})
    fewer = notes.model_copy(update={"contracts": contracts})
    assert list(load_backend(fewer, cache=cache)) == notes.served()[:2]
    assert len(cache) == 2


def test_the_rendering_passes_its_own_check(notes: Environment) -> None:
    check_rendering(notes, render_of(notes))


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"""Backend', "'''Backend", 1),
        ("from typing import Any", "from typing import Any  # noqa", 10),
        ("    return application(__file__, TOOLS)\n", "    return application(__file__, TOOLS)\n# more\n", None),
    ],
)
def test_a_changed_backend_is_refused_by_line(notes: Environment, old: str, new: str, line: int | None) -> None:
    rendering = render_of(notes)
    wanted = line or rendering.count("\n") + 1
    with pytest.raises(IntegrityError, match=f"line {wanted} is not what"):
        check_rendering(notes, rendering.replace(old, new, 1))
