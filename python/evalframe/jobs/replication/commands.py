"""`evalframe replication`: how far agents agree with humans, by model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evalframe.jobs.console import Family
from evalframe.jobs.families import check_asked, job_of, run_asked
from evalframe.jobs.help import REPLICATION_EPILOG
from evalframe.jobs.options import (
    COLUMNS,
    ON_BAD_ROWS,
    given,
    names,
    options,
    resampling,
    with_bootstrap,
)
from evalframe.jobs.replication.job import (
    FINDING_KEYS,
    FINDING_RULES,
    MISSING,
    MISSING_AGENT,
    RULES,
    STUDY_RULES,
)

if TYPE_CHECKING:
    from evalframe.jobs.parsing import Job

_BY = names("--by", "Columns to group by.  [default: model, if there is one]")
_KEY = names(
    "--key",
    "Columns that identify a row, '' for no check of duplicates.  [default: --by, study_id, "
    "sub_study_id, finding_id and test_id, as there are]",
)
_RULES = click.option(
    "--rules",
    type=click.Choice(RULES),
    help="What is sound, or what the original computes.  [default: documented]",
)
_TESTS = options(
    click.option(
        "--from-results",
        multiple=True,
        metavar="FOLDER",
        help="Read evaluation results of the original: a folder, files or globs of JSON.",
    ),
    click.option(
        "--participants",
        metavar="RESPONSES",
        help="Compute the agent side from responses of participants: files, globs or folders.",
    ),
    click.option(
        "--design", metavar="DESIGN", help="How responses become statistics; a row per test."
    ),
    _RULES,
    click.option(
        "--finding-rule",
        type=click.Choice(FINDING_RULES),
        help="From tests to findings.  [default: fisher_z; mean_z by the original's rules]",
    ),
    click.option(
        "--study-rule",
        type=click.Choice(STUDY_RULES),
        help="From findings to studies.  [default: mean; mean_z by the original's rules]",
    ),
    click.option(
        "--finding-key",
        type=click.Choice(FINDING_KEYS),
        help="Whether findings are told apart by sub-study, too.  [default: composite]",
    ),
    click.option(
        "--missing",
        type=click.Choice(MISSING),
        help="Findings and studies without a usable test: left out, or 0.5.  [default: skip; "
        "chance by the original's rules]",
    ),
    click.option(
        "--human-prior-odds",
        type=float,
        metavar="ODDS",
        help="Of an effect, where a test has no prior_odds_human.  [default: 10]",
    ),
    click.option(
        "--agent-prior-odds",
        type=float,
        metavar="ODDS",
        help="Likewise, prior_odds_agent.  [default: 1]",
    ),
    click.option(
        "--missing-agent",
        type=click.Choice(MISSING_AGENT),
        help="What stands for an agent without a statistic; the last three are the original's.  "
        "[default: skip]",
    ),
    _BY,
    _KEY,
    COLUMNS,
)


@click.group(cls=Family, main="scores")
def replication() -> None:
    """Replication of human studies by agents: PAS and ECS, from test to model."""


@replication.command(epilog=REPLICATION_EPILOG)
@click.argument("items", nargs=-1, metavar="[TESTS]...")
@_TESTS
@click.option("--summary", metavar="FOLDER", help="Write the files that the original writes, too.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="The table of models (.parquet, .csv, .json, .jsonl, .md), or a folder for all tables.  "
    "[default: only printed]",
)
@resampling("study", "study, finding (within its study) or participant.")
@ON_BAD_ROWS
@click.option("--quiet", "-q", is_flag=True, help="Print neither result nor progress.")
def scores(quiet: bool, from_results: tuple[str, ...], **flags: Any) -> None:
    """Rank models by how far they agree with humans, over the tests of published studies.

    TESTS are files, globs or folders: one row per model and test, with model, study_id, finding_id,
    and as far as there are sub_study_id, test_id and domain. Each test has, of humans and of
    agents, its statistic (test_type, stat_human, n1_human, stat_agent, ...), its posteriors
    (pi_human, pi_agent, or pi_plus_human, ...), or its PAS (pas). What a row has stays, and what it
    lacks is made from the rest.

    Directions of effects are read from direction_human and direction_agent (1, -1 or 0; both or
    neither), and where these are empty from the sign of t, r, z and other signed statistics. F,
    chi-square and p-values have no direction: without these columns PAS asks there only whether
    both sides find an effect (two-way).

    An impossible test, such as a correlation beyond 1, an unknown type or a duplicate is an error,
    or set aside by --on-invalid quarantine. Faults of responses are errors always.
    """
    run_asked(_job(from_results, with_bootstrap(given(flags))), quiet=quiet)


@replication.command()
@click.argument("items", nargs=-1, metavar="[TESTS]...")
@_TESTS
def validate(from_results: tuple[str, ...], **flags: Any) -> None:
    """Check tests against their contract; exit with 1 if one cannot be used.

    Reported, but accepted: tests without any direction (direction_human, direction_agent, or a
    signed statistic), tests whose direction contradicts the sign of a statistic, and tests that
    only some models have. A direction on one side only is an error.
    """
    check_asked(_job(from_results, given(flags)))


def _job(from_results: tuple[str, ...], asked: dict[str, Any]) -> Job:
    called = "TESTS, or --from-results FOLDER"
    return job_of("replication", asked, called=called, original="results", files=from_results)
