"""What commands print: one JSON document on standard output, everything for people on standard error."""

import sys
from typing import Any

import orjson
from rich.console import Console


def people() -> Console:
    """Give the console for progress, tables and messages; it writes to standard error.

    A new one each time, because standard error may be replaced while the process lives (a test, a pager).
    """
    return Console(stderr=True, highlight=False)


def print_json(document: Any) -> None:
    """Write a document as the command's one JSON line-wrapped answer on standard output.

    Args:
        document: JSON value; keys keep their order, so a command's answer has the same bytes each time.
    """
    sys.stdout.write(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n")
    sys.stdout.flush()
