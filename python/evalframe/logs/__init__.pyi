"""Public names of `evalframe.logs`, each with its module."""

from evalframe.logs.checking import check_logs as check_logs
from evalframe.logs.every_eval_ever.reading import read_every_eval_ever as read_every_eval_ever
from evalframe.logs.every_eval_ever.writing import write_every_eval_ever as write_every_eval_ever
from evalframe.logs.headlines import headline_scores as headline_scores
from evalframe.logs.helm.reading import read_helm as read_helm
from evalframe.logs.inspect.frames import from_samples_df as from_samples_df
from evalframe.logs.inspect.reading import read_inspect as read_inspect
from evalframe.logs.inspect.sample import sample_log as sample_log
from evalframe.logs.lm_eval.reading import read_lm_eval as read_lm_eval
from evalframe.logs.reading import read_logs as read_logs
from evalframe.logs.report import log_report as log_report
from evalframe.logs.table import COLUMNS as COLUMNS

__all__: list[str]
