"""What one `weft env serve` process keeps: the endpoints, and a session for each environment and token."""

from collections.abc import Sequence

from weft import __version__
from weft.errors import InputError
from weft.hosts.mcp_protocol import Endpoint, Headers, Reply, ToolSession
from weft.records.environment import Environment
from weft.runtime.session import EnvironmentSession, Program

MAX_SESSIONS = 1000


class TooManySessions(Exception):
    """This process keeps no more sessions; use a token that is known to it, or start it again."""


class Served:
    """Environments with their sessions. A session lives as long as the process and is addressed by its token.

    Two tokens never share state. The same token in a new connection goes on where it was.
    """

    def __init__(
        self,
        environments: Sequence[Environment],
        *,
        seed: int = 0,
        reset: bool = False,
        max_sessions: int = MAX_SESSIONS,
    ) -> None:
        """Prepare the endpoints.

        Args:
            environments: with names that differ.
            seed: of the ids that the sessions generate.
            reset: a new connection (``initialize`` or ``server/discover``) starts from the initial state again.
            max_sessions: how many are kept.

        Raises:
            InputError: none, or two of one name; or an initial state does not fit its schema.
            IntegrityError: a backend does not render from its contracts.
        """
        names = [environment.name for environment in environments]
        if not names or len(set(names)) != len(names):
            raise InputError(f"environments to serve need names of their own; got {', '.join(names) or 'none'}")
        self._programs = {environment.name: Program(environment) for environment in environments}
        self._endpoints = {each.name: Endpoint(each, version=__version__) for each in environments}
        self._sessions: dict[tuple[str, str], ToolSession] = {}
        self._seed = seed
        self._reset = reset
        self._max = max_sessions

    @property
    def names(self) -> list[str]:
        """Names of the environments, in the order given."""
        return list(self._programs)

    def tools(self, name: str) -> list[str]:
        """Names of the tools that an environment serves."""
        return list(self._endpoints[name].tools)

    def answer(self, name: str, token: str, data: bytes, headers: Headers | None) -> Reply:
        """Answer a message to an environment in the session of a token.

        Raises:
            TooManySessions: the token is new and no more are kept.
        """
        endpoint = self._endpoints[name]
        if self._reset and endpoint.opens(data):
            self._sessions.pop((name, token), None)
        return endpoint.answer(data, self._session(name, token), headers)

    def _session(self, name: str, token: str) -> ToolSession:
        key = (name, token)
        session = self._sessions.get(key)
        if session is None:
            if len(self._sessions) >= self._max:
                raise TooManySessions(f"{self._max} sessions are open; use a known token or start the server again")
            program = self._programs[name]
            environment = program.environment
            session = EnvironmentSession(environment, environment.seed, self._seed, program=program)
            self._sessions[key] = session
        return session
