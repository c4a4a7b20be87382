"""The process of `weft env serve`: environments as an MCP server over streamable HTTP or stdio.

The protocol is answered by :mod:`weft.hosts.mcp_protocol` and not by the SDK's server: a plain dispatch is about ten
times as fast, answers GET with 405 as clients want it, and cannot mix up requests that share an id, because each is
answered on its own. The official clients are the test of it.
"""

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence

import uvicorn
from starlette.types import ASGIApp

from weft.errors import InputError
from weft.hosts.mcp_http import LOOPBACK, Access, mcp_app
from weft.hosts.mcp_stdio import private_stdout, serve_stdio
from weft.hosts.served import Served
from weft.records.environment import Environment

GRACE_SECONDS = 5


def serve_environments_http(
    environments: Sequence[Environment],
    *,
    host: str,
    port: int,
    token: str | None,
    seed: int,
    reset: bool,
    announce: Callable[[dict[str, str]], None],
) -> None:
    """Serve environments over streamable HTTP until SIGINT or SIGTERM.

    Args:
        environments: with names that differ.
        host: address to listen on.
        port: 0 takes a free one.
        token: the only bearer token that is accepted; None accepts any.
        seed: of generated ids.
        reset: each new connection starts from the initial state.
        announce: called once, when connections are accepted, with environment name -> URL.

    Raises:
        InputError: the address cannot be listened on.
    """
    served = Served(environments, seed=seed, reset=reset)
    listener = listen(host, port)
    base = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    app = mcp_app(served, Access(token=token, loopback_only=host in LOOPBACK))
    announce({name: f"{base}/mcp/{name}" for name in served.names})
    run_app(app, listener)


def serve_environment_stdio(environment: Environment, *, seed: int) -> None:
    """Serve one environment over standard input and output until the end of input."""
    served = Served([environment], seed=seed)
    with private_stdout() as target:
        serve_stdio(served, environment.name, sys.stdin.buffer, target)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that accepts connections from now on.

    Raises:
        InputError: naming the address and why not.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot listen on {host} port {port}: {reason}; give another --port or --host") from error
    return listener


def run_app(app: ASGIApp, listener: socket.socket) -> None:
    """Run an application on a listening socket until SIGINT or SIGTERM, then finish what is under way.

    A second signal, or :data:`GRACE_SECONDS` seconds, ends it at once.
    """
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=GRACE_SECONDS
    )
    with listener:
        asyncio.run(_Server(config).serve([listener]))


class _Server(uvicorn.Server):
    """Uvicorn, but a signal that ends it is a regular end: it is not raised again afterwards."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        ends = (signal.SIGINT, signal.SIGTERM)
        for number in ends:
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in ends:
                loop.remove_signal_handler(number)
