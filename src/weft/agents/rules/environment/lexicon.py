"""The argument lexicon: words by which control, paging, ordering and selecting arguments are known in any server."""

import re

from weft.agents.rules.environment.fields import Field
from weft.agents.rules.environment.words import listed
from weft.records.state import ColumnType

WRAPPERS = frozenset(
    listed(
        "body, data, input, payload, params, parameters, request, attributes, options, args, arguments, "
        "filter, filters, pagination, changes, values, resource, object, item, record, details, spec, "
        "query, settings, update, updates, create, definition, entity, template, model, config, "
        "configuration, metadata "
    )
)
"""Last words of object arguments that only wrap attributes."""

ABBREVIATIONS = {
    "repo": "repository",
    "org": "organization",
    "organisation": "organization",
    "env": "environment",
    "db": "database",
    "doc": "document",
    "dir": "directory",
    "msg": "message",
    "pr": "pull_request",
    "mr": "merge_request",
    "img": "image",
    "config": "configuration",
    "acct": "account",
    "dept": "department",
    "addr": "address",
    "num": "number",
    "desc": "description",
    "folder": "folder",
    "favourite": "favorite",
    "colour": "color",
    "lib": "library",
    "app": "application",
    "apps": "application",
}

ID_WORDS = listed(
    "id, ids, uuid, uuids, uid, guid, gid, gids, sid, sids, iid, oid, key, keys, slug, number, "
    "numbers, pk, ref, code, identifier, identifiers, handle, ts, idx "
)
STRONG_IDS = listed("id, uuid, uid, guid, gid, sid, iid, oid, pk, identifier ")
NATURAL_WORDS = listed(
    "name, slug, path, key, title, email, username, login, symbol, ticker, domain, url, handle, code, "
    "number, tag, filename, host, hostname, timestamp, ts, identifier, alias "
)

_LIMITS = set(
    listed(
        "limit, per page, page size, pagesize, max results, maxresults, max items, count, top, first, "
        "take, size, num results, n results, results per page, number of results, top k, rows, max count, "
        "limit results, maximum results, num, n, result limit, results limit, items per page, max, last, "
        "perpage, last n, max records, page limit, number, amount, num items, max entries, max rows "
    )
)
_OFFSETS = set(
    listed("offset, skip, start, start index, start at, from, page offset, begin, start from, start position ")
)
_PAGES = {"page", "page number", "page num", "page index", "page no", "current page", "pagenumber"}
_CURSORS = set(
    listed(
        "cursor, page token, next token, pagetoken, next page token, starting after, start cursor, after, "
        "pagination token, continuation token, skiptoken, skip token, next cursor, scroll id, marker, "
        "bookmark, after cursor, before cursor, continuation, end cursor, nextpagetoken, page cursor, "
        "paging token, ending before, pagination cursor, page after, continue, continue token, next "
    )
)
_SORTS = set(
    listed(
        "sort, sort by, order by, orderby, sort field, sort key, sort column, sorting, sortby, order, "
        "sort on, order field, ordering, sort option, sort type "
    )
)
_DIRECTIONS = set(
    listed(
        "direction, order, sort order, sort direction, sort dir, ascending, descending, desc, asc, "
        "reverse, order direction, order dir, sortorder, sort descending, sort desc, sort ascending, "
        "order by direction, reverse order, newest first, sort "
    )
)
_PROJECTIONS = set(
    listed(
        "field, select, opt field, include field, column, return field, output field, selected field, "
        "field name, filter property, return property, response field, projection, field to return, "
        "property to return, exclude field, requested field, attribute to retrieve, only field "
    )
)
_SEARCHES = set(
    listed(
        "q, query, search, keyword, search term, search query, term, text, search text, query string, "
        "search string, name pattern, pattern, phrase, filter text, search keyword, querystring, contain, "
        "name filter, name contain, title contain, search phrase, free text, query text, name query, "
        "search title, text query, search name, match, substring, name like, filter by name "
    )
)
_MIN = set(
    listed(
        "min, minimum, gte, gt, since, after, from, start, begin, starting, newer, oldest, lower, "
        "earliest, above, greater, updated_since "
    )
)
_MAX = set(
    listed("max, maximum, lte, lt, until, before, to, end, ending, older, latest, upper, till, below, less, through ")
)

CONTROL: dict[str, frozenset[str]] = {
    "timeout": frozenset(
        listed(
            "timeout, timeout ms, timeout second, timeout sec, max wait, wait second, poll interval, wait "
            "timeout, request timeout, timeoutms, poll interval second, wait for completion, wait, timeout "
            "minute, max wait second, poll, wait time "
        )
    ),
    "locale": frozenset(
        listed(
            "locale, lang, language code, hl, accept language, locale code, timezone, time zone, tz, display "
            "language, language "
        )
    ),
    "credential": frozenset(
        listed(
            "api key, apikey, access token, api token, auth token, credential, client secret, bearer token, "
            "auth, x api key, authorization, token, oauth token, personal access token "
        )
    ),
    "verbosity": frozenset(
        listed("verbose, debug, verbosity, quiet, include debug, pretty, silent, log level, minify, compact ")
    ),
    "format": frozenset(
        listed(
            "format, response format, output format, body format, return format, accept, result format, "
            "response type, encoding, output type, output, display value, response mode, output mode "
        )
    ),
    "client_hint": frozenset(
        listed(
            "user agent, request id, idempotency key, trace id, reasoning, explanation, thought, rationale, "
            "use cache, no cache, cache, force refresh, refresh, bypass cache, cache ttl, include header, "
            "client request id, correlation id, exclude response, fetch all page, fetch all, auto paginate, "
            "max page, consistency level, prefer, intent, instance, x request id, wait mode, chunk size, "
            "batch size, concurrency, max retry, retry, skip cache, all page "
        )
    ),
}
"""Control arguments: reason -> singular names. On writes they are stored when the server also returns them."""

MINIMAL = frozenset(
    listed(
        "minimal, summary, concise, brief, basic, compact, short, light, lite, less, simple, id, ids, "
        "names, overview, essentials, small, metadata, preview, full_summary, low "
    )
)
_LEVELS = set(
    listed(
        "detail, detail level, view, verbosity, level, response size, mode, depth, detailed, full, "
        "response detail, return type, level of detail, content level, summary only, detail mode, "
        "concise, brief, summary "
    )
)


def joined(field: Field) -> str:
    """The field's words as one text, each in the singular except in the paging vocabulary."""
    return " ".join(field.words)


def singular_text(words: tuple[str, ...]) -> str:
    """Words in a crude singular, for look-ups."""
    return " ".join(
        word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word for word in words
    )


def paging_role(field: Field) -> str:
    """``limit``, ``offset``, ``page``, ``cursor`` or ``""``."""
    name = joined(field)
    numeric = field.type in (ColumnType.INTEGER, ColumnType.NUMBER)
    if numeric or (field.is_text and not field.enum and name in ("limit", "page", "per page", "page size")):
        if (
            name in _LIMITS
            or (field.words[0] == "max" and "result" in singular_text(field.words))
            or field.words[-1] == "limit"
        ):
            return "limit"
        if name in _OFFSETS:
            return "offset"
        if name in _PAGES:
            return "page"
    if field.type == ColumnType.TEXT and not field.enum and (name in _CURSORS or name == "offset"):
        hint = field.description.lower()
        if name in ("after", "next", "continue") and re.search(r"date|iso|timestamp|day|time", hint):
            return ""
        return "cursor"
    return ""


def order_role(field: Field) -> str:
    """``sort``, ``direction`` or ``""``."""
    name = joined(field)
    values = {str(value).lower() for value in field.enum}
    two_ways = bool(values) and values <= {
        "asc",
        "desc",
        "ascending",
        "descending",
        "asc_nulls_last",
        "1",
        "-1",
        "default",
    }
    if name in _DIRECTIONS and (two_ways or (field.type == ColumnType.BOOLEAN and name != "order")):
        return "direction"
    if (
        field.type == ColumnType.TEXT
        and not field.enum
        and name in _DIRECTIONS - {"order", "sort", "direction", "reverse"}
    ):
        return "direction"
    if name == "direction" and re.search(r"\basc", field.description, re.IGNORECASE):
        return "direction"
    if name in _SORTS and field.type == ColumnType.TEXT:
        if (
            name == "order"
            and not values
            and re.search(r"\basc\b.*\bdesc\b|\bdesc\b.*\basc\b", field.description, re.IGNORECASE)
        ):
            return "direction"
        return "sort"
    return ""


def is_projection(field: Field) -> bool:
    """True if the argument names the fields to return."""
    if field.type == ColumnType.BOOLEAN or not (field.is_text or field.is_array or "anyOf" in field.schema):
        return False
    return singular_text(field.words) in _PROJECTIONS


def is_level(field: Field) -> bool:
    """True if the argument chooses how much of a row comes back."""
    if singular_text(field.words) not in _LEVELS and joined(field) not in _LEVELS:
        return False
    if field.type == ColumnType.BOOLEAN:
        return True
    return any(str(value).lower() in MINIMAL for value in field.enum)


def is_search(field: Field) -> bool:
    """True if the argument is free text to look for."""
    return field.is_text and not field.enum and singular_text(field.words) in _SEARCHES


def control_reason(field: Field) -> str:
    """The typed reason of a control argument, or ``""``."""
    name = singular_text(field.words)
    for reason, names in CONTROL.items():
        if name in names or joined(field) in names:
            return reason
    return ""


_STRICT = frozenset(listed("gt, lt, after, before, above, below, greater, less, newer, older "))
"""Words of bounds that leave the bound itself out, unless the description says otherwise."""
_INCLUSIVE = re.compile(
    r"inclusive|on or (after|before|later)|or (later|earlier|more|less|equal)|at least|at most", re.IGNORECASE
)
_EDGES = frozenset({"start", "starting", "begin", "end", "ending"})
"""Words that name a moment of a thing as often as the side of a range: another word of a side goes first."""


def range_side(words: tuple[str, ...], description: str = "") -> tuple[str, tuple[str, ...]]:
    """``(test, rest)`` of a bound (``gte``, ``gt`` for a lower, ``lte``, ``lt`` for an upper), else ``("", words)``.

    ``after``, ``before``, ``above`` and ``below`` leave the bound itself out unless the description calls it inclusive;
    ``from``, ``to``, ``since``, ``until``, ``min`` and ``max`` take it in.
    """
    places = [0, len(words) - 1]
    if words[0] in _EDGES and len(words) > 1 and words[-1] in (_MIN | _MAX) - _EDGES:
        places.reverse()
    for index in places:
        word = words[index]
        rest = words[1:] if index == 0 else words[:-1]
        lower = word in _MIN
        if lower or word in _MAX:
            strict = word in _STRICT and not _INCLUSIVE.search(description)
            return ("g" if lower else "l") + ("t" if strict else "te"), rest
    return "", words
