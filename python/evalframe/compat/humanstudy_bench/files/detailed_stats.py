"""The table of tests that the original writes beside each evaluation, `detailed_stats.csv`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.compat.humanstudy_bench.files.given import given_tests
from evalframe.compat.humanstudy_bench.files.writing import csv_text, write_texts
from evalframe.core.rules import Rules, check_choice

if TYPE_CHECKING:
    from evalframe.core.typing import Frame

LINE_END = "\r\n"

_COLUMNS = {
    "Study_ID": "study_id",
    "Sub_Study_ID": "sub_study_id",
    "Finding_ID": "finding_id",
    "Test_Name": "test_name",
    "Scenario": "scenario",
    "Statistical_Test_Type": "test_type",
    "Human_Test_Statistic": "report_human",
    "Agent_Test_Statistic": "report_agent",
    "Z_Diff": "z_difference",
    "ECS_Test": "replication_consistency",
    "Agent_Effect_Size": "effect_size_agent",
    "Human_Effect_Size": "effect_size_human",
    "Agent_Effect_d": "effect_d_agent",
    "Human_Effect_d": "effect_d_human",
}
_PROMISED = {"PAS_Raw": "pas"}
"""What the original's documentation lists, and its code does not write."""


def detailed_stats(tests: Frame, *, rules: Rules = "documented") -> pl.DataFrame:
    """The tests under the names of `detailed_stats.csv`.

    Args:
        tests: One row per test; see `result_tables`.
        rules: `documented`: with `PAS_Raw`, the PAS of the test, which the original's documentation
            promises. `reference`: without.

    Returns:
        `Study_ID`, `Sub_Study_ID`, `Finding_ID`, `Test_Name`, `Scenario`, `Statistical_Test_Type`,
        `Human_Test_Statistic`, `Agent_Test_Statistic` (texts), `Z_Diff`, `ECS_Test` (the test's
        consistency), `Agent_Effect_Size`, `Human_Effect_Size`, `Agent_Effect_d`, `Human_Effect_d`
        and `PAS_Raw` (Float64), in the order of the tests. A table of several models does not say
        which test is whose.

    Raises:
        ContractError: A column of the wrong type, no rows, or tests that repeat.
        MissingColumnsError: A key is not there.
        ParameterError: Unknown rules.

    References:
        HumanStudy-Bench (HEAD of February 2026), `detailed_stats.csv`.

    Examples:
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import detailed_stats
        >>> tests = pl.DataFrame({"model": ["m"], "study_id": ["s"], "finding_id": ["F1"]})
        >>> detailed_stats(tests.with_columns(pas=0.8))[0, "PAS_Raw"]
        0.8
    """
    check_choice("rules", rules, Rules)
    return as_detailed_stats(given_tests(tests, rules), rules)


def as_detailed_stats(given: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """The same of tests that are checked and complete."""
    shown = _COLUMNS if rules == "reference" else _COLUMNS | _PROMISED
    return given.select(pl.col(column).alias(name) for name, column in shown.items())


def write_detailed_stats(
    tests: Frame,
    path: str | Path,
    *,
    rules: Rules = "documented",
    overwrite: bool = False,
) -> None:
    """Write tests as `detailed_stats.csv`: numbers with 4 decimals, empty where there is none.

    Args:
        tests: Those of one model and study; see `result_tables`.
        path: The file.
        rules: As for `detailed_stats`.
        overwrite: Whether a file that is there may be replaced.

    Raises:
        ContractError: As `detailed_stats`.
        MissingColumnsError: As `detailed_stats`.
        OutputError: The file is there already, or cannot be written.
        ParameterError: Unknown rules.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import polars as pl
        >>> from evalframe.compat.humanstudy_bench import write_detailed_stats
        >>> tests = pl.DataFrame({"model": ["m"], "study_id": ["s"], "finding_id": ["F1"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "detailed_stats.csv")
        ...     write_detailed_stats(tests.with_columns(pas=0.8), path)
        ...     print(path.read_text().splitlines()[1])
        s,,F1,,,,,,,,,,,,0.8000
    """
    text = csv_text(detailed_stats(tests, rules=rules), line_end=LINE_END)
    write_texts({Path(path): text}, overwrite=overwrite)
