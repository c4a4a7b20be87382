"""``report.html``: one self-contained page on what a run made, drawn from its summary alone."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined, select_autoescape

from weft.records.run import RunSummary

BAR_WIDTH = 390
"""Width of the longest bar of a chart, in pixels of the drawing."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart: its label, its value as text, and the widths of its parts in pixels."""

    label: str
    text: str
    width: float
    second: float = 0.0


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart. ``note`` says what the bars count, and what the lighter second part is."""

    title: str
    note: str
    bars: tuple[Bar, ...]

    @property
    def height(self) -> int:
        """Height of the drawing in pixels."""
        return 20 * len(self.bars) + 4


def bars_of(counts: Mapping[str, float], *, most: int = 40) -> tuple[Bar, ...]:
    """Return bars for counts in the given order; what comes after ``most`` is summed up in a last bar."""
    items = list(counts.items())
    rest = sum(value for _, value in items[most:])
    shown = [*items[:most], *([(f"{len(items) - most} more", rest)] if len(items) > most else [])]
    top = max([value for _, value in shown] + [1e-9])
    return tuple(Bar(label, f"{value:g}", BAR_WIDTH * value / top) for label, value in shown)


def _tools(summary: RunSummary) -> Chart:
    rows = sorted(summary.environments, key=lambda row: (-row.declared, row.name))
    top = max([row.declared for row in rows] + [1])
    bars = tuple(
        Bar(
            row.name,
            f"{row.certified} of {row.declared}",
            BAR_WIDTH * row.certified / top,
            BAR_WIDTH * (row.declared - row.certified) / top,
        )
        for row in rows[:60]
    )
    more = f" The {len(rows) - 60} smallest servers are in the table only." if len(rows) > 60 else ""
    return Chart("Tools per environment", f"certified, then declared but refused (light).{more}", bars)


def _coverage(summary: RunSummary) -> Chart:
    bands = Counter({f"{low}-{low + 10} %": 0 for low in range(0, 100, 10)})
    for row in summary.environments:
        if row.atomic:
            low = min(90, int(row.coverage * 100) // 10 * 10)
            bands[f"{low}-{low + 10} %"] += 1
    return Chart("Tool coverage", "environments by the share of their tools that atomic tasks use", bars_of(bands))


def _reasons(summary: RunSummary) -> dict[str, float]:
    codes = Counter(refusal.code.value for row in summary.environments for refusal in row.refusals)
    codes.update(refusal.code.value for refusal in summary.unread)
    return dict(sorted(codes.items(), key=lambda item: (-item[1], item[0])))


def _domains(summary: RunSummary) -> dict[str, float]:
    domains = Counter(row.domain or "(no label)" for row in summary.environments if row.kind != "refused")
    return dict(sorted(domains.items(), key=lambda item: (-item[1], item[0])))


def charts_of(summary: RunSummary) -> tuple[Chart, ...]:
    """Return the report's charts."""
    chains = {f"{length} calls": float(count) for length, count in sorted(summary.chain_lengths.items())}
    nodes = Counter(row.nodes for row in summary.tasks)
    lengths = {f"{length} nodes": float(count) for length, count in sorted(nodes.items())}
    attempts = tuple(
        Bar(
            f"attempt {number + 1}",
            f"{accepted} of {made}",
            BAR_WIDTH * accepted / max(row[0] for row in summary.attempts.values()),
            BAR_WIDTH * (made - accepted) / max(row[0] for row in summary.attempts.values()),
        )
        for number, (made, accepted) in sorted(summary.attempts.items())
    )
    refused = dict(sorted(summary.task_refusals.items(), key=lambda item: (-item[1], item[0])))
    rejected = dict(sorted(summary.rejections.items(), key=lambda item: (-item[1], item[0])))
    kinds = dict(sorted(summary.kinds.items(), key=lambda item: (-item[1], item[0])))
    return (
        _tools(summary),
        Chart("Domains", "environments by first-level label", bars_of(_domains(summary))),
        Chart("Reasons for refusal", "servers, tools and arguments, by code", bars_of(_reasons(summary))),
        Chart("Chain lengths", "atomic tasks by the calls of their reference", bars_of(chains)),
        Chart("Kinds of atomic task", "certified atomic tasks", bars_of(kinds)),
        _coverage(summary),
        Chart("Composed task length", "composed tasks by their number of atomic tasks", bars_of(lengths)),
        Chart("Refused task candidates", "by code", bars_of(refused)),
        Chart("Acceptance per attempt", "attempts at a turn that were accepted, then rejected (light)", attempts),
        Chart("What rejected attempts failed", "checks and causes", bars_of(rejected)),
    )


def render_report(summary: RunSummary) -> str:
    """Return the page: no script, no outside resource, links relative to the run's folder."""
    templates = Templates(
        loader=PackageLoader("weft.dashboard", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    kinds = Counter(row.kind for row in summary.environments)
    rules: Counter[str] = Counter()
    for row in summary.environments:
        rules.update(row.rules)
    return templates.get_template("report.html").render(
        summary=summary, charts=charts_of(summary), kinds=kinds, rules=rules
    )
