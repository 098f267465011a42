"""Files of the original: evaluation results and published scores, read and written.

`read_evaluation` gives tests, findings and runs of `evaluation_results.json`, `read_results` scores
of `simple_results.json`. `write_results` writes all files from a table of tests; `result_tables`
gives the scores in them, and a function for each file writes it alone.
"""

from evalframe.compat.humanstudy_bench.files.detailed_stats import (
    detailed_stats,
    write_detailed_stats,
)
from evalframe.compat.humanstudy_bench.files.evaluation_documents import evaluation_results
from evalframe.compat.humanstudy_bench.files.evaluations import Evaluations, read_evaluation
from evalframe.compat.humanstudy_bench.files.output import write_results
from evalframe.compat.humanstudy_bench.files.results_reading import read_results
from evalframe.compat.humanstudy_bench.files.simple_results import (
    simple_results,
    write_simple_results,
)
from evalframe.compat.humanstudy_bench.files.summary import (
    benchmark_summary,
    write_benchmark_summary,
)
from evalframe.compat.humanstudy_bench.files.tables import Pooling, Results, result_tables

__all__ = [
    "Evaluations",
    "Pooling",
    "Results",
    "benchmark_summary",
    "detailed_stats",
    "evaluation_results",
    "read_evaluation",
    "read_results",
    "result_tables",
    "simple_results",
    "write_benchmark_summary",
    "write_detailed_stats",
    "write_results",
    "write_simple_results",
]
