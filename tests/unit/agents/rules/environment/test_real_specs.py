"""The rules author on real servers' specs: no exception, sound structure, every argument accounted for."""

import json
from pathlib import Path

from weft.agents.rules.environment.check import check_draft
from weft.agents.rules.environment.draft import draft_contracts
from weft.agents.rules.environment.revision import Overrides
from weft.records.draft import EnvironmentDraft
from weft.records.spec import McpSpec, ToolSpec
from weft.records.state import InitialState


def read(path: Path) -> McpSpec:
    tools: dict[str, ToolSpec] = {}
    for declared in json.loads(path.read_text(encoding="utf-8"))["tools"]:
        tools.setdefault(
            declared["name"],
            ToolSpec(
                name=declared["name"],
                description=declared.get("description") or "",
                input_schema=declared.get("inputSchema") or {"type": "object"},
                output_schema=declared.get("outputSchema"),
                annotations=declared.get("annotations") or {},
                declared=declared,
            ),
        )
    return McpSpec(name=path.stem, title=path.stem, tools=tuple(tools.values()))


def shares_a_table(draft: EnvironmentDraft) -> bool:
    written: set[str] = set()
    read_: set[str] = set()
    for contract in draft.contracts.contracts:
        for case in contract.cases:
            written |= {name.split(".")[0] for name in case.writes}
            read_ |= set(case.reads) if not case.writes else set()
    return bool(written & read_)


def test_every_real_server_drafts_soundly_and_most_can_be_stateful(real_specs: Path) -> None:
    problems: dict[str, list[str]] = {}
    stateful = 0
    for path in sorted(real_specs.glob("*.json")):
        spec = read(path)
        contracts, refused = draft_contracts(spec, Overrides())
        draft = EnvironmentDraft(contracts=contracts, seed=InitialState(), refused=tuple(refused))
        found = check_draft(spec, draft)
        if found:
            problems[path.stem] = found[:5]
        stateful += shares_a_table(draft)
        assert all(item.message and item.remedy for item in refused)
    assert problems == {}
    assert stateful >= 58
