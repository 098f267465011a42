"""The main table of a job as it is printed: PAS and ECS of models, and notes about them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.jobs.family import LeftOut
from evalframe.jobs.replication.inputs import implementation_of
from evalframe.replication.agreement.alignment import AGENT, HUMAN
from evalframe.replication.agreement.directions import CONFLICT
from evalframe.replication.agreement.scored_tests import FINDING_RULES, STUDY_RULES, TWO_WAY
from evalframe.replication.effects.types import SIDES
from evalframe.reporting.table import written
from evalframe.reporting.verdict import verdict

if TYPE_CHECKING:
    from evalframe.jobs.replication.outputs import Scores


_HEADS = {
    "pas": "PAS",
    "pas_normalised": "normalised PAS",
    "ecs": "ECS",
    "n_tests": "tests",
    "n_two_way": "two-way",
    "n_findings": "findings",
    "n_studies": "studies",
    "n_studies_without_data": "studies without data",
    "n_findings_without_data": "findings without data",
    "n_missing": "missing",
    "n_absent": "absent",
    "ecs_missing_rate": "without effect",
}
_ONLY_IF_ANY = (
    *("n_studies_without_data", "n_findings_without_data"),
    *("n_two_way", "n_missing", "n_absent", "ecs_missing_rate"),
)
"""Columns that are shown only if any value is above 0."""

_LISTED = 3
_ABSENT = 20
"""Largest number of absent tests in a list."""


def printed_models(
    models: pl.DataFrame,
    by: Sequence[str],
    *,
    notes: Sequence[str] = (),
    cluster: str | None = None,
    **style: Any,
) -> str:
    """The table of models as text or Markdown, the best first, with notes."""
    columns = {
        name: head
        for name, head in _HEADS.items()
        if name in models.columns
        and (name not in _ONLY_IF_ANY or (models[name].fill_null(0) > 0).any())
    }
    said = verdict(models, cluster=cluster) if "tied_with_best" in models.columns else ""
    text = written(models, columns, keys=[*(["rank"] if by else []), *by], notes=notes, **style)
    return f"{said}\n\n{text}" if said else text


_DRAWN = {
    "study": "studies",
    "finding": "findings within studies",
    "participant": "participants of agents, whose statistics are then more extreme on average, so "
    "that intervals need not hold the estimate",
}


def notes_of(scores: Scores, models: pl.DataFrame) -> list[str]:
    """Notes about the numbers, and about missing tests."""
    return [*_conventions(scores, models), *_gaps(scores, models)]


def values_of_table(columns: Collection[str]) -> list[str]:
    """A note about values that a table already has."""
    kinds = {
        "PAS of tests": {"pas"},
        "Posteriors": {"pi_human", "pi_agent", *HUMAN, *AGENT},
        "Bayes factors": {f"{log}bayes_factor_{side}" for log in ("", "log_") for side in SIDES},
    }
    first = [kind for kind, names in kinds.items() if names & {*columns}][:1]
    return [f"{kind}: values of the table are used unchanged." for kind in first]


def _conventions(scores: Scores, models: pl.DataFrame) -> Iterator[str]:
    job = scores.job
    settings = implementation_of(job).settings
    finding_rule, study_rule = settings.finding_rule, settings.study_rule
    original = " The original's rules." if job.rules == "reference" else ""
    yield "PAS: probability that agents and humans agree, from 0 to 1."
    yield (
        f"Tests become findings by {FINDING_RULES[finding_rule].label} ({finding_rule}), "
        f"findings become studies by {STUDY_RULES[study_rule].label} ({study_rule}); "
        f"studies count alike.{original}"
    )
    if "pas_normalised" in models.columns:
        yield "Normalised PAS: 0 is chance, 1 is what humans would have with themselves."
    if scores.has_effects:
        yield (
            "ECS: concordance of the effects of agents and humans, in standard deviations (d), "
            "from -1 to 1."
        )
    if job.missing_agent != "skip":
        yield f"Agents without a statistic: {job.missing_agent}."
    if job.bootstrap is not None:
        yield f"Resampled: {_DRAWN[str(job.cluster)]}, {job.bootstrap.n:,} times."


def _without_data(scores: Scores, models: pl.DataFrame) -> Iterator[str]:
    """A note about findings and studies without a usable test."""
    counts = models.select(pl.col("n_findings_without_data", "n_studies_without_data").sum())
    findings, studies = counts.row(0)
    if findings:
        of_all = scores.findings().select(*scores.by, "study_id").n_unique()
        by_chance = implementation_of(scores.job).settings.missing == "chance"
        fate = "count as 0.5" if by_chance else "are left out; --missing chance counts them as 0.5"
        yield (str if by_chance else LeftOut)(
            f"Without a usable test: {findings:,} of {len(scores.findings()):,} findings"
            + (f", and with them {studies:,} of {of_all:,} studies" if studies else "")
            + f", which {fate}."
        )


def _sizes(tests: pl.DataFrame) -> Iterator[str]:
    """A note about F tests whose size is computed from their degrees of freedom."""
    sides = [name for name in tests.columns if name in {f"n_from_df_{side}" for side in SIDES}]
    count = len(tests.filter(pl.any_horizontal(pl.lit(value=False), *sides)))
    if count:
        yield (
            f"Sizes: F tests without n_total, for which df1 + df2 + 1 is taken, as holds for one "
            f"factor: {count:,} of {len(tests):,} tests."
        )


def _gaps(scores: Scores, models: pl.DataFrame) -> Iterator[str]:
    tests, missing = scores.tests, int(models["n_missing"].sum())
    yield from _sizes(tests)
    without = min(missing, tests["pas"].fill_nan(None).null_count())
    if without:
        count = f"{without:,} of {len(tests):,}"
        yield LeftOut(f"Missing: tests without a PAS, which are left out: {count}.")
    if impossible := missing - without:
        yield LeftOut(
            "Impossible: tests with a weight or n_eff that is infinite or negative, or a PAS "
            f"outside [0, 1], which are left out: {impossible:,} of {len(tests):,}."
        )
    yield from _without_data(scores, models)
    yield from notes_of_directions(tests)
    if "n_absent" in models.columns and models["n_absent"].sum():
        lacking = models.filter(pl.col("n_absent") > 0).sort("n_absent", *scores.by)
        names = [
            f"{', '.join(map(str, row[:-1]))} ({row[-1]:,})"
            for row in lacking.tail(_LISTED).reverse().select(*scores.by, "n_absent").rows()
        ]
        more = len(lacking) - len(names)
        yield LeftOut(
            f"Absent: tests that others have, and these lack: {'; '.join(names)}"
            + (f"; and {more:,} more" if more > 0 else "")
            + ". Each is scored on those that it has."
        )


def notes_of_directions(tests: pl.DataFrame) -> list[str]:
    """Lines about tests without a direction, and about directions that contradict each other."""
    two_way, conflicts = (
        int(tests[name].sum()) if name in tests.columns else 0 for name in (TWO_WAY, CONFLICT)
    )
    notes = []
    if two_way:
        notes.append(
            f"Two-way: {two_way:,} of {len(tests):,} tests say nothing of the direction of effects "
            "(F, chi-square and p-values have none), so that their PAS asks only whether both "
            "sides find an effect; columns direction_human and direction_agent (1, -1 or 0) say it."
        )
    if conflicts:
        notes.append(
            f"Directions: of {conflicts:,} of {len(tests):,} tests direction_human or "
            "direction_agent contradicts the sign of a statistic, which may be stored without it; "
            "PAS goes by these columns, ECS by the statistic."
        )
    return notes


def notes_of_absent(absent: pl.DataFrame) -> list[str]:
    """Lines about tests that some models have and others lack."""
    if absent.is_empty():
        return []
    keys = [name for name in absent.columns if absent[name].count()]
    table = written(absent.head(_ABSENT), keys)
    more = len(absent) - _ABSENT
    lines = [f"{len(absent):,} tests that some have and others lack:", "", table]
    return [*lines, f"and {more:,} more"] if more > 0 else lines
