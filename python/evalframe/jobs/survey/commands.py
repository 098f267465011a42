"""Commands on a survey alone: its baselines, as scores and as means, and prompts from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from msgspec.structs import asdict

import evalframe as ef
from evalframe.core.choices import BaselineKind
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.console import terminal_width
from evalframe.jobs.flags import drop_unset
from evalframe.jobs.paths import refuse_documents, refuse_inputs
from evalframe.jobs.survey import BASELINES, USUAL
from evalframe.jobs.survey.outputs import functions_of
from evalframe.jobs.survey.surveys import (
    OpenedSurvey,
    files_of,
    open_survey,
    open_survey_alone,
    read_table,
)
from evalframe.jobs.written import check_holds, check_output, versions, write_result
from evalframe.reporting.table import written
from evalframe.survey.baselines import MODELS
from evalframe.survey.surveys.tables import Survey

if TYPE_CHECKING:
    from evalframe.jobs.survey import Baselines, Descriptions, Prompts

_TABLES = ("rounds", "questions", "segments", "segment_attributes", "responses", "warnings")
_ALL = "all rounds"


def run_baselines(flags: Baselines) -> str:
    """Score the baselines of a survey and write the scores."""
    kinds = _kinds(flags.kinds, flags.prior, flags.permutations)
    output = None if flags.output is None else Path(flags.output)
    if output is not None:
        _check_written(output, flags.survey, flags.prior, flags.questions_from, flags.segments_from)
    shape = _shape(flags)
    opened = open_survey_alone(flags.survey, flags.columns, **shape)
    survey, combined, notes = opened.survey, opened.survey, opened.notes
    if flags.prior:
        before = open_survey(flags.prior, columns=flags.columns, **shape)
        combined, notes = _with_prior(survey, before), [*dict.fromkeys([*notes, *before.notes])]
    rounds, all_rounds = survey.rounds["round"].to_list(), combined.rounds["round"].to_list()
    parts = []
    for kind in kinds:
        is_prior = kind == "prior_round"
        scores = functions_of(flags.rules).baseline(
            combined if is_prior else survey,
            kind,
            metric=flags.metric,
            rounds=all_rounds if is_prior else None,
            seed=flags.seed,
        )
        parts.append(scores.filter(pl.col("round").is_in(rounds)))
    rows = pl.concat(parts, how="diagonal_relaxed")
    means = _means(rows, rounds)
    if flags.permutations is not None:
        means = _with_permutations(means, survey, flags)
    if output is not None:
        check_holds(output, rows.schema)
        settings = {name: getattr(flags, name) for name in ("metric", "rules", "seed")}
        inputs = opened.describe(digest=False)
        record = {**versions(), "baselines": kinds, **settings, "inputs": inputs}
        write_result(rows if opened.has_rounds else rows.drop("round"), output, record)
    level = 0.95 if "pairs_lower" in means.columns else None
    table = written(means, _MEANS, keys=["model", "round"], width=terminal_width(), level=level)
    place = f" in {flags.output}" if flags.output else ""
    return "\n".join([f"{table}\n\n{len(rows):,} scores{place}", *notes])


def _check_written(path: Path, *inputs: Sequence[str] | str | None) -> None:
    """Raise if a file cannot be written, or is one of the inputs."""
    check_output(path)
    for entry in inputs:
        names = [entry] if isinstance(entry, str) else entry or ()
        refuse_inputs(path, files_of(names), names, Path())
        refuse_documents(path, names, Path())


def _shape(flags: Descriptions) -> dict[str, Any]:
    """How a survey is read."""
    described = {"questions": flags.questions_from, "segments": flags.segments_from}
    return {**described, "answers": flags.answers}


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


def _with_permutations(means: pl.DataFrame, survey: Survey, flags: Baselines) -> pl.DataFrame:
    """Add the interval of the permutation baseline to the means."""
    permuted = [
        functions_of(flags.rules).permutation_baseline(
            survey, by=by, n=flags.permutations, metric=flags.metric, seed=flags.seed
        )
        for by in ("round", "all")
    ]
    permuted[1] = permuted[1].with_columns(round=pl.lit(_ALL))
    ends = pl.concat(permuted, how="diagonal_relaxed").select(
        "model", "round", pairs_lower="lower", pairs_upper="upper"
    )
    return means.join(ends, on=["model", "round"], how="left", maintain_order="left")


_MEANS = {
    "pairs": "mean of pairs",
    "segments": "mean of segments",
    "n_pairs": "pairs",
    "n_segments": "segments",
}


def run_prompts(flags: Prompts) -> str:
    """Write the prompts of a survey."""
    output, participants = Path(flags.output), flags.participants
    blueprints = None if flags.blueprints is None else Path(flags.blueprints)
    if blueprints is not None and output.resolve() == blueprints.resolve():
        raise ParameterError(f"prompts and blueprints would both be {output}; name two files")
    for path in filter(None, (output, blueprints)):
        described = (flags.questions_from, flags.segments_from)
        _check_written(path, flags.survey, *described, participants)
    settings = {name: value for name, value in asdict(flags).items() if name not in _OF_FILES}
    settings = drop_unset(settings)
    if flags.context_count == "all":
        settings["context_count"] = None
    rows = None if participants is None else read_table(files_of([participants]), flags.columns)
    others = () if rows is None else rows.columns
    opened = open_survey_alone(flags.survey, flags.columns, others, **_shape(flags))
    options = {name: value for name, value in settings.items() if name != "rules"}
    table = functions_of(flags.rules).prompts(opened.survey, participants=rows, **options)
    configurations = ef.survey.blueprints(table)
    if blueprints is not None:
        check_holds(blueprints, configurations.schema)
    count = ef.survey.write_prompts(table, output)
    if blueprints is not None:
        write_result(configurations, blueprints, {**versions(), "settings": settings})
    line = f"{count:,} prompts of {len(configurations):,} configurations in {flags.output}"
    if over := len(table.filter(pl.col("n_tokens") > flags.token_budget)):
        line += f"; {over:,} of them exceed the token budget"
    shown = written(_counted(table), _PROMPTS, keys=["round"], width=terminal_width())
    return "\n".join([f"{shown}\n\n{line}", *opened.notes])


_OF_FILES = {
    *("survey", "answers", "questions_from", "segments_from", "columns", "participants"),
    *("blueprints", "output"),
}
"""Flags of prompts that are no options of `evalframe.survey.prompts`."""


def _counted(table: pl.DataFrame) -> pl.DataFrame:
    tokens, context = pl.col("n_tokens"), pl.col("context_count")
    questions = pl.col("question_id").explode(empty_as_null=False).n_unique()
    return table.group_by("round", maintain_order=True).agg(
        pl.col("segment_id").n_unique().cast(pl.Int64).alias("segments"),
        questions.cast(pl.Int64).alias("questions"),
        pl.len().cast(pl.Int64).alias("prompts"),
        context.mean().alias("context"),
        tokens.mean().round(0).cast(pl.Int64).alias("tokens"),
        tokens.max().alias("most_tokens"),
    )


_PROMPTS = {
    "segments": "segments",
    "questions": "questions",
    "prompts": "prompts",
    "context": "answers shown",
    "tokens": "tokens",
    "most_tokens": "most tokens",
}
