"""Public names of `evalframe.logs`, each with its module."""

from evalframe.logs.reading import read_logs as read_logs
from evalframe.logs.report import log_report as log_report

__all__: list[str]
