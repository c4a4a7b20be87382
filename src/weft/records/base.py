"""The base of every record: a frozen Pydantic model with one canonical JSON form."""

from typing import Any

from pydantic import BaseModel, ConfigDict

JSON = Any
"""A JSON value: ``None | bool | int | float | str | list | dict``.

Pydantic's own recursive type costs too much here.
"""


class Record(BaseModel):
    """A frozen, strict-shape record. Unknown fields are refused, so that a typo never passes silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings", populate_by_name=True)
