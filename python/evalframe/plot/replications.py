"""Charts of replications: effects in agents and in humans, agreement by study."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.frames import any_frame
from evalframe.core.typing import Frame
from evalframe.plot import theme
from evalframe.plot.frames import POINTS, figures, left_out, limits, panels, taken
from evalframe.reporting.names import cell, labels, number, some, whole

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart

_HUMAN, _AGENT = "effect_d_human", "effect_d_agent"
_SIDES = ("human", "agent")


@any_frame
def effects(tests: Frame, *, ecs: Frame | None = None, width: int = 230) -> Chart:
    """Draw the effect of every test in agents over that in humans.

    Bars are drawn where the effect of a test is a d itself, whose standard error the table has.
    Outlying effects are drawn as triangles at the edge of the panel.

    Args:
        tests: The result of `ef.replication.with_evidence` or `with_effect_sizes`. Each `model` has
            its panel.
        ecs: The result of `ef.replication.ecs(tests)`, for lines of regression and, with
            `resample`, intervals of the score.
        width: Width of a panel in pixels.

    Returns:
        The chart, of at most 5,000 tests; its subtitle says how many are drawn or left out.

    Raises:
        MissingColumnsError: A table is not such a result.
        ParameterError: It has no rows, no test with both effects, or too many models.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> human = {"stat_human": [2.0, 3.0], "n1_human": 30, "n2_human": 30}
        >>> agent = {"stat_agent": [1.0, 2.5], "n1_agent": 30, "n2_agent": 30}
        >>> tests = pl.DataFrame({"test_type": "t-test", **human, **agent})
        >>> chart = ef.plot.effects(ef.replication.with_effect_sizes(tests))
        >>> chart.title.text, chart.title.subtitle[-1]
        (['Effects in agents and in humans'], 'dashed: equal effects')
    """
    maker = "ef.replication.with_evidence"
    table = figures(taken(tests, "effects", [_HUMAN, _AGENT], maker))
    known = table.drop_nulls([_HUMAN, _AGENT])
    if known.is_empty():
        raise ParameterError("ef.plot.effects: no test has both effects; nothing can be drawn")
    keys = ["model"] if "model" in known.columns else []
    limit = _limit(known)
    inside = [known[name].clip(-limit, limit) for name in (_HUMAN, _AGENT)]
    ends = limits(*inside, include=[0.0])
    beyond = pl.max_horizontal(pl.col(_HUMAN, _AGENT).abs()) > limit
    known = known.with_columns(*(_error(known, side) for side in _SIDES), beyond.alias(":beyond"))
    parts = panels(known, keys if known.select(keys).n_unique() > 1 else [], "effects")
    scores = None
    if ecs is not None:
        wanted = [*keys, "ecs", "slope", "intercept", "n_tests"]
        scores = figures(taken(ecs, "effects", wanted, "ef.replication.ecs"))
    charts, drawn = [], 0
    for name, part in parts:
        part = part.head(POINTS // len(parts))
        drawn += len(part)
        score = None if scores is None else _score_of(scores, part, keys)
        charts.append(_titled(_effects_panel(part, score, ends, width), name, score, len(part)))
    has_errors = any(known[f":{side}"].null_count() < len(known) for side in _SIDES)
    bars = "Bars: ± one standard error, of effects that are a d; " if has_errors else ""
    lines = "; orange: regression of agents on humans" if scores is not None else ""
    told = [f"{bars}dashed: equal effects{lines}"]
    if outside := int(known[":beyond"].sum()):
        told.append(f"Beyond ±{number(limit, 1)}, at the edge: {some(outside, 'test')}")
    if absent := len(table) - len(known):
        told.append(f"Left out: {absent:,} of {some(len(table), 'test')}, without both effects")
    told += left_out(drawn, len(known), "tests")
    side = min(3, len(charts)) * (width + 70)
    title = "Effects in agents and in humans"
    return theme.finished(theme.side_by_side(charts), title, told, side)


def _limit(known: pl.DataFrame) -> float:
    """The largest effect that is not drawn at the edge."""
    largest = known.select(pl.max_horizontal(pl.col(_HUMAN, _AGENT).abs())).to_series().sort()
    usual, most = largest[ceil(0.95 * (len(largest) - 1))], largest[-1]
    return float(most if most <= 2 * usual else 1.2 * usual) or 1.0


def _error(known: pl.DataFrame, side: str) -> pl.Expr:
    """The standard error of an effect that is a d itself, else null."""
    error, size, d = f"std_error_{side}", f"effect_size_{side}", f"effect_d_{side}"
    if not {error, size} <= {*known.columns}:
        return pl.lit(None, dtype=pl.Float64).alias(f":{side}")
    is_d = (pl.col(size) - pl.col(d)).abs() <= 1e-3 * pl.col(d).abs()
    return pl.when(is_d).then(error).alias(f":{side}")


def _score_of(scores: pl.DataFrame, part: pl.DataFrame, keys: list[str]) -> Any:
    """The score of the model of a panel, as a dictionary; None if there is none."""
    here = scores.join(part.select(keys).unique(), on=keys, nulls_equal=True) if keys else scores
    if len(here) > 1:
        raise ParameterError(
            f"ef.plot.effects: ecs has {len(here)} rows for a panel; use ef.replication.ecs at its "
            "level 'overall', by model"
        )
    return here.row(0, named=True) if len(here) else None


def _titled(panel: Any, name: str, score: Any, tests: int) -> Any:
    """The panel with its model and score above it."""
    note = some(tests, "test")
    if score is not None:
        ends = score.get("ecs_lower"), score.get("ecs_upper")
        note = f"ECS {cell(score['ecs'], *ends, 2)}, {some(score['n_tests'], 'test')}"
    return theme.headed(panel, name or "All tests", note)


def _effects_panel(rows: pl.DataFrame, score: Any, ends: list[float], width: int) -> Any:
    """The tests of one model."""
    alt = theme.library()
    names = rows[next((n for n in ("test_id", "finding_id") if n in rows.columns), _HUMAN)]
    studies = rows["study_id"] if "study_id" in rows.columns else names
    drawn = rows.select(
        pl.Series("name", whole(f"{a}, {b}" for a, b in zip(studies, names, strict=True))),
        pl.col(_HUMAN).alias("human"),
        pl.col(_AGENT).alias("agent"),
        pl.col(_HUMAN).clip(*ends).alias("x"),
        pl.col(_AGENT).clip(*ends).alias("y"),
        *(
            (pl.col(d) + sign * pl.col(f":{side}")).clip(*ends).alias(f"{side}_{end}")
            for d, side in ((_HUMAN, "human"), (_AGENT, "agent"))
            for end, sign in (("low", -1), ("high", 1))
        ),
        pl.when(":beyond").then(pl.lit("beyond")).otherwise(pl.lit("within")).alias("place"),
    )
    scale = alt.Scale(domain=ends, nice=False)
    x = {"scale": scale, "axis": alt.Axis(title="Effect in humans (d)", tickCount=5)}
    y = {"scale": scale, "axis": alt.Axis(title="Effect in agents (d)", tickCount=5)}
    tooltip = [
        alt.Tooltip("name:N"),
        alt.Tooltip("human:Q", format=".2f"),
        alt.Tooltip("agent:Q", format=".2f"),
    ]

    def line(slope: float, intercept: float) -> Any:
        points = [{"x": end, "y": intercept + slope * end} for end in ends]
        chart = alt.Chart(pl.DataFrame(points))
        return chart.encode(x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y))

    base = alt.Chart(drawn).encode(tooltip=tooltip)
    rule = base.mark_rule(strokeWidth=1, opacity=0.35, color=theme.BEST)
    layers = [
        line(1.0, 0.0).mark_line(
            strokeDash=[4, 3], strokeWidth=1.2, color=theme.REFERENCE, clip=True
        ),
        rule.encode(x=alt.X("human_low:Q", **x), x2="human_high:Q", y=alt.Y("y:Q", **y)),
        rule.encode(y=alt.Y("agent_low:Q", **y), y2="agent_high:Q", x=alt.X("x:Q", **x)),
        base.mark_point(filled=True, size=45, opacity=0.8, color=theme.BEST).encode(
            x=alt.X("x:Q", **x),
            y=alt.Y("y:Q", **y),
            shape=alt.Shape(
                "place:N",
                scale=alt.Scale(domain=["within", "beyond"], range=["circle", "triangle-up"]),
                legend=None,
            ),
        ),
    ]
    if score is not None and None not in (score["slope"], score["intercept"]):
        fitted = line(score["slope"], score["intercept"])
        layers.append(fitted.mark_line(strokeWidth=2, color=theme.WORSE, clip=True))
    return alt.layer(*layers).properties(width=width, height=width)


@any_frame
def studies(scores: Frame, *, width: int = 360) -> Chart:
    """Draw how far agents agree with the humans of each study (PAS).

    Args:
        scores: The result of `ef.replication.study_scores`.
        width: Width of the plot in pixels, of up to 6 models.

    Returns:
        The chart: points of up to 6 models on a line from the lowest to the highest, more models as
        a table of colours; of the first 100 studies and 50 models, as its subtitle says.

    Raises:
        MissingColumnsError: The table is not such a result.
        ParameterError: It has no rows, or no score.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> scores = pl.DataFrame({"model": "a", "study_id": ["s1", "s2"], "pas": [0.4, 0.9]})
        >>> ef.plot.studies(scores).title.subtitle
        ['2 studies, from most to least agreed on; dashed: 0.5, as likely apart as together']
    """
    table = figures(taken(scores, "studies", ["study_id", "pas"], "ef.replication.study_scores"))
    if "model" not in table.columns:
        table = table.with_columns(model=pl.lit("agents"))
    known = table.drop_nulls("pas")
    if known.is_empty():
        raise ParameterError("ef.plot.studies: every 'pas' is null; nothing can be drawn")
    mean = pl.col("pas").mean()
    order, models = (
        known.group_by(key).agg(mean).sort("pas", key, descending=[True, False])[key]
        for key in ("study_id", "model")
    )
    shown = dict(zip(order, labels(order), strict=True))
    studies = "study" if len(order) == 1 else "studies"
    told = [f"{len(order):,} {studies}, from most to least agreed on"]
    kept = known.filter(
        pl.col("study_id").is_in(order.head(_STUDIES).implode(), nulls_equal=True),
        pl.col("model").is_in(models.head(_MODELS).implode(), nulls_equal=True),
    )
    names = [shown[study] for study in order.head(_STUDIES)]
    if len(models) <= len(theme.PALETTE):
        chart = _points(kept, shown, names, width)
        told[0] += "; dashed: 0.5, as likely apart as together"
    else:
        chart = _colours(kept, shown, names, models.head(_MODELS).to_list())
        width = chart.width
        told[0] += "; the bluer the higher, from 0 to 1"
    told += left_out(len(kept), len(table), "scores, those that are known")
    return theme.finished(chart, "Agreement with humans by study", told, width + 160)


_STUDIES, _MODELS, _ROW = 100, 50, 18


def _points(rows: pl.DataFrame, shown: dict[Any, str], names: list[str], width: int) -> Any:
    """Points of few models on a line for each study."""
    alt = theme.library()
    models = rows["model"].unique().sort().to_list()
    label = dict(zip(models, labels(models), strict=True))
    drawn = rows.select(
        pl.Series("study", [shown[each] for each in rows["study_id"]]),
        pl.Series("model", [label[each] for each in rows["model"]]),
        pl.Series("name", whole(f"{a}, {b}" for a, b in rows.select("model", "study_id").rows())),
        pl.col("pas").alias("x"),
    )
    ends = drawn.group_by("study", maintain_order=True).agg(
        pl.col("x").min().alias("low"), pl.col("x").max().alias("high")
    )
    look = {"color": alt.value(theme.BEST)}
    if len(models) > 1:
        look = theme.of_models(list(label.values()))
    axis = alt.Axis(title="PAS · higher is better →", tickCount=6)
    x = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis}
    y = alt.Y("study:N", scale=alt.Scale(domain=names), title=None)
    half = alt.Chart(pl.DataFrame({"x": [0.5]})).mark_rule(strokeDash=[4, 3], color=theme.REFERENCE)
    line = alt.Chart(ends).mark_rule(strokeWidth=1.5, color=theme.BAR)
    point = alt.Chart(drawn).mark_point(filled=True, size=75, opacity=1)
    point = point.encode(
        x=alt.X("x:Q", **x),
        y=y,
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("x:Q", title="PAS", format=".3f")],
        **look,
    )
    chart = alt.layer(
        half.encode(x=alt.X("x:Q", **x)),
        line.encode(x=alt.X("low:Q", **x), x2="high:Q", y=y),
        point,
    )
    return chart.properties(width=width, height=22 * len(names))


def _colours(rows: pl.DataFrame, shown: dict[Any, str], names: list[str], models: list[Any]) -> Any:
    """A cell for each study and model."""
    alt = theme.library()
    label = dict(zip(models, labels(models, 24), strict=True))
    drawn = rows.select(
        pl.Series("study", [shown[each] for each in rows["study_id"]]),
        pl.Series("model", [label[each] for each in rows["model"]]),
        pl.Series("name", whole(f"{a}, {b}" for a, b in rows.select("model", "study_id").rows())),
        "pas",
    )
    bare = {"title": None, "domain": False, "ticks": False}
    chart = alt.Chart(drawn).mark_rect(stroke="white", strokeWidth=1)
    chart = chart.encode(
        x=alt.X(
            "model:N",
            scale=alt.Scale(domain=list(label.values())),
            axis=alt.Axis(orient="top", labelAngle=-40, **bare),
        ),
        y=alt.Y("study:N", scale=alt.Scale(domain=names), axis=alt.Axis(**bare)),
        color=alt.Color(
            "pas:Q",
            scale=alt.Scale(domain=[0, 1], scheme="blues"),
            legend=alt.Legend(title="PAS", orient="right"),
        ),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("pas:Q", title="PAS", format=".3f")],
    )
    chart = alt.layer(chart)
    return chart.properties(width=24 * len(models), height=_ROW * len(names))
