"""Names in rendered code: Python identifiers that shadow nothing and clash with nothing (pure)."""

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable, Set
from typing import Final

HELPERS: Final = {
    "weft.runtime.expressions": (
        "arithmetic", "cast_to", "coalesce", "compare", "concat", "dig", "first_of", "is_in", "items_of", "keep_fields",
        "length", "merged", "or_null", "present", "present_items", "without_absent",
    ),
    "weft.runtime.operations": (
        "is_descending", "no_case", "optional", "order_by", "page_of", "reject", "selects", "sort_items", "sort_key",
        "where",
    ),
    "weft.runtime.standalone": ("application",),
    "weft.runtime.state": ("SortKey", "State", "Test"),
    "weft.runtime.values": ("ABSENT", "json_equal"),
}  # fmt: skip
"""What rendered code may use, by the module that it is imported from."""

TAKEN: Final = frozenset(
    {*dir(builtins), *keyword.kwlist, *keyword.softkwlist, *(name for names in HELPERS.values() for name in names)}
    | {"Any", "TOOLS", "app", "args", "state"}
)
"""Names that mean something else in rendered code."""


def identifier(name: str) -> str:
    """Return a name as an ASCII identifier in lower case; ``value`` when nothing of it can stay."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
    plain = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    if not plain:
        return "value"
    return f"value_{plain}" if plain[0].isdigit() else plain


class Names:
    """The names of one namespace: each asked-for name is given once, others get a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*TAKEN, *taken}

    def take(self, name: str, *, private: bool = False) -> str:
        """Return a free identifier for ``name`` and take it.

        Args:
            name: wanted, any text.
            private: put an underscore before it.
        """
        wanted = ("_" if private else "") + identifier(name)
        chosen, number = wanted, 2
        if wanted in TAKEN:
            chosen = f"{wanted}_"
        while chosen in self._taken:
            chosen, number = f"{wanted}_{number}", number + 1
        self._taken.add(chosen)
        return chosen

    def borrow(self, name: str, visible: Set[str]) -> str:
        """Return an identifier for a comprehension's variable, without taking it: only ``visible`` names clash."""
        return Names(visible).take(name)

    def take_exactly(self, name: str) -> str:
        """Take an identifier as it is where that is possible, else with an underscore or a number behind it."""
        chosen, number = (f"{name}_" if name in TAKEN else name), 2
        while chosen in self._taken or not chosen.isidentifier():
            chosen, number = f"{identifier(name)}_{number}", number + 1
        self._taken.add(chosen)
        return chosen
