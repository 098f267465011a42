"""Logs of lm-evaluation-harness: a file of samples per task, and the results of the run beside it.

A log is a file `samples_{task}_{date}.jsonl`; `results_{date}.json` in its folder says which model,
which version and how many documents. Without it those columns are null.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.logs.lines import as_json, as_text, inside
from evalframe.logs.lm_eval.checking import check
from evalframe.logs.lm_eval.run import Samples
from evalframe.logs.lm_eval.samples import METRIC, read_lines, score_of
from evalframe.logs.reading import Format, Log, Paths, read_logs
from evalframe.logs.table import Score, Wanted, rectangular

if TYPE_CHECKING:
    from collections import Counter

_BEGIN = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"doc_id"\s*:')


def read_lm_eval(
    paths: Paths,
    *,
    extra: Sequence[str] = (),
    metadata: Sequence[str] = (),
    strict: bool = False,
) -> pl.LazyFrame:
    """Read samples of lm-evaluation-harness lazily as one items table.

    Each document has a row for every metric and filter of the file. `scorer` is the metric,
    `score_name` the filter.
    Several filters score the same answer, so rows of several are not to be added up. Scores of
    metrics over all documents (mcc, f1, bleu, perplexity of words, ...) are null, their parts are
    in `value`. Where a line has several requests with a text to continue with, it is a multiple
    choice: `answer` is the most likely choice and `confidence` its share (the softmax of the log
    likelihoods), the same for all metrics.

    Args:
        paths: Files of samples, folders, globs, or a list of these; results lie beside them.
        extra: Columns on request, such as confidence.
        metadata: Fields of the documents that become columns `metadata_NAME`.
        strict: A file in a folder that cannot be read is an error, not left out with a warning.

    Returns:
        A frame with the columns of `ef.read_logs`. Without results beside a file, model, version
        and dataset are null: fill them in with `with_columns`.

    Raises:
        InputError: There are no samples, or a named file is damaged (with the line).
        UnknownNameError: An extra column has another name.

    Examples:
        >>> import evalframe as ef, tempfile
        >>> from pathlib import Path
        >>> folder = tempfile.TemporaryDirectory()
        >>> file = Path(folder.name) / "samples_sums_2026-01-21T03-44-18.458309.jsonl"
        >>> line = '{"doc_id": 0, "filtered_resps": ["4"], "metrics": ["acc"], "acc": 1}'
        >>> _ = file.write_text(line)
        >>> items = ef.read_lm_eval(file).select("task", "sample_id", "scorer", "score", "answer")
        >>> items.collect().rows()
        [('sums', '0', 'acc', 1.0, '4')]
        >>> folder.cleanup()
    """
    return read_logs(paths, kind="lm_eval", extra=extra, metadata=metadata, strict=strict)


def _recognise(path: Path, head: bytes) -> bool:
    is_named = path.name.startswith("samples_") and b'"doc_id"' in head
    return path.suffix == ".jsonl" and (is_named or bool(_BEGIN.match(head)))


def _constants(log: Log) -> dict[str, str | None]:
    return _facts(log, Samples(log.path))


def _facts(log: Log, samples: Samples) -> dict[str, str | None]:
    """The columns that are the same in all rows."""
    results, config = samples.results, inside(samples.results, "config")
    arguments = inside(config, "model_args")
    return {
        "log": log.name,
        "format": log.format,
        "run_id": samples.named[1],
        "log_id": log.path.stem,
        "task": samples.task,
        "task_version": as_text(samples.of_task("versions")),
        "model": as_text(results.get("model_name") or inside(config, "model")),
        "model_args": None if arguments is None else as_json(arguments),
        "dataset": as_text(inside(samples.of_task("configs"), "dataset_path")),
    }


def _read(log: Log, wanted: Wanted, counts: Counter[str]) -> Iterable[pl.DataFrame]:
    """All lines of a file; they are held as columns, without their prompts."""
    samples = Samples(log.path)
    lines = read_lines(log.path, wanted, samples.delimiter)
    key = ("sample_id", "filter")
    kept = lines.unique(key, keep="last", maintain_order=True)
    counts["replaced"] += len(lines) - len(kept)
    pairs = (
        kept.select("sample_id")
        .unique(maintain_order=True)
        .join(
            kept.select("filter").unique(maintain_order=True),
            how="cross",
            maintain_order="left_right",
        )
    )
    if len(pairs) > len(kept):
        kept = pairs.join(kept, on=key, how="left", maintain_order="left")
    counts["missing"] += max(0, samples.n_documents * kept["filter"].n_unique() - len(lines))
    names = [name for name in kept.columns if name.startswith(METRIC)]
    scores = [
        Score(
            name.removeprefix(METRIC),
            None,
            kept.select(score=score_of(pl.col(name)), value=pl.col(name)),
        )
        for name in names
    ]
    yield (
        rectangular(kept.drop(names), scores)
        .with_columns(
            pl.lit(value, pl.String).alias(name) for name, value in _facts(log, samples).items()
        )
        .with_columns(score_name="filter", epoch=pl.lit(1), is_error=pl.lit(value=False))
    )


FORMAT = Format(_recognise, _constants, _read, check)
