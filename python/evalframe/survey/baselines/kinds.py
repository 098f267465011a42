"""Baselines: what one scores without knowing anything of the segments, or nearly everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.errors import ParameterError
from evalframe.core.rules import check_choice
from evalframe.survey.baselines.dirichlet import dirichlet_scores
from evalframe.survey.baselines.pairwise import Pairwise
from evalframe.survey.baselines.prior import prior_answers
from evalframe.survey.inference.arguments import check_draws
from evalframe.survey.prompting.marginals import population_marginals
from evalframe.survey.similarity.registry import known_by, metric_expression
from evalframe.survey.surveys.tables import as_distributions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalframe.core.rules import Rules
    from evalframe.core.typing import Frame
    from evalframe.survey.similarity.registry import Metric
    from evalframe.survey.surveys.tables import AnySurvey

Kind: TypeAlias = Literal[
    "uniform", "marginal", "cross_segment", "permutation", "dirichlet", "prior_round"
]

MODELS: dict[str, str] = {
    "uniform": "baseline:uniform",
    "marginal": "baseline:population-marginal",
    "cross_segment": "baseline:shuffled-null",
    "permutation": "baseline:permutation",
    "dirichlet": "baseline:random-dirichlet",
    "prior_round": "baseline:prior-round",
}
"""The name of each baseline among the models; four are the original's."""

_SEGMENT = ("round", "segment_id", "question_id", "segment_attribute", "sample_size", "actual")


def baseline(
    survey: AnySurvey,
    kind: Kind,
    *,
    metric: Metric = "jensen_shannon_similarity",
    rules: Rules = "documented",
    oracle: bool = True,
    questions: Frame | None = None,
    rounds: Sequence[str] | None = None,
    n: int = 100,
    seed: int = 42,
) -> pl.LazyFrame:
    """Score a baseline on every question of every segment, as if it were a model.

    Args:
        survey: As for `as_distributions`.
        kind: `uniform`: all options alike. `marginal`: the answers of all segments to the question,
            weighted by respondents; an oracle, since models never see answers to the question.
            `cross_segment`: the mean score of the answers of each other segment. `permutation`: the
            same with the segment's own among them, which is the exact mean over all permutations of
            the segments; `permutation_baseline` draws them, for an interval. `dirichlet`: the mean
            score of random distributions. `prior_round`: what the segment answered to the same
            question in the nearest round before.
        metric: As for `score`.
        rules: `documented`, or `reference`: percentages as they stand, the original's floor in
            Jensen-Shannon, and a cross-segment score of 0 where no other segment answered.
            Baselines are not rounded by either rules.
        oracle: Whether `marginal` takes in the answers of the segment itself, as the original does.
            Otherwise they are taken out; its respondents still stand in segments of other
            categories.
        questions: For `prior_round`, the table `round`, `question_id`, `question_text`, `options`:
            questions of the same text and options are the same. By default that of a `Survey`; for
            a table without one, questions of the same id are the same.
        rounds: For `prior_round`, the rounds, oldest first; by default in the order of their rows.
        n: Draws of `dirichlet` for each distribution.
        seed: Of these draws.

    Returns:
        `model` (such as `baseline:uniform`), `round`, `segment_id`, `question_id`,
        `segment_attribute`, `sample_size`, `actual` (List(Float64), shares), `predicted`
        (List(Float64), shares; null for the kinds that are no one prediction, and where nothing is
        known) and `score` (Float64, null where undefined); with `prior_round` also `prior_round`.
        Rows in the order of the survey's distributions.

    Raises:
        ContractError: As for `as_distributions`.
        MissingColumnsError: Likewise, or the table of questions lacks a column.
        UnknownNameError: There is no such metric.
        ParameterError: There is no such kind, an argument belongs to another kind or lies outside
            its domain, or no sample size is known where they are weights.

    References:
        dtef-app 52d79c0, `generateBaselines`. The prior round is this package's own.

    Example:
        >>> survey = pl.DataFrame(
        ...     {
        ...         "question_id": ["q", "q"],
        ...         "segment_id": ["gender:male", "gender:female"],
        ...         "sample_size": [100, 300],
        ...         "actual": [[0.2, 0.8], [0.4, 0.6]],
        ...     }
        ... )
        >>> marginal = baseline(survey, "marginal").collect()
        >>> marginal.select("segment_id", "predicted", pl.col("score").round(3)).rows()
        [('gender:male', [0.35, 0.65], 0.857), ('gender:female', [0.35, 0.65], 0.956)]
        >>> baseline(survey, "cross_segment").collect()["score"].round(3).to_list()
        [0.813, 0.813]
    """
    check_choice("kind", kind, Kind)
    if kind != "prior_round" and (questions is not None or rounds is not None):
        raise ParameterError(f'questions and rounds are for kind="prior_round", not for {kind!r}')
    if kind != "marginal" and not oracle:
        raise ParameterError(f'oracle=False is for kind="marginal", not for {kind!r}')
    check_draws(n, seed)
    value = metric_expression(metric, "predicted", "actual", known_by(rules))
    distributions = as_distributions(survey).collect()
    if kind == "uniform":
        made = distributions.select(predicted=_uniform())
    elif kind == "marginal":
        made = _marginals(survey, distributions, rules, oracle=oracle)
    elif kind == "prior_round":
        made = prior_answers(distributions, survey, questions, rounds)
    else:
        made = _without_prediction(distributions, kind, metric, rules, n, seed)
    whole = pl.concat([distributions.select(_SEGMENT), made], how="horizontal")
    if "score" not in made.columns:
        whole = whole.with_columns(value.cast(pl.Float64).fill_nan(None).alias("score"))
    rest = [name for name in made.columns if name not in ("predicted", "score")]
    named = whole.with_columns(pl.lit(MODELS[kind]).alias("model"))
    return named.select("model", *_SEGMENT, "predicted", "score", *rest).lazy()


def _uniform() -> pl.Expr:
    return (1 / pl.col("n_options")).repeat_by("n_options")


def _marginals(
    survey: AnySurvey, distributions: pl.DataFrame, rules: Rules, *, oracle: bool
) -> pl.DataFrame:
    """The answers of all segments, or of all others, to the question of each row.

    Raises:
        ParameterError: No sample size is known.
    """
    if not distributions["sample_size"].count():
        raise ParameterError(
            'kind="marginal" weights segments by sample_size, but the survey has none; add it'
        )
    # The original adds up percentages as they are printed; their sums differ from 100 a little.
    answers = survey if rules == "reference" else distributions
    question = ["round", "question_id"]
    all_answers = population_marginals(answers).collect()
    joined = distributions.join(all_answers, on=question, how="left", maintain_order="left")
    if oracle:
        return joined.select(predicted=pl.col("percent") / 100)
    size = pl.when(pl.col("sample_size") > 0).then("sample_size").otherwise(0).cast(pl.Float64)
    total = size.sum().over(question)
    rest = (pl.col("percent") / 100 * total - pl.col("actual") * size) / (total - size)
    known = rest.list.eval(pl.element().clip(0.0))  # rounding may leave less than nothing
    return joined.select(predicted=pl.when(total > size).then(known))


def _without_prediction(
    distributions: pl.DataFrame, kind: Kind, metric: Metric, rules: Rules, n: int, seed: int
) -> pl.DataFrame:
    """Scores of the kinds that answer with more than one distribution."""
    if kind == "dirichlet":
        scores = dirichlet_scores(distributions, metric, rules, n, seed)
    else:
        pairwise = Pairwise.of(distributions, metric, rules)
        scores = pairwise.means(with_itself=kind == "permutation")
    score = pl.Series("score", scores, nan_to_null=True)
    if kind == "cross_segment" and rules == "reference":
        score = score.fill_null(0.0)
    return pl.DataFrame({"predicted": pl.Series([None] * len(score), dtype=_LISTS), "score": score})


_LISTS = pl.List(pl.Float64())
