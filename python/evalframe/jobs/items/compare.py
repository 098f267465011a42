"""Compare systems of a table: differences, the items on which two differ, and a gate for CI."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import evalframe as ef
from evalframe.core.errors import OutputError, ParameterError
from evalframe.core.files import check_replaceable, replacing
from evalframe.core.rows import columns_read
from evalframe.core.scan import reading
from evalframe.jobs.family import LeftOut
from evalframe.jobs.items.records import Records, of_items, records_of
from evalframe.jobs.items.run import printed
from evalframe.ranking import best_end

if TYPE_CHECKING:
    from evalframe.jobs.family import Outcome, Place
    from evalframe.jobs.items import CompareJob

TABLES = ("differences", "disagreements")
"""Tables that are written to a folder, as Parquet files of these names."""

GOOD, BAD, OPEN = "no regression", "regression", "undecided"
CODES = {GOOD: 0, BAD: 1, OPEN: 3}
"""Exit codes of the decisions of a gate."""

_EQUAL = 1e-12


def compare(job: CompareJob, place: Place) -> Outcome:
    """The differences of all pairs, or of all systems from a baseline."""
    if place.summary is not None:
        _check_summary(place.summary, place.targets)
    records = records_of(job, place, [job.between])
    with reading(", ".join(job.items), "is it whole?"):
        result = records.rows.given_to(
            ef.compare,
            records.metrics,
            between=job.between,
            baseline=_baseline(job, records.rows.schema),
            paired=not job.unpaired,
            by=records.keys,
            weight=job.weight,
            resample=records.resample(job),
            test=job.test,
            correction=job.correction,
        )
        differing = _disagreements(job, place.folder, records, result)
    notes, title, code = [*records.notes, *records.left_out(job.between)], "", 0
    notes += _unshared(job, records, result)
    if job.margin is not None:
        result = _decided(job, job.margin, records, result)
        title, code = _decision(job.margin, result)
        notes = [*notes, title]
    first = differing.group_by(_pair(records), maintain_order=True).head(job.disagreements)
    shown = {"disagreements": first} if job.disagreements else {}
    outcome = records.outcome(
        job,
        result,
        TABLES[0],
        tables=lambda: dict(zip(TABLES, (result, differing), strict=True)),
        notes=notes,
        shown=shown,
        code=code,
    )
    if place.summary is None:
        return outcome
    text = printed(
        result, records.keys, markdown=True, level=job.shown_level, notes=notes, **outcome.shown
    )
    headed = f"**{title}**\n\n{text}" if title else text
    return replace(outcome, beside=partial(_write, place.summary, headed))


def _baseline(job: CompareJob, schema: pl.Schema) -> object:
    """The baseline, typed as the systems are."""
    if job.baseline is None:
        return None
    value = pl.Series([job.baseline]).cast(schema[job.between], strict=False).item()
    return job.baseline if value is None else value


def _disagreements(
    job: CompareJob, folder: Path, records: Records, result: pl.DataFrame
) -> pl.DataFrame:
    """The items on which the systems of a pair differ, the largest differences first."""
    if not job.disagreements or records.cluster is None:
        return pl.DataFrame(schema={name: pl.String for name in _pair(records)})
    items = sorted(columns_read([records.cluster]))
    metrics = of_items(job, folder, records.rows.schema, items, records.metrics)
    by = [*records.keys, job.between, *items]
    values = records.rows.given_to(ef.evaluate, metrics, by=by, weight=job.weight)
    values = values.select(*by, "metric", "estimate")
    pairs, outer = result.select(_pair(records)), [*records.keys, "metric"]
    for side in ("left", "right"):
        of_side = values.rename({job.between: side, "estimate": f"estimate_{side}"})
        on = [*outer, side, *(items if side == "right" else ())]
        pairs = pairs.join(of_side, on=on, nulls_equal=True)
    delta = pl.col("estimate_right") - pl.col("estimate_left")
    return (
        pairs.with_columns(delta.alias("delta"), pl.col(items).cast(pl.String))
        .filter(pl.col("delta").abs() > _EQUAL)
        .sort(*_pair(records), -pl.col("delta").abs(), *items)
    )


_ITEM = ":item"


def _items(by: Sequence[str], item: pl.Expr, table: pl.LazyFrame) -> pl.LazyFrame:
    """The items of each group."""
    return table.select(*by, item).unique()


def _unshared(job: CompareJob, records: Records, result: pl.DataFrame) -> list[str]:
    """A note on the items that only one system of a pair has, if there are any."""
    if job.unpaired or records.cluster is None:
        return []
    by = [*records.keys, job.between]
    parts = records.rows.collect(partial(_items, by, records.cluster.alias(_ITEM)))
    counts = parts.group_by(by).agg(pl.col(_ITEM).n_unique().alias("n"))
    pairs = result.select(*_pair(records), "n_clusters")
    for side in ("left", "right"):
        of_side = counts.rename({job.between: side, "n": f"n_{side}"})
        pairs = pairs.join(of_side, on=[*records.keys, side], how="left", nulls_equal=True)
    alone = pl.col("n_left") + pl.col("n_right") - 2 * pl.col("n_clusters")
    worst = pairs.with_columns(alone=alone).sort("alone", descending=True).row(0, named=True)
    if worst["alone"] <= 0:
        return []
    note = (
        f"Items that only one of two systems has are left out: of {worst['left']} and "
        f"{worst['right']} {worst['alone']:,}, and {worst['n_clusters']:,} remain"
    )
    return [LeftOut(note + ("; no pair loses more." if len(pairs) > 1 else "."))]


def _pair(records: Records) -> list[str]:
    return [*records.keys, "metric", "left", "right"]


def _decided(
    job: CompareJob, margin: float, records: Records, result: pl.DataFrame
) -> pl.DataFrame:
    """The result with a decision for each difference, and how many items would make it.

    Standard errors fall with the square root of the number of items: if the estimate stays, n
    items with its distance h from the nearer end of the interval become n (h / d)^2 at a distance
    d from the margin. Where no item differs the interval has no width, although a share s of all
    items may differ that n items miss with the probability (1 - s)^n; it is widened by that share,
    as if a difference were 1.
    """
    signs = {  # of a difference that is worse
        metric.bound.name: 1.0 if best_end(metric.bound, job.best) == "lowest" else -1.0
        for metric in records.metrics
    }
    sign = pl.col("metric").replace_strict(signs, return_dtype=pl.Float64)
    worse = pl.col("delta") * sign
    low = pl.when(sign > 0).then("lower").otherwise(-pl.col("upper"))
    high = pl.when(sign > 0).then("upper").otherwise(-pl.col("lower"))
    n = pl.sum_horizontal(name for name in result.columns if name.startswith("n_clusters"))
    missed = (1 - job.bootstrap.level) / 2
    is_flat = pl.col("lower") == pl.col("upper")
    high = high + pl.when(is_flat).then(1 - missed ** (1 / n)).otherwise(0.0)
    half = pl.when(worse > margin).then(worse - low).otherwise(high - worse)
    flat = math.log(missed) / (margin - worse).clip(0, 1).neg().log1p()
    needed = pl.when(is_flat).then(flat).otherwise(n * (half / (worse - margin)) ** 2)
    decision = (
        pl.when(high <= margin)
        .then(pl.lit(GOOD))
        .when(low > margin)
        .then(pl.lit(BAD))
        .otherwise(pl.lit(OPEN))
    )
    is_open = decision == OPEN
    finite = is_open & needed.is_finite() & (needed < 1e15)
    return result.with_columns(
        decision=decision, n_to_decide=pl.when(finite).then(needed.ceil()).cast(pl.Int64)
    )


def _decision(margin: float, result: pl.DataFrame) -> tuple[str, int]:
    """The decision of a gate in words, and its exit code."""
    count = {each: int((result["decision"] == each).sum()) for each in CODES}
    of_all = f"of {len(result):,} comparisons"
    head = f"Gate, regression > {margin:g}: "
    if count[BAD]:
        return f"{head}regression in {count[BAD]:,} {of_all}.", CODES[BAD]
    if count[OPEN]:
        needed = result["n_to_decide"].drop_nulls().to_list()
        told = "no number of items is known to decide"
        if needed:
            told = f"about {max(needed):,} items would decide, if the estimates stay"
        return f"{head}undecided in {count[OPEN]:,} {of_all}; {told}.", CODES[OPEN]
    return f"{head}no regression in {count[GOOD]:,} {of_all}.", CODES[GOOD]


def _check_summary(path: Path, targets: Sequence[Path]) -> None:
    if path.suffix.lower() != ".md":
        raise OutputError(f"cannot write {path.name}: the summary is Markdown; name it .md")
    if path in targets:
        raise ParameterError(f"the output and the summary would both be {path}; name another")
    check_replaceable(path)


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8")
