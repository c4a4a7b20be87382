"""A stored rollout with what its failures were attributed to."""

from weft.records.base import Record
from weft.records.revision import Attribution
from weft.records.trace import Trajectory


class SampledRollout(Record):
    """One trajectory and the attribution of each turn that failed in it."""

    trajectory: Trajectory
    attributions: tuple[Attribution, ...] = ()
