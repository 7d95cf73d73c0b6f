"""A report of evaluations as one HTML file: tables, figures as SVG, and the queries that were won and lost most.

It needs no script and nothing from outside, and follows the reader's light or dark setting. All texts are escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from core.evaluate.metrics import higher_is_better
from core.evaluate.run import Evaluation
from core.evaluate.significance import Comparison, Interval, compare, interval

_SHOWN = 10  # queries won most, and as many lost most
_MOST_TEXT = 300  # characters of a query that are shown
_ROW, _LABEL, _WIDTH = 26, 190, 520  # of the figures, in pixels

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2026; --paper: #fdfdfc; --line: #c9ccd1; --bar: #3566a8; --loss: #a8483a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6ea; --paper: #17191d; --line: #444951; --bar: #7fb0f0; --loss: #ec8c7d; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 62rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.7rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child, td.text { text-align: left; }
td small { opacity: 0.75; white-space: nowrap; }
svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .bar { fill: var(--bar); } svg .loss { fill: var(--loss); } svg .line { stroke: var(--ink); stroke-width: 1.5; }
"""


@dataclass(frozen=True, slots=True)
class System:
    """What is compared: a channel, a run file or a library, under the name that the report shows.

    `values` are those of each query by measure, in the order of the queries' texts.
    """

    name: str
    values: Mapping[str, Sequence[float]]


def systems(evaluation: Evaluation) -> list[System]:
    """The channels of an evaluation."""
    return [System(name, values) for name, values in evaluation.values.items()]


def page(evaluations: Sequence[Evaluation], others: Mapping[str, Sequence[System]] | None = None) -> str:
    """The whole report. `others` are further systems by data set; the last channel of each evaluation is set against
    all other channels and them."""
    body = "".join(_section(one, [*systems(one), *(others or {}).get(one.dataset, ())]) for one in evaluations)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>Search, measured</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Search, measured</h1>\n{body}</body>\n</html>\n"
    )


def _section(evaluation: Evaluation, compared: Sequence[System]) -> str:
    texts = list(evaluation.texts.items())
    last = list(evaluation.values)[-1]
    main = next(system for system in compared if system.name == last)
    rest = [system for system in compared if system is not main]
    return (
        f"<h2>{escape(evaluation.dataset)}</h2>\n<p>{evaluation.queries} queries · encoder "
        f"{escape(evaluation.encoder)} · generation {evaluation.generation} · p50 {evaluation.milliseconds['p50']:.1f} "
        f"ms, p95 {evaluation.milliseconds['p95']:.1f} ms a query</p>\n"
        + (f"<p>{escape(evaluation.closely.sentence())}</p>\n" if evaluation.closely else "")
        + _means(compared)
        + _bars(compared)
        + "".join(_versus(main, other, texts) for other in rest)
    )


def _means(compared: Sequence[System]) -> str:
    measures = list(compared[0].values)
    head = "".join(f"<th>{escape(name)}</th>" for name in measures)
    rows = "".join(
        f"<tr><td>{escape(system.name)}</td>{''.join(_mean(interval(system.values[m])) for m in measures)}</tr>\n"
        for system in compared
    )
    return f"<table>\n<tr><th>system</th>{head}</tr>\n{rows}</table>\n"


def _mean(found: Interval) -> str:
    return f"<td>{found.mean:.4f}<br><small>{found.low:.3f} – {found.high:.3f}</small></td>"


def _bars(compared: Sequence[System]) -> str:
    """The first measure's means as bars, with their intervals as lines."""
    measure = next(iter(compared[0].values))
    marks = []
    for row, system in enumerate(compared):
        found, y = interval(system.values[measure]), row * _ROW
        low, mean, high = (_LABEL + _WIDTH * value for value in (found.low, found.mean, found.high))
        marks.append(
            f'<text x="0" y="{y + 17}">{escape(system.name[:26])}</text>'
            f'<rect class="bar" x="{_LABEL}" y="{y + 4}" width="{mean - _LABEL:.1f}" height="{_ROW - 9}"/>'
            f'<line class="line" x1="{low:.1f}" x2="{high:.1f}" y1="{y + 12.5}" y2="{y + 12.5}"/>'
            f'<text x="{max(mean, high) + 6:.1f}" y="{y + 17}">{found.mean:.3f}</text>'
        )
    label = f"{escape(measure)} of each system with its 95 % interval"
    return _figure(label, len(compared) * _ROW, "".join(marks))


def _figure(label: str, height: int, marks: str) -> str:
    width = _LABEL + _WIDTH + 60
    return (
        f'<figure><svg role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{marks}</svg><figcaption>{label}</figcaption></figure>\n'
    )


def _versus(main: System, other: System, texts: Sequence[tuple[str, str]]) -> str:
    measure = next(iter(main.values))
    found = compare(main.name, other.name, measure, main.values[measure], other.values[measure])
    sign = 1.0 if higher_is_better(measure) else -1.0
    pairs = zip(main.values[measure], other.values[measure], strict=True)
    gains = [(sign * (a - b), number) for number, (a, b) in enumerate(pairs)]
    ordered = sorted(gains, key=lambda gain: (-gain[0], gain[1]))
    won = [gain for gain in ordered[:_SHOWN] if gain[0] > 0]
    lost = [gain for gain in reversed(ordered[-_SHOWN:]) if gain[0] < 0]
    return (
        f"<h3>{escape(main.name)} against {escape(other.name)}</h3>\n<p>{_verdict(found)}</p>\n"
        + _differences([gain for gain, _ in ordered], measure)
        + _queries("Won most", won, main, other, texts)
        + _queries("Lost most", lost, main, other, texts)
    )


def _verdict(found: Comparison) -> str:
    return (
        f"{escape(found.measure)} {found.delta:+.4f} (95 % interval {found.low:+.4f} to {found.high:+.4f}), paired "
        f"randomisation test p = {found.p:.4f}; {found.won} queries won, {found.lost} lost, {found.equal} equal."
    )


def _differences(gains: Sequence[float], measure: str) -> str:
    """Each query's difference as a bar, the largest gain first."""
    half, width = 60, _LABEL + _WIDTH
    most = max((abs(gain) for gain in gains), default=0.0) or 1.0
    step = width / max(len(gains), 1)
    marks = "".join(
        f'<rect class="{"bar" if gain > 0 else "loss"}" x="{number * step:.2f}" width="{max(step * 0.9, 0.5):.2f}" '
        f'y="{half - max(gain, 0) / most * half:.2f}" height="{abs(gain) / most * half:.2f}"/>'
        for number, gain in enumerate(gains)
        if gain
    )
    return _figure(f"Difference in {escape(measure)} by query", 2 * half, marks)


def _queries(
    title: str, gains: Sequence[tuple[float, int]], main: System, other: System, texts: Sequence[tuple[str, str]]
) -> str:
    if not gains:
        return ""
    measure = next(iter(main.values))
    rows = "".join(
        f'<tr><td>{escape(texts[n][0])}</td><td class="text">{escape(texts[n][1][:_MOST_TEXT])}</td>'
        f"<td>{main.values[measure][n]:.3f}</td><td>{other.values[measure][n]:.3f}</td></tr>\n"
        for _, n in gains
    )
    return (
        f"<h4>{title}</h4>\n<table>\n<tr><th>query</th><th>text</th><th>{escape(main.name)}</th>"
        f"<th>{escape(other.name)}</th></tr>\n{rows}</table>\n"
    )
