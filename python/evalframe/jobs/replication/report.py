"""What the command line prints of models: PAS and ECS, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evalframe.jobs.replication.implementation import implementation_of
from evalframe.replication.agreement.alignment import AGENT, HUMAN
from evalframe.replication.agreement.directions import CONFLICT
from evalframe.replication.agreement.scored_tests import FINDING_RULES, STUDY_RULES, TWO_WAY
from evalframe.replication.effects.types import SIDES
from evalframe.report.wide_table import wide_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalframe.jobs.replication.outputs import Scores

_SHOWN = {
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
"""Columns that are shown where they are not 0 throughout."""

_NAMED = 3
_ABSENT = 20
"""Absent tests that are listed at most."""


def models_report(
    models: pl.DataFrame,
    by: Sequence[str],
    *,
    notes: Sequence[str] = (),
    markdown: bool = False,
    level: float | None = None,
    width: int | None = None,
) -> str:
    """The models for a reader, the best first.

    Args:
        models: PAS and ECS of models, as a job writes them.
        by: What tells the models apart.
        notes: Sentences beneath the table.
        markdown: Markdown instead of aligned text.
        level: The confidence level of the intervals.
        width: Characters per line.
    """
    shown = {
        name: head
        for name, head in _SHOWN.items()
        if name in models.columns
        and (name not in _ONLY_IF_ANY or (models[name].fill_null(0) > 0).any())
    }
    return wide_table(
        models,
        [*(["rank"] if by else []), *by],
        shown,
        markdown=markdown,
        level=level,
        width=width,
        notes=notes,
    )


_DRAWN = {
    "study": "studies",
    "finding": "findings within studies",
    "participant": "participants of agents, whose statistics are then more extreme on average, so "
    "that intervals need not hold the estimate",
}


def notes_of(scores: Scores, models: pl.DataFrame) -> list[str]:
    """What the numbers are, and what is not among them."""
    return [*_conventions(scores, models), *_gaps(scores, models)]


def as_given(present: Collection[str]) -> list[str]:
    """What a table of tests says itself, so that nothing in a job changes it."""
    kinds = {
        "PAS of tests": {"pas"},
        "Posteriors": {"pi_human", "pi_agent", *HUMAN, *AGENT},
        "Bayes factors": {f"{log}bayes_factor_{side}" for log in ("", "log_") for side in SIDES},
    }
    told = [kind for kind, names in kinds.items() if names & {*present}]
    return [f"{told[0]}: as the table has them, where it does."] if told else []


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
    """Findings and studies that rest on no test."""
    counts = models.select(pl.col("n_findings_without_data", "n_studies_without_data").sum())
    findings, studies = counts.row(0)
    if findings:
        of_all = scores.findings().select(*scores.by, "study_id").n_unique()
        by_chance = implementation_of(scores.job).settings.missing == "chance"
        fate = "count as 0.5" if by_chance else "are left out; --missing chance counts them as 0.5"
        yield (
            f"Without a usable test: {findings:,} of {len(scores.findings()):,} findings"
            + (f", and with them {studies:,} of {of_all:,} studies" if studies else "")
            + f", which {fate}."
        )


def _guessed(tests: pl.DataFrame) -> Iterator[str]:
    """F tests whose size is taken from their degrees of freedom."""
    sides = [name for name in tests.columns if name in {f"n_from_df_{side}" for side in SIDES}]
    guessed = len(tests.filter(pl.any_horizontal(pl.lit(value=False), *sides)))
    if guessed:
        yield (
            f"Sizes: F tests without n_total, for which df1 + df2 + 1 is taken, as holds for one "
            f"factor: {guessed:,} of {len(tests):,} tests."
        )


def _gaps(scores: Scores, models: pl.DataFrame) -> Iterator[str]:
    tests, missing = scores.tests, int(models["n_missing"].sum())
    yield from _guessed(tests)
    without = min(missing, tests["pas"].fill_nan(None).null_count())
    if without:
        yield f"Missing: tests without a PAS, which are left out: {without:,} of {len(tests):,}."
    if impossible := missing - without:
        yield (
            "Impossible: tests with a weight or n_eff that is infinite or negative, or a PAS "
            f"outside [0, 1], which are left out: {impossible:,} of {len(tests):,}."
        )
    yield from _without_data(scores, models)
    yield from told_directions(tests)
    if "n_absent" in models.columns and models["n_absent"].sum():
        lacking = models.filter(pl.col("n_absent") > 0).sort("n_absent", *scores.by)
        names = [
            f"{', '.join(map(str, row[:-1]))} ({row[-1]:,})"
            for row in lacking.tail(_NAMED).reverse().select(*scores.by, "n_absent").rows()
        ]
        more = len(lacking) - len(names)
        yield (
            f"Absent: tests that others have, and these lack: {'; '.join(names)}"
            + (f"; and {more:,} more" if more > 0 else "")
            + ". Each is scored on those that it has."
        )


def told_directions(tests: pl.DataFrame) -> list[str]:
    """Lines about tests whose direction nothing says, or two things in two ways."""
    two_way, conflicts = (
        int(tests[name].sum()) if name in tests.columns else 0 for name in (TWO_WAY, CONFLICT)
    )
    told = []
    if two_way:
        told.append(
            f"Two-way: {two_way:,} of {len(tests):,} tests say nothing of the direction of effects "
            "(F, chi-square and p-values have none), so that their PAS asks only whether both "
            "sides find an effect; columns direction_human and direction_agent (1, -1 or 0) say it."
        )
    if conflicts:
        told.append(
            f"Directions: of {conflicts:,} of {len(tests):,} tests direction_human or "
            "direction_agent contradicts the sign of a statistic, which may be stored without it; "
            "PAS goes by these columns, ECS by the statistic."
        )
    return told


def told_absent(absent: pl.DataFrame) -> list[str]:
    """Lines about tests that some models have and others lack, if there are any."""
    if absent.is_empty():
        return []
    keys = [name for name in absent.columns if absent[name].count()]
    table = wide_table(absent.head(_ABSENT), keys, {})
    more = len(absent) - _ABSENT
    told = [f"{len(absent):,} tests that some have and others lack:", "", table]
    return [*told, f"and {more:,} more"] if more > 0 else told
