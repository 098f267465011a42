"""Items as files of Every Eval Ever 0.3: an aggregate file per log, and its samples beside it."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import uuid
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import polars as pl

from evalframe.core.choices import check_choice
from evalframe.core.errors import MissingColumnsError, OutputError
from evalframe.core.files import replacing_all
from evalframe.core.frames import any_frame
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.logs.every_eval_ever.reading import ENDING, PARAMETERS
from evalframe.logs.lines import as_json
from evalframe.logs.table import DTYPES, METADATA

Relationship: TypeAlias = Literal["first_party", "third_party", "collaborative", "other"]

VERSION = "0.3.0"
_SLICE = 50_000
"""Lines that are turned into text at once."""
_LOG = ("log", "run_id", "log_id", "format", "model")
"""What tells apart the logs that a table has."""
_RESULT = ("task", "scorer", "score_name", "dataset")
"""What tells apart the results of a log."""
_ID = "result"
_UNKNOWN = "unknown"
_UNFIT = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d|data)(\..*)?$")


class _Output(NamedTuple):
    """A log that is written: its files below the folder, without their endings, and its rows."""

    place: str
    rows: pl.DataFrame
    left_out: int


@any_frame
def write_every_eval_ever(
    items: Frame,
    folder: str | Path,
    *,
    organization: str,
    relationship: Relationship = "third_party",
    lower_is_better: Collection[str] = (),
    created_at: str | None = None,
    overwrite: bool = False,
) -> pl.DataFrame:
    """Write an items table as files that Every Eval Ever 0.3 accepts.

    Each log becomes `{dataset}/{developer}/{model}/{uuid}.json`, with a result for each task,
    scorer and score name, and `{uuid}_samples.jsonl` beside it, a line for each score; the same log
    has the same uuid each time. A result is the mean over samples of the mean over their epochs,
    with the standard error of that mean. `ef.read_every_eval_ever` gives the scored rows back:
    task, model, dataset, scorer, score_name, sample_id, epoch, score, answer, target, error, tokens
    (if input and output are known), total_time and metadata as text.

    Args:
        items: Columns task, model, sample_id and score, and others of `ef.read_logs`; a column
            `input` is the prompt, else it is empty. A sample is correct if its score is 1 or more.
        folder: The folder `data` of the collection, or one to be copied into it.
        organization: Who publishes the scores.
        relationship: Of the organization to the developer of the model.
        lower_is_better: Scorers whose lower scores are better.
        created_at: The time in the files, in seconds since 1970 as text; by default now.
        overwrite: Replace existing files.

    Returns:
        A row per file of samples: file, rows, and left_out (rows without a finite score, which the
        format cannot hold).

    Raises:
        MissingColumnsError: A column is missing.
        OutputError: A file exists already, or cannot be written.
        ParameterError: A relationship has another name.

    Examples:
        >>> import polars as pl, evalframe as ef, tempfile
        >>> row = {"task": "sums", "model": "org/m", "scorer": "acc", "sample_id": ["1", "2"]}
        >>> items = pl.DataFrame({**row, "score": [1.0, None]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = ef.write_every_eval_ever(items, folder, organization="org")
        ...     back = ef.read_every_eval_ever(folder).select("model", "scorer", "score").collect()
        >>> files.select("rows", "left_out").rows(), back.rows()
        ([(1, 1)], [('org/m', 'acc', 1.0)])
    """
    check_choice("relationship", relationship, Relationship)
    root = Path(folder)
    outputs = [*_outputs(_completed(lazy(items).collect()))]
    paths = [root / f"{each.place}{ending}" for each in outputs for ending in (ENDING, ".json")]
    if (existing := [path for path in paths if path.exists()]) and not overwrite:
        raise OutputError(
            f"{len(existing):,} of {len(paths):,} files exist already, the first {existing[0]}; "
            "write to another folder, or replace them by overwrite=True"
        )
    moment = str(time.time()) if created_at is None else created_at
    source = {
        "source_type": "evaluation_run",
        "source_organization_name": organization,
        "evaluator_relationship": relationship,
    }
    try:
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write to {root}: {error.strerror or error}") from error
    with replacing_all(paths) as partials:
        for each, samples, aggregate in zip(outputs, partials[::2], partials[1::2], strict=True):
            document = _aggregate(each, source, moment, frozenset(lower_is_better))
            checksum = _write_samples(each.rows, document, samples)
            document["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"data/{each.place}{ENDING}",
                "hash_algorithm": "sha256",
                "checksum": checksum,
                "total_rows": len(each.rows),
            }
            aggregate.write_text(json.dumps(document, indent=2, ensure_ascii=False))
    return pl.DataFrame(
        [
            (str(path), len(each.rows), each.left_out)
            for path, each in zip(paths[::2], outputs, strict=True)
        ],
        schema={"file": pl.String, "rows": pl.Int64, "left_out": pl.Int64},
        orient="row",
    )


def _completed(items: pl.DataFrame) -> pl.DataFrame:
    """All columns that are written, null where the table has none."""
    if missing := {"task", "model", "sample_id", "score"} - {*items.columns}:
        raise MissingColumnsError.of("write_every_eval_ever", missing, items.columns)
    texts = ("input", *_LOG, *_RESULT, "sample_id", "answer", "target", "error")
    numbers = ("score", "epoch", "total_time", "input_tokens", "output_tokens", "total_tokens")
    dtypes = {**dict.fromkeys(texts, pl.String()), **{name: DTYPES[name] for name in numbers}}
    dtypes["is_error"] = pl.Boolean()
    known = items.select(
        (pl.col(name) if name in items.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in dtypes.items()
    )
    metadata = [name for name in items.columns if name.startswith(METADATA)]
    return known.with_columns(
        pl.col("epoch").fill_null(1),
        pl.col("task", "model").fill_null(_UNKNOWN),
        *(items[name].cast(pl.String) for name in metadata),
    )


def _outputs(items: pl.DataFrame) -> Iterator[_Output]:
    """Each log that has scores, with its place in the folder."""
    for rows in items.partition_by(_LOG, maintain_order=True):
        kept = rows.filter(pl.col("score").is_finite())
        if kept.is_empty():
            continue
        first = kept.row(0, named=True)
        names = [first[name] for name in _LOG] + kept["task"].unique().sort().to_list()
        digest = hashlib.sha256(json.dumps(names).encode()).digest()
        datasets = kept["dataset"].unique().to_list()
        collection = datasets[0] if len(datasets) == 1 and datasets[0] else first["task"]
        developer, slash, model = first["model"].partition("/")
        parts = (collection, *((developer, model) if slash else (_UNKNOWN, developer)))
        place = "/".join((*map(_as_name, parts), str(uuid.UUID(bytes=digest[:16], version=4))))
        results = kept.select(_RESULT).unique()
        ids = pl.Series(_ID, [as_json(each) for each in results.rows()], dtype=pl.String)
        kept = kept.join(
            results.with_columns(ids),
            on=_RESULT,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        yield _Output(place, kept, len(rows) - len(kept))


def _as_name(text: str) -> str:
    """A text as the name of a file or folder on any system."""
    name = _UNFIT.sub("_", text).rstrip(". ")[:100] or "_"
    return f"_{name}" if _DEVICES.match(name) or name.startswith(".") else name


def _aggregate(
    output: _Output, source: dict[str, str], moment: str, lower_is_better: frozenset[str]
) -> dict[str, Any]:
    """The aggregate file, without its samples."""
    first = output.rows.row(0, named=True)
    developer, slash, _ = first["model"].partition("/")
    per_sample = output.rows.group_by(*_RESULT, "sample_id").agg(pl.col("score").mean())
    score = pl.col("score")
    results = per_sample.group_by(_RESULT).agg(
        score.mean(), n=pl.len(), error=score.std() / pl.len().sqrt()
    )
    return {
        "schema_version": VERSION,
        "evaluation_id": f"{output.place.partition('/')[0]}/{first['model']}/{moment}",
        "retrieved_timestamp": moment,
        "source_metadata": source,
        "eval_library": {"name": first["format"] or _UNKNOWN, "version": _UNKNOWN},
        "model_info": {
            "name": first["model"],
            "id": first["model"],
            **({"developer": developer} if slash else {}),
            "additional_details": {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN},
        },
        "evaluation_results": [
            _result(row, row["scorer"] in lower_is_better)
            for row in results.sort(_RESULT).iter_rows(named=True)
        ],
    }


def _result(row: dict[str, Any], is_lower_better: bool) -> dict[str, Any]:
    """A published result; it has the same id as its lines."""
    metric = {name: row["scorer"] for name in ("metric_id", "metric_name") if row["scorer"]}
    uncertainty: dict[str, Any] = {"num_samples": row["n"]}
    if row["error"] is not None and math.isfinite(row["error"]):
        uncertainty["standard_error"] = {"value": row["error"], "method": "analytic"}
    return {
        "evaluation_result_id": as_json([row[name] for name in _RESULT]),
        "evaluation_name": row["task"],
        "source_data": {"dataset_name": row["dataset"] or row["task"], "source_type": "other"},
        "metric_config": {
            **metric,
            "lower_is_better": is_lower_better,
            PARAMETERS: {"score_name": row["score_name"]},
        },
        "score_details": {"score": row["score"], "uncertainty": uncertainty},
    }


def _write_samples(rows: pl.DataFrame, document: dict[str, Any], path: Path) -> str:
    """Write the lines; their checksum."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for part in rows.iter_slices(_SLICE):
            lines = part.select(_line(part.columns, document["evaluation_id"])).to_series()
            text = "".join(f"{line}\n" for line in lines).encode()
            digest.update(text)
            file.write(text)
    return digest.hexdigest()


def _line(columns: Collection[str], evaluation_id: str) -> pl.Expr:
    """The line of a score as JSON text."""
    text, none = pl.String(), pl.lit(None)
    tokens = pl.struct(
        "input_tokens",
        "output_tokens",
        total_tokens=pl.coalesce("total_tokens", pl.col("input_tokens") + pl.col("output_tokens")),
    )
    has_tokens = pl.all_horizontal(pl.col("input_tokens", "output_tokens").is_not_null())
    milliseconds = pl.struct(generation_time_ms=pl.col("total_time") * 1_000)
    error = pl.when(pl.col("is_error")).then(pl.col("error").fill_null("failed"))
    line = pl.struct(
        schema_version=pl.lit(VERSION),
        evaluation_id=pl.lit(evaluation_id),
        model_id="model",
        evaluation_name="task",
        evaluation_result_id=_ID,
        sample_id="sample_id",
        interaction_type=pl.lit("single_turn"),
        input=pl.struct(raw=pl.col("input").fill_null(""), reference=_listed("target")),
        output=pl.struct(raw=_listed("answer")),
        messages=none.cast(text),
        answer_attribution=pl.lit([], pl.List(text)),
        evaluation=pl.struct("score", is_correct=pl.col("score") >= 1),
        token_usage=pl.when(has_tokens).then(tokens),
        performance=pl.when(pl.col("total_time").is_not_null()).then(milliseconds),
        error=pl.coalesce(error, "error"),
    ).struct.json_encode()
    entries = [_entry("epoch", pl.col("epoch").cast(text))]
    entries += [
        _entry(name.removeprefix(METADATA), pl.col(name))
        for name in columns
        if name.startswith(METADATA) and name != f"{METADATA}epoch"
    ]
    metadata = pl.concat_str(entries, separator=",", ignore_nulls=True)
    begin = line.str.strip_suffix("}")
    return pl.concat_str(begin, pl.lit(',"metadata":{'), metadata, pl.lit("}}"))


def _listed(name: str) -> pl.Expr:
    """A list of the text, empty where it is null."""
    return (
        pl.when(pl.col(name).is_null())
        .then(pl.lit([], pl.List(pl.String)))
        .otherwise(pl.concat_list(name))
    )


def _entry(name: str, value: pl.Expr) -> pl.Expr:
    """An entry of an object as JSON text, null where the value is."""
    pair = pl.struct(value.alias(name)).struct.json_encode().str.slice(1)
    return pl.when(value.is_not_null()).then(pair.str.strip_suffix("}"))
