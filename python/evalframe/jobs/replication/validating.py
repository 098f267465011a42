"""Tests checked against their contract, and compared between models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalframe.core.contract import validate
from evalframe.jobs.paths import reading
from evalframe.jobs.replication.evidence import with_evidence
from evalframe.jobs.replication.inputs import groups_of, open_tests
from evalframe.jobs.replication.outputs import absent_tests
from evalframe.jobs.replication.rules import contract_of
from evalframe.report.wide_table import wide_table

if TYPE_CHECKING:
    from pathlib import Path

    from evalframe.jobs.replication.job import ReplicationJob

_SHOWN = 20


def checked(job: ReplicationJob, folder: Path) -> str:
    """What is found in tests that keep their contract.

    Raises:
        ContractError: They do not.
        InputError: An input cannot be read.
        MissingColumnsError: There is nothing to make a PAS from.
    """
    opened = open_tests(job, folder, ())
    by = groups_of(job, opened)
    with reading(", ".join(job.items)):
        report = validate(opened.tests, contract_of(opened, by, job))
        with_evidence(report.valid, job)
        absent = absent_tests(opened.tests, by)
    if absent.is_empty():
        return str(report)
    keys = [name for name in absent.columns if absent[name].count()]
    told = f"{len(absent):,} tests that some have and others lack:"
    table = wide_table(absent.head(_SHOWN), keys, {})
    more = len(absent) - _SHOWN
    lines = [str(report), told, "", table]
    return "\n".join([*lines, f"and {more:,} more"] if more > 0 else lines)
