"""Options that several commands share: one flag, one environment variable `WEFT_*`, one default.

A command takes them as annotated parameters and gives the default itself::

    def build(seed: Seed = 0, author: Author = AuthorName.RULES, as_json: Json = False) -> None: ...

A flag beats the variable, the variable beats the default; `--help` shows all three.
"""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class AuthorName(StrEnum):
    """Who drafts artifacts: the built-in rules (offline, free) or a language model."""

    RULES = "rules"
    MODEL = "model"


Seed = Annotated[
    int,
    typer.Option("--seed", envvar="WEFT_SEED", min=0, help="Same inputs, options and seed: same bytes."),
]

Author = Annotated[
    AuthorName,
    typer.Option(
        "--author",
        envvar="WEFT_AUTHOR",
        help="Who drafts: the built-in rules (offline), or a model (needs --model and --base-url).",
    ),
]

Model = Annotated[
    str | None,
    typer.Option("--model", envvar="WEFT_MODEL", metavar="NAME", help="Model name at the endpoint."),
]

BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", envvar="WEFT_BASE_URL", metavar="URL", help="OpenAI-compatible endpoint."),
]

ApiKey = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar=["WEFT_API_KEY", "OPENAI_API_KEY"],
        metavar="KEY",
        show_default=False,
        help="Key for the endpoint; prefer the variable, a command line is visible to others.",
    ),
]

Out = Annotated[
    Path,
    typer.Option(
        "--out",
        envvar="WEFT_OUT",
        metavar="DIR",
        file_okay=False,
        help="Folder for results; work in progress and caches go to DIR/.weft, which may be deleted.",
    ),
]

Json = Annotated[
    bool,
    typer.Option("--json", envvar="WEFT_JSON", help="One JSON document on standard output."),
]
