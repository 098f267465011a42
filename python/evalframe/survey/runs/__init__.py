"""Run results of the original: tidy tables from its files, and its summaries."""

from evalframe.survey.runs.reader import RunResults, open_runs, read_runs
from evalframe.survey.runs.summary import summary, write_summary

__all__ = ["RunResults", "open_runs", "read_runs", "summary", "write_summary"]
