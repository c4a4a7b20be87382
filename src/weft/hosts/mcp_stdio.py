"""MCP over stdio: newline-delimited JSON-RPC, and nothing else on standard output."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from weft.hosts.jsonrpc import INVALID_REQUEST, MAX_BYTES, ProtocolError, encode, error_message
from weft.hosts.served import Served


def serve_stdio(served: Served, name: str, source: BinaryIO, target: BinaryIO) -> None:
    """Answer the messages of one client until its end of input.

    Args:
        served: environments and their sessions.
        name: of the environment.
        source: where messages come from.
        target: where answers go.
    """
    for line in _lines(source):
        if line is None:
            error = ProtocolError(INVALID_REQUEST, f"the message is larger than {MAX_BYTES} bytes; send less")
            message = error_message(error)
        elif not line.strip():
            continue
        else:
            reply = served.answer(name, "", line, None)
            if reply.message is None:
                continue
            message = reply.message
        target.write(encode(message) + b"\n")
        target.flush()


@contextmanager
def private_stdout() -> Iterator[BinaryIO]:
    """Give standard output to the caller alone: what anyone else prints goes to standard error meanwhile."""
    sys.stdout.flush()
    wire = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with os.fdopen(wire, "wb") as target:
        try:
            yield target
        finally:
            sys.stdout.flush()
            target.flush()
            os.dup2(target.fileno(), sys.stdout.fileno())


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """Yield each line without its break; None for one that is too long, which is read to its end and dropped."""
    while line := source.readline(MAX_BYTES + 1):
        if line.endswith(b"\n") or len(line) <= MAX_BYTES:
            yield line.rstrip(b"\r\n")
            continue
        while (rest := source.readline(MAX_BYTES)) and not rest.endswith(b"\n"):
            pass
        yield None
