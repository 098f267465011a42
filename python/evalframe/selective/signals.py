"""Signals of confidence from samples and tokens, as expressions over list columns.

A row without enough data for a signal is null.
"""

from __future__ import annotations

import sys

import polars as pl

from evalframe.core.rows import as_expr
from evalframe.core.typing import IntoExpr

SIGNALS = (
    *("llm_evidence_count", "retrieval_reference_count"),
    *("retrieval_similarity_mean", "retrieval_similarity_max", "verbalized_confidence"),
    *("token_msp", "token_pe", "token_energy"),
    *("consistency_modal_confidence", "consistency_score_std"),
)
"""Names of the signals in item tables."""


def consistency(samples: IntoExpr) -> pl.Expr:
    """Agreement of repeated answers to one question.

    A null, NaN or infinite sample is an answer without score, a separate category: it can be the
    most frequent answer and wins a tie. Among scores the smallest wins a tie.

    Args:
        samples: Lists of numeric scores, one list for each item.

    Returns:
        Struct `consistency`, null for a null or empty list, of `modal_score` (Float64, null if no
        score is the most frequent answer), `modal_count` (Int64), `modal_confidence` (Float64,
        share of samples that give the modal answer), `score_std` (Float64, population standard
        deviation of the scores, 0.0 for fewer than two), `na_rate` (Float64, share without score).

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"samples": [[2, 2, 1, 1, 2], [3, None, 0, None]]})
        >>> items.select(ef.selective.consistency("samples")).unnest("consistency").row(1)
        (None, 2, 0.5, 1.5, 0.5)
    """
    scores = _scores(samples)
    answers = scores.list.eval(pl.element().fill_null(_NO_SCORE))
    modal_answer = answers.list.eval(pl.element().mode()).list.min()
    # The search for the mode is the slow part. Fields of a struct are computed once, and those of
    # the same names replace them.
    searched = pl.struct(modal_score=modal_answer, modal_count=answers)
    modal_answer, answers = pl.field("modal_score"), pl.field("modal_count")
    modal_count = (answers - modal_answer).list.count_matches(0.0).cast(pl.Int64)
    size = scores.list.len()
    summary = searched.struct.with_fields(
        modal_score=pl.when(modal_answer != _NO_SCORE).then(modal_answer),
        modal_count=modal_count,
        modal_confidence=modal_count / size,
        score_std=_spread(scores),
        na_rate=scores.list.eval(pl.element().is_null()).list.sum() / size,
    )
    return pl.when(size > 0).then(summary).alias("consistency")


def consistency_modal_confidence(samples: IntoExpr) -> pl.Expr:
    """Share of repeated answers that give the most frequent one; no score is also an answer.

    The field `modal_confidence` of `consistency`, at less cost.

    Args:
        samples: See `consistency`.

    Returns:
        Float64 in (0, 1], named `consistency_modal_confidence`; null for a null or empty list.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"samples": [[2, 2, 1, None]]})
        >>> items.select(ef.selective.consistency_modal_confidence("samples")).item()
        0.5
    """
    scores = _scores(samples)
    modal_count = scores.list.eval(pl.element().unique_counts()).list.max()
    return (modal_count / scores.list.len()).alias("consistency_modal_confidence")


def consistency_score_std(samples: IntoExpr) -> pl.Expr:
    """Population standard deviation of the scores among repeated answers.

    Args:
        samples: See `consistency`.

    Returns:
        Float64, named `consistency_score_std`; 0.0 for fewer than two scores, null for a null or
        empty list.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> items = pl.DataFrame({"samples": [[1, 1, 3, 3]]})
        >>> items.select(ef.selective.consistency_score_std("samples")).item()
        1.0
    """
    scores = _scores(samples)
    size = scores.list.len()
    return pl.when(size > 0).then(_spread(scores)).alias("consistency_score_std")


def token_msp(logprobs: IntoExpr, *, plain: bool = False) -> pl.Expr:
    """Mean probability of the tokens that were generated.

    Args:
        logprobs: Lists of tokens, each a struct with the field `logprob` (natural logarithm).
        plain: True if the lists hold log-probabilities.

    Returns:
        Float64, named `token_msp`; null for a null or empty list, or one in which a token has no
        log-probability.

    Examples:
        >>> import math, polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"logprobs": [[math.log(0.5), 0.0]]})
        >>> answers.select(ef.selective.token_msp("logprobs", plain=True)).item()
        0.75
    """
    logprob = pl.element() if plain else pl.element().struct.field("logprob")
    return _token_mean(logprobs, logprob.exp()).alias("token_msp")


def token_energy(top_logprobs: IntoExpr, *, plain: bool = False) -> pl.Expr:
    """Mean over tokens of the log of the probability that the top candidates have together.

    Args:
        top_logprobs: Lists of tokens, each a struct whose field `top_logprobs` lists candidates,
            structs with the field `logprob` (natural logarithm).
        plain: True if the lists hold lists of log-probabilities.

    Returns:
        Float64, named `token_energy`; null for a null or empty list, or one in which a token has no
        candidates or a candidate no log-probability.

    Examples:
        >>> import math, polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"tops": [[[math.log(0.5), math.log(0.25)], [0.0]]]})
        >>> answers.select(ef.selective.token_energy("tops", plain=True).round(6)).item()
        -0.143841
    """
    top = _candidates(plain)
    # Shifted by the largest, so that small probabilities do not vanish.
    largest = top.list.max()
    together = (top - largest).list.eval(pl.element().exp()).list.sum().log() + largest
    return _token_mean(top_logprobs, together).alias("token_energy")


def token_pe(top_logprobs: IntoExpr, *, plain: bool = False) -> pl.Expr:
    """Mean over tokens of the entropy of the top candidates, in nats.

    The probabilities q of a token's candidates are scaled to sum to 1, and their entropy taken as
    -sum q ln(q + 1e-12); a single candidate has -1e-12 and not 0.

    Args:
        top_logprobs: See `token_energy`.
        plain: See `token_energy`.

    Returns:
        Float64, named `token_pe`; null where `token_energy` is, and where all candidates of a token
        have probabilities too small for a float.

    Examples:
        >>> import math, polars as pl, evalframe as ef
        >>> answers = pl.DataFrame({"tops": [[[math.log(0.4), math.log(0.4)]]]})
        >>> answers.select(ef.selective.token_pe("tops", plain=True).round(6)).item()
        0.693147
    """
    probability = _candidates(plain).list.eval(pl.element().exp())
    together = probability.list.sum()
    q = probability / together
    entropy = -q.list.eval(pl.element() * (pl.element() + 1e-12).log()).list.sum()
    return _token_mean(top_logprobs, pl.when(together > 0).then(entropy)).alias("token_pe")


_NO_SCORE = -sys.float_info.max
"""Stands for an answer without score: a tie goes to the smallest."""


def _scores(samples: IntoExpr) -> pl.Expr:
    scores = as_expr(samples).cast(pl.List(pl.Float64))
    return scores.list.eval(pl.when(pl.element().is_finite()).then(pl.element()))


def _spread(scores: pl.Expr) -> pl.Expr:
    return scores.list.std(ddof=0).fill_null(0.0)


def _candidates(plain: bool) -> pl.Expr:
    """The log-probabilities of a token's candidates, NaN for one without, which then spreads."""
    top = pl.element() if plain else pl.element().struct.field("top_logprobs")
    logprob = pl.element() if plain else pl.element().struct.field("logprob")
    return top.list.eval(logprob.cast(pl.Float64).fill_null(float("nan")))


def _token_mean(tokens: IntoExpr, value: pl.Expr) -> pl.Expr:
    """Mean of a value of tokens, null unless each has one."""
    values = as_expr(tokens).list.eval(value)
    complete = values.list.eval(pl.element().is_finite().fill_null(value=False)).list.all()
    return pl.when(complete).then(values.list.mean())
