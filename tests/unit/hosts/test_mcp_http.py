"""The HTTP edge alone: who may call, which paths and methods there are, what is refused before a message is read."""

from collections.abc import Mapping
from typing import Any

import pytest
from starlette.testclient import TestClient

from weft.hosts.mcp_http import Access, mcp_app
from weft.hosts.mcp_protocol import Reply
from weft.hosts.served import TooManySessions

JSON = {"content-type": "application/json"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


class Stub:
    """Stands for the served environments and notes what reached them."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.reached: list[tuple[str, str, bytes]] = []
        self.reply: Reply | Exception = Reply(200, {"jsonrpc": "2.0", "id": 1, "result": {}})

    def answer(self, name: str, token: str, data: bytes, headers: Mapping[str, str] | None) -> Reply:
        self.reached.append((name, token, data))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def client(stub: Stub, **access: Any) -> TestClient:
    app = mcp_app(stub, Access(**access))  # type: ignore[arg-type]
    return TestClient(app, base_url="http://127.0.0.1:8080", follow_redirects=False)


@pytest.mark.parametrize("path", ["/mcp/notes", "/mcp/notes/", "/mcp", "/mcp/", "/s/T/mcp/notes", "/s/T/mcp/"])
def test_every_spelling_of_the_path_is_served_without_a_redirect(path: str) -> None:
    stub = Stub("notes")
    response = client(stub).post(path, json=PING)
    assert response.status_code == 200
    assert [(name, token) for name, token, _ in stub.reached] == [("notes", "T" if path.startswith("/s/") else "")]


@pytest.mark.parametrize("path", ["/", "/mcp/other", "/mcp/notes/more", "/s/T", "/x/mcp/notes"])
def test_another_path_is_not_there_and_says_what_is(path: str) -> None:
    stub = Stub("notes")
    response = client(stub).post(path, json=PING)
    assert response.status_code == 404
    assert "/mcp/notes" in response.json()["error"]["message"]
    assert stub.reached == []


def test_with_two_environments_the_path_names_one() -> None:
    stub = Stub("a", "b")
    assert client(stub).post("/mcp", json=PING).status_code == 404
    assert client(stub).post("/mcp/b", json=PING).status_code == 200


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "PUT", "OPTIONS"])
def test_only_post_is_served(method: str) -> None:
    response = client(Stub("notes")).request(method, "/mcp/notes")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.example", 403),
        ("null", 403),
        ("http://localhost.evil.example", 403),
        ("http://[broken", 403),
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://[::1]:5", 200),
        ("https://trusted.example", 200),
    ],
)
def test_a_foreign_origin_is_refused_before_anything_runs(origin: str, status: int) -> None:
    stub = Stub("notes")
    response = client(stub, origins=["https://trusted.example"]).post("/mcp", json=PING, headers={"origin": origin})
    assert response.status_code == status
    assert bool(stub.reached) == (status == 200)


@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 421), ("localhost:9", 200), ("[::1]:9", 200), ("", 421), ("127.0.0.1", 200)]
)
def test_on_loopback_the_host_is_loopback(host: str, status: int) -> None:
    assert client(Stub("notes")).post("/mcp", json=PING, headers={"host": host}).status_code == status


def test_elsewhere_any_host_is_taken() -> None:
    response = client(Stub("notes"), loopback_only=False).post("/mcp", json=PING, headers={"host": "box.example"})
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({}, "/mcp", 401),
        ({"authorization": "Bearer wrong"}, "/mcp", 401),
        ({"authorization": "Basic T"}, "/mcp", 401),
        ({"authorization": "Bearer ünkel"}, "/mcp", 401),
        ({"authorization": "Bearer T"}, "/mcp", 200),
        ({"authorization": "bearer  T "}, "/mcp", 200),
        ({}, "/s/T/mcp", 200),
        ({"authorization": "Bearer T"}, "/s/T/mcp", 200),
        ({"authorization": "Bearer T"}, "/s/other/mcp", 401),
        ({"authorization": "Bearer other"}, "/s/T/mcp", 401),
    ],
)
def test_a_fixed_token_is_wanted_from_header_or_path(headers: dict[str, str], path: str, status: int) -> None:
    stub = Stub("notes")
    sent = {key: value.encode("utf-8") for key, value in headers.items()}
    response = client(stub, token="T").post(path, json=PING, headers=sent)
    assert response.status_code == status
    assert bool(stub.reached) == (status == 200)
    if status == 401:
        assert response.headers["www-authenticate"] == "Bearer"
        assert "tools" not in response.text


def test_without_a_fixed_token_any_is_a_session_of_its_own() -> None:
    stub = Stub("notes")
    for token in ("a", "b"):
        client(stub).post("/mcp", json=PING, headers={"authorization": f"Bearer {token}"})
    client(stub).post("/mcp", json=PING)
    assert [token for _, token, _ in stub.reached] == ["a", "b", ""]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ('Application/JSON;charset="UTF-8"', 200),
        ("application/json; charset=utf-16", 415),
        ("text/plain", 415),
        ("", 415),
    ],
)
def test_messages_are_json_in_utf8(kind: str, status: int) -> None:
    response = client(Stub("notes")).post("/mcp", content=b"{}", headers={"content-type": kind})
    assert response.status_code == status


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json, text/event-stream", 200),
        ("*/*", 200),
        ("application/json;q=0.5", 200),
        ("text/event-stream", 406),
        ("text/html", 406),
    ],
)
def test_answers_are_json(accept: str, status: int) -> None:
    assert client(Stub("notes")).post("/mcp", json=PING, headers={"accept": accept}).status_code == status


def test_a_message_without_an_answer_has_no_body() -> None:
    stub = Stub("notes")
    stub.reply = Reply(202, None)
    response = client(stub).post("/mcp", json=PING)
    assert (response.status_code, response.content) == (202, b"")


def test_a_message_beyond_four_mebibytes_is_refused_with_and_without_its_length() -> None:
    stub = Stub("notes")
    large = b" " * (4 * 1024 * 1024 + 1)
    assert client(stub).post("/mcp", content=large, headers=JSON).status_code == 413
    assert client(stub).post("/mcp", content=iter([large]), headers=JSON).status_code == 413
    assert stub.reached == []


def test_no_more_sessions_is_said() -> None:
    stub = Stub("notes")
    stub.reply = TooManySessions("1000 sessions are open")
    response = client(stub).post("/mcp", json=PING)
    assert response.status_code == 503
    assert "1000 sessions" in response.json()["error"]["message"]
