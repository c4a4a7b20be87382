"""A listing: what one server declared, raw, before anything is judged, and its file form."""

from dataclasses import dataclass
from typing import Any

from weft.records.base import JSON
from weft.records.spec import Refusal


@dataclass(frozen=True)
class Listing:
    """The raw declaration of one server.

    Attributes:
        name: as the server or its file gives it; slugs are made of it.
        tools: the raw ``tools``, of whatever type was found there.
        description: what the service is, or ``""``.
        version: of the server.
        licence: SPDX words or ``""``.
        source: where it was read from, without a machine's path.
        domain: first-level domain label or ``""``.
        title: for people; the name when empty.
        warnings: remarks on how it was read.
    """

    name: str
    tools: JSON
    description: str = ""
    version: str = ""
    licence: str = ""
    source: str = ""
    domain: str = ""
    title: str = ""
    warnings: tuple[Refusal, ...] = ()


def dump_of(listing: Listing) -> dict[str, Any]:
    """Return the JSON document that :func:`weft.catalog.dumps.read_listings` reads back as ``listing``."""
    body = {
        "server": listing.name,
        "title": listing.title,
        "description": listing.description,
        "version": listing.version,
        "licence": listing.licence,
        "source": listing.source,
        "domain": listing.domain,
    }
    return {**{key: value for key, value in body.items() if value}, "tools": listing.tools}
