"""Prompts by configuration: what a run of one blueprint asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.survey.prompting.prompts import PROMPTS

if TYPE_CHECKING:
    from evalframe.core.typing import Frame


@like_input
def blueprints(prompts: Frame) -> pl.LazyFrame:
    """One row per configuration: a round and a segment, with everything that is asked about it.

    Args:
        prompts: What `prompts` returns.

    Returns:
        `config_id`, `round`, `segment_id`, `prompt_ids`, `n_questions` (of each prompt, as lists),
        `context_count` (the most of any prompt), `context_ids` (of the first prompt with so many)
        and `temperature`. In the order of the prompts.

    Raises:
        MissingColumnsError: It is no prompt table.

    Example:
        >>> from evalframe.survey.prompting import prompts
        >>> survey = pl.DataFrame(
        ...     {
        ...         "question_id": ["p", "q", "r"],
        ...         "segment_id": ["gender:male"] * 3,
        ...         "actual": [[60.0, 40.0], [30.0, 70.0], [50.0, 50.0]],
        ...     }
        ... )
        >>> asked = prompts(survey, batch_size=2)
        >>> blueprints(asked).select("config_id", "prompt_ids", "n_questions").row(0)
        ('dtef-survey-gender:male-b2', ['batch-0-gender:male', 'r-gender:male'], [2, 1])
    """
    lazy = prompts.lazy()
    present = lazy.collect_schema().names()
    if missing := PROMPTS.keys() - {*present}:
        raise MissingColumnsError.of("blueprints", missing, present)
    count = pl.col("context_count")
    return lazy.group_by("config_id", "round", "segment_id", maintain_order=True).agg(
        prompt_ids="prompt_id",
        n_questions=pl.col("question_id").list.len().cast(pl.Int64),
        context_count=count.max(),
        context_ids=pl.col("context_ids").get(count.arg_max()),
        temperature=pl.col("temperature").first(),
    )
