"""Mean scores against drawn answers: as many as there were, from each actual distribution."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr
from evalframe.survey.contexts import included
from evalframe.survey.contract import KEYS

if TYPE_CHECKING:
    from evalframe.core.segments import Floats, Ints


Average: TypeAlias = Literal["segments", "items"]

_CELLS = 1 << 22
_READ = ("predicted", "actual", "sample_size", "score")


class Drawn(NamedTuple):
    """Mean scores of models against the actual and against drawn answers.

    Attributes:
        models: The models, sorted.
        estimates: Their mean scores.
        means: Draws by models.
        rows: Number of rows of each model.
    """

    models: pl.Series
    estimates: Floats
    means: Floats
    rows: Ints

    @classmethod
    def of(
        cls,
        marked: pl.LazyFrame,
        between: IntoExpr,
        average: Average,
        metric: pl.Expr,
        n: int,
        seed: int,
    ) -> Drawn:
        """Draw answers for all rows of the included context, and score them by the metric."""
        if average not in ("segments", "items"):
            raise ParameterError(f'average must be "segments" or "items", got {average!r}')
        rows, truths = _scored_rows(marked, between, average)
        models = rows["model"].unique(maintain_order=True)
        number, weight = rows[":model"].to_numpy(), rows[":weight"].to_numpy()
        score = rows["score"].to_numpy()
        # Rows whose truth is not a distribution keep their score in every draw.
        fixed = rows[":truth"].is_null().to_numpy()
        constant = np.bincount(number[fixed], (score * weight)[fixed], len(models))
        means = np.tile(constant.astype(np.float64), (n, 1))
        for chosen, first, answers in _drawn_answers(rows, truths, n, seed):
            draws = len(answers) // len(chosen)
            predicted = rows["predicted"].gather(np.tile(chosen, draws))
            answered = pl.DataFrame({"predicted": predicted, "actual": answers})
            values = answered.select(metric.cast(pl.Float64).alias("value"))["value"].to_numpy()
            values = values.reshape(draws, len(chosen))
            values = np.where(np.isnan(values), score[chosen], values) * weight[chosen]
            cell = number[chosen] + len(models) * np.arange(draws)[:, None]
            sums = np.bincount(cell.ravel(), values.ravel(), draws * len(models))
            means[first : first + draws] += sums.reshape(draws, -1)
        estimates = np.bincount(number, score * weight, len(models)).astype(np.float64)
        return cls(models, estimates, means, np.bincount(number, minlength=len(models)))


def _scored_rows(
    marked: pl.LazyFrame, between: IntoExpr, average: Average
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows with a score, their model's number and their weight in it, and their distributions."""
    model = as_expr(between)
    columns = marked.collect_schema().names()
    if missing := {*KEYS, *_READ, *model.meta.root_names()} - {*columns}:
        raise MissingColumnsError.of("respondent intervals", missing, columns)
    scored = (
        included(marked)
        .select(
            model.alias("model"),
            *KEYS,
            pl.col("predicted", "actual").cast(pl.List(pl.Float64)),
            pl.col("sample_size").cast(pl.Float64),
            pl.col("score").cast(pl.Float64).fill_nan(None),
        )
        .drop_nulls("score")
    )
    same_length = pl.col("predicted").list.len() == pl.col("actual").list.len()
    key = pl.struct(KEYS)
    cell, segment = ["model", *KEYS], ["model", "round", "segment_id"]
    # Repeated rows share the weight of their cell, cells that of their segment or model.
    keys = key.n_unique().over("model")
    if average == "segments":
        keys = key.n_unique().over(segment) * pl.struct(segment).n_unique().over("model")
    rows = (
        scored.with_columns((1 / (pl.len().over(cell) * keys)).alias(":weight"))
        .with_columns(pl.when(same_length).then("predicted").alias("predicted"))
        .sort(*cell, "score")
        .with_columns((pl.col("model").rank("dense") - 1).cast(pl.Int64).alias(":model"))
        .collect()
    )
    if unnamed := rows["model"].null_count():
        raise ParameterError(
            f"the model is null in {unnamed:,} rows with a score; name it, or drop these rows"
        )
    truths = _truths(rows)
    joined = rows.join(truths.select(*KEYS, ":truth"), on=KEYS, how="left", maintain_order="left")
    return joined, truths


def _truths(rows: pl.DataFrame) -> pl.DataFrame:
    """The distributions that answers can be drawn from, each once."""
    share = pl.element()
    shares = pl.col("actual").list.eval((share.is_finite() & (share >= 0)).fill_null(value=False))
    valid = shares.list.all() & (pl.col("actual").list.sum() > 0)
    truths = rows.filter(valid).select(*KEYS, "actual", "sample_size").unique()
    repeated = truths.filter(pl.struct(KEYS).is_duplicated()).sort(KEYS)
    if len(repeated):
        count = repeated.select(pl.struct(KEYS).n_unique()).item()
        raise ParameterError(
            f"actual and sample_size must be the same in all rows of a round, segment and question,"
            f" but differ for {count:,}, such as {repeated.select(KEYS).row(0)}"
        )
    size = pl.col("sample_size")
    bad = truths.filter(~(size.is_finite() & (size >= 1)).fill_null(value=False)).sort(KEYS)
    if len(bad):
        raise ParameterError(
            f"sample_size must be 1 or more respondents, but is not for {len(bad):,} distributions,"
            f" such as {bad['sample_size'][0]!r} of {bad.select(KEYS).row(0)}; drop their rows or"
            " add it"
        )
    return truths.sort(KEYS).with_row_index(":truth")


def _drawn_answers(
    rows: pl.DataFrame, truths: pl.DataFrame, n: int, seed: int
) -> Iterator[tuple[Ints, int, Floats]]:
    """Numbers of rows, the first draw, and answers of some draws, draws times rows by options.

    Multinomial draws need one number of options at a time. They depend on the seed and on the
    distributions only, so that all models are compared with the same answers.
    """
    truth_of = rows[":truth"].cast(pl.Int64).fill_null(-1).to_numpy()
    lengths = truths["actual"].list.len().cast(pl.Int64).to_numpy()
    sizes = truths["sample_size"].cast(pl.Int64).to_numpy()
    for length in np.unique(lengths):
        drawn = np.flatnonzero(lengths == length)
        chosen = np.flatnonzero((truth_of >= 0) & (lengths[truth_of] == length))
        position = np.searchsorted(drawn, truth_of[chosen])
        shares = truths["actual"].gather(drawn).explode(empty_as_null=False).to_numpy()
        shares = shares.reshape(-1, length)
        shares = shares / shares.sum(axis=1, keepdims=True)
        rng = np.random.default_rng([seed, int(length)])
        step = max(1, _CELLS // int(len(chosen) * length))
        for first in range(0, n, step):
            count = min(step, n - first)
            answers = rng.multinomial(sizes[drawn], shares, size=(count, len(drawn)))
            yield chosen, first, answers[:, position].reshape(-1, length).astype(np.float64)
