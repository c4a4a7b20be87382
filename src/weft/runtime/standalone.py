"""A rendered backend as a FastAPI application, for running one environment folder alone (Weft 3.1.1).

``uvicorn --factory backend:app`` in the folder serves ``POST /tools/<name>``, ``GET /tools`` and ``GET /healthz`` over
one session on the folder's seed. Many sessions, MCP and isolation are the business of the serving layers.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from weft.errors import IntegrityError
from weft.records.environment import Environment
from weft.records.spec import ToolSpec
from weft.records.trace import Outcome
from weft.runtime.folder import read_folder
from weft.runtime.session import EnvironmentSession

STATUS_OF_CODE: Final = {
    "not_found": 404,
    "unknown_tool": 404,
    "conflict": 409,
    "invalid_state": 409,
    "outside_workspace": 403,
    "limit_exceeded": 429,
    "invalid_argument": 422,
}
MAX_BODY = 4 * 1024 * 1024
"""Bytes of a request that are read; more is refused."""


def application(backend: str, tools: Mapping[str, Any], *, seed: int = 0) -> Any:
    """Return a FastAPI application over the folder that a backend file is in.

    Args:
        backend: path of ``backend.py``. The folder is read and checked: what runs is its contracts' own rendering.
        tools: the backend's table of tools.
        seed: of the generated ids.

    Raises:
        IntegrityError: the folder is not sound, or the table is not of its contracts.
        FormatError: a file of the folder does not hold what it should.
    """
    environment = read_folder(Path(backend).resolve().parent)
    if list(tools) != environment.served():
        raise IntegrityError(f"the tools of {environment.name} are not those of its contracts; render backend.py again")
    return application_of(environment, seed=seed)


def application_of(environment: Environment, *, seed: int = 0) -> Any:
    """Return a FastAPI application that serves one session of an environment.

    Calls run one after the other in the event loop: a session is one caller's.
    """
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse

    session = EnvironmentSession(environment, environment.seed, seed)
    specs = {spec.name: spec for spec in environment.spec.tools}
    served = [specs[name] for name in environment.served()]
    app = FastAPI(title=environment.spec.title, description=environment.spec.description)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok", "environment": environment.name, "hash": environment.hash}

    @app.get("/tools")
    async def list_tools() -> dict[str, Any]:
        return {"tools": [spec.declared or _declaration(spec) for spec in served]}

    def endpoint(name: str) -> Callable[[Request], Awaitable[JSONResponse]]:
        async def run(request: Request) -> JSONResponse:
            status, body = call_tool(session, name, await request.body())
            return JSONResponse(body, status_code=status)

        return run

    for spec in served:
        app.add_api_route(
            f"/tools/{quote(spec.name, safe='')}",
            endpoint(spec.name),
            methods=["POST"],
            name=spec.name,
            description=spec.description,
            response_model=None,
            openapi_extra={"requestBody": {"content": {"application/json": {"schema": spec.input_schema}}}},
        )
    return app


def call_tool(session: EnvironmentSession, tool: str, body: bytes) -> tuple[int, Any]:
    """Run one request and return its HTTP status and JSON body.

    An error of the caller is a 4xx with ``{"error": {"code", "message", "details"}}``, a fault of the tool a 500.
    """
    if len(body) > MAX_BODY:
        return 413, _error("limit_exceeded", f"the request has {len(body)} bytes, more than {MAX_BODY}; send less")
    try:
        arguments = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        return 400, _error("invalid_argument", f"the request is not JSON: {error}; send the arguments as an object")
    result, _ = session.call(tool, arguments)
    if result.outcome == Outcome.OK:
        return 200, result.value
    if result.outcome == Outcome.ERROR:
        return STATUS_OF_CODE.get(str(result.value["error"]["code"]), 400), result.value
    return 500, result.value


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


def _declaration(spec: ToolSpec) -> dict[str, Any]:
    told: dict[str, Any] = {"name": spec.name, "description": spec.description, "inputSchema": spec.input_schema}
    if spec.output_schema is not None:
        told["outputSchema"] = spec.output_schema
    return told
