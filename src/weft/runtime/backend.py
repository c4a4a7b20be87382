"""The rendered backend as functions, and the check that a backend text is its contracts' rendering (Weft 3.1.1)."""

import hashlib
import types
from collections.abc import Callable, MutableMapping
from typing import Any

from weft.errors import IntegrityError, WeftError
from weft.records.base import JSON
from weft.records.environment import Environment
from weft.runtime.render import render_backend
from weft.runtime.state import State

ToolFunction = Callable[[State, dict[str, Any]], JSON]
Functions = dict[str, ToolFunction]


def render_of(environment: Environment) -> str:
    """Return the text of an environment's ``backend.py``."""
    return render_backend(environment.spec, environment.contracts)


def check_rendering(environment: Environment, backend: str) -> None:
    """Check that a backend text is what the contracts render to.

    Raises:
        IntegrityError: naming the first line that differs.
    """
    rendered = render_of(environment)
    if backend == rendered:
        return
    theirs, ours = backend.split("\n"), rendered.split("\n")
    number = next(
        (index for index, (one, other) in enumerate(zip(theirs, ours, strict=False)) if one != other),
        min(len(theirs), len(ours)),
    )
    raise IntegrityError(
        f"backend.py of {environment.name}: line {number + 1} is not what contracts.json renders to, so it is not "
        "trusted; render it again, or change the contracts instead of the code"
    )


def load_backend(environment: Environment, *, cache: MutableMapping[str, Functions] | None = None) -> Functions:
    """Return the tools' functions by declared name, from the environment's rendered backend.

    What runs is rendered here and now, never read from a file.

    Args:
        environment: whose contracts to render.
        cache: kept by a caller that loads often; functions are found in it by the hash of the backend's text.

    Raises:
        IntegrityError: the rendering is not a module with a function for every contract.
    """
    text = render_of(environment)
    key = hashlib.sha256(text.encode("utf-8")).hexdigest()
    if cache is not None and key in cache:
        return cache[key]
    module = types.ModuleType(f"weft_backend_{key[:12]}")
    try:
        exec(compile(text, f"<backend of {environment.name}>", "exec"), module.__dict__)  # noqa: S102 - our own rendering
    except (SyntaxError, ImportError, NameError, WeftError) as error:
        raise IntegrityError(f"the rendered backend of {environment.name} does not load: {error}") from error
    functions: Functions = dict(module.__dict__["TOOLS"])
    missing = [tool for tool in environment.served() if tool not in functions]
    if missing:
        raise IntegrityError(f"the rendered backend of {environment.name} lacks {', '.join(missing)}")
    if cache is not None:
        cache[key] = functions
    return functions
