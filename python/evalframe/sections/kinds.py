"""Kinds of results, told by their columns: the table, the charts and the words that each gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import polars as pl

from evalframe import plot
from evalframe.core.errors import EvalframeError, MissingExtraError
from evalframe.plot.frames import keys_before
from evalframe.reporting.names import number, visible
from evalframe.reporting.results import form_of
from evalframe.reporting.showing import left_out, show
from evalframe.reporting.table import plain
from evalframe.reporting.verdict import too_few_draws, verdict

if TYPE_CHECKING:
    from evalframe.plot.theme import Chart
    from evalframe.reporting.paper import Table

_METRICS = 6
"""Metrics of a main table at most; a second table has all."""

_DRAWN = 3
"""Metrics that are drawn at most."""


class Given(NamedTuple):
    """A result, and what is known of it.

    Attributes:
        table: The result.
        others: What was made with it, by name.
        level: Of its intervals.
        metrics: What metrics its names are, where these do not say it.
        cluster: What was resampled.
    """

    table: pl.DataFrame
    others: Mapping[str, pl.DataFrame] = {}
    level: float | None = None
    metrics: Mapping[str, str] = {}
    cluster: str | None = None


Drawing: TypeAlias = "Callable[[Given], Chart | None]"
Tables: TypeAlias = "Callable[[Given], Sequence[Table]]"


def _of(*columns: str) -> Tables:
    """Makes one table of these columns, or of all."""
    return lambda given: [plain(given.table, columns or None)]


_ALL_COLUMNS = _of()


@dataclass(frozen=True)
class Kind:
    """A kind of result.

    Attributes:
        title: What it is about.
        columns: Columns that tell it.
        made_by: The functions that make it, whose documentation says how.
        charts: What draws it, each metric by itself; None if there is nothing to draw.
        tables: Makes its tables, the main one first.
        verdict: What it says, if its tables do not.
    """

    title: str
    columns: tuple[str, ...]
    made_by: tuple[str, ...] = ()
    charts: tuple[Drawing, ...] = ()
    tables: Tables = _ALL_COLUMNS
    verdict: Callable[[Given], str] | None = None

    def written(self, given: Given) -> Sequence[Table]:
        """Its tables, under its title."""
        made, apart = self.tables(given), left_out(given.table)
        notes = [[note for note in table.notes if note not in apart] for table in made]
        return [
            replace(table, notes=[f"{self.title}.", *others])
            for table, others in zip(made, notes, strict=True)
        ]

    def drawn(self, given: Given) -> tuple[list[Chart], list[str]]:
        """Its charts, and why others cannot be drawn."""
        charts, undrawn = [], []
        parts = _by_metric(given.table)
        if self.charts and len(parts) > _DRAWN:
            undrawn.append(f"Not drawn: all but the first {_DRAWN} of {len(parts)} metrics.")
        for part in parts[:_DRAWN]:
            for draw in self.charts:
                try:
                    charts.append(draw(given._replace(table=part)))
                except MissingExtraError:
                    raise
                except EvalframeError as error:
                    undrawn.append(f"Not drawn: {error}")
        return [chart for chart in charts if chart is not None], undrawn


def _by_metric(table: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows of each metric that has a value; all of a table without a column of metrics."""
    if "metric" not in table.columns:
        return [table]
    known = table.filter(pl.col(form_of(table, "a section draws").value).is_not_null())
    return known.partition_by("metric", maintain_order=True)


def _shown(given: Given) -> list[Table]:
    """The table that `ef.show` makes; of many metrics first some, then all."""
    table = given.table
    if "metric" not in table.columns or table["metric"].n_unique() <= _METRICS:
        return [show(table, level=given.level, cluster=given.cluster)]
    first = table["metric"].unique(maintain_order=True).head(_METRICS)
    part = table.filter(pl.col("metric").is_in(first.implode()))
    main = show(part, level=given.level, cluster=given.cluster)
    main = replace(main, verdict=verdict(table, cluster=given.cluster))  # of all metrics
    form = form_of(table, "a section shows")
    columns = [*form.keys(table), "metric", form.value, "n", "n_missing", "n_clusters"]
    every = plain(table, columns, ends_of=form.value)
    return [main, replace(every, notes=["All metrics.", *every.notes])]


def _forest(given: Given) -> Chart | None:
    return plot.forest(given.table, level=given.level) if len(given.table) > 1 else None


def _ranks(given: Given) -> Chart | None:
    has_sets = "tied_with_best" in given.table.columns
    return plot.ranks(given.table, level=given.level) if has_sets else None


def _pairs(given: Given) -> Chart | None:
    is_matrix = "p_adjusted" in given.table.columns and given.table["left"].n_unique() > 1
    return plot.pairs(given.table) if is_matrix else None


def _score_pairs(given: Given) -> Chart:
    """Sign flips have no intervals, and are of the score."""
    none = pl.lit(None, dtype=pl.Float64)
    table = given.table.select(pl.lit("score").alias("metric"), pl.all(), lower=none, upper=none)
    return plot.pairs(table)


def _other(given: Given, *columns: str) -> pl.DataFrame | None:
    """The other result with these columns; none of several, since they may be of other data."""
    tables = [table for table in given.others.values() if {*columns} <= {*table.columns}]
    return tables[0] if len(tables) == 1 else None


def _risk_coverage(given: Given) -> Chart:
    optimal = given.others.get("optimal")
    return plot.risk_coverage(given.table, optimal=optimal, level=given.level)


def _segments(given: Given) -> Chart:
    return plot.segments(given.table, gaps=_other(given, "gap", "noise_gap"))


def _effects(given: Given) -> Chart:
    ecs = _other(given, "ecs", "slope")
    return plot.effects(given.table, ecs=None if ecs is None else overall(ecs))


def overall(table: pl.DataFrame) -> pl.DataFrame:
    """Of concordances of several levels those of all tests."""
    is_ecs = {"level", "ecs", "slope"} <= {*table.columns}
    return table.filter(level="overall") if is_ecs else table


def _of_bins(given: Given) -> list[Table]:
    shown = ("lower_edge", "upper_edge", "n", "mean_confidence", "accuracy", "gap")
    return [plain(given.table, [*keys_before(given.table, "bin"), *shown], ends_of="accuracy")]


def _noise(given: Given) -> Chart:
    """Of groups that have several noise rates, if any have."""
    keys = [key for key in keys_before(given.table, "n") if key not in ("model", "noise_rate")]
    rates = given.table
    if keys and "noise_rate" in rates.columns:
        rates = rates.filter(pl.col("noise_rate").n_unique().over(keys) > 1)
    return plot.noise(given.table if rates.is_empty() else rates, level=given.level)


def _varying(table: pl.DataFrame, until: str) -> list[str]:
    """The keys before a column by which rows differ."""
    return [key for key in keys_before(table, until) if table[key].n_unique() > 1]


def _of_rates(given: Given) -> list[Table]:
    """Rates by group, those of errors in documents where they were looked for."""
    table = given.table
    keys = _varying(table, "n")
    is_checked = "n_fact_checked" in table.columns and table["n_fact_checked"].sum() > 0
    detected = ["error_detection_rate", "error_correction_rate"] if is_checked else []
    return [plain(table, [*keys, "n", "n_dropped", "accuracy", "rejection_rate", *detected])]


def _drops(given: Given) -> list[Table]:
    keys = _varying(given.table, "noise_rate")
    shown = ("noise_rate", "accuracy_without_noise", "accuracy", "accuracy_drop", "p_adjusted")
    return [plain(given.table, [*keys, *shown], ends_of="accuracy_drop")]


def _of_drops(given: Given) -> str:
    """The largest fall of accuracy, and how many are certain."""
    rates = pl.col("noise_rate").is_between(0, 1, closed="none")  # at 1 no document has the answer
    drops = given.table.filter(rates).drop_nulls("accuracy_drop")
    if drops.is_empty():
        return ""
    worst = drops.sort("accuracy_drop", descending=True).row(0, named=True)
    about = [visible(worst[key]) for key in ("model", "dataset") if worst.get(key) is not None]
    ends = [number(worst[name], 2) for name in ("accuracy_without_noise", "accuracy")]
    fall = f"Accuracy falls most from {' to '.join(ends)}, at noise rate {worst['noise_rate']:g}"
    fall += f" ({', '.join(about)})" if about else ""
    if worst["accuracy_drop"] <= 0:
        fall = "Accuracy falls at no noise rate"
    known = drops["p_adjusted"].drop_nulls().to_list() if "p_adjusted" in drops.columns else []
    if not known:
        return f"{fall}; whether that is certain was not tested."
    if few := too_few_draws(drops["p_adjusted"], drops["p_value"]):
        return f"{fall}; {few}."
    told = sum(p < 0.05 for p in known)
    differ = f"{told:,} of {len(known):,} accuracies differ from that without noise"
    return f"{fall}; {differ} (adjusted p < 0.05)."


_ASKED = ("round", "segment_id", "question_id")


def _one_question(table: pl.DataFrame) -> pl.DataFrame:
    """Of several questions the one, of one segment, that is predicted worst on average."""
    keys = [key for key in _ASKED if key in table.columns]
    known = table.drop_nulls(["options", "actual", "predicted"])
    if not keys or known.select(keys).n_unique() < 2:
        return known
    if "context_count" in known.columns:
        most = pl.col("context_count").max().over(keys)
        known = known.filter(pl.col("context_count").eq_missing(most))
    known = known.filter(pl.len().over(*keys, "model") == 1)
    score = pl.col("score") if "score" in known.columns else pl.lit(0.0)
    means = known.group_by(keys).agg(score.mean().alias("score"), models=pl.len())
    worst = means.sort("models", "score", *keys, descending=[True, *[False] * (1 + len(keys))])
    return known.join(worst.head(1).select(keys), on=keys, nulls_equal=True)


def _of_question(given: Given) -> list[Table]:
    """The predictions that are drawn."""
    shown = plain(_one_question(given.table), ["model", *_ASKED, "status", "score"])
    worst = "The question and segment that models predict worst."
    return [replace(shown, notes=[worst, *shown.notes])]


KINDS = (
    Kind(
        "Differences",
        ("metric", "left", "right", "delta", "detectable"),
        ("compare",),
        (_pairs, _forest),
        _shown,
    ),
    Kind("Differences", ("metric", "left", "right", "delta"), (), (_pairs, _forest), _shown),
    Kind(
        "Models by score",
        ("rank", "model", "score", "gap"),
        ("survey.leaderboard",),
        (_forest, _ranks),
        _shown,
    ),
    Kind(
        "Models by agreement with humans",
        ("rank", "pas"),
        ("replication.model_scores",),
        (_forest, _ranks),
        _shown,
    ),
    Kind("Ranks", ("metric", "rank", "estimate"), ("rank",), (_forest, _ranks), _shown),
    Kind("Estimates", ("metric", "estimate"), (), (_forest,), _shown),
    Kind(
        "Risk and coverage",
        ("coverage", "selective_risk"),
        ("selective.rc_curve",),
        (_risk_coverage,),
        tables=lambda given: [],
    ),
    Kind(
        "Stated confidence",
        ("bin", "mean_confidence", "accuracy", "lower", "upper"),
        ("selective.reliability_table",),
        (lambda given: plot.reliability(given.table, level=given.level),),
        tables=_of_bins,
    ),
    Kind(
        "Rates of answers",
        ("n", "accuracy", "rejection_rate"),
        ("rag.label", "rag.rates"),
        (_noise,),
        tables=_of_rates,
    ),
    Kind(
        "Loss of accuracy by noise",
        ("accuracy_without_noise", "accuracy_drop"),
        ("rag.accuracy_drop",),
        tables=_drops,
        verdict=_of_drops,
    ),
    Kind(
        "Scores of segments",
        ("model", "segment_id", "category", "score"),
        ("survey.segment_scores",),
        (_segments,),
        _of("model", "round", "segment_id", "score", "n_items", "parse_rate"),
    ),
    Kind(
        "Gaps between segments",
        ("model", "category", "gap", "best_segment"),
        ("survey.disparity",),
        (),
        _of("model", "round", "category", "gap", "best_segment", "worst_segment", "concern"),
    ),
    Kind(
        "Effects of tests",
        ("effect_d_human", "effect_d_agent", "pas"),
        ("replication.with_evidence",),
        (_effects,),
        _of(
            *("model", "study_id", "finding_id", "test_id", "test_type"),
            *("pas", "effect_d_human", "effect_d_agent", "n_eff"),
        ),
    ),
    Kind(
        "Differences of models",
        ("left", "right", "delta", "n_shared", "p_adjusted"),
        ("survey.sign_flip_test",),
        (_score_pairs,),
        _of("left", "right", "delta", "p_value", "p_adjusted", "n_shared"),
    ),
    Kind(
        "Concordance of effects",
        ("ecs", "slope", "intercept"),
        ("replication.ecs",),
        tables=_of("model", "ecs", "slope", "intercept", "n_tests", "n_missing"),
    ),
    Kind(
        "Studies",
        ("study_id", "pas", "n_findings"),
        ("replication.study_scores",),
        (lambda given: plot.studies(given.table),),
        _of("model", "study_id", "domain", "pas", "ecs", "n_tests"),
    ),
    Kind(
        "Answers and predictions",
        ("model", "options", "actual", "predicted"),
        ("survey.parse",),
        (lambda given: plot.distribution(_one_question(given.table)),),
        tables=_of_question,
    ),
)
"""Kinds of results; a table is of the first whose columns it has."""

OTHER = Kind("Table", ())


def kind_of(table: pl.DataFrame) -> Kind:
    """The kind of a result; a table that no kind tells is shown as it is."""
    return next((kind for kind in KINDS if {*kind.columns} <= {*table.columns}), OTHER)
