"""One session of one environment: calls in, results and changes out (Weft 3.1.1, 3.2.1; DESIGN 4).

Two kinds of tool failure are kept apart: ERROR is the caller's to act on (``{"error": {"code", "message",
"details"}}``), FAULT is the environment's own. Either leaves the state as it was.
"""

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from jsonschema_rs import Validator

from weft.errors import InputError, ToolFault, ToolRejection, WeftError
from weft.records.base import JSON
from weft.records.contract import Contract
from weft.records.environment import Environment
from weft.records.spec import ToolSpec
from weft.records.state import Changeset, Files, InitialState, Rows
from weft.records.trace import Outcome, ToolResult
from weft.runtime.arguments import ArgumentChecker
from weft.runtime.backend import load_backend
from weft.runtime.dialects import compile_schema
from weft.runtime.interpreter import run_contract
from weft.runtime.state import Image, State
from weft.runtime.tables import SchemaPlan
from weft.runtime.values import shown

Engine = Literal["backend", "interpreter"]
Function = Callable[[State, dict[str, JSON]], JSON]


class Tool:
    """A served tool, ready to run. Schemas are compiled at the first call, so that opening a session stays cheap."""

    def __init__(self, spec: ToolSpec, contract: Contract, function: Function) -> None:
        self.spec = spec
        self.contract = contract
        self.function = function
        self._checker: ArgumentChecker | None = None
        self._returns: Validator | None = None

    def arguments(self, arguments: Any) -> dict[str, JSON]:
        """Return the checked arguments.

        Raises:
            ToolRejection: ``invalid_argument``.
        """
        if self._checker is None:
            self._checker = ArgumentChecker(self.spec)
        return self._checker.check(arguments)

    def result(self, value: Any) -> JSON:
        """Return the tool's result as plain JSON that shares nothing with the state or the arguments.

        Raises:
            ToolFault: the value is not JSON or breaks the tool's return schema.
        """
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            text.encode("utf-8")
            plain = json.loads(text)
        except (TypeError, ValueError) as error:
            raise ToolFault(f"the result is not JSON: {type(error).__name__}") from error
        if self._returns is None:
            self._returns = compile_schema(self.contract.returns_schema)
        if not self._returns.is_valid(plain):
            problem = next(iter(self._returns.iter_errors(plain)))
            place = "/".join(map(str, problem.instance_path)) or "(root)"
            raise ToolFault(f"the result breaks the return schema at {place}: {problem.message[:300]}")
        return plain


class Program:
    """An environment made ready to run once; all its sessions and forks share it.

    Args:
        environment: what to run.
        engine: the rendered backend, or the interpreter of contracts; validation proves that they agree.

    Raises:
        InputError: the schema is not usable, or a contract is of a tool that the spec lacks.
        IntegrityError: the backend does not render.
    """

    def __init__(self, environment: Environment, *, engine: Engine = "backend") -> None:
        self.environment = environment
        self.plan = SchemaPlan(environment.contracts.schema_)
        self._start: Image | None = None
        functions = _functions(environment, engine)
        specs = {spec.name: spec for spec in environment.spec.tools}
        self.tools: dict[str, Tool] = {}
        for contract in environment.contracts.contracts:
            if contract.tool not in specs:
                raise InputError(
                    f"{environment.name}: contract of tool {contract.tool!r}, which the spec lacks; "
                    f"it has {', '.join(specs) or 'none'}"
                )
            self.tools[contract.tool] = Tool(specs[contract.tool], contract, functions[contract.tool])

    def start(self, initial: InitialState, seed: int) -> State:
        """Return a new state.

        Raises:
            InputError: the initial state does not fit the schema.
        """
        if initial is not self.environment.seed:
            return State.create(self.plan, initial, seed=seed, name=self.environment.name)
        if self._start is None:  # the usual start is built once and copied
            state = State.create(self.plan, initial, seed=seed, name=self.environment.name)
            self._start = state.serialize()
            state.close()
        state = State.load(self.plan, self._start)
        state.reseed(seed)
        return state


class EnvironmentSession:
    """A private session of one environment. Not safe for use by several threads at once.

    Args:
        environment: what to run.
        initial: what to start from, mostly ``environment.seed``.
        seed: of the generated ids.
        engine: the rendered backend, or the interpreter of contracts.
        program: the environment made ready, if the caller keeps one; ``engine`` is then the program's.

    Raises:
        InputError: the initial state does not fit the schema.
    """

    def __init__(
        self,
        environment: Environment,
        initial: InitialState,
        seed: int,
        *,
        engine: Engine = "backend",
        program: Program | None = None,
    ) -> None:
        self.program = program or Program(environment, engine=engine)
        self.state = self.program.start(initial, seed)

    @classmethod
    def from_image(
        cls, environment: Environment, image: Image, *, engine: Engine = "backend", program: Program | None = None
    ) -> "EnvironmentSession":
        """Return a session that goes on from an image; rows, files, clock and ids are the image's."""
        session = cls.__new__(cls)
        session.program = program or Program(environment, engine=engine)
        session.state = State.load(session.program.plan, image)
        return session

    def call(self, tool: str, arguments: Any = None) -> tuple[ToolResult, Changeset]:
        """Call a tool by its declared name and return its result and what it changed.

        Never raises for what a tool or a caller does wrong.
        """
        ready = self.program.tools.get(tool)
        if ready is None:
            message = f"no tool {shown(tool)} in {self.program.environment.name}"
            return _error(ToolRejection("unknown_tool", message, {"tools": list(self.program.tools)})), Changeset()
        call = self.state.call()
        try:
            checked = ready.arguments(arguments)
            with call:
                value = ready.result(ready.function(self.state, checked))
        except ToolRejection as rejection:
            return _error(rejection), Changeset()
        except Exception as error:  # noqa: BLE001 - the edge between a tool and its caller: any failure is a FAULT
            return _fault(ready.spec.name, error), Changeset()
        return ToolResult(outcome=Outcome.OK, value=value), call.changes

    def image(self) -> Image:
        """Return the state at rest; immutable, for :meth:`from_image`."""
        return self.state.serialize()

    @property
    def clock(self) -> str:
        """The virtual now, RFC 3339 UTC."""
        return self.state.clock

    def set_clock(self, clock: str) -> None:
        """Move the clock, because another session of the group did."""
        self.state.set_clock(clock)

    def rows(self) -> Rows:
        """Return all rows in canonical form."""
        return self.state.rows()

    def files(self) -> Files:
        """Return all workspace files."""
        return self.state.files()

    def close(self) -> None:
        """Free the session's memory. Idempotent."""
        self.state.close()


def _functions(environment: Environment, engine: Engine) -> Mapping[str, Function]:
    if engine == "backend":
        return load_backend(environment)
    return {contract.tool: partial(run_contract, contract) for contract in environment.contracts.contracts}


def _error(rejection: ToolRejection) -> ToolResult:
    body: dict[str, JSON] = {"code": rejection.code, "message": _clean(str(rejection))}
    details = _plain_details(rejection.details)
    if details:
        body["details"] = details
    return ToolResult(outcome=Outcome.ERROR, value={"error": body})


def _fault(tool: str, error: Exception) -> ToolResult:
    """A fault says what failed, without the texts of foreign exceptions, which may hold paths of this machine."""
    reason = str(error) if isinstance(error, WeftError) else type(error).__name__
    body = {"code": "fault", "message": _clean(f"tool {tool} failed: {reason}")}
    return ToolResult(outcome=Outcome.FAULT, value={"error": body})


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain_details(details: Mapping[str, object]) -> dict[str, JSON]:
    """The details that are JSON, as copies: a rejection may quote what the caller sent."""
    kept: dict[str, JSON] = {}
    for name, value in details.items():
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            text.encode("utf-8")
        except (TypeError, ValueError, RecursionError):
            kept[name] = shown(value)
        else:
            kept[name] = json.loads(text)
    return kept
