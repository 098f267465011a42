"""Published stats of a HELM run, recomputed from the stats of its instances.

A published stat is a mean over trials of a mean over instances, in one split and perturbation. The
worst case of an instance is the smallest of its values, the original one among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from evalframe.logs.checking import Check
from evalframe.logs.helm.run import facts
from evalframe.logs.helm.stats import canonical, label, read_stats, score_name
from evalframe.logs.lines import Whole, items_of

if TYPE_CHECKING:
    from evalframe.logs.reading import Log

FILE = "stats.json"
_NAME = ("name", "split", "sub_split")
_OF = (*_NAME, "perturbation")
_KINDS = ("robustness", "fairness")
_PUBLISHED = {
    **dict.fromkeys((*_OF, "label"), pl.String),
    "count": pl.Int64,
    "published": pl.Float64,
}


class _Name(msgspec.Struct):
    name: str
    split: str | None = None
    sub_split: str | None = None
    perturbation: dict[str, Any] | None = None


class _Stat(msgspec.Struct):
    name: _Name
    count: Whole = 0
    sum: float = 0.0


def check(log: Log) -> Iterator[Check]:
    """All published stats that have a value."""
    if not (log.path / FILE).is_file():
        return
    task = facts(log)["task"]
    published = _published(log.path)
    known = _recomputed(read_stats(log.path).filter(pl.col("count") > 0))
    both = published.join(known, on=_OF, how="left", nulls_equal=True, maintain_order="left")
    missing = "computed from all instances at once"
    for name, split, published_mean, found in both.select(
        "name", score_name(), "published", "mean"
    ).iter_rows():
        note = missing if found is None else None
        yield Check(task, name, split, "mean", None, published_mean, found, note)


def _published(folder: Path) -> pl.DataFrame:
    rows = [
        (
            each.name.name,
            each.name.split,
            each.name.sub_split,
            canonical(each.name.perturbation),
            label(each.name.perturbation, str(folder / FILE)),
            each.count,
            each.sum / each.count,
        )
        for found in items_of(folder / FILE, None, ("name", "perturbation"), _Stat)
        for each in found
        if each.count > 0
    ]
    return pl.DataFrame(rows, schema=_PUBLISHED, orient="row")


def _recomputed(stats: pl.DataFrame) -> pl.DataFrame:
    """The mean over trials of every stat, worst case and derived stat."""
    sums = stats.group_by("trial", *_OF).agg(pl.col("sum", "count").sum())
    found = [sums, *_derived(sums), _worst(stats), _before(stats)]
    trials = pl.concat([each.select("trial", *_OF, "sum", "count") for each in found])
    means = trials.with_columns(mean=pl.col("sum") / pl.col("count"))
    return means.group_by(_OF).agg(pl.col("mean").mean())


def _derived(sums: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Stats of the sums of a trial: perplexity, bits per byte, log probability per byte."""
    context = ("trial", *_OF[1:])
    names = ("logprob", "num_perplexity_tokens", "num_bytes")
    parts = sums.filter(pl.col("name").is_in(names))
    if parts.is_empty():
        return
    wide = parts.pivot("name", index=context, values="sum")
    wide = wide.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in names if name not in wide.columns
    )
    logprob, tokens, n_bytes = map(pl.col, names)
    for name, value in {
        "perplexity": (-logprob / tokens).exp(),
        "bits_per_byte": -logprob / n_bytes / pl.lit(2.0).log(),
        "logprob_per_byte": logprob / n_bytes,
    }.items():
        yield wide.with_columns(name=pl.lit(name), sum=value, count=pl.lit(1, pl.Int64)).filter(
            pl.col("sum").is_not_null() & pl.col("sum").is_not_nan()
        )


def _kind(perturbation: pl.Expr, kind: str) -> pl.Expr:
    return perturbation.str.json_path_match(f"$.{kind}") == "true"


def _worst(stats: pl.DataFrame) -> pl.DataFrame:
    """The worst value of each instance: over all perturbations of a kind, and over each."""
    each = ("trial", "sample_id", *_NAME)
    perturbation = pl.col("perturbation")
    parts = []
    for kind in _KINDS:
        flags: dict[str, Any] = {other: kind == other for other in _KINDS}
        text = canonical({"name": kind, "computed_on": "worst", **flags})
        of_kind = stats.filter(perturbation.is_null() | _kind(perturbation, kind))
        lowest = of_kind.group_by(each).agg(pl.col("min").min())
        parts.append(lowest.with_columns(perturbation=pl.lit(text)))
    original = stats.filter(perturbation.is_null()).select(*each, original="min")
    perturbed = stats.filter(perturbation.is_not_null())
    joined = perturbed.join(original, on=each, how="left", nulls_equal=True)
    parts.append(
        joined.select(
            *each,
            min=pl.min_horizontal("min", "original"),
            perturbation=_computed_on("worst"),
        )
    )
    return _added(pl.concat(parts), "min")


def _before(stats: pl.DataFrame) -> pl.DataFrame:
    """The original instances of which there is a perturbed one."""
    each = ("trial", "sample_id", *_NAME)
    perturbation = pl.col("perturbation")
    perturbed = stats.filter(perturbation.is_not_null()).select(
        *each, perturbation=_computed_on("original")
    )
    original = stats.filter(perturbation.is_null()).select(*each, "sum", "count")
    joined = original.join(perturbed, on=each, nulls_equal=True)
    return joined.group_by("trial", *_OF).agg(pl.col("sum", "count").sum())


def _computed_on(what: str) -> pl.Expr:
    return pl.col("perturbation").str.replace(
        '"computed_on":"perturbed"', f'"computed_on":"{what}"', literal=True
    )


def _added(values: pl.DataFrame, column: str) -> pl.DataFrame:
    """Sums of one value per instance."""
    sums = (pl.col(column).sum().alias("sum"), pl.len().cast(pl.Int64).alias("count"))
    return values.group_by("trial", *_OF).agg(sums)
