"""One atomic-turn GRPO update on segments that the runner really sampled: harness, local host, verifier, tiny model."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import pytest

from weft.hosts.local import LocalHost
from weft.llm.local import LocalModel
from weft.records.batch import SftExample, TurnGroup, UpdateReport, WarmStartReport
from weft.rollouts.limits import Limits
from weft.rollouts.react import ReactHarness
from weft.rollouts.runner import Episode
from weft.rollouts.segment import derive_seed
from weft.train.alignment import rows_of
from weft.train.batching import Batch, fill
from weft.train.branching import Branching, branch
from weft.train.credit import flagged_messages
from weft.train.importance import importance_weights
from weft.train.trainer import Trainer, Update, WarmStart, exact, row_logprob, valid_logprobs, valid_of, warm_start

pytestmark = pytest.mark.train
pytest.importorskip("torch", reason="needs torch: scripts/install train")
pytest.importorskip("transformers", reason="needs transformers: scripts/install train")

from weft.llm.tiny import tiny_policy  # noqa: E402

BRANCHING = Branching(candidates=8, limits=Limits(steps=3))


def mistaken(right: SftExample) -> SftExample:
    """The same conversation with the wrong company: what the policy is to unlearn."""
    text = json.dumps(right.messages[2:]).replace("South", "North")
    return right.model_copy(update={"messages": (*right.messages[:2], *json.loads(text))})


async def tree(policy: LocalModel, episode: Episode, seed: int) -> list[TurnGroup]:
    return await branch(
        LocalHost(), ReactHarness(), episode, lambda *_: policy, view="agentic", branching=BRANCHING, seed=seed
    )


@dataclass(frozen=True)
class Walk:
    """Everything that one walk from demonstrations to an updated policy left behind."""

    before: LocalModel
    after: LocalModel
    warm: WarmStartReport
    batch: Batch
    report: UpdateReport


def walk(moves: Any, demonstrations: tuple[SftExample, ...]) -> Walk:
    lessons = [demonstrations[0], mistaken(demonstrations[0])]
    policy = tiny_policy([lesson.model_dump_json() for lesson in lessons], seed=5, vocabulary=400, max_tokens=64)
    warm = warm_start(policy, lessons, WarmStart(steps=250, learning_rate=3e-3, enough=1.0), seed=1)
    before = copy.deepcopy(policy)

    async def sample(episode: Episode, number: int) -> list[TurnGroup]:
        return await tree(policy, episode, derive_seed(3, number))

    async def go() -> Batch:
        return await fill([moves[0].episode] * 4, sample, wanted=1, budget=4)

    batch = anyio.run(go)
    report = Trainer(policy, Update(learning_rate=3e-4), decode=policy.tokenizer.decode).step(batch)
    return Walk(before, policy, warm, batch, report)


@pytest.fixture(scope="module", autouse=True)
def _exact() -> Iterator[None]:
    with exact():
        yield


@pytest.fixture(scope="module")
def walked(moves: Any, demonstrations: tuple[SftExample, ...]) -> Walk:
    return walk(moves, demonstrations)


def test_a_warm_policy_passes_some_and_fails_some(walked: Walk) -> None:
    assert walked.warm.loss_last < walked.warm.loss_first / 10
    (group,) = walked.batch.kept
    assert set(group.rewards) == {0.0, 1.0}
    assert group.rewards[group.chosen] == 1.0


def test_the_update_raises_rewarded_segments_and_lowers_unrewarded_ones(walked: Walk) -> None:
    (group,) = walked.batch.kept
    rows, refused = rows_of(group, walked.before.tokenizer.decode)
    assert refused == []
    for row in rows:
        change = row_logprob(walked.after.module, row) - row_logprob(walked.before.module, row)
        if group.rewards[row.sample] == 1.0:
            assert change > 0.01, (row.sample, change)
        else:
            assert change < -0.01, (row.sample, change)


def test_the_report_says_what_was_trained(walked: Walk) -> None:
    report, (group,) = walked.report, walked.batch.kept
    assert (report.rows, report.incomplete, report.lost, report.masked, report.skipped) == (8, 0, 0, 0, "")
    assert report.groups == report.kept + report.constant
    assert report.tokens == sum(len(span.token_ids) for segment in group.segments for span in segment.tokens)
    assert report.kl == 0.0
    assert report.gradient > 0
    assert report.reward == walked.batch.mean_reward


def test_sampled_segments_are_whole_rows_with_every_token_as_it_was_sampled(walked: Walk) -> None:
    (group,) = walked.batch.kept
    rows, _ = rows_of(group)
    for row, segment in zip(rows, group.segments, strict=True):
        assert tuple(row.token_ids[at] for at in valid_of(row)) == tuple(
            token for span in segment.tokens for token in span.token_ids
        )
        text = walked.before.tokenizer.decode(row.token_ids)
        for message in segment.messages:
            if message.role != "assistant":
                assert (message.content or "") in text
        flagged = flagged_messages(segment.flags)
        if not flagged:
            assert {row.advantages[at] for at in valid_of(row)} == {group.advantages[row.sample]}


def test_candidates_start_from_one_prompt_and_isolated_states(walked: Walk) -> None:
    (group,) = walked.batch.kept
    assert len({segment.tokens[0].prompt_ids for segment in group.segments}) == 1
    for segment, reward in zip(group.segments, group.rewards, strict=True):
        changed = [change for entry in segment.ledger for change in entry.changes.rows]
        assert all((change.before or {}).get("company") == "West" for change in changed)
        assert (reward == 1.0) == ([(change.after or {}).get("company") for change in changed] == ["South"])


def test_the_training_backend_agrees_with_the_sampler_to_rounding(walked: Walk) -> None:
    (group,) = walked.batch.kept
    for row in rows_of(group)[0]:
        old = valid_logprobs(walked.before.module, row.token_ids, valid_of(row))[0].detach().double().tolist()
        weights = importance_weights(old, [row.logprobs[at] for at in valid_of(row)])
        assert weights.kept.all()
        assert abs(weights.values - 1).max() < 1e-3


def test_the_same_seed_samples_the_same_segments_and_updates_to_the_same_weights(walked: Walk, moves: Any) -> None:
    made = []
    for _ in range(2):
        policy = copy.deepcopy(walked.before)
        groups = anyio.run(tree, policy, moves[0].episode, derive_seed(3, len(walked.batch.sampled) - 1))
        Trainer(policy, Update(learning_rate=3e-4)).step(walked.batch)
        made.append((groups, [parameter.detach().numpy().tobytes() for parameter in policy.module.parameters()]))
    assert made[0] == made[1]
    assert made[0][0] == list(walked.batch.sampled[-1:])
    assert made[0][1] == [parameter.detach().numpy().tobytes() for parameter in walked.after.module.parameters()]
