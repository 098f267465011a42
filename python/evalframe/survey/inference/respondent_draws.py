"""Mean scores against drawn answers: as many as there were, from each actual distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.rows import as_expr
from evalframe.core.tables import lazy
from evalframe.survey.contexts import counted
from evalframe.survey.contract import KEYS
from evalframe.survey.similarity.registry import known_by, metric_expression

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalframe.core.rules import Rules
    from evalframe.core.segments import Floats, Ints
    from evalframe.core.typing import Frame, IntoExpr
    from evalframe.survey.similarity.registry import Metric

Average: TypeAlias = Literal["segments", "items"]

_CELLS = 1 << 22
_READ = ("predicted", "actual", "sample_size", "score")


class Drawn(NamedTuple):
    """Mean scores of models against the actual and against drawn answers.

    Attributes:
        models: The models, sorted.
        estimates: Their mean scores.
        means: Draws by models.
        rows: How many rows each model has.
    """

    models: pl.Series
    estimates: Floats
    means: Floats
    rows: Ints

    @classmethod
    def of(
        cls,
        scored: Frame,
        between: IntoExpr,
        average: Average,
        metric: Metric,
        n: int,
        seed: int,
        rules: Rules,
    ) -> Drawn:
        """Draw answers for all rows that count, and score them.

        Raises:
            MissingColumnsError: A column is not there.
            ParameterError: A sample size is not known, or there is no such average.
        """
        import numpy as np

        if average not in ("segments", "items"):
            raise ParameterError(f'average must be "segments" or "items", got {average!r}')
        value = metric_expression(metric, "predicted", "actual", known_by(rules))
        rows, truths = _scored_rows(scored, between, average)
        models = rows["model"].unique(maintain_order=True)
        number, weight = rows[":model"].to_numpy(), rows[":weight"].to_numpy()
        own = rows["score"].to_numpy()
        fixed = rows[":truth"].is_null().to_numpy()
        constant = np.bincount(number[fixed], (own * weight)[fixed], len(models))
        means = np.tile(constant.astype(np.float64), (n, 1))
        for part, first, answers in _drawn_answers(rows, truths, n, seed):
            count = len(answers) // len(part)
            predicted = rows["predicted"].gather(np.tile(part, count))
            pairs = pl.DataFrame({"predicted": predicted, "actual": answers})
            values = pairs.select(value.cast(pl.Float64).alias("value"))["value"].to_numpy()
            values = values.reshape(count, len(part))
            values = np.where(np.isnan(values), own[part], values) * weight[part]
            place = number[part] + len(models) * np.arange(count)[:, None]
            sums = np.bincount(place.ravel(), values.ravel(), count * len(models))
            means[first : first + count] += sums.reshape(count, -1)
        estimates = np.bincount(number, own * weight, len(models)).astype(np.float64)
        return cls(models, estimates, means, np.bincount(number, minlength=len(models)))


def _scored_rows(
    scored: Frame, between: IntoExpr, average: Average
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows with a score, with number and weight in their model, and the distributions they are of.

    Raises:
        MissingColumnsError: A column is not there.
        ParameterError: A sample size is not known.
    """
    table, model = lazy(scored), as_expr(between)
    present = table.collect_schema().names()
    if missing := {*KEYS, *_READ, *model.meta.root_names()} - {*present}:
        raise MissingColumnsError.of("respondent intervals", missing, present)
    known = (
        counted(table)
        .select(
            model.alias("model"),
            *KEYS,
            pl.col("predicted", "actual").cast(pl.List(pl.Float64)),
            pl.col("sample_size").cast(pl.Float64),
            pl.col("score").cast(pl.Float64).fill_nan(None),
        )
        .drop_nulls("score")
    )
    of_one_length = pl.col("predicted").list.len() == pl.col("actual").list.len()
    key = pl.struct(KEYS)
    cell, segment = ["model", *KEYS], ["model", "round", "segment_id"]
    per_item = 1 / (pl.len().over(cell) * key.n_unique().over("model"))
    per_segment = 1 / (
        pl.len().over(cell)
        * key.n_unique().over(segment)
        * pl.struct(segment).n_unique().over("model")
    )
    rows = (
        known.with_columns((per_segment if average == "segments" else per_item).alias(":weight"))
        .with_columns(pl.when(of_one_length).then("predicted").alias("predicted"))
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
    """The distributions that answers can be drawn from, each once.

    Raises:
        ParameterError: A distribution is told in two ways, or its sample size is not known.
    """
    share = pl.element()
    shares = pl.col("actual").list.eval((share.is_finite() & (share >= 0)).fill_null(value=False))
    usable = shares.list.all() & (pl.col("actual").list.sum() > 0)
    told = rows.filter(usable).select(*KEYS, "actual", "sample_size").unique()
    several = told.filter(pl.struct(KEYS).is_duplicated()).sort(KEYS)
    if len(several):
        count = several.select(pl.struct(KEYS).n_unique()).item()
        raise ParameterError(
            f"actual and sample_size must be the same in all rows of a round, segment and question,"
            f" but differ for {count:,}, such as {several.select(KEYS).row(0)}"
        )
    size = pl.col("sample_size")
    bad = told.filter(~(size.is_finite() & (size >= 1)).fill_null(value=False)).sort(KEYS)
    if len(bad):
        raise ParameterError(
            f"sample_size must be 1 or more respondents, but is not for {len(bad):,} distributions,"
            f" such as {bad['sample_size'][0]!r} of {bad.select(KEYS).row(0)}; drop their rows or"
            " add it"
        )
    return told.sort(KEYS).with_row_index(":truth")


def _drawn_answers(
    rows: pl.DataFrame, truths: pl.DataFrame, n: int, seed: int
) -> Iterator[tuple[Ints, int, Floats]]:
    """Rows of equally many options, the number of the first draw, and the answers of some draws.

    Answers are draws times rows by options. The draws hang on the seed and on the distributions.
    """
    import numpy as np

    of_row = rows[":truth"].cast(pl.Int64).fill_null(-1).to_numpy()
    lengths = truths["actual"].list.len().cast(pl.Int64).to_numpy()
    sizes = truths["sample_size"].cast(pl.Int64).to_numpy()
    for length in np.unique(lengths):
        chosen = np.flatnonzero(lengths == length)
        part = np.flatnonzero((of_row >= 0) & (lengths[of_row] == length))
        place = np.searchsorted(chosen, of_row[part])
        shares = truths["actual"].gather(chosen).explode(empty_as_null=False).to_numpy()
        shares = shares.reshape(-1, length)
        shares = shares / shares.sum(axis=1, keepdims=True)
        rng = np.random.default_rng([seed, int(length)])
        step = max(1, _CELLS // int(len(part) * length))
        for first in range(0, n, step):
            count = min(step, n - first)
            drawn = rng.multinomial(sizes[chosen], shares, size=(count, len(chosen)))
            yield part, first, drawn[:, place].reshape(-1, length).astype(np.float64)
