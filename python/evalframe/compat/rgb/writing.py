"""Labelled responses, written as prediction and score files."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.compat.rgb.settings import SETTINGS, Settings, run_name
from evalframe.core.choices import check_choice
from evalframe.core.contract import Column, Contract, Rule, validate
from evalframe.core.errors import MissingColumnsError, OutputError, ParameterError
from evalframe.core.files import replacing_all
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.rag.answers import answer_groups
from evalframe.rag.contract import ANSWERS, factlabel_rule, is_chinese, label_rule
from evalframe.rag.metrics import counted, good, judge_detected, judge_rejected, not_missed

if TYPE_CHECKING:
    from evalframe.core.kinds import Kind

Judge: TypeAlias = Literal["rejection", "errors"]
Score: TypeAlias = int | float

RUN = [*SETTINGS, "variant"]
"""The columns that distinguish files."""

_OPTIONAL = {
    "temperature": pl.Float64(),
    "correct_passage_rate": pl.Float64(),
    "documents": pl.List(pl.String()),
    "evaluation": pl.String(),
    "variant": pl.String(),
}
_TYPES = {
    "query": pl.String(),
    "response": pl.String(),
    "label": pl.List(pl.Int64()),
    **SETTINGS,
    **_OPTIONAL,
}
_KINDS: dict[pl.DataType, Kind] = {
    pl.String(): "string",
    pl.Int64(): "integer",
    pl.Float64(): "number",
    pl.List(pl.Int64()): "integers",
    pl.List(pl.String()): "texts",
}
_LARGEST_ID = 10**18 - 1  # the largest that `read` accepts

_CONTRACT = Contract(
    "labelled responses",
    (
        *(
            Column(name, _KINDS[dtype], nullable=name in _OPTIONAL)
            for name, dtype in _TYPES.items()
        ),
        *(Column(name, "integer") for name in ("id", "factlabel")),
        Column("answers", ANSWERS),
    ),
    rules=(
        Rule(
            "answers have a published shape",
            answer_groups(on_invalid="null").is_not_null(),
            ("answers",),
            "correct these rows, or leave them out, as RGB does",
        ),
        label_rule("label"),
        factlabel_rule("factlabel"),
        Rule(
            "id has at most 18 digits",
            pl.col("id").is_between(-_LARGEST_ID, _LARGEST_ID),
            ("id",),
            "number the questions anew",
        ),
        Rule(
            "no document is null",
            ~pl.col("documents").list.contains(None),
            ("documents",),
            "leave null out of the lists",
        ),
        Rule(
            "all responses of a judged run have a judge's text",
            pl.col("evaluation").is_not_null() | pl.col("evaluation").is_null().all().over(RUN),
            ("evaluation",),
            "judge these, too, or leave them out, as RGB does",
        ),
    ),
    key=(*RUN, "id"),
)


@any_frame
def write(
    labelled: Frame,
    folder: str | Path,
    *,
    judge: Judge | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write labelled responses as prediction and score files.

    Each run (rows with the same settings) becomes two files, named after its settings, in
    `result-en` or `result-zh`, or in the folder itself for data sets of neither name. Runs with a
    judge's text are written as RGB's judges do: with `_chatgpt` in the names unless `variant` says
    otherwise, and rates that count right answers only. Answers are written in their shortest shape,
    a group of one alias as a string; responses of Chinese data sets without spaces, as searched.
    `read` returns the same labels and groups.

    Args:
        labelled: One row per response of a run: model, dataset, noise_rate, passage_num, id, query,
            answers, response, label, factlabel; if present also temperature, correct_passage_rate,
            documents, evaluation and variant.
        folder: An existing folder.
        judge: Subject of the judge's text: `rejection`, or `errors` detected. By default errors for
            `_fact` data sets, else rejection.
        overwrite: Replace existing files.

    Returns:
        The files, sorted. All of them are written before the first replaces another.

    Raises:
        ContractError: Responses lack a label, answers or (in judged runs) a judge's text, or ids
            repeat. RGB leaves responses without a label out of its files; filter them.
        OutputError: A file exists already, or cannot be written.
        ParameterError: A name cannot be read back, or a choice is unknown.

    Examples:
        >>> import tempfile
        >>> import polars as pl
        >>> from evalframe.compat import rgb
        >>> run = {"model": "7b", "dataset": "en", "noise_rate": 0.4, "passage_num": 5}
        >>> row = {"id": 0, "query": "?", "answers": [["Rome"]], "response": "Rome", "label": [1]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = rgb.write(pl.DataFrame([{**run, **row, "factlabel": 0}]), folder)
        ...     files[0].name
        'prediction_en_7b_noise0.4_passage5.json'
    """
    check_choice("judge", judge, Judge, optional=True)
    root = Path(folder)
    runs = _checked(lazy(labelled)).partition_by(RUN, maintain_order=True)
    outputs = [output for run in runs for output in _outputs(run, judge)]
    if not os.path.isdir(root):  # noqa: PTH112 (Path raises for a name that is too long)
        raise OutputError(f"no folder {str(root)!r}; create it first")
    paths = [root / name for name, _ in outputs]
    if len({*paths}) < len(paths):
        raise ParameterError("runs would share a file; name their models or variants differently")
    existing = [path for path in paths if os.path.exists(path)]  # noqa: PTH110 (likewise)
    if existing and not overwrite:
        raise OutputError(
            f"{len(existing):,} of {len(paths):,} files exist already, the first {existing[0]}; "
            "write to another folder, or replace them by overwrite=True"
        )
    try:
        with replacing_all(paths, make_folder=True) as partials:
            for partial, (_, content) in zip(partials, outputs, strict=True):
                if isinstance(content, str):
                    partial.write_text(content, encoding="utf-8")
                else:
                    lines = content.collect()
                    lines.write_csv(partial, include_header=False, quote_style="never")
    except OutputError as error:
        if getattr(error.__cause__, "errno", None) != errno.ENAMETOOLONG:
            raise
        raise OutputError(
            f"{str(error).partition(';')[0]}; shorten the names of model, data set or variant"
        ) from error
    return sorted(paths)


def score_object(
    counts: Mapping[str, int], *, noise_rate: float, dataset: str, judge: Judge | None = None
) -> dict[str, Score]:
    """Return the object of a score file, with its keys in RGB's order.

    Args:
        counts: `nums` (responses) and `tt` (counted as right); of `_fact` data sets also `fact_tt`
            (errors detected) and `correct_tt` (corrected); of judges `rejecttt` (rejections or
            errors by the judge), and for errors `correct_tt`.
        noise_rate: Noise rate of the run.
        dataset: Name of the data set.
        judge: Set if the scores are a judge's: about `rejection`, or about `errors` detected.

    Returns:
        The object, ready for `json.dumps`: rates are floats, counts integers.

    Raises:
        ParameterError: There are no responses: RGB ends with an error and writes nothing.

    Examples:
        >>> from evalframe.compat import rgb
        >>> rgb.score_object({"tt": 3, "nums": 4}, noise_rate=0.2, dataset="en")
        {'all_rate': 0.75, 'noise_rate': 0.2, 'tt': 3, 'nums': 4}
    """
    flags = judge is None and "_fact" in dataset
    required = ["nums", "tt", *["fact_tt", "correct_tt"] * flags, *["rejecttt"] * bool(judge)]
    required += ["correct_tt"] * (judge == "errors")
    if missing := {*required} - {*counts}:
        raise MissingColumnsError.of("score_object", missing, counts)
    if not counts["nums"]:
        raise ParameterError("scores need at least one response; RGB divides by zero without any")
    tt, nums = counts["tt"], counts["nums"]
    if judge is not None:
        judged = counts["rejecttt"]
        rates: dict[str, Score] = {"reject_rate": judged / nums, "all_rate": tt / nums}
        if judge == "rejection":
            return rates | {"tt": tt, "rejecttt": judged, "nums": nums}
        corrected = counts["correct_tt"]
        rates["correct_rate"] = _share(corrected, judged)
        sums = {"tt": tt, "rejecttt": judged, "correct_tt": corrected, "nums": nums}
        return rates | sums | {"noise_rate": noise_rate}
    scores = {"all_rate": tt / nums, "noise_rate": noise_rate, "tt": tt, "nums": nums}
    if flags:
        detected, corrected = counts["fact_tt"], counts["correct_tt"]
        scores |= {"fact_check_rate": detected / nums, "correct_rate": _share(corrected, detected)}
        scores |= {"fact_tt": detected, "correct_tt": corrected}
    return scores


def _share(part: int, total: int) -> Score:
    return part / total if total else 0


def _checked(labelled: pl.LazyFrame) -> pl.DataFrame:
    """The responses in the columns that are written, absent ones null."""
    schema = labelled.collect_schema()
    absent = [pl.lit(None, t).alias(name) for name, t in _OPTIONAL.items() if name not in schema]
    table = labelled.with_columns(absent)
    validate(table, _CONTRACT)
    return table.with_columns(answer_groups()).cast(pl.Schema(_TYPES)).collect()


def _outputs(run: pl.DataFrame, judge: Judge | None) -> list[tuple[str, pl.LazyFrame | str]]:
    """Names and contents of the prediction and the score file of a run."""
    first = run.row(0, named=True)
    dataset, judged = first["dataset"], first["evaluation"] is not None
    if not judged:
        judge = None
    elif judge is None:
        judge = "errors" if "_fact" in dataset else "rejection"
    settings = Settings(**{name: first[name] for name in RUN})
    stem = run_name(replace(settings, variant=settings.variant or ("chatgpt" if judged else None)))
    folder = "result-en/" if "en" in dataset else "result-zh/" if "zh" in dataset else ""
    counts = run.select(**_counts(judge)).row(0, named=True)
    scores = score_object(counts, noise_rate=first["noise_rate"], dataset=dataset, judge=judge)
    line = _line(repr(first["noise_rate"]), judged=judged)
    return [
        (f"{folder}{stem}.json", run.lazy().select(line)),
        (
            f"{folder}{stem}{'' if judged else '_'}result.json",
            json.dumps(scores, ensure_ascii=False, indent=4),
        ),
    ]


def _counts(judge: Judge | None) -> dict[str, pl.Expr]:
    """The counts for `score_object`."""
    label, noise_rate = pl.col("label"), pl.col("noise_rate")
    if judge is None:
        flagged = pl.col("factlabel") == 1
        right = counted(label, noise_rate, tolerance=0.0)
        corrected = flagged & not_missed(label)
        flags = {"tt": right, "fact_tt": flagged, "correct_tt": corrected}
    else:
        verdict = judge_rejected if judge == "rejection" else judge_detected
        judged, right = verdict(pl.col("evaluation")), good(label)
        flags = {"tt": right, "rejecttt": judged, "correct_tt": judged & right}
    return {"nums": pl.len(), **{name: flag.sum() for name, flag in flags.items()}}


def _line(noise_rate: str, *, judged: bool) -> pl.Expr:
    """A line of JSON for each response, with the spaces of the standard library."""
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
    # Polars encodes structs only.
    only = pl.struct(text.alias("")).struct.json_encode()
    return only.str.strip_prefix('{"":').str.strip_suffix("}")


def _list(texts: pl.Expr) -> pl.Expr:
    return pl.format("[{}]", texts.list.join(", "))
