"""The instances of the sample: questions with their answers and documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.rag.sample.questions import DATASETS, ask, documents, is_integration

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEXTS = pl.List(pl.String())


def sample_instances(*, questions: int = 30, seed: int = 0) -> pl.DataFrame:
    """One row per question of the default and the counterfactual data sets.

    The questions ask for a person, a date, a number, an amount or a town of an invented bridge,
    company, town or prize. Passages have one to three sentences. The positive ones hold an alias
    of the answer; the negative ones speak of other subjects, or of what was not asked, and hold
    none. Some fake answers have the right one in them, as 170 has 70; some Chinese aliases have a
    space, so that the strict check never finds them.

    Args:
        questions: How many questions `en` and `zh` each have; `en_fact` and `zh_fact` have two
            thirds as many. More questions only add rows.
        seed: Non-negative integer.

    Returns:
        `dataset, id, query, answers (List(List(String))), fake_answers, positive, negative,
        positive_wrong (List(String))`, ordered by data set as declared and id, which counts from
        0 in each. `fake_answers` and `positive_wrong` are null but for the counterfactual ones;
        there `positive_wrong` has the passages of `positive` with the fake answer in them.

    Raises:
        ParameterError: No question or a negative seed.

    Example:
        >>> sample_instances(questions=2).select("query", "answers").row(1)
        ('When was Tarrystone Robotics founded?', [['February 10, 1950', '10 February 1950']])
    """
    datasets = [name for name in DATASETS if not is_integration(name)]
    return _instances(datasets, questions, seed).with_columns(pl.col("positive").list.first())


def sample_instances_int(*, questions: int = 30, seed: int = 0) -> pl.DataFrame:
    """One row per question of the integration data sets, which ask for two or three facts.

    Args:
        questions: How many questions `en` and `zh` have; `en_int` and `zh_int` have two thirds
            as many.
        seed: Non-negative integer.

    Returns:
        The columns of `sample_instances`; `positive` is List(List(String)), the passages for each
        group of the answer.

    Raises:
        ParameterError: No question or a negative seed.

    Example:
        >>> sample_instances_int(questions=2)["query"][1]
        'Who won the Bryndora Poetry Prize, when was it awarded, and where was it handed over?'
    """
    return _instances([name for name in DATASETS if is_integration(name)], questions, seed)


def _instances(datasets: Iterable[str], count: int, seed: int) -> pl.DataFrame:
    rows = [
        (q.dataset, q.id, q.query, q.answers, q.fake_answers, *documents(q, seed))
        for dataset in datasets
        for q in ask(dataset, count, seed)
    ]
    schema = {
        "dataset": pl.String(),
        "id": pl.Int64(),
        "query": pl.String(),
        "answers": pl.List(_TEXTS),
        "fake_answers": _TEXTS,
        "positive": pl.List(_TEXTS),
        "negative": _TEXTS,
        "positive_wrong": _TEXTS,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
