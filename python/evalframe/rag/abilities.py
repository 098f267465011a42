"""The four abilities of the benchmark, and their tables as they were published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import polars as pl

from evalframe.comparison import compare
from evalframe.core.choices import Dropped
from evalframe.core.errors import MissingColumnsError, UnknownNameError
from evalframe.core.frames import like_input
from evalframe.core.rows import as_expr
from evalframe.core.tables import Keys, lazy
from evalframe.core.typing import By, Frame, IntoExpr
from evalframe.rag.contract import is_counterfactual, is_integration
from evalframe.rag.counting import rates, with_outcomes
from evalframe.rag.metrics import answer_accuracy

if TYPE_CHECKING:
    from evalframe.resample.methods import Bootstrap


Ability: TypeAlias = Literal[
    "noise_robustness",
    "negative_rejection",
    "information_integration",
    "counterfactual_robustness",
]

ABILITIES: tuple[Ability, ...] = get_args(Ability)

DROP = {
    "accuracy_without_noise": pl.Float64(),
    "accuracy": pl.Float64(),
    "accuracy_drop": pl.Float64(),
    "lower": pl.Float64(),
    "upper": pl.Float64(),
    "p_value": pl.Float64(),
    "p_adjusted": pl.Float64(),
    "n_clusters": pl.Int64(),
}
"""Columns of `accuracy_drop` after the keys and the noise rate."""

_ALL = ":all"
_SIDES = ("accuracy_without_noise", "accuracy")


def ability(dataset: IntoExpr = "dataset", noise_rate: IntoExpr = "noise_rate") -> pl.Expr:
    """The ability of Chen et al. (2024) that a response tests.

    Data sets with `_int` in their name test information integration, others with `_fact`
    counterfactual robustness; the rest test noise robustness, or negative rejection at a noise rate
    of 1.

    Args:
        dataset: Name of the data set.
        noise_rate: Share of noise among the documents.

    Returns:
        String, null if the data set is null, or if the noise rate is null and required.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> runs = pl.DataFrame({"dataset": ["en", "en", "zh_int"], "noise_rate": [0.8, 1.0, 0.4]})
        >>> runs.select(ef.rag.ability()).to_series().to_list()
        ['noise_robustness', 'negative_rejection', 'information_integration']
    """
    name, rate = as_expr(dataset), as_expr(noise_rate)
    return (
        pl.when(is_integration(name))
        .then(pl.lit("information_integration"))
        .when(is_counterfactual(name))
        .then(pl.lit("counterfactual_robustness"))
        .when(name.is_not_null() & (rate == 1))
        .then(pl.lit("negative_rejection"))
        .when(name.is_not_null() & rate.is_not_null())
        .then(pl.lit("noise_robustness"))
        .alias("ability")
    )


@like_input
def published_table(table: Frame, name: Ability) -> pl.LazyFrame:
    """The rates of one ability in the layout of the published table, of Chen et al. (2024).

    Rows are runs: all keys of the table except the noise rate, which is a key for counterfactual
    robustness only. Numbers are fractions, not percent. Groups without a noise rate are left out.

    Args:
        table: Result of `rates` with `dataset` and `noise_rate` among its keys, for counterfactual
            robustness also `passage_num`.
        name: `noise_robustness` (table 1) and `information_integration` (table 5): accuracy, a
            column for each noise rate below 1. `negative_rejection` (table 3): `rej` (RGB's, which
            includes right answers), `rejection_rate` (without them) and `rej_judge` (Rej*).
            `counterfactual_robustness` (table 7): `acc` (without documents), `acc_doc`, `ed`,
            `ed_judge` (ED*), `cr` (corrections among the judge's detections, as published) and
            `cr_keywords` (among those by keywords).

    Returns:
        The keys, then Float64, null without such a run. Sorted by the keys. Columns of noise rates
        need their values, so these two tables are computed at once, also for a LazyFrame.

    Raises:
        MissingColumnsError: The table lacks one of these keys.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> noise = {"dataset": ["en"] * 3, "noise_rate": [0.0, 0.4, 0.4]}
        >>> labelled = pl.DataFrame({**noise, "label": [[1], [1], [0]]})
        >>> table = ef.rag.rates(labelled, by=["dataset", "noise_rate"])
        >>> ef.rag.published_table(table, "noise_robustness").to_dicts()
        [{'dataset': 'en', '0.0': 1.0, '0.4': 0.5}]
    """
    if name not in ABILITIES:
        raise UnknownNameError.of("ability", name, ABILITIES)
    columns = table.lazy().collect_schema().names()
    required = {"dataset", "noise_rate", "n"}
    if name == "counterfactual_robustness":
        required |= {"passage_num"}
    if missing := required - {*columns}:
        raise MissingColumnsError.of("published_table", missing, columns)
    keys = [key for key in columns[: columns.index("n")] if key != "noise_rate"]
    rows = table.lazy().filter(ability() == name)
    if name == "negative_rejection":
        return rows.select(
            *keys,
            rej="all_rate",
            rejection_rate="rejection_rate",
            rej_judge="judge_rejection_rate",
        ).sort(keys)
    if name == "counterfactual_robustness":
        return _counterfactual(rows, columns[: columns.index("n")])
    wide = rows.filter(pl.col("noise_rate") < 1).select(*keys, "noise_rate", "accuracy")
    long = wide.sort("noise_rate").with_columns(pl.col("noise_rate").cast(pl.String)).collect()
    return long.pivot("noise_rate", index=keys, values="accuracy").sort(keys).lazy()


@like_input
def accuracy_drop(
    labelled: Frame,
    *,
    by: By = None,
    weight: IntoExpr | None = None,
    dropped: Dropped = "excluded",
    resample: Bootstrap | None = None,
) -> pl.LazyFrame:
    """Loss of accuracy at each noise rate against no noise, group by group.

    With `resample` both rates are computed on the questions that they share and resampled by the
    same draws, so that variation between questions cancels. Responses without a noise rate from 0
    to 1 are left out.

    Args:
        labelled: Responses with `label` and `noise_rate`.
        by: Group keys without the noise rate, such as model and dataset.
        weight: How often each row counts.
        dropped: For responses without a label, see `rates`.
        resample: `ef.Bootstrap(cluster=...)` with the question as cluster.

    Returns:
        by..., `noise_rate` (above 0), `accuracy_without_noise`, `accuracy`, `accuracy_drop` (the
        former minus the latter: positive is worse with noise), `lower`, `upper` (of the drop),
        `p_value`, `p_adjusted` (Holm, over all rows), `n_clusters`. The last five are null without
        `resample`, all but the accuracy if a group has no responses without noise, the accuracies
        also if both rates share no question. Sorted by the keys and the noise rate. The table is
        computed at once, also for a LazyFrame.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> noise = {"id": [0, 1, 0, 1], "noise_rate": [0.0, 0.0, 0.8, 0.8]}
        >>> labelled = pl.DataFrame({**noise, "label": [[1], [1], [1], [0]]})
        >>> drop = ef.rag.accuracy_drop(labelled, resample=ef.Bootstrap(cluster="id", n=200))
        >>> drop.select("accuracy_drop", "n_clusters").rows()
        [(0.5, 2)]
    """
    keys = Keys.of(by, taken=["noise_rate", *DROP])
    rate = pl.col("noise_rate")
    required = [*keys.exprs, rate, *([] if weight is None else [as_expr(weight)])]
    rows = with_outcomes(lazy(labelled), dropped, required, resample, "accuracy_drop")
    rows = rows.filter(rate.is_between(0, 1)).with_columns(*keys.select(), pl.lit(0).alias(_ALL))
    groups = [_ALL, *keys.inner]
    plain = rates(rows, by=[*groups, "noise_rate"], weight=weight).collect()
    clean = plain.filter(rate == 0).select(*groups, accuracy_without_noise="accuracy")
    sides = plain.filter(rate > 0).select(*groups, "noise_rate", "accuracy")
    sides = sides.join(clean, on=groups, how="left", nulls_equal=True)
    paired = clean.join(sides, on=groups, how="semi", nulls_equal=True).select(groups)
    if resample is not None and len(paired):
        both = rows.join(paired.lazy(), on=groups, how="semi", nulls_equal=True)
        drops = _compared(both, groups, weight, resample)
        sides = sides.join(drops, on=[*groups, "noise_rate"], how="left", nulls_equal=True)
        unpaired = pl.when(pl.col("accuracy_without_noise").is_null())
        sides = sides.with_columns(
            unpaired.then(name).otherwise(f"paired_{name}").alias(name) for name in _SIDES
        )
    drop = (pl.col("accuracy_without_noise") - pl.col("accuracy")).alias("accuracy_drop")
    absent = [pl.lit(None, DROP[name]).alias(name) for name in DROP if name not in sides.columns]
    result = sides.with_columns(absent).with_columns(drop)
    result = result.select(*keys.inner, "noise_rate", *DROP).sort(*keys.inner, "noise_rate")
    return result.rename(keys.restore()).lazy()


def _compared(
    rows: pl.LazyFrame, groups: list[str], weight: IntoExpr | None, resample: Bootstrap
) -> pl.DataFrame:
    """Drops of groups with responses without noise, with their uncertainty."""
    compared = compare(
        rows,
        answer_accuracy(),
        between="noise_rate",
        baseline=0.0,
        by=groups,
        weight=weight,
        resample=resample,
    )
    return compared.select(
        *groups,
        pl.col("right").alias("noise_rate"),
        pl.col("estimate_left").alias("paired_accuracy_without_noise"),
        pl.col("estimate_right").alias("paired_accuracy"),
        (0.0 - pl.col("upper")).alias("lower"),
        (0.0 - pl.col("lower")).alias("upper"),
        "p_value",
        "p_adjusted",
        "n_clusters",
    ).collect()


def _counterfactual(rows: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Runs with documents next to those without; the latter are pooled over settings."""
    settings = [k for k in keys if k in ("noise_rate", "passage_num", "correct_passage_rate")]
    runs = [key for key in keys if key not in settings]
    documents = rows.filter(pl.col("passage_num") > 0).select(
        *keys,
        acc_doc="accuracy",
        ed="error_detection_rate",
        ed_judge="judge_detection_rate",
        cr="judge_correction_rate",
        cr_keywords="error_correction_rate",
    )
    correct, all_of_them = pl.col("n_correct").sum(), pl.col("n").sum()
    without = rows.filter(pl.col("passage_num") == 0).group_by(runs).agg(acc=correct / all_of_them)
    joined = documents.join(without, on=runs, how="full", coalesce=True, nulls_equal=True)
    rates = ["acc", "acc_doc", "ed", "ed_judge", "cr", "cr_keywords"]
    return joined.sort(*runs, *settings).select(*runs, *settings, *rates)
