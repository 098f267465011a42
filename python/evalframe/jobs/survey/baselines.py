"""Baselines of a survey, as scores and as means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.core.choices import BaselineKind
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.outputs import check_holds, check_output, versions, write_result
from evalframe.jobs.paths import refuse_documents, refuse_inputs
from evalframe.jobs.survey.job import BASELINES, USUAL
from evalframe.jobs.survey.scoring import functions_of
from evalframe.jobs.survey.surveys import (
    OpenedSurvey,
    files_of,
    open_survey,
    open_survey_alone,
)
from evalframe.report.wide_table import wide_table
from evalframe.survey.baselines import MODELS
from evalframe.survey.surveys.tables import Survey

_TABLES = ("rounds", "questions", "segments", "segment_attributes", "responses", "warnings")
_ALL = "all rounds"


@dataclass(frozen=True)
class Scored:
    """Baselines of a survey.

    Attributes:
        rows: One row per baseline, segment and question.
        means: One row per baseline and round, and one for all rounds together.
        notes: What was assumed about the survey.
    """

    rows: pl.DataFrame
    means: pl.DataFrame
    notes: Sequence[str]


def score_baselines(options: Mapping[str, Any]) -> Scored:
    """Score the baselines of a survey and write the scores.

    Args:
        options: Options of the command: `survey` (files, globs or folders), `metric`, `rules`,
            `seed`, and optionally `output`, `questions_from` and `segments_from` (files),
            `columns`, `answers`, `kinds`, `prior` (files, globs or folders) and `permutations`.
    """
    sources, columns = options["survey"], options.get("columns", {})
    prior = options.get("prior", ())
    output = Path(options["output"]) if "output" in options else None
    described = {name: options.get(f"{name}_from") for name in ("questions", "segments")}
    permutations = options.get("permutations")
    kinds = _kinds(options.get("kinds"), prior, permutations)
    if output is not None:
        check_output(output)
        for names in (sources, prior, [*filter(None, described.values())]):
            refuse_inputs(output, files_of(names), names, Path())
            refuse_documents(output, names, Path())
    shape = {**described, "answers": options.get("answers", ())}
    opened = open_survey_alone(sources, columns, **shape)
    survey, combined, notes = opened.survey, opened.survey, opened.notes
    if prior:
        before = open_survey(prior, columns=columns, **shape)
        combined, notes = _with_prior(survey, before), [*dict.fromkeys([*notes, *before.notes])]
    rounds, all_rounds = survey.rounds["round"].to_list(), combined.rounds["round"].to_list()
    parts = []
    functions = functions_of(options["rules"])
    for kind in kinds:
        is_prior = kind == "prior_round"
        scores = functions.baseline(
            combined if is_prior else survey,
            kind,
            metric=options["metric"],
            rounds=all_rounds if is_prior else None,
            seed=options["seed"],
        )
        parts.append(scores.filter(pl.col("round").is_in(rounds)))
    rows = pl.concat(parts, how="diagonal_relaxed")
    means = _means(rows, rounds)
    if permutations is not None:
        means = _with_permutations(means, survey, options)
    if output is None:
        return Scored(rows, means, notes)
    check_holds(output, rows.schema)
    settings = {name: options[name] for name in ("metric", "rules", "seed")}
    record = {
        **versions(),
        "baselines": list(kinds),
        **settings,
        "inputs": opened.describe(digest=False),
    }
    write_result(rows if opened.has_rounds else rows.drop("round"), output, record)
    return Scored(rows, means, notes)


def _kinds(
    requested: Sequence[str] | None, prior: Sequence[str], permutations: int | None
) -> list[BaselineKind]:
    """The requested kinds of baselines, in their usual order."""
    if requested is not None and not requested:
        raise ParameterError(f"kinds is empty; name any of {', '.join(BASELINES)}")
    selected = {*(USUAL if requested is None else requested)}
    for kind in sorted(selected - {*BASELINES}):
        raise UnknownNameError.of("kind of baseline", kind, BASELINES)
    if prior and requested is not None and "prior_round" not in selected:
        raise ParameterError("prior rounds are for the kind prior_round; name it, or leave them")
    selected |= {"prior_round"} if prior else set()
    selected |= {"permutation"} if permutations is not None else set()
    return [kind for kind in BASELINES if kind in selected]


def _with_prior(survey: Survey, prior: OpenedSurvey) -> Survey:
    """Concatenate a survey and its prior rounds, which must differ from its own."""
    before = prior.survey
    if not prior.has_rounds:
        renamed = {
            name: table.with_columns(round=pl.lit("prior"))
            for name in _TABLES
            if "round" in (table := getattr(before, name)).columns
        }
        before = replace(before, **renamed)
    both = {*before.rounds["round"]} & {*survey.rounds["round"]}
    if both:
        raise ParameterError(
            f"round {min(both)!r} is in the survey and in the prior one; name each round once"
        )
    joined = {
        name: pl.concat([getattr(before, name), getattr(survey, name)], how="vertical_relaxed")
        for name in _TABLES
    }
    return Survey(**joined)


def _means(rows: pl.DataFrame, rounds: Sequence[str]) -> pl.DataFrame:
    """Means of pairs of segment and question, and of segment means, by baseline and round."""
    grouped = [rows]
    if len(rounds) > 1:
        segment = pl.concat_str("round", "segment_id", separator="\x1f")
        grouped.append(rows.with_columns(segment.alias("segment_id"), round=pl.lit(_ALL)))
    scores = pl.concat(grouped).drop_nulls("score")
    segments = scores.group_by("model", "round", "segment_id").agg(pl.col("score").mean())
    means = segments.group_by("model", "round").agg(
        pl.col("score").mean().alias("segments"), pl.len().cast(pl.Int64).alias("n_segments")
    )
    pairs = scores.group_by("model", "round").agg(
        pl.col("score").mean().alias("pairs"), pl.len().cast(pl.Int64).alias("n_pairs")
    )
    order = [
        pl.col("model").cast(pl.Enum(list(MODELS.values()))),
        pl.col("round").cast(pl.Enum([*rounds, _ALL])),
    ]
    return pairs.join(means, on=["model", "round"]).sort(order)


def _with_permutations(
    means: pl.DataFrame, survey: Survey, options: Mapping[str, Any]
) -> pl.DataFrame:
    """Add the interval of the permutation baseline to the means."""
    settings = {name: options[name] for name in ("metric", "seed")}
    permuted = [
        functions_of(options["rules"]).permutation_baseline(
            survey, by=by, n=options["permutations"], **settings
        )
        for by in ("round", "all")
    ]
    permuted[1] = permuted[1].with_columns(round=pl.lit(_ALL))
    ends = pl.concat(permuted, how="diagonal_relaxed").select(
        "model", "round", pairs_lower="lower", pairs_upper="upper"
    )
    return means.join(ends, on=["model", "round"], how="left", maintain_order="left")


_SHOWN = {
    "pairs": "mean of pairs",
    "segments": "mean of segments",
    "n_pairs": "pairs",
    "n_segments": "segments",
}


def report(scored: Scored, output: str | None, *, width: int | None = None) -> str:
    """Format the means as text."""
    table = wide_table(
        scored.means,
        ["model", "round"],
        _SHOWN,
        width=width,
        level=0.95 if "pairs_lower" in scored.means.columns else None,
    )
    written = f" in {output}" if output else ""
    lines = [f"{len(scored.rows):,} scores{written}", *scored.notes]
    return f"{table}\n\n" + "\n".join(lines)
