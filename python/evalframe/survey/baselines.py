"""Baselines: pseudo-models that know nothing of the segments, or nearly everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evalframe.core.choices import BaselineKind, check_choice
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.survey.contract import KEYS
from evalframe.survey.inference.common import check_draws
from evalframe.survey.permutations import Pairwise
from evalframe.survey.similarity.registry import (
    SIMILARITIES,
    Metric,
    is_symmetric,
    metric_expression,
)
from evalframe.survey.surveys.segments import canonical_id
from evalframe.survey.surveys.tables import (
    Survey,
    as_distributions,
    like_survey,
    population_marginals,
)

if TYPE_CHECKING:
    from evalframe.core.segments import Floats


_SEGMENT = ("round", "segment_id", "question_id", "segment_attribute", "sample_size", "actual")
_QUESTION = ("round", "question_id")
_CELLS = 1 << 22


@like_survey
def baseline(
    survey: Survey | Frame,
    kind: BaselineKind,
    *,
    metric: Metric = "jensen_shannon_similarity",
    oracle: bool = True,
    questions: Frame | None = None,
    rounds: Sequence[str] | None = None,
    n: int = 100,
    seed: int = 42,
) -> pl.LazyFrame:
    """Score a baseline on every question of every segment, as if it were a model.

    Args:
        survey: As for `as_distributions`.
        kind: `uniform`: the same share for all options. `marginal`: the answers of all segments to
            the question, weighted by respondents; an oracle, since models never see answers to the
            question. `cross_segment`: the mean score of the answers of each other segment.
            `permutation`: the same including the segment itself, which is the exact mean over all
            permutations of the segments; `permutation_baseline` draws them, for an interval.
            `dirichlet`: the mean score of random distributions. `prior_round`: the answer of the
            segment to the same question in the nearest round before.
        metric: As for `score`.
        oracle: Include the answers of the segment itself in `marginal`. Otherwise they are taken
            out; its respondents remain in segments of other categories.
        questions: For `prior_round`, the table `round`, `question_id`, `question_text`, `options`:
            questions of the same text and options are the same. By default that of a `Survey`; for
            a table without one, questions of the same id are the same.
        rounds: For `prior_round`, the rounds, oldest first; by default in the order of their rows.
        n: Draws of `dirichlet` for each distribution.
        seed: Of these draws.

    Returns:
        `model` (such as `baseline:uniform`), `round`, `segment_id`, `question_id`,
        `segment_attribute`, `sample_size`, `actual` (List(Float64), shares), `predicted`
        (List(Float64), shares; null for kinds with more than one prediction, and without data) and
        `score` (Float64, null if undefined); with `prior_round` also `prior_round`. Rows in the
        order of the survey's distributions. Lazy if the survey is a LazyFrame.

    Raises:
        ParameterError: An argument of another kind, or a survey without the sample sizes that are
            weights.

    References:
        dtef-app 52d79c0, `generateBaselines`. The prior round is this package's own.

    Examples:
        >>> import polars as pl
        >>> from evalframe.survey import baseline
        >>> answers = {"sample_size": [100, 300], "actual": [[0.2, 0.8], [0.4, 0.6]]}
        >>> survey = pl.DataFrame({"question_id": ["q"] * 2, "segment_id": ["a", "b"], **answers})
        >>> baseline(survey, "marginal").select("predicted", pl.col("score").round(3)).row(0)
        ([0.35, 0.65], 0.857)
    """
    check_options(kind, oracle=oracle, questions=questions, rounds=rounds)
    task = Task.of(survey, metric, SIMILARITIES, n, seed)
    task = replace(task, oracle=oracle, questions=questions, rounds=rounds)
    return scores_of(kind, task).lazy()


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The inputs of a baseline."""

    survey: Survey | Frame
    distributions: pl.DataFrame
    weighted: Survey | Frame
    """The answers for population marginals."""
    value: pl.Expr
    is_symmetric: bool
    n: int
    seed: int
    oracle: bool = True
    questions: Frame | None = None
    rounds: Sequence[str] | None = None

    @classmethod
    def of(
        cls,
        survey: Survey | Frame,
        metric: Metric,
        registry: Mapping[str, Callable[..., pl.Expr]],
        n: int,
        seed: int,
    ) -> Task:
        """Check the draws and the metric, and read the survey."""
        check_draws(n, seed)
        value = metric_expression(metric, "predicted", "actual", registry)
        distributions = as_distributions(survey).lazy().collect()
        symmetric = is_symmetric(metric)
        return cls(survey, distributions, distributions, value, symmetric, n, seed)


def check_options(
    kind: BaselineKind, *, oracle: bool, questions: Frame | None, rounds: Sequence[str] | None
) -> None:
    """Raise ParameterError for an unknown kind, or an option that belongs to another kind."""
    check_choice("kind", kind, BaselineKind)
    if kind != "prior_round" and (questions is not None or rounds is not None):
        raise ParameterError(f'questions and rounds are for kind="prior_round", not for {kind!r}')
    if kind != "marginal" and not oracle:
        raise ParameterError(f'oracle=False is for kind="marginal", not for {kind!r}')


def scores_of(kind: BaselineKind, task: Task) -> pl.DataFrame:
    """The rows of a baseline with their scores."""
    model, answers_of = BASELINES[kind]
    answers = answers_of(task)
    table = pl.concat([task.distributions.select(_SEGMENT), answers], how="horizontal")
    if "score" not in answers.columns:
        table = table.with_columns(task.value.cast(pl.Float64).fill_nan(None).alias("score"))
    rest = [name for name in answers.columns if name not in ("predicted", "score")]
    return table.select(pl.lit(model).alias("model"), *_SEGMENT, "predicted", "score", *rest)


def _uniform(task: Task) -> pl.DataFrame:
    return task.distributions.select(predicted=(1 / pl.col("n_options")).repeat_by("n_options"))


def _marginals(task: Task) -> pl.DataFrame:
    """The answers of all segments, or of all others, to the question of each row."""
    distributions = task.distributions
    if not distributions["sample_size"].count():
        raise ParameterError(
            'kind="marginal" weights segments by sample_size, but the survey has none; add it'
        )
    marginals = population_marginals(task.weighted).lazy().collect()
    joined = distributions.join(marginals, on=_QUESTION, how="left", maintain_order="left")
    if task.oracle:
        return joined.select(predicted=pl.col("percent") / 100)
    size = pl.when(pl.col("sample_size") > 0).then("sample_size").otherwise(0).cast(pl.Float64)
    total = size.sum().over(_QUESTION)
    rest = (pl.col("percent") / 100 * total - pl.col("actual") * size) / (total - size)
    shares = rest.list.eval(pl.element().clip(0.0))  # rounding can leave less than 0
    return joined.select(predicted=pl.when(total > size).then(shares))


def _of_segments(task: Task, *, with_itself: bool) -> pl.DataFrame:
    """Mean scores of the answers of the other segments, or of all."""
    pairwise = Pairwise.of(task.distributions, task.value, half=task.is_symmetric)
    return _without_prediction(pairwise.means(with_itself=with_itself))


def _dirichlet(task: Task) -> pl.DataFrame:
    """Mean scores of n draws of Dirichlet(1, ..., 1) for each distribution."""
    # Draws go to the distributions in the order of their keys, whatever the order of the rows.
    order = task.distributions.with_row_index(":row").sort(KEYS)[":row"].to_numpy()
    sizes = task.distributions["n_options"].to_numpy()[order]
    value = task.value.cast(pl.Float64).alias("value")
    scores = np.full(len(order), np.nan)
    for size in np.unique(sizes):
        rng = np.random.default_rng([task.seed, int(size)])
        rows = order[sizes == size]
        step = max(1, _CELLS // int(task.n * size))
        for first in range(0, len(rows), step):
            chunk = rows[first : first + step]
            # Exponentials over their sum are Dirichlet; the metric normalises them.
            predicted = rng.standard_exponential((len(chunk) * task.n, int(size)))
            actual = task.distributions["actual"].gather(np.repeat(chunk, task.n))
            pairs = pl.DataFrame({"predicted": predicted, "actual": actual})
            values = pairs.select(value)["value"].to_numpy()
            scores[chunk] = values.reshape(len(chunk), task.n).mean(axis=1)
    return _without_prediction(scores)


def _without_prediction(scores: Floats) -> pl.DataFrame:
    score = pl.Series("score", scores, nan_to_null=True)
    nulls = pl.Series("predicted", [None] * len(score), dtype=pl.List(pl.Float64()))
    return pl.DataFrame([nulls, score])


def _prior_answers(task: Task) -> pl.DataFrame:
    """`prior_round` and `predicted`: the answer of the segment in the nearest round before."""
    distributions = task.distributions
    available = distributions["round"].unique(maintain_order=True).to_list()
    rounds = list(available if task.rounds is None else task.rounds)
    unknown = [name for name in rounds if name not in available]
    if unknown or len(set(rounds)) < len(rounds):
        raise ParameterError(
            f"rounds must name rounds of the survey once each, oldest first, got {rounds}; it has "
            f"{available}"
        )
    questions = task.questions
    if questions is None and isinstance(task.survey, Survey):
        questions = task.survey.questions
    age = pl.col("round").replace_strict(rounds, range(len(rounds)), default=None)
    keyed = distributions.select(
        *_QUESTION,
        pl.col("actual"),
        pl.col("n_options"),
        segment=canonical_id(),
        age=age.cast(pl.Int64),
    )
    if questions is None:
        keyed = keyed.with_columns(item=pl.col("question_id"))
    else:
        items = _items(questions)
        keyed = keyed.join(items, on=_QUESTION, how="left", maintain_order="left")
    # If a round has a question twice, the first answers count.
    same = ["item", "n_options", "segment"]
    complete = keyed.filter(pl.col("age").is_not_null() & pl.col("item").is_not_null())
    answers = complete.unique([*same, "age"], keep="first", maintain_order=True).sort("age")
    before = answers.select(
        *same,
        "age",
        prior_round=pl.col("round").shift(1).over(same),
        predicted=pl.col("actual").shift(1).over(same),
    )
    joined = keyed.join(before, on=[*same, "age"], how="left", maintain_order="left")
    return joined.select("prior_round", "predicted")


def _items(questions: Frame) -> pl.DataFrame:
    """Text and options of each question in one string."""
    table = lazy(questions)
    columns = table.collect_schema()
    if missing := {*_QUESTION, "question_text"} - {*columns}:
        raise MissingColumnsError.of("questions", missing, columns)
    strings = [pl.col("question_text").str.strip_chars()]
    if "options" in columns:
        strings.append(pl.col("options").list.join("\n").fill_null(""))
    item = pl.concat_str(strings, separator="\n").alias("item")
    return table.select(*_QUESTION, item).unique(_QUESTION, keep="first").collect()


BASELINES: dict[BaselineKind, tuple[str, Callable[[Task], pl.DataFrame]]] = {
    "uniform": ("baseline:uniform", _uniform),
    "marginal": ("baseline:population-marginal", _marginals),
    "cross_segment": ("baseline:shuffled-null", partial(_of_segments, with_itself=False)),
    "permutation": ("baseline:permutation", partial(_of_segments, with_itself=True)),
    "dirichlet": ("baseline:random-dirichlet", _dirichlet),
    "prior_round": ("baseline:prior-round", _prior_answers),
}
"""Name of the model, and its `predicted` answers or `score`; names are also in `BaselineKind`."""

MODELS: dict[str, str] = {kind: model for kind, (model, _) in BASELINES.items()}
"""The name of each baseline among the models."""
