"""The report is one page of the run's figures."""

from html.parser import HTMLParser

from weft.dashboard.report import BAR_WIDTH, bars_of, render_report
from weft.records.run import EnvironmentRow, RunSummary, TaskRow
from weft.records.spec import Refusal, RefusalCode

REFUSAL = Refusal(code=RefusalCode.BAD_SCHEMA, subject="notes/x", message="<b>bad</b>", remedy="mend it", path="#/type")
SUMMARY = RunSummary(
    weft="0",
    seed=7,
    environments=(
        EnvironmentRow(
            name="notes",
            title="Notes",
            kind="stateful",
            declared=5,
            certified=4,
            atomic=3,
            coverage=1.0,
            refusals=(REFUSAL,),
        ),
        EnvironmentRow(name="web", title="Web", kind="refused", declared=2),
    ),
    tasks=(TaskRow(id="task-1", profile="Simple", nodes=3, servers=("notes",), mutants=9, killed=8, equivalents=1),),
    atomic_tasks=3,
    chain_lengths={1: 2, 2: 1},
    mutants={"mutants": 30, "killed": 28, "equivalents": 2, "survived": 0},
    rollouts_run=2,
    rollouts_accepted=1,
    attempts={0: (4, 3), 1: (1, 1)},
    rejections={"insert notes": 1},
    sft={"sft.scripted.jsonl": 1},
)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.outside += [value for name, value in attrs if name in ("href", "src") and value and "//" in value]


def test_the_page_is_self_contained() -> None:
    links = _Links()
    links.feed(render_report(SUMMARY))
    assert links.outside == []
    assert not links.tags & {"script", "link", "img", "iframe"}


def test_texts_from_outside_are_escaped() -> None:
    page = render_report(SUMMARY)
    assert "<b>bad</b>" not in page
    assert "&lt;b&gt;bad&lt;/b&gt;" in page


def test_the_figures_are_on_the_page() -> None:
    page = render_report(SUMMARY)
    for figure in ("28 / 28", "1 / 2", "4 of 5", "task-1", "bad_schema", "sft/sft.scripted.jsonl", "3 of 4"):
        assert figure in page, figure


def test_the_same_summary_gives_the_same_page() -> None:
    assert render_report(SUMMARY) == render_report(SUMMARY)


def test_an_empty_run_has_a_page_too() -> None:
    assert "none" in render_report(RunSummary(weft="0", seed=0, environments=()))


def test_long_charts_sum_up_their_tail() -> None:
    bars = bars_of({f"c{i}": 1.0 for i in range(45)})
    assert (len(bars), bars[-1].label, bars[-1].text) == (41, "5 more", "5")
    assert max(bar.width for bar in bars) == BAR_WIDTH
