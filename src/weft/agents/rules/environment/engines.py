"""Engines and the outside world: what no stored state can stand for, refused with a typed reason and a way out."""

import re

from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.intents import Intent
from weft.agents.rules.environment.refused import Refused
from weft.agents.rules.environment.words import listed, tokens
from weft.records.spec import RefusalCode, ToolSpec
from weft.records.state import ColumnType

BIND = "bind the real package as the environment, or leave the tool out"

_WORLD = frozenset(
    listed(
        "screenshot, click, hover, navigate, browser, scrape, crawl, scroll, keyboard, mouse, drag, "
        "viewport, lighthouse, heapsnapshot, screencast, webcam, microphone, ocr, speech, tts, geocode, "
        "geocoding, weather, forecast, isochrone "
    )
)
_CODE_ARGS = frozenset(
    listed("code, script, javascript, expression, command, shell, python, lua, formula, js, function body, cmd, bash ")
)
_QUERY_ARGS = frozenset(
    listed(
        "sql, cypher, promql, jql, cql, kql, gaql, soql, graphql, aggregation, pipeline, aql, nql, logql, traceql, pql "
    )
)
_QUERY_HINT = re.compile(
    r"\b(sql|cypher|promql|graphql|kql|jql|cql|soql|mdx|sparql|gaql|logql|n1ql|query dsl|duckdb)\b", re.IGNORECASE
)
_WEB_HINT = re.compile(
    r"\b(search(es)? the web|web search|search engine|internet search|live web|web ?page|crawl|scrape|any url)\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(get |fetch |read |show |tell |what is )?(the )?(current |local |server |system |utc )*"
    r"(time|date|datetime|date time|time stamp|timestamp|clock|now|today)( now| today)?( in .*)?"
)
_COMPUTES = "it computes a result and stores nothing"


def check_engine(tool: ToolSpec, intent: Intent | None, fields: list[Field]) -> None:
    """Refuse a tool whose meaning lies outside a stored state.

    Raises:
        Refused: with ``free_code``, ``query_language``, ``external_world`` or ``stateless``.
    """
    required = [field for field in fields if field.required]
    _check_code(required, tool)
    _check_query(required, tool)
    _check_world(tool, intent, required)
    if _CLOCK.fullmatch(" ".join(tokens(tool.name))):
        raise Refused(
            RefusalCode.STATELESS, "it tells the time of the machine and stores nothing", BIND, value=tool.name
        )
    if intent is not None and intent.kind == "compute":
        _check_compute(tool, intent)


def _check_code(required: list[Field], tool: ToolSpec) -> None:
    for field in required:
        if " ".join(field.words) in _CODE_ARGS and field.type == ColumnType.TEXT and not field.enum:
            if set(field.words) <= {"code"} and not re.search(
                r"script|python|javascript|execut|snippet|program|source code",
                field.description + tool.description[:200],
                re.IGNORECASE,
            ):
                continue
            raise Refused(
                RefusalCode.FREE_CODE,
                f"the argument {field.name!r} is free code",
                BIND,
                path=f"#/properties/{field.dotted}",
                value=field.name,
            )


def _check_query(required: list[Field], tool: ToolSpec) -> None:
    for field in required:
        name = " ".join(field.words)
        speaks = bool(_QUERY_HINT.search(field.description)) or (
            name in ("query", "statement")
            and bool(_QUERY_HINT.search(tool.description[:300] + " " + tool.name.replace("_", " ")))
        )
        if (
            field.is_text
            and not field.enum
            and (
                name in _QUERY_ARGS
                or field.words[-1] in ("sql", "jql", "cql", "promql")
                or (speaks and name in ("query", "statement", "q", "filter", "expression"))
            )
        ):
            raise Refused(
                RefusalCode.QUERY_LANGUAGE,
                f"the argument {field.name!r} is a text in a query language",
                BIND,
                path=f"#/properties/{field.dotted}",
                value=field.name,
            )


def _check_world(tool: ToolSpec, intent: Intent | None, required: list[Field]) -> None:
    words = set(intent.words) | {intent.verb} if intent is not None else set()
    first = re.split(r"[.\n]", tool.description.strip(), maxsplit=1)[0]
    if words & _WORLD or (
        _WEB_HINT.search(first) and (intent is None or intent.kind in ("search", "get", "compute", "list"))
    ):
        raise Refused(
            RefusalCode.EXTERNAL_WORLD,
            "the tool acts on the world outside the server's own state",
            BIND,
            value=tool.name,
        )
    for field in required:
        if (
            field.words[-1] in ("url", "urls", "uri")
            and intent is not None
            and intent.verb
            in listed("fetch, download, extract, read, import, map, crawl, convert, open, get, resolve, expand, parse ")
        ):
            raise Refused(
                RefusalCode.EXTERNAL_WORLD,
                f"the tool reads what is at {field.name!r}, outside the server's own state",
                BIND,
                path=f"#/properties/{field.dotted}",
                value=field.name,
            )


def _check_compute(tool: ToolSpec, intent: Intent) -> None:
    if intent.verb in listed("upload, import, download, subscribe, watch, monitor, manage, toggle, extract, export "):
        return
    raise Refused(RefusalCode.STATELESS, f"{intent.verb}: {_COMPUTES}", BIND, value=tool.name)
