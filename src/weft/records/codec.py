r"""Bytes to records and back: canonical JSON, content hashes, JSON Lines.

Canonical JSON is UTF-8, keys sorted, no spaces, no NaN or Infinity. Human-facing files use
:func:`pretty`, which differs only in white space. Lines end at ``\n`` alone, so that U+2028, U+2029
or U+0085 inside a string never splits a record.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from weft.errors import FormatError
from weft.records.base import JSON, Record

R = TypeVar("R", bound=Record)


def plain(value: Any) -> JSON:
    """Return ``value`` (records included, at any depth) as plain JSON data.

    Fields of a record that equal their default are left out, so that adding an optional field to a
    format does not change the hash of what was written before.
    """
    if isinstance(value, BaseModel):
        body = value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        version = getattr(value, "version", None)
        return {"version": version, **body} if isinstance(version, int) else body
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def canonical(value: Any) -> bytes:
    """Return the canonical JSON bytes of a record or JSON value.

    Raises:
        FormatError: the value holds NaN, an infinity, a lone surrogate or something that is not JSON.
    """
    try:
        text = json.dumps(plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"not representable as JSON: {error}; use finite numbers and valid Unicode") from error


def pretty(value: Any, *, sort_keys: bool = False) -> bytes:
    """Return indented JSON for files that people read and diff; ends with a line break."""
    try:
        text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)
        return (text + "\n").encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"not representable as JSON: {error}; use finite numbers and valid Unicode") from error


def content_hash(value: Any) -> str:
    """Return the SHA-256 (64 hex digits) of the canonical JSON of ``value``."""
    return hashlib.sha256(canonical(value)).hexdigest()


def parse_json(data: bytes | str, what: str) -> JSON:
    """Parse strict JSON: no NaN, no Infinity, no duplicate-key surprises left unnoticed, no lone surrogates.

    Args:
        data: the bytes or text.
        what: the name of the source, for the error.

    Raises:
        FormatError: with the position and the reason.
    """

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON; leave the value out or use null")

    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        value = json.loads(text, parse_constant=refuse)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{what}: not valid JSON ({error}); check the file with any JSON validator") from error


def parse_record(kind: type[R], data: bytes | str | JSON, what: str) -> R:
    """Parse one record of type ``kind``.

    Raises:
        FormatError: naming the first field that does not fit.
    """
    value = parse_json(data, what) if isinstance(data, (bytes, str)) else data
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(str(step) for step in first["loc"]) or "(root)"
        raise FormatError(
            f"{what}: {place}: {first['msg']} (got {str(first.get('input'))[:120]!r}); "
            f"the format is {kind.__name__} in docs/formats"
        ) from error


def dump_lines(values: Iterable[Any]) -> bytes:
    """Return JSON Lines, one canonical value a line."""
    return b"".join(canonical(value) + b"\n" for value in values)


def split_lines(data: bytes) -> Iterator[tuple[bytes, bool]]:
    r"""Yield ``(line, complete)`` for each non-empty line; only ``\n`` ends a line.

    A last line without its line break is yielded with ``complete`` false if it is not valid JSON:
    the mark of a writer that was killed. The caller drops it with a warning.
    """
    lines = data.split(b"\n")
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if index < len(lines) - 1:
            yield line, True
        else:
            try:
                json.loads(line)
            except ValueError:
                yield line, False
            else:
                yield line, True
