"""JSON-RPC 2.0 messages of one connection's edge: strict JSON in, strict JSON out.

Refused on the way in: NaN and infinities, lone surrogates, nesting beyond :data:`MAX_DEPTH`, messages beyond
:data:`MAX_BYTES`, batches (MCP has none since 2025-06-18), and ids that are neither a text nor an integer.
"""

import json
from dataclasses import dataclass
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 128

RequestId = str | int


class ProtocolError(Exception):
    """A JSON-RPC error to answer with.

    Attributes:
        code: JSON-RPC or MCP error code.
        data: further JSON for the caller, or None.
        id: of the request, None where it could not be read.
    """

    def __init__(self, code: int, message: str, data: Any = None, request_id: RequestId | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.id = request_id


@dataclass(frozen=True)
class Call:
    """One incoming message. A notification has no id; a response from the client is neither and is dropped.

    Attributes:
        id: of a request.
        method: of a request or notification, ``""`` for a response.
        params: as sent, ``{}`` when left out.
        raw: the whole message.
    """

    id: RequestId | None
    method: str
    params: dict[str, Any]
    raw: dict[str, Any]

    @property
    def is_request(self) -> bool:
        """True if it wants an answer."""
        return self.id is not None


def decode(data: bytes) -> Any:
    """Decode the bytes of one message.

    Raises:
        ProtocolError: with code -32700 for what is not strict JSON, -32600 for what is too large or too deep.
    """
    if len(data) > MAX_BYTES:
        raise ProtocolError(INVALID_REQUEST, f"the message has {len(data)} bytes; send at most {MAX_BYTES}")
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ProtocolError(INVALID_REQUEST, _too_deep()) from error
    except ValueError as error:
        raise ProtocolError(PARSE_ERROR, f"not JSON: {error}") from error
    if text.count("[") + text.count("{") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise ProtocolError(INVALID_REQUEST, _too_deep())
    if "\\ud" in text or "\\uD" in text:
        _refuse_lone_surrogates(value)
    return value


def parse(value: Any) -> Call:
    """Check the envelope of a decoded message.

    Raises:
        ProtocolError: with code -32600, or -32602 for params that are no object.
    """
    if isinstance(value, list):
        raise ProtocolError(INVALID_REQUEST, "batches are not part of MCP; send one message at a time")
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_REQUEST, "a message is a JSON object")
    if value.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'a message has "jsonrpc": "2.0"')
    request_id = value.get("id")
    if "id" in value and (isinstance(request_id, bool) or not isinstance(request_id, (str, int))):
        raise ProtocolError(INVALID_REQUEST, "an id is a text or an integer; a notification has none")
    if "method" not in value and ("result" in value or "error" in value):
        return Call(None, "", {}, value)
    method = value.get("method")
    if not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, "the method is a text", request_id=request_id)
    params = value.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params is an object", request_id=request_id)
    return Call(request_id, method, params, value)


def result_message(request_id: RequestId, result: dict[str, Any]) -> dict[str, Any]:
    """Return the response that carries a result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def error_message(error: ProtocolError) -> dict[str, Any]:
    """Return the response that carries an error; its id is null where the request's could not be read."""
    body = {"code": error.code, "message": str(error)}
    return {"jsonrpc": "2.0", "id": error.id, "error": body if error.data is None else {**body, "data": error.data}}


def encode(message: dict[str, Any]) -> bytes:
    """Return the UTF-8 bytes of a message, without a line break.

    Raises:
        ValueError: a NaN, an infinity or a lone surrogate in it, which strict JSON cannot carry.
    """
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _too_deep() -> str:
    return f"nested deeper than {MAX_DEPTH} levels; flatten the message"


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            child
            for item in level
            if isinstance(item, (dict, list))
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True


def _refuse_lone_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        request_id = value.get("id") if isinstance(value, dict) else None
        known = request_id if isinstance(request_id, int) and not isinstance(request_id, bool) else None
        raise ProtocolError(
            PARSE_ERROR,
            "a text holds half of a surrogate pair, which is no character; send the whole pair or leave it out",
            request_id=known,
        ) from error
