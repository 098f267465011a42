"""Tables that the package makes and takes again: states, and results that are shown and drawn."""

import functools
import tempfile
from pathlib import Path

import polars as pl

import evalframe as ef
from abuse.contracts import Table
from evalframe.selective.sample import sample_items
from plot.tables import CHARTS, board, comparison

_MODELS = ["a", "b", "c"]


@functools.cache
def state():
    """Sums by level and without, of rows and of units, by group and by cluster."""
    items = sample_items(participants=3).group_by("participant_id", "mode").head(4)
    metrics = [
        ef.aurc(loss=(pl.col("prediction") - pl.col("label")).abs()),
        ef.coverage(),
        ef.per("item", ef.mean("label")),
    ]
    return ef.partial(items, metrics, by="mode", cluster="participant_id")


def _resampled(state):
    return ef.finish(state, resample=ef.Bootstrap(cluster="participant_id", n=5))


def _shown(draw):
    """The use of a table that becomes a picture or a text."""

    def use(table):
        draw(table)
        return pl.LazyFrame()

    return use


def _reported(table):
    with tempfile.TemporaryDirectory() as folder:
        ef.report(table, path=Path(folder, "report.html"))


def _drawn(chart, table):
    CHARTS[chart][0](table).to_dict()


def _of(sound, use, share=0.1):
    return Table(sound, None, use, share=share)


RESULTS = {
    "state: finish": _of(state, ef.finish, 0.3),
    "state: resample": _of(state, _resampled),
    "state: merge": _of(state, lambda part: ef.merge(state().lazy(), part), 0.2),
    "state: retract": _of(state, lambda part: ef.retract(state().lazy(), part), 0.2),
    **{
        f"show: {kind}": _of(functools.partial(make, _MODELS), _shown(lambda t: ef.show(t).html()))
        for kind, make in {
            "estimates": CHARTS["forest"][1],
            "pairs": comparison,
            "board": board,
        }.items()
    },
    **{
        f"plot: {chart}": _of(
            functools.partial(make, _MODELS), _shown(functools.partial(_drawn, chart)), 0.02
        )
        for chart, (_, make, _) in CHARTS.items()
    },
    **{
        f"report: {chart}": _of(
            functools.partial(CHARTS[chart][1], _MODELS), _shown(_reported), 0.02
        )
        for chart in ("ranks", "noise", "distribution")
    },
}
