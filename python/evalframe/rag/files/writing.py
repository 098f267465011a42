"""Tables of labelled responses, written as prediction and score files of the original program."""

from __future__ import annotations

import errno
import json
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.files import replacing
from evalframe.core.rules import check_choice
from evalframe.core.tables import lazy
from evalframe.rag import outcomes
from evalframe.rag.datasets import is_chinese
from evalframe.rag.files.labelled import RUN, labelled_responses
from evalframe.rag.files.names import Settings, run_name
from evalframe.rag.files.scores import Judge, score_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalframe.core.typing import Frame


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """What is written of a run: a line for each response, and the text of its score file."""

    folder: str
    name: str
    responses: pl.DataFrame
    line: pl.Expr
    scores_name: str
    scores: str


def write_rgb(
    labelled: Frame,
    folder: str | Path,
    *,
    judge: Judge | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write labelled responses as the prediction and score files of the original program.

    Each run (rows that share their settings) makes two files, named after its settings, in
    `result-en` or `result-zh`, or in the folder itself for data sets of neither name. Runs with a
    judge's text are written as the original's judges do, with `_chatgpt` in the names unless
    `variant` says otherwise; rates of theirs count right answers only. Answers are written in
    their shortest shape, a group of one alias as a string; responses of Chinese data sets without
    spaces, as they were searched. `read_rgb` gives the same labels and groups back.

    Args:
        labelled: model, dataset, noise_rate, passage_num, id, query, answers, response, label and
            factlabel; as far as there are temperature, correct_passage_rate, documents, evaluation
            and variant. A row for each response of a run.
        folder: Where to; it must be there.
        judge: What the judge's text is about: `rejection`, or `errors` detected. By default errors
            for `_fact` data sets, else rejection.
        overwrite: Whether files that are there may be replaced.

    Returns:
        The files, sorted. All of them are written before the first replaces another.

    Raises:
        ContractError: A column of the wrong type, no rows, responses without a label, answers or
            (in runs that have some) a judge's text, or ids that repeat. The original leaves
            responses without a label out of its files; so filter them.
        MissingColumnsError: A column is absent.
        OutputError: A file is there already, or cannot be written.
        ParameterError: A name that cannot be read back, or an unknown choice.

    References:
        Files are those of RGB 65ec39e.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.rag.files.writing import write_rgb
        >>> settings = {"model": "7b", "dataset": "en", "noise_rate": 0.4, "passage_num": 5}
        >>> labelled = pl.DataFrame(
        ...     {"id": [0], "query": ["?"], "answers": [[["Rome"]]], "response": ["Rome"]}
        ... ).with_columns(
        ...     **{name: pl.lit(value) for name, value in settings.items()},
        ...     label=pl.Series([[1]]),
        ...     factlabel=0,
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = write_rgb(labelled, folder)
        ...     print(files[0].name)
        ...     print(files[1].read_text())
        prediction_en_7b_noise0.4_passage5.json
        {
            "all_rate": 1.0,
            "noise_rate": 0.4,
            "tt": 1,
            "nums": 1
        }
    """
    check_choice("judge", judge, Judge, optional=True)
    responses = labelled_responses(lazy(labelled))
    runs = responses.partition_by(RUN, maintain_order=True)
    written = [_written(run, judge) for run in runs]
    root = Path(folder)
    if not os.path.isdir(root):  # noqa: PTH112 (Path raises for a name that is too long)
        raise OutputError(f"no folder {str(root)!r}; create it first")
    files = [(root / r.folder / name, r) for r in written for name in (r.name, r.scores_name)]
    if len({path for path, _ in files}) < len(files):
        raise ParameterError("runs would share a file; name their models or variants differently")
    there = [path for path, _ in files if os.path.exists(path)]  # noqa: PTH110 (likewise)
    if there and not overwrite:
        raise OutputError(
            f"{len(there):,} of {len(files):,} files are there already, the first {there[0]}; write"
            " to another folder, or replace them by overwrite=True"
        )
    _make_folders(path.parent for path, _ in files)
    with ExitStack() as stack:
        for path, run in files:
            partial = _replacing(path, stack)
            if path.name == run.scores_name:
                partial.write_text(run.scores, encoding="utf-8")
            else:
                lines = run.responses.select(run.line)
                lines.write_csv(partial, include_header=False, quote_style="never")
    return sorted(path for path, _ in files)


def _replacing(path: Path, stack: ExitStack) -> Path:
    """A temporary path that becomes `path` when the stack is left.

    Raises:
        OutputError: The file cannot be.
    """
    try:
        return stack.enter_context(replacing(path))
    except OutputError as error:
        cause = error.__cause__
        if not isinstance(cause, OSError) or cause.errno != errno.ENAMETOOLONG:
            raise
        raise OutputError(
            f"cannot write {str(path)!r} ({cause.strerror}); shorten the names of model, data set "
            "or variant"
        ) from error


def _make_folders(folders: Iterable[Path]) -> None:
    for folder in dict.fromkeys(folders):
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"cannot make folder {str(folder)!r} ({error.strerror or error}); choose another"
            ) from error


def _written(run: pl.DataFrame, judge: Judge | None) -> _Run:
    """The files of one run."""
    first = run.row(0, named=True)
    settings = Settings(**{name: first[name] for name in RUN})
    dataset, judged = first["dataset"], first["evaluation"] is not None
    if not judged:
        judge = None
    elif judge is None:
        judge = "errors" if "_fact" in dataset else "rejection"
    variant = settings.variant or ("chatgpt" if judged else None)
    stem = run_name(replace(settings, variant=variant))
    counts = run.select(**_counts(judge)).row(0, named=True)
    scores = score_object(counts, noise_rate=first["noise_rate"], dataset=dataset, judge=judge)
    return _Run(
        folder="result-en" if "en" in dataset else "result-zh" if "zh" in dataset else "",
        name=f"{stem}.json",
        responses=run,
        line=_line(repr(first["noise_rate"]), judged=judged),
        scores_name=f"{stem}{'' if judged else '_'}result.json",
        scores=json.dumps(scores, ensure_ascii=False, indent=4),
    )


def _counts(judge: Judge | None) -> dict[str, pl.Expr]:
    """What `score_object` needs, counted as the original does."""
    label, noise_rate = pl.col("label"), pl.col("noise_rate")
    good = outcomes.good(label)
    if judge is None:
        flagged = outcomes.detected(pl.col("factlabel"))
        counted = outcomes.counted(label, noise_rate, tolerance=0.0)
        corrected = flagged & outcomes.not_missed(label)
        flags = {"tt": counted, "fact_tt": flagged, "correct_tt": corrected}
    else:
        text = pl.col("evaluation")
        told = (outcomes.judge_rejected if judge == "rejection" else outcomes.judge_detected)(text)
        flags = {"tt": good, "rejecttt": told, "correct_tt": told & good}
    return {"nums": pl.len(), **{name: flag.sum() for name, flag in flags.items()}}


def _line(noise_rate: str, *, judged: bool) -> pl.Expr:
    """Each response as a line, spaced as the standard library writes JSON."""
    chinese = is_chinese(pl.col("dataset"))
    stripped = pl.col("response").str.replace_all(" ", "", literal=True)
    alone, group = pl.element().list.len() == 1, pl.element().list.eval(_text(pl.element()))
    shortest = pl.when(alone).then(group.list.first()).otherwise(_list(group))
    values = {
        "id": pl.col("id"),
        "query": _text(pl.col("query")),
        "ans": _list(pl.col("answers").list.eval(shortest)),
        "label": _list(pl.col("label").cast(pl.List(pl.String()))),
        "prediction": _text(pl.when(chinese).then(stripped).otherwise("response")),
        "docs": _list(pl.col("documents").list.eval(_text(pl.element()))).fill_null("[]"),
        "noise_rate": pl.lit(noise_rate),
        "factlabel": pl.col("factlabel"),
    }
    if judged:
        values["evaluation"] = _text(pl.col("evaluation"))
    keys = ", ".join(f'"{name}": {{}}' for name in values)
    return pl.format(f"{{{{{keys}}}}}", *values.values()).alias("line")


def _text(text: pl.Expr) -> pl.Expr:
    """Text as JSON, which Polars writes for structs only."""
    only = pl.struct(text.alias("")).struct.json_encode()
    return only.str.strip_prefix('{"":').str.strip_suffix("}")


def _list(texts: pl.Expr) -> pl.Expr:
    return pl.format("[{}]", texts.list.join(", "))
