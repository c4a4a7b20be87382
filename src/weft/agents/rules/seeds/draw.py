"""Seeded drawing: independent streams named by words, and uneven shares."""

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"


def stream(*names: object) -> random.Random:
    """Return a random stream that depends on ``names`` alone, so that one more column never changes another."""
    digest = hashlib.sha256("\x1f".join(str(name) for name in names).encode("utf-8", "replace")).digest()
    return random.Random(int.from_bytes(digest[:16], "big"))


def letters(rng: random.Random, count: int, alphabet: str = BASE32) -> str:
    """Return ``count`` characters of ``alphabet``."""
    return "".join(rng.choice(alphabet) for _ in range(count))


def uuid_text(rng: random.Random) -> str:
    """Return a version-4 UUID in lower case."""
    digits = f"{rng.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def spread(rng: random.Random, values: Sequence[T], count: int) -> list[T]:
    """Return ``count`` draws from ``values``, unevenly, such that lists filtered by a value have several members.

    Every value occurs where ``count`` allows it and still leaves one value twice; with more values than that, as many
    as fit in half of ``count`` occur.
    """
    if not values or count <= 0:
        return []
    distinct = len(values) if len(values) < count else max(1, (count + 1) // 2)
    chosen = list(values) if distinct == len(values) else rng.sample(list(values), distinct)
    weights = [1.0 / (place + 1) for place in range(len(chosen))]
    drawn = chosen[:count] + rng.choices(chosen, weights, k=max(0, count - len(chosen)))
    rng.shuffle(drawn)
    return drawn


def shares(rng: random.Random, parents: int, children: int) -> list[int]:
    """Return for each child the position of its parent: one parent without a child, one with one, some with many.

    With two parents the last has no child when there are at least two children; a single parent has all.
    """
    if parents <= 0:
        return []
    if parents == 1 or children == 0:
        return [0] * children
    order = list(range(parents))
    rng.shuffle(order)
    if parents == 2:
        counts = [max(1, children - 1), children - max(1, children - 1)]
        positions = [order[0]] * counts[0] + [order[1]] * counts[1]
    else:
        # A list of what belongs to one parent is to be long enough for pages and filters to show.
        served = order[: min(parents - 1, max(2, children // 3 + 1), children)]
        single, many = served[-1], served[:-1] or served
        weights = [1.0 / (place + 1) for place in range(len(many))]
        rest = children - len(served)
        positions = [single, *many[: len(served) - 1]] if len(served) > 1 else [single]
        positions += rng.choices(many, weights, k=rest)
    positions = positions[:children]
    rng.shuffle(positions)
    return positions
