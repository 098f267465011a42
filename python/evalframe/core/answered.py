"""Responses joined to the prompts that they answer, in any family."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import polars as pl

from evalframe.core.documents import check_parquet, damage_told, decoded, read_regular
from evalframe.core.errors import (
    ContractError,
    InputError,
    MissingColumnsError,
    ParameterError,
    first_few,
    naming,
)
from evalframe.core.rows import as_expr, columns_read
from evalframe.core.tables import Keys
from evalframe.core.typing import IntoExpr, Source

_PROMPT, _RUN, _RESPONSE, _MODEL = ":prompt", ":run", "response", "model"

_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r"
_LONGEST = 300
_DEEPEST = 50  # the time of Polars grows with the third power of the depth

_KINDS = {
    bool: "true or false",
    int: "numbers",
    float: "numbers",
    str: "texts",
    list: "lists",
    dict: "objects",
}


def read_prompts(
    source: Source, columns: Collection[str], *, id: str | None = None
) -> pl.DataFrame:
    """Columns of prompts, from a table, a Parquet file or JSON lines as written for runners.

    JSON lines have `id` (the column `id`, if that is named), and the other columns in `metadata`.
    """
    asker = "read_responses: prompts"
    if not is_lines(source):
        return _read(source, columns, "prompts", asker).select(columns)
    lines = _read(source, ("id", "metadata"), "prompts", asker)
    if not isinstance(lines.schema["metadata"], pl.Struct):
        raise ParameterError(
            f"{asker} have {lines.schema['metadata']} as metadata, not objects; give the file as it"
            " was written"
        )
    table = lines["metadata"].struct.unnest()
    if id is not None:
        table = table.with_columns(lines["id"].alias(id))
    if missing := {*columns} - {*table.columns}:
        raise MissingColumnsError.of(asker, missing, table.columns)
    return table.select(columns)


def is_lines(source: Source) -> bool:
    """True for prompts as JSON lines, as they are written for runners of evaluations."""
    if isinstance(source, str | Path):
        return Path(source).suffix != ".parquet"
    schema = source.lazy().collect_schema()
    return "metadata" in schema and "prompt_id" not in schema


def answered(
    asked: pl.DataFrame,
    responses: Source,
    *,
    on: str,
    id: IntoExpr,
    response: IntoExpr,
    model: IntoExpr | None,
    by: IntoExpr | Sequence[IntoExpr],
    columns: Sequence[str],
) -> pl.LazyFrame:
    """Join responses to prompts: one row per prompt and run, the response null if missing.

    Columns: `model` (unless None), by..., those of the prompts, `response`, columns...
    """
    check_ids(asked[on].drop_nulls(), "prompts")
    roles = {_PROMPT: as_expr(id), _RESPONSE: as_expr(response)}
    roles |= {} if model is None else {_MODEL: as_expr(model)}
    reserved = [*asked.columns, _RESPONSE, *([] if model is None else [_MODEL])]
    if twice := sorted(name for name in columns if [*reserved, *columns].count(name) > 1):
        raise ParameterError(
            f"read_responses: the result has a column {twice[0]!r} of its own; rename it in the"
            " responses, or leave it out of columns"
        )
    keys = Keys.of(by, taken=[*reserved, *columns])
    run = [*([] if model is None else [_MODEL]), *keys.names]
    required = columns_read([*roles.values(), *keys.exprs, *map(as_expr, columns)])
    table = _read(responses, required, "responses", "read_responses")
    with naming(str(responses)) if isinstance(responses, str | Path) else nullcontext():
        # As columns added, not selected, constants are as long as the table.
        said = table.with_columns(**roles).select(*roles, *keys.exprs, *columns)
        for role, called in ((_PROMPT, "prompt_id"), (_RESPONSE, "response")):
            if said.schema[role] not in (pl.String, pl.Null):
                raise ParameterError(
                    f"read_responses: {called} must be text, but is {said.schema[role]}"
                )
        said = said.cast({_PROMPT: pl.String, _RESPONSE: pl.String})
        _check_responses(said, asked[on], run)
    rows = asked.lazy()
    if run:
        runs = said.select(pl.struct(run).unique(maintain_order=True).implode()).to_series()
        rows = rows.with_columns(pl.lit(runs).alias(_RUN)).explode(_RUN).unnest(_RUN)
    joined = rows.join(
        said.rename({_PROMPT: on}).lazy(),
        on=[*run, on],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return joined.select(*run, *asked.columns, _RESPONSE, *columns)


def check_ids(ids: pl.Series, called: str) -> None:
    """Raise ContractError if an id is null or repeats."""
    if ids.null_count():
        raise ContractError(f"{called}: {ids.null_count():,} prompts have no data set or id")
    repeated = ids.filter(ids.is_duplicated()).unique(maintain_order=True)
    if len(repeated):
        raise ContractError(
            f"{called}: several prompts have the same id: {first_few(repeated)} ({len(repeated):,}"
            f" such id{'s' * (len(repeated) > 1)}); keep one of each, or give the instances ids of"
            " their own"
        )


def _read(source: Source, columns: Collection[str], called: str, needed_by: str) -> pl.DataFrame:
    """The required columns of a frame, or of the table in a file."""
    if isinstance(source, str | Path):
        return _table_in(Path(source), columns, called=called, needed_by=needed_by)
    names = source.lazy().collect_schema().names()
    if missing := {*columns} - {*names}:
        raise MissingColumnsError.of(needed_by, missing, names)
    return source.lazy().select(name for name in names if name in columns).collect()


def _check_responses(responses: pl.DataFrame, ids: pl.Series, run: Sequence[str]) -> None:
    """Check that each response answers one prompt, and each prompt once per run."""
    if responses.is_empty():
        raise ContractError("read_responses: there are no responses; check where they come from")
    if _MODEL in run and (nameless := responses[_MODEL].null_count()):
        raise ContractError(
            f"read_responses: {nameless:,} of {len(responses):,} responses have no model; fill it"
            " in"
        )
    orphans = responses.filter(~pl.col(_PROMPT).is_in(ids.implode()).fill_null(value=False))
    if len(orphans):
        raise ContractError(
            f"read_responses: {len(orphans):,} of {len(responses):,} responses answer none of the"
            f" prompts: {first_few(orphans[_PROMPT])}; give the prompts they were made from, or"
            " drop them"
        )
    key = pl.struct(_PROMPT, *run)
    repeated = responses.filter(key.is_duplicated()).select(key.unique(maintain_order=True))
    if len(repeated):
        parts = [pl.col(name).cast(pl.String).fill_null("null") for name in (_PROMPT, *run)]
        runs = pl.concat_str(parts, separator=" by ")
        raise ContractError(
            "read_responses: prompts were answered more than once by a model:"
            f" {first_few(repeated.unnest(_PROMPT).select(runs).to_series())} ({len(repeated):,} in"
            " all); keep one response of each, or tell the runs apart: by their models, or by a"
            " column that numbers them, named in by (--by or --key)"
        )


def _table_in(path: Path, columns: Collection[str], *, called: str, needed_by: str) -> pl.DataFrame:
    """The required columns of a table in a Parquet file, or in JSON lines.

    JSON lines are read as by the standard library: the last of a repeated key counts. Values of
    different kinds under a name are an InputError, since Polars would turn them into text.
    """
    if path.suffix == ".parquet":
        check_parquet(path, f"{called} {path}", columns)
        with damage_told(f"{called} {path}", "Parquet"):
            lazy = pl.scan_parquet(path, glob=False)
            names = lazy.collect_schema().names()
            table = lazy.select(name for name in names if name in columns).collect()
    else:
        rows = _rows(path, called)
        names = [*dict.fromkeys(name for row in rows for name in row)]
        selected = [{name: row.get(name) for name in names if name in columns} for row in rows]
        table = _table(selected, str(path))
    if missing := {*columns} - {*names}:
        with naming(str(path)):
            raise MissingColumnsError.of(needed_by, missing, names)
    return table


def _rows(path: Path, called: str) -> list[dict[str, Any]]:
    """An object for each line that is not blank."""
    import msgspec

    try:
        data = read_regular(path).removeprefix(_BOM)
    except OSError as error:
        raise InputError(f"cannot read {called} {path}: {error.strerror or error}") from error
    lines = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip(_SPACE)]
    try:
        rows = msgspec.json.Decoder(dict[str, Any]).decode_lines(data)
    except (msgspec.DecodeError, ValueError, RecursionError):
        rows = []
    # A line of two objects gives two rows; the standard library reports that and other faults.
    if len(rows) == len(lines):
        return rows
    return [_object(line, f"{path}, line {number:,}") for number, line in lines]


def _object(line: bytes, place: str) -> dict[str, Any]:
    value = decoded(line.strip(_SPACE), place)
    if not isinstance(value, dict):
        raise InputError(f"{place}: each line must be a JSON object, but is {value!r:.80}")
    return value


def _table(rows: list[dict[str, Any]], file: str) -> pl.DataFrame:
    """The table of rows with the same keys."""
    for name in rows[0] if rows else ():
        if place := _mixed([row[name] for row in rows], name):
            raise InputError(f"{file}: {place}; give all lines the same kind of value there")
    try:
        return pl.from_dicts(rows, infer_schema_length=None) if rows else pl.DataFrame()
    except (ValueError, OverflowError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{file}: a value fits into no column: {error!s:.{_LONGEST}}") from error


def _mixed(values: list[Any], place: str, depth: int = 0) -> str | None:
    """The first place with values of several kinds, or None."""
    if depth > _DEEPEST:
        return f"{place[:_LONGEST]} is nested more than {_DEEPEST} deep"
    known = [value for value in values if value is not None]
    kinds = sorted({_KINDS[type(value)] for value in known})
    if len(kinds) > 1:
        return f"{place!r} is {' and '.join(kinds)}"
    if kinds == ["lists"]:
        return _mixed([entry for value in known for entry in value], f"{place}[]", depth + 1)
    if kinds == ["objects"]:
        names = dict.fromkeys(name for value in known for name in value)
        faults = (
            _mixed([value.get(name) for value in known], f"{place}.{name}", depth + 1)
            for name in names
        )
        return next(filter(None, faults), None)
    return None
