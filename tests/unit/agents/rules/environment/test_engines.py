"""What no stored state can stand for is refused by kind."""

import pytest

from weft.agents.rules.environment.engines import check_engine
from weft.agents.rules.environment.refused import Refused
from weft.records.spec import RefusalCode, ToolSpec


def tool(name: str, description: str = "") -> ToolSpec:
    return ToolSpec(name=name, description=description, input_schema={"type": "object"}, declared={"name": name})


@pytest.mark.parametrize("name", ["get_current_time", "getCurrentTime", "now", "get-server-time", "current_date_time"])
def test_the_clock_of_the_machine_is_no_state(name: str) -> None:
    with pytest.raises(Refused) as refused:
        check_engine(tool(name), None, [])
    assert refused.value.code is RefusalCode.STATELESS


@pytest.mark.parametrize("name", ["get_time_entries", "list_dates", "get_today_schedule", "log_time"])
def test_records_about_time_are(name: str) -> None:
    try:
        check_engine(tool(name), None, [])
    except Refused as refused:
        pytest.fail(f"{name} is refused: {refused}")
