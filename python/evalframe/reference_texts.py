"""Reference texts: `ef.explain("intervals")`, `evalframe explain aurc`."""

from __future__ import annotations

import inspect
from importlib import resources

import evalframe
from evalframe.core.errors import UnknownNameError
from evalframe.core.metric import Metric, registered

_TEXTS = resources.files("evalframe") / "reference"
_METRICS = "metrics"
_BETTER = {"minimize": "lower", "maximize": "higher", "none": ""}


class Text(str):
    """A Markdown text that consoles and notebooks display as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_markdown_(self) -> str:
        return str(self)


def explain(topic: str | None = None) -> Text:
    """Return the reference text of a topic, or the documentation of a public name.

    Args:
        topic: A topic, such as `conventions`, or a public name, such as `aurc`; None lists the
            topics.

    Returns:
        Markdown, displayed as it is in consoles and notebooks.

    Raises:
        UnknownNameError: No topic and no public name is called so.

    Examples:
        >>> import evalframe as ef
        >>> print(ef.explain("coverage").splitlines()[0])
        # coverage
    """
    if topic is None:
        lines = [f"* `{name}`: {title}" for name, title in topics().items()]
        return Text("\n".join(["# Topics", "", *lines, "* a public name, such as `aurc`"]) + "\n")
    if topic == _METRICS:
        return Text(_table_of_metrics())
    if topic in topics():
        text = (_TEXTS / f"{topic}.md").read_text(encoding="utf-8")
        return Text(text + _TABLES[topic]() if topic in _TABLES else text)
    if topic in evalframe.__all__:
        return Text(f"# {topic}\n\n{inspect.getdoc(getattr(evalframe, topic))}\n")
    raise UnknownNameError.of("topic or public name", topic, [*topics(), *evalframe.__all__])


def topics() -> dict[str, str]:
    """Topics with their titles."""
    files = sorted(_TEXTS.iterdir(), key=lambda file: file.name)
    texts = {file.name.removesuffix(".md"): file.read_text(encoding="utf-8") for file in files}
    titles = {name: text.partition("\n")[0].removeprefix("# ") for name, text in texts.items()}
    return dict(sorted({**titles, _METRICS: "Metrics"}.items()))


def _table_of_metrics() -> str:
    head = (
        "# Metrics\n\n| metric | family | better | range | computed from |\n|---|---|---|---|---|"
    )
    ours = [metric for metric in registered().values() if metric.family != "user"]
    return "\n".join([head, *map(_row, ours)]) + "\n"


def _table_of_adaptors() -> str:
    lines = ["", "## Adaptors", "", "| adaptor | what differs |", "|---|---|"]
    for program, family in evalframe.compat.PROGRAMS.items():
        room, sound = getattr(evalframe.compat, program), getattr(evalframe, family)
        for name in sorted({*room.__all__} & {*sound.__all__, *evalframe.__all__}):
            summary = (inspect.getdoc(getattr(room, name)) or "").partition("\n\n")[0]
            lines.append(f"| `{program}.{name}` | {summary.replace(chr(10), ' ')} |")
    return "\n".join(lines) + "\n"


def _table_of_items() -> str:
    head = "| column | type | meaning |\n|---|---|---|"
    rows = (
        f"| `{c.name}` | {c.dtype} | {c.meaning}{c.extra * '; on request'} |"
        for c in evalframe.logs.COLUMNS
    )
    return "\n".join([head, *rows]) + "\n"


_TABLES = {"differences": _table_of_adaptors, "logs": _table_of_items}
"""Tables at the end of a text."""


def _row(metric: Metric) -> str:
    low, high = metric.range
    cells = (
        f"`{metric.label or metric.name}`",
        metric.family,
        _BETTER[metric.direction],
        f"[{low:g}, {high:g}]",
        ", ".join(metric.roles),
    )
    return f"| {' | '.join(cells)} |"
