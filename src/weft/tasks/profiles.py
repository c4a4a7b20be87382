"""Difficulty profiles and their quotas (Weft 3.1.2 and A.2, pure).

A profile is a range of atomic-task count, MCP count and domain breadth with a share of the corpus. The five profiles
are published in ``profiles.json`` beside this module; largest-remainder allocation turns shares into whole quotas.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources

from pydantic import Field, model_validator

from weft.errors import InputError
from weft.records.base import Record
from weft.records.codec import parse_record
from weft.records.spec import Refusal, RefusalCode

Range = tuple[int, int]


class Profile(Record):
    """A difficulty profile.

    Attributes:
        name: Simple, Standard, Moderate, Complex, Expert.
        tasks: lowest and highest number of atomic tasks.
        mcps: lowest and highest number of MCPs.
        domains: lowest and highest number of domains.
        share: of the corpus, 0 to 1.
    """

    name: str
    tasks: Range
    mcps: Range
    domains: Range
    share: float = Field(ge=0, le=1)

    @model_validator(mode="after")
    def _ranges_are_in_order(self) -> "Profile":
        for name in ("tasks", "mcps", "domains"):
            low, high = getattr(self, name)
            if not 1 <= low <= high:
                raise ValueError(f"profile {self.name}: {name} is [{low}, {high}]; give 1 <= lowest <= highest")
        if self.mcps[0] > self.tasks[1] or self.domains[0] > self.mcps[1]:
            raise ValueError(
                f"profile {self.name}: {self.mcps[0]} MCPs and {self.domains[0]} domains do not fit into "
                f"{self.tasks[1]} tasks over {self.mcps[1]} MCPs"
            )
        return self


class ProfileTable(Record):
    """The published profiles, easiest first."""

    version: int = 1
    profiles: tuple[Profile, ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """A profile narrowed to what a catalog can give.

    Attributes:
        profile: narrowed; None when the catalog cannot give its lowest figures.
        notes: what was narrowed, or why it cannot be satisfied.
    """

    profile: Profile | None
    notes: tuple[Refusal, ...] = ()


def default_profiles() -> tuple[Profile, ...]:
    """Return the published profiles, easiest first."""
    data = resources.files("weft.tasks").joinpath("profiles.json").read_bytes()
    return parse_record(ProfileTable, data, "tasks/profiles.json").profiles


def quotas(profiles: Sequence[Profile], count: int) -> dict[str, int]:
    """Return how many tasks each profile gets: largest-remainder allocation of ``count`` by share (Weft A.2).

    Shares are taken relative to their sum. Equal remainders go to the earlier profile.

    Raises:
        InputError: ``count`` is negative, or no share is above 0.
    """
    if count < 0:
        raise InputError(f"{count} tasks were asked for; give 0 or more")
    shares = [Fraction(str(profile.share)) for profile in profiles]
    total = sum(shares)
    if not total:
        raise InputError("no profile has a share above 0; give at least one")
    exact = [share * count / total for share in shares]
    given = [int(value) for value in exact]
    by_remainder = sorted(range(len(profiles)), key=lambda index: (given[index] - exact[index], index))
    for index in by_remainder[: count - sum(given)]:
        given[index] += 1
    return {profile.name: number for profile, number in zip(profiles, given, strict=True)}


def fit(profile: Profile, capacity: Mapping[str, int], domains: Mapping[str, str]) -> Fit:
    """Narrow a profile's ranges to a catalog, never beyond them.

    Args:
        profile: as published.
        capacity: MCP -> number of its certified atomic tasks.
        domains: MCP -> domain.
    """
    usable = {mcp: number for mcp, number in capacity.items() if number > 0}
    mcps = len(usable)
    breadth = len({domains[mcp] for mcp in usable})
    most = sum(sorted(usable.values(), reverse=True)[: profile.mcps[1]])
    there = {"tasks": most, "mcps": mcps, "domains": breadth}
    lacking = [name for name in there if there[name] < getattr(profile, name)[0]]
    if lacking:
        reason = ", ".join(f"{getattr(profile, name)[0]} {name} wanted and {there[name]} there" for name in lacking)
        return Fit(
            None,
            (_note(profile, RefusalCode.INFEASIBLE, reason, "add environments, or lower the profile's ranges"),),
        )
    narrowed = {name: (getattr(profile, name)[0], min(getattr(profile, name)[1], there[name])) for name in there}
    cut = [name for name, (_, high) in narrowed.items() if high < getattr(profile, name)[1]]
    notes = tuple(
        _note(
            profile, RefusalCode.INFEASIBLE,
            f"{name} go up to {there[name]} instead of {getattr(profile, name)[1]}: the catalog has no more",
            "add environments to fill the profile's whole range",
        )
        for name in cut
    )  # fmt: skip
    return Fit(profile.model_copy(update=narrowed), notes)


def redistribute(profiles: Sequence[Profile], given: Mapping[str, int], possible: Sequence[str]) -> dict[str, int]:
    """Move the quotas of impossible profiles to the nearest possible one; of two equally near, to the easier.

    With no possible profile every quota is 0.
    """
    names = [profile.name for profile in profiles]
    open_to = [index for index, name in enumerate(names) if name in possible]
    moved = {name: given.get(name, 0) if name in possible else 0 for name in names}
    for index, name in enumerate(names):
        if name not in possible and open_to:
            nearest = min(open_to, key=lambda other: (abs(other - index), other))
            moved[names[nearest]] += given.get(name, 0)
    return moved


def _note(profile: Profile, code: RefusalCode, message: str, remedy: str) -> Refusal:
    return Refusal(code=code, subject=f"profile/{profile.name}", message=message, remedy=remedy)
