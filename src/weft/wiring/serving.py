"""Joins environment folders to the hosts that serve them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from weft.errors import InputError
from weft.hosts.mcp_server import serve_environment_stdio, serve_environments_http
from weft.records.environment import Environment
from weft.runtime.folder import SPEC, read_folder


def find_folders(places: Sequence[Path]) -> list[Path]:
    """Return the environment folders at the places: each is one, or holds some (as `weft env build` writes them).

    Raises:
        InputError: a place is neither.
    """
    folders: list[Path] = []
    for place in places:
        if (place / SPEC).is_file():
            folders.append(place)
            continue
        inside = sorted(each.parent for each in place.glob(f"*/{SPEC}")) if place.is_dir() else []
        if not inside:
            raise InputError(f"{place} is no environment folder and holds none; make some with weft env build")
        folders.extend(inside)
    return list(dict.fromkeys(folders))


def read_environments(places: Sequence[Path]) -> list[Environment]:
    """Read and check the environment folders at the places.

    Raises:
        InputError: a place holds none, or two have one name.
        FormatError: a file is missing or damaged.
        IntegrityError: a folder is not what its contracts or its certificate say.
    """
    return [read_folder(folder) for folder in find_folders(places)]


def serve_http(
    places: Sequence[Path],
    *,
    host: str,
    port: int,
    token: str | None,
    seed: int,
    reset: bool,
    announce: Callable[[dict[str, str]], None],
) -> None:
    """Serve the environments at the places over streamable HTTP until SIGINT or SIGTERM."""
    environments = read_environments(places)
    serve_environments_http(environments, host=host, port=port, token=token, seed=seed, reset=reset, announce=announce)


def serve_stdio(places: Sequence[Path], *, seed: int) -> None:
    """Serve the one environment at the places over standard input and output.

    Raises:
        InputError: there is more than one.
    """
    environments = read_environments(places)
    if len(environments) != 1:
        names = ", ".join(environment.name for environment in environments)
        raise InputError(f"stdio serves one environment, there are {len(environments)}: {names}; name one folder")
    serve_environment_stdio(environments[0], seed=seed)
