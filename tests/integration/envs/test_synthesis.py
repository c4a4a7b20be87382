"""The loop: what the author mends is served, what it does not mend is refused, what fails is a record."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import anyio

from weft.envs.synthesis import synthesise
from weft.records.contract import Contract, Insert
from weft.records.draft import EnvironmentDraft, Finding
from weft.records.spec import McpSpec, Refusal, RefusalCode
from weft.records.synthesis import SynthesisResult
from weft.runtime.session import EnvironmentSession

Make = Callable[..., EnvironmentDraft]


@dataclass
class ScriptedAuthor:
    """Gives its drafts one after the other, and keeps what it was told."""

    drafts: list[EnvironmentDraft]
    told: list[tuple[Finding, ...]] = field(default_factory=list)
    name: str = "rules"

    def draft(self, spec: McpSpec, *, seed: int, size: int) -> EnvironmentDraft:
        return self.drafts[0]

    def revise(
        self, spec: McpSpec, draft: EnvironmentDraft, findings: Sequence[Finding], *, seed: int, size: int
    ) -> EnvironmentDraft:
        self.told.append(tuple(findings))
        return self.drafts[min(len(self.told), len(self.drafts) - 1)]


class FailingAuthor(ScriptedAuthor):
    def draft(self, spec: McpSpec, *, seed: int, size: int) -> EnvironmentDraft:
        raise KeyError("entity")


def run(spec: McpSpec, author: ScriptedAuthor, rounds: int = 4, gate: float = 1.0) -> SynthesisResult:
    async def work() -> SynthesisResult:
        return await synthesise(spec, author, seed=3, size=8, rounds=rounds, accuracy_gate=gate)

    return anyio.run(work)


def blind_create(contracts: dict[str, Contract]) -> None:
    case = contracts["create_note"].cases[0]
    insert = case.operations[0]
    assert isinstance(insert, Insert)
    values = {name: value for name, value in insert.values.items() if name != "body"}
    changed = case.model_copy(update={"operations": (insert.model_copy(update={"values": values}),)})
    contracts["create_note"] = contracts["create_note"].model_copy(update={"cases": (changed,)})


def accepting_delete(contracts: dict[str, Contract]) -> None:
    case = contracts["delete_note"].cases[0]
    find = case.operations[0].model_copy(update={"missing": None})
    changed = case.model_copy(update={"operations": (find, *case.operations[1:])})
    contracts["delete_note"] = contracts["delete_note"].model_copy(update={"cases": (changed,)})


def test_a_sound_draft_is_certified_in_one_round(spec: McpSpec, make_draft: Make) -> None:
    result = run(spec, ScriptedAuthor([make_draft()]))
    assert result.environment is not None
    assert result.environment.certificate is not None
    assert result.environment.certificate.kind == "stateful"
    assert len(result.rounds) == 1
    assert result.refusals == ()


def test_the_author_is_told_what_failed_and_its_revision_is_served(spec: McpSpec, make_draft: Make) -> None:
    author = ScriptedAuthor([make_draft(blind_create), make_draft()])
    result = run(spec, author)
    assert [(f.check, f.tool, f.argument) for f in author.told[0]] == [("argument_effect", "create_note", "body")]
    assert result.environment is not None
    assert "create_note" in result.environment.served()
    assert [len(found) for found in result.findings] == [1, 0]


def test_a_tool_that_stays_broken_is_refused_with_its_finding(spec: McpSpec, make_draft: Make) -> None:
    result = run(spec, ScriptedAuthor([make_draft(blind_create)]))
    assert result.environment is not None
    assert "create_note" not in result.environment.served()
    (refusal,) = result.refusals
    assert refusal.code is RefusalCode.NO_EFFECT
    assert refusal.subject == "notes/create_note/body"
    assert "argument_effect" in refusal.message
    assert result.environment.spec.refused == (refusal,)


def test_the_rounds_are_bounded(spec: McpSpec, make_draft: Make) -> None:
    drafts = [make_draft(blind_create, size=size) for size in (4, 5, 6, 7, 8, 9)]
    author = ScriptedAuthor(drafts)
    run(spec, author, rounds=3)
    assert len(author.told) == 2


def test_a_failed_boundary_call_needs_a_lower_gate_to_be_served(spec: McpSpec, make_draft: Make) -> None:
    strict = run(spec, ScriptedAuthor([make_draft(accepting_delete)]))
    floor = run(spec, ScriptedAuthor([make_draft(accepting_delete)]), gate=0.5)
    assert strict.environment is not None
    assert floor.environment is not None
    assert "delete_note" not in strict.environment.served()
    assert "delete_note" in floor.environment.served()


def test_an_author_that_fails_is_a_refusal_of_its_server(spec: McpSpec) -> None:
    result = run(spec, FailingAuthor([]))
    assert result.environment is None
    assert [(r.code, r.subject) for r in result.refusals] == [(RefusalCode.INTERNAL, "notes")]
    assert "KeyError" in result.refusals[0].message


def test_a_tool_that_the_author_forgot_is_refused(spec: McpSpec, make_draft: Make) -> None:
    result = run(spec, ScriptedAuthor([make_draft(lambda contracts: contracts.pop("archive_note"))]))
    assert [refusal.subject for refusal in result.refusals] == ["notes/archive_note"]


def test_a_tool_that_the_author_refused_keeps_its_reason(spec: McpSpec, make_draft: Make) -> None:
    draft = make_draft(lambda contracts: contracts.pop("archive_note"))
    reason = Refusal(code=RefusalCode.NO_ENTITY, subject="notes/archive_note", message="no", remedy="say which")
    result = run(spec, ScriptedAuthor([draft.model_copy(update={"refused": (reason,)})]))
    assert result.refusals == (reason,)


def test_reads_alone_make_a_read_only_environment(spec: McpSpec, make_draft: Make) -> None:
    def keep_reads(contracts: dict[str, Contract]) -> None:
        for name in [name for name, one in contracts.items() if one.effect == "write"]:
            del contracts[name]

    result = run(spec, ScriptedAuthor([make_draft(keep_reads)]))
    assert result.environment is not None
    assert result.environment.certificate is not None
    assert result.environment.certificate.kind == "read_only"


def test_writes_alone_make_a_stateful_environment_since_their_writes_are_shown_in_the_state(
    spec: McpSpec, make_draft: Make
) -> None:
    def keep_writes(contracts: dict[str, Contract]) -> None:
        for name in [name for name, one in contracts.items() if one.effect == "read"]:
            del contracts[name]

    certificate = run(spec, ScriptedAuthor([make_draft(keep_writes)])).environment.certificate  # type: ignore[union-attr]
    assert certificate is not None
    assert certificate.kind == "stateful"
    assert {tool.effect for tool in certificate.tools} == {"write"}


def test_no_tool_at_all_is_no_environment(spec: McpSpec, make_draft: Make) -> None:
    result = run(spec, ScriptedAuthor([make_draft(lambda contracts: contracts.clear())]))
    assert result.environment is None
    assert result.refusals[-1].code is RefusalCode.NO_GOOD_TOOL


def test_every_test_of_a_certified_environment_holds_in_a_new_session(spec: McpSpec, make_draft: Make) -> None:
    environment = run(spec, ScriptedAuthor([make_draft()])).environment
    assert environment is not None
    session = EnvironmentSession(environment, environment.seed, 99)
    for test in environment.tests:
        result, changes = session.call(test.tool, test.arguments)
        assert result.outcome.value == test.outcome, test.name
        assert {change.table for change in changes.rows} == set(test.changes)


def test_the_same_spec_and_seed_give_the_same_result(spec: McpSpec, make_draft: Make) -> None:
    assert run(spec, ScriptedAuthor([make_draft(blind_create)])) == run(
        spec, ScriptedAuthor([make_draft(blind_create)])
    )
