"""Names of servers: slugs that are safe as folder names and never merge two servers into one."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable

MAX_SLUG = 64
_OUTSIDE = re.compile(r"[^a-z0-9._-]+")
_EDGES = "._-"


def slug_of(title: str) -> str:
    """Return a slug of a server's title: ``[a-z0-9][a-z0-9._-]*``, at most 64 characters.

    ``foo-bar``, ``foo_bar`` and ``foo.bar`` stay apart. Titles that lose characters on the way may share a slug;
    :func:`unique_slugs` keeps those apart.
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    slug = _OUTSIDE.sub("-", plain.lower()).strip(_EDGES)
    if not slug:
        return f"server-{_digest(title)}"
    if slug.endswith(".json"):  # files of a build stand beside the environments' folders
        slug = f"{slug.removesuffix('.json')}-json"
    if len(slug) > MAX_SLUG:
        return f"{slug[: MAX_SLUG - 9].rstrip(_EDGES)}-{_digest(title)}"
    return slug


def unique_slugs(titles: Iterable[str]) -> list[str]:
    """Return one slug for each title, no two equal: the second of a kind gets ``-2``, the third ``-3``.

    Args:
        titles: in a fixed order; the first bearer of a slug keeps it bare.
    """
    wanted = [slug_of(title) for title in titles]
    taken: set[str] = set()
    slugs: list[str] = []
    reserved = set(wanted)
    for base in wanted:
        slug, number = base, 2
        # A numbered slug must not take the bare slug of another server that comes later.
        while slug in taken or (slug != base and slug in reserved):
            slug, number = f"{base}-{number}", number + 1
        taken.add(slug)
        slugs.append(slug)
    return slugs


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
