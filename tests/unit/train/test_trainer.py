import copy
import math

import pytest

from weft.errors import TrainingError
from weft.records.batch import SftExample, TokenSequence, TurnGroup
from weft.records.trace import Message, Segment, StopReason, TokenSpan
from weft.train.alignment import rows_of
from weft.train.batching import Batch
from weft.train.importance import Interval
from weft.train.loss import Objective
from weft.train.trainer import Trainer, Update, WarmStart, entropies, exact, row_logprob, valid_logprobs, warm_start

pytestmark = pytest.mark.train
torch = pytest.importorskip("torch", reason="needs torch: scripts/install train")
transformers = pytest.importorskip("transformers", reason="needs transformers: scripts/install train")

VOCABULARY = 24


class Policy:
    """A tiny model whose examples are already ids: each message's content is a list of numbers."""

    def __init__(self, seed: int = 0) -> None:
        config = transformers.Qwen3Config(
            vocab_size=VOCABULARY, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
            num_key_value_heads=1, head_dim=8, max_position_embeddings=64, tie_word_embeddings=True,
        )  # fmt: skip
        torch.manual_seed(seed)
        self.module = transformers.Qwen3ForCausalLM(config).float().eval()

    def encode_example(self, messages, tools):  # noqa: ANN001, ANN201
        ids, trained = [], []
        for message in messages:
            new = [int(word) for word in message["content"].split()]
            ids += new
            trained += [int(message["role"] == "assistant")] * len(new)
        return ids, trained


@pytest.fixture(autouse=True)
def _exact():  # noqa: ANN202
    with exact():
        yield


def row(policy: Policy, advantage: float, *, shift: float = 0.0, untrained: float | None = None) -> TokenSequence:
    """Tokens 3 and 4 of five are sampled, with rollout log-probabilities ``shift`` above the trainer's."""
    ids = (1, 2, 3, 4, 5)
    with torch.no_grad():
        drawn = valid_logprobs(policy.module, ids, [2, 3])[0].double().tolist()
    return TokenSequence(
        token_ids=ids,
        trainable=(0, 0, 1, 1, 0),
        logprobs=(untrained, untrained, drawn[0] + shift, drawn[1] + shift, untrained),
        advantages=(0.0, 0.0, advantage, advantage, 0.0),
        group="t/0",
        sample=0,
    )


def weights(policy: Policy) -> list[bytes]:
    return [parameter.detach().numpy().tobytes() for parameter in policy.module.parameters()]


def test_praise_raises_the_row_and_blame_lowers_it() -> None:
    for advantage in (1.0, -1.0):
        policy = Policy()
        before = row_logprob(policy.module, told := row(policy, advantage))
        figures = Trainer(policy, Update(learning_rate=1e-3)).train([told])
        assert (row_logprob(policy.module, told) - before) * advantage > 0
        # nothing has moved yet, so the ratio is 1 and the loss is minus the mean advantage
        assert figures.loss == pytest.approx(-advantage, abs=1e-5)
        assert (figures.tokens, figures.kept, figures.kl, figures.clipped) == (2, 2, 0.0, 0.0)


@pytest.mark.parametrize("anything", [math.nan, 0.0, -1e9, 1.0])
def test_what_stands_at_untrained_tokens_changes_no_bit(anything: float) -> None:
    base, other = Policy(), Policy()
    first = Trainer(base).train([row(base, 0.7)])
    second = Trainer(other).train([row(other, 0.7, untrained=anything)])
    assert first == second
    assert weights(base) == weights(other)


def test_a_token_after_the_last_valid_one_changes_no_bit() -> None:
    base, other = Policy(), Policy()
    told = row(base, 0.7)
    Trainer(base).train([told])
    Trainer(other).train([told.model_copy(update={"token_ids": (1, 2, 3, 4, 9)})])
    assert weights(base) == weights(other)


def test_tokens_outside_the_interval_are_masked_and_stay_in_the_denominator() -> None:
    policy = Policy()
    near, far = row(policy, 1.0), row(policy, 1.0, shift=-1.0)  # exp(1) is above 2
    figures = Trainer(policy, Update(objective=Objective(beta=0.0))).train([near, far])
    assert (figures.tokens, figures.kept) == (4, 2)
    assert figures.loss == pytest.approx(-0.5, abs=1e-5)
    kept = Trainer(policy, Update(interval=Interval(0.5, 3.0))).train([row(policy, 1.0, shift=-1.0)])
    assert kept.kept == 2
    assert kept.loss == pytest.approx(-math.e, abs=1e-4)


def test_a_step_that_is_masked_whole_moves_nothing() -> None:
    policy = Policy()
    before = weights(policy)
    figures = Trainer(policy).train([row(policy, 1.0, shift=-5.0)])
    assert (figures.kept, figures.loss, figures.entropy, figures.gradient) == (0, 0.0, None, 0.0)
    assert weights(policy) == before


def test_the_reference_stays_where_the_trainer_was_made() -> None:
    policy = Policy()
    trainer = Trainer(policy, Update(learning_rate=1e-2))
    told = row(policy, 1.0)
    assert trainer.train([told]).kl == 0.0
    assert trainer.train([row(policy, 1.0)]).kl > 0.0


def test_the_entropy_bonus_spreads_the_distribution() -> None:
    def entropy_after(coefficient: float) -> float:
        policy = Policy()
        told = row(policy, 0.0)
        Trainer(policy, Update(objective=Objective(beta=0.0, entropy=coefficient), learning_rate=1e-2)).train([told])
        return float(entropies(valid_logprobs(policy.module, told.token_ids, [2, 3])[1], gradient=False).sum())

    assert entropy_after(0.5) > entropy_after(0.0)


def test_later_passes_keep_the_old_policy_and_run_into_the_clip() -> None:
    policy = Policy()
    figures = Trainer(policy, Update(learning_rate=1e-2, passes=20)).train([row(policy, 1.0)])
    assert figures.clipped > 0


def test_the_order_and_split_of_rows_do_not_matter_beyond_rounding() -> None:
    one, other = Policy(), Policy()
    good, bad = row(one, 1.0), row(one, -0.5).model_copy(update={"token_ids": (5, 4, 3, 2, 1)})
    drawn = valid_logprobs(one.module, bad.token_ids, [2, 3])[0].detach().double().tolist()
    bad = bad.model_copy(update={"logprobs": (None, None, *drawn, None)})
    first, second = Trainer(one).train([good, bad]), Trainer(other).train([bad, good])
    assert first.loss == pytest.approx(second.loss, abs=1e-7)
    assert first.gradient == pytest.approx(second.gradient, rel=1e-5)


def test_a_row_that_must_not_be_trained_is_an_error_with_its_place() -> None:
    policy = Policy()
    told = row(policy, 1.0)
    wrong = told.model_copy(update={"logprobs": (None, None, None, -1.0, None), "sample": 3})
    with pytest.raises(TrainingError, match=r"row 1 \(group 't/0', sample 3\): position 2: no log-probability"):
        Trainer(policy).train([told, wrong])
    with pytest.raises(TrainingError, match="no rows"):
        Trainer(policy).train([])


def segment(policy: Policy, ids: tuple[int, ...], passed: bool, flags: tuple[str, ...] = ()) -> Segment:
    drawn = valid_logprobs(policy.module, (1, 2, *ids), [2 + at for at in range(len(ids))])[0].tolist()
    span = TokenSpan(message=1, prompt_ids=(1, 2), token_ids=ids, logprobs=tuple(drawn))
    messages = (Message(role="user", content="go"), Message(role="assistant", content="went"))
    return Segment(messages=messages, stop=StopReason.REPLY, tokens=(span,), passed=passed, flags=flags)


def test_a_step_trains_the_kept_groups_and_reports_what_was_left_out() -> None:
    policy = Policy()
    good, bad = segment(policy, (3, 4), True, ("no_progress:1",)), segment(policy, (5, 6, 7), False)
    blind = good.model_copy(update={"tokens": (), "flags": ()})
    kept = TurnGroup(
        id="t/0", task="t", node="n", rewards=(1, 0, 1), advantages=(0.577, -1.155, 0.577), segments=(good, bad, blind)
    )
    flat = TurnGroup(id="t/1", task="t", node="n", rewards=(0, 0), segments=(bad, bad))
    batch = Batch((kept,), (kept, flat), tasks=1, discarded={"constant": 1})
    before = [row_logprob(policy.module, told) for told in rows_of(kept)[0]]
    report = Trainer(policy, Update(learning_rate=1e-3)).step(batch)
    assert (report.groups, report.kept, report.constant, report.incomplete, report.rows) == (2, 1, 1, 0, 2)
    assert (report.tokens, report.masked, report.refused) == (5, 0, {"message 1: no token ids": 1})
    assert report.flagged == {"no_progress": 1}
    assert report.reward == pytest.approx(2 / 5)
    # the flagged pass has no positive credit left: only the failing row has a part in the loss
    assert report.loss == pytest.approx(1.155 * 3 / 5, abs=1e-4)
    after = [row_logprob(policy.module, told) for told in rows_of(kept)[0]]
    assert after[1] < before[1]


def test_a_batch_without_anything_to_learn_changes_nothing_and_says_so() -> None:
    policy = Policy()
    before = weights(policy)
    report = Trainer(policy).step(Batch((), (), tasks=2, discarded={"incomplete": 2, "lost": 1}))
    assert report.skipped
    assert (report.incomplete, report.lost, report.reward, report.loss) == (2, 1, None, 0.0)
    assert weights(policy) == before


def example(*messages: tuple[str, str]) -> SftExample:
    return SftExample(messages=tuple({"role": role, "content": text} for role, text in messages), tools=())


LESSONS = [example(("user", "1 2"), ("assistant", "3 4 9")), example(("user", "2 1"), ("assistant", "5 9"))]


def test_the_warm_start_learns_what_the_assistant_said_and_stops_when_that_is_enough() -> None:
    policy = Policy()
    report = warm_start(policy, LESSONS, WarmStart(steps=200, learning_rate=1e-2, enough=0.5), seed=1)
    assert (report.examples, report.tokens) == (2, 5)
    assert report.loss_first == pytest.approx(math.log(VOCABULARY), abs=0.3)
    assert report.loss_last * 5 / 2 <= 0.5
    assert report.steps < 200
    with torch.no_grad():
        learnt = valid_logprobs(policy.module, [1, 2, 3, 4, 9], [2, 3, 4])[0].sum()
    assert float(learnt) > -1.0


def test_the_same_seed_warms_up_to_the_same_weights() -> None:
    made = []
    for seed in (1, 1, 2):
        policy = Policy()
        warm_start(policy, LESSONS, WarmStart(steps=5, batch=1), seed=seed)
        made.append(weights(policy))
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_examples_without_a_lesson_are_refused() -> None:
    with pytest.raises(TrainingError, match="example 1 has no assistant token"):
        warm_start(Policy(), [LESSONS[0], example(("user", "1 2"))], seed=1)
    with pytest.raises(TrainingError, match="no examples"):
        warm_start(Policy(), [], seed=1)


def test_a_loss_that_is_not_finite_is_an_error_and_moves_nothing() -> None:
    policy = Policy()
    told = row(policy, 1.0)
    trainer = Trainer(policy)
    broken = copy.deepcopy(policy)
    with torch.no_grad():
        next(iter(broken.module.parameters())).fill_(math.nan)
    with pytest.raises(TrainingError, match="not finite"):
        Trainer(broken).train([told])
    assert trainer.train([told]).kept == 2


@pytest.mark.parametrize("wrong", [{"learning_rate": 0.0}, {"passes": 0}, {"norm": -1.0}])
def test_impossible_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(TrainingError):
        Update(**wrong)  # type: ignore[arg-type]
    with pytest.raises(TrainingError):
        WarmStart(steps=0)


def test_exact_computation_puts_the_settings_back() -> None:
    before = torch.get_num_threads()
    with exact():
        assert torch.are_deterministic_algorithms_enabled()
    assert torch.get_num_threads() == before
