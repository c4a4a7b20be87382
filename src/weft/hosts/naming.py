"""Names under which the tools of several environments are offered together (pure).

Chat endpoints take ``^[a-zA-Z0-9_-]{1,64}$``. A tool keeps its declared name where it can; distinct tools always get
distinct names, also when their declared names differ only in letters that are not allowed.
"""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

MAX_NAME = 64
_ALLOWED = re.compile(r"[a-zA-Z0-9_-]{1,64}", re.ASCII)
_REFUSED_LETTER = re.compile(r"[^a-zA-Z0-9_-]", re.ASCII)

ToolKey = tuple[str, str]
"""Environment and declared tool name."""


def offered_names(tools: Iterable[ToolKey]) -> dict[ToolKey, str]:
    """Return the offered name of every tool.

    The declared name where no other environment has it, else ``server__tool``; letters that are not allowed become
    ``_``, long names are cut. Where that is the name of another tool too, or was cut, a hash of both names follows.
    """
    keys = list(dict.fromkeys(tools))
    shared = Counter(tool for _, tool in keys)
    wanted = {key: key[1] if shared[key[1]] == 1 else f"{key[0]}__{key[1]}" for key in keys}
    names: dict[ToolKey, str] = {}
    # Names that are legal as they stand are kept before any other gets them by replacement.
    for key in sorted(keys, key=lambda key: (_ALLOWED.fullmatch(wanted[key]) is None, wanted[key] != key[1], key)):
        names[key] = _free_name(wanted[key], key, set(names.values()))
    return {key: names[key] for key in keys}


def _free_name(wanted: str, key: ToolKey, taken: set[str]) -> str:
    plain = _REFUSED_LETTER.sub("_", wanted) or "tool"
    if len(plain) <= MAX_NAME and plain not in taken:
        return plain
    digest = sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()
    for length in range(8, len(digest)):
        name = f"{plain[: MAX_NAME - length - 1]}_{digest[:length]}"
        if name not in taken:
            return name
    raise AssertionError("unreachable: two tools cannot share a whole SHA-256")
