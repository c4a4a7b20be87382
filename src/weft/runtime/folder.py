"""An environment as a folder that can be read, diffed and run alone (DESIGN 4).

Reading executes nothing and trusts nothing: every record is parsed, ``schema.sql`` and ``backend.py`` must be what the
contracts render to, the rows must fit the schema, and the certificate must be of this very environment.
"""

import os
import shutil
from pathlib import Path
from typing import Any

from weft.errors import FormatError, InputError, IntegrityError
from weft.records.certificate import EnvironmentCertificate
from weft.records.codec import parse_json, parse_record, plain, pretty
from weft.records.contract import ContractSet
from weft.records.environment import Environment, TestCall
from weft.records.spec import McpSpec
from weft.records.state import InitialState
from weft.runtime.backend import check_rendering
from weft.runtime.clock import parse_clock
from weft.runtime.ddl import render_ddl
from weft.runtime.loading import stored_rows
from weft.runtime.tables import SchemaPlan
from weft.runtime.workspace import Workspace

SPEC, SCHEMA, CONTRACTS, BACKEND = "spec.json", "schema.sql", "contracts.json", "backend.py"
SEED, TESTS, CERTIFICATE, WORKSPACE = "seed.json", "tests.json", "certificate.json", "workspace"


def write_folder(environment: Environment, directory: Path, *, backend: str) -> None:
    """Write an environment's folder: first a sibling, then renamed into place, so that no half of it is ever seen.

    Args:
        environment: what to write.
        directory: the folder, made or replaced. Its parent is made.
        backend: the rendered ``backend.py``.

    Raises:
        InputError: the place is taken by something that is no environment folder, or it cannot be written.
    """
    directory = Path(directory)
    if directory.exists() and not _replaceable(directory):
        raise InputError(f"{directory.name} is there and is no environment folder; choose another place or remove it")
    fresh, old = _sibling(directory, "new"), _sibling(directory, "old")
    for leftover in (fresh, old):  # of a writer that was killed
        _remove(leftover)
    try:
        fresh.mkdir(parents=True)
        for name, data in _documents(environment, backend).items():
            (fresh / name).write_bytes(data)
        _write_workspace(fresh / WORKSPACE, environment.seed.files)
        if directory.exists():
            os.replace(directory, old)  # noqa: PTH105 - the pair of renames reads best alike
        os.replace(fresh, directory)  # noqa: PTH105
        _remove(old)
    except OSError as error:
        _remove(fresh)
        raise InputError(
            f"cannot write {directory}: {error.strerror}; check the folder and the space on disk"
        ) from error


def read_folder(directory: Path) -> Environment:
    """Read and check an environment's folder. Nothing in it is executed.

    Raises:
        FormatError: a file is missing or does not hold what it should; names file and field.
        IntegrityError: ``schema.sql``, ``backend.py`` or ``certificate.json`` is not of these contracts.
    """
    directory = Path(directory)
    spec = parse_record(McpSpec, _read(directory, SPEC), _what(directory, SPEC))
    contracts = parse_record(ContractSet, _read(directory, CONTRACTS), _what(directory, CONTRACTS))
    seed = _read_seed(directory)
    environment = Environment(
        spec=spec,
        contracts=contracts,
        seed=seed,
        tests=_read_tests(directory),
        certificate=_read_certificate(directory),
    )
    _check_contracts(directory, environment)
    _check_rendered(directory, environment)
    _check_seed(directory, environment)
    certificate = environment.certificate
    if certificate is not None and certificate.environment != environment.hash:
        raise IntegrityError(
            f"{_what(directory, CERTIFICATE)}: environment: certifies {certificate.environment[:12]}, "
            f"but this is {environment.hash[:12]}; validate the environment again"
        )
    return environment


def _documents(environment: Environment, backend: str) -> dict[str, bytes]:
    seed = plain(environment.seed)
    seed.pop("files", None)
    documents = {
        SPEC: pretty(environment.spec),
        SCHEMA: render_ddl(environment.contracts.schema_).encode("utf-8"),
        CONTRACTS: pretty(environment.contracts),
        BACKEND: backend.encode("utf-8"),
        SEED: pretty(seed),
        TESTS: pretty(list(environment.tests)),
    }
    if environment.certificate is not None:
        documents[CERTIFICATE] = pretty(environment.certificate)
    return documents


def _write_workspace(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir()
    for path, text in Workspace(files).files().items():
        place = folder / path
        if path.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode("utf-8"))


def _what(directory: Path, name: str) -> str:
    return f"{directory.name}/{name}"


def _read(directory: Path, name: str) -> bytes:
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise FormatError(
            f"{_what(directory, name)}: cannot be read ({reason}); an environment folder has it"
        ) from error


def _read_seed(directory: Path) -> InitialState:
    what = _what(directory, SEED)
    seed = parse_record(InitialState, _read(directory, SEED), what)
    if seed.files:
        raise FormatError(f"{what}: files: belong into the folder {WORKSPACE}/, not here")
    return seed.model_copy(update={"files": _read_workspace(directory)})


def _read_workspace(directory: Path) -> dict[str, str]:
    root = directory / WORKSPACE
    if root.is_symlink() or not root.is_dir():
        if root.is_symlink() or root.exists():
            raise FormatError(f"{_what(directory, WORKSPACE)}: is not a folder")
        return {}
    files: dict[str, str] = {}
    for place in sorted(root.rglob("*")):
        path = place.relative_to(root).as_posix()
        what = _what(directory, f"{WORKSPACE}/{path}")
        if place.is_symlink():
            raise FormatError(f"{what}: is a symbolic link; a workspace holds plain files and folders")
        if place.is_dir():
            files[path + "/"] = ""
        elif place.is_file():
            try:
                files[path] = place.read_bytes().decode("utf-8")
            except UnicodeDecodeError as error:
                raise FormatError(f"{what}: is not UTF-8 text ({error.reason} at byte {error.start})") from error
        else:
            raise FormatError(f"{what}: is neither a file nor a folder")
    try:
        return Workspace(files).files()
    except InputError as error:
        raise FormatError(f"{_what(directory, WORKSPACE)}: {error}") from error


def _read_tests(directory: Path) -> tuple[TestCall, ...]:
    what = _what(directory, TESTS)
    listed: Any = parse_json(_read(directory, TESTS), what)
    if not isinstance(listed, list):
        raise FormatError(f"{what}: (root): must be a list of calls")
    return tuple(parse_record(TestCall, item, f"{what}: {number}") for number, item in enumerate(listed))


def _read_certificate(directory: Path) -> EnvironmentCertificate | None:
    if not (directory / CERTIFICATE).exists():
        return None
    return parse_record(EnvironmentCertificate, _read(directory, CERTIFICATE), _what(directory, CERTIFICATE))


def _check_contracts(directory: Path, environment: Environment) -> None:
    what = _what(directory, CONTRACTS)
    declared = {tool.name for tool in environment.spec.tools}
    for field in ("tool", "function"):
        seen: set[str] = set()
        for number, contract in enumerate(environment.contracts.contracts):
            value = getattr(contract, field)
            if value in seen:
                raise FormatError(f"{what}: contracts/{number}/{field}: {value!r} is there twice; names are unique")
            seen.add(value)
            if field == "tool" and value not in declared:
                raise FormatError(f"{what}: contracts/{number}/tool: {value!r} is not in {SPEC}")


def _check_rendered(directory: Path, environment: Environment) -> None:
    try:
        ddl = render_ddl(environment.contracts.schema_)
    except InputError as error:
        raise FormatError(f"{_what(directory, CONTRACTS)}: db: {error}") from error
    if _read(directory, SCHEMA) != ddl.encode("utf-8"):
        raise IntegrityError(f"{_what(directory, SCHEMA)}: is not what {CONTRACTS} renders to; write the folder again")
    what = _what(directory, BACKEND)
    try:
        check_rendering(environment, _read(directory, BACKEND).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FormatError(f"{what}: is not UTF-8 text; render it again") from error
    except IntegrityError as error:
        raise IntegrityError(f"{what}: {error}") from error


def _check_seed(directory: Path, environment: Environment) -> None:
    what = _what(directory, SEED)
    try:
        clock = parse_clock(environment.seed.clock)
        stored_rows(SchemaPlan(environment.contracts.schema_), environment.seed, clock)
    except InputError as error:
        raise FormatError(f"{what}: {error}") from error


def _sibling(directory: Path, kind: str) -> Path:
    return directory.with_name(f".{directory.name}.{kind}")


def _replaceable(directory: Path) -> bool:
    return (
        directory.is_dir()
        and not directory.is_symlink()
        and ((directory / SPEC).is_file() or not any(directory.iterdir()))
    )


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
