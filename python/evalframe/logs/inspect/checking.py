"""Numbers that an Inspect log publishes, recomputed from its rows.

The path of each is Inspect's: the epochs of a sample are reduced to one value, samples without one
are left out, and the metric is taken over the others. A metric that reads single epochs, such as
`frequency`, is recognised by its number of scores.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl
from msgspec import Struct, structs

from evalframe.logs.checking import Check
from evalframe.logs.inspect.records import converted
from evalframe.logs.table import METADATA, Wanted

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.logs.inspect.records import Header

Param = TypeVar("Param")

_COLUMNS = frozenset({"sample_id", "epoch", "scorer", "score_name", "score", "value"})
_OF_COUNTS = re.compile(r"(at_least|pass_at|pass_k)_(\d{1,9})")
_RESAMPLES = 1_000
_FEW = 2


class Metric(Struct):
    """A published number; of several that a metric gives, the metric is its group."""

    name: str
    value: float | None = None
    group: str | None = None
    params: dict[str, Any] | None = None

    @property
    def kind(self) -> str:
        """The metric without its package."""
        return (self.group or self.name).rpartition("/")[2]

    def param(self, name: str, kind: type[Param], default: Param) -> Param:
        """A parameter, if it is of this type."""
        value = (self.params or {}).get(name, default)
        return value if isinstance(value, kind) else default

    @property
    def keys(self) -> list[str]:
        """The metadata that it groups by."""
        return [key for name in ("cluster", "group_key") if (key := self.param(name, str, ""))]


class Published(Struct):
    """Metrics of one score, and how epochs were reduced for them."""

    name: str
    scorer: str | None = None
    reducer: str | None = None
    scored_samples: int | None = None
    unscored_samples: int | None = None
    metrics: dict[str, Metric] = {}


class Results(Struct):
    """All that is published; old logs have one score, with its metrics beside it."""

    total_samples: int | None = None
    scores: list[Published] | None = None
    scorer: Published | None = None
    metrics: dict[str, Metric] | None = None


def checks(header: Header, rows: Callable[[Wanted], pl.DataFrame], name: str) -> Iterator[Check]:
    """Each published number with what the rows give, or why they give nothing.

    Args:
        header: The header of the log.
        rows: Reads the rows of the log, with these columns.
        name: The log in messages.
    """
    results: Results = converted(header.results or {}, Results, f"{name}, results")
    entries = results.scores or []
    if not entries and results.scorer is not None:
        entries = [structs.replace(results.scorer, metrics=results.metrics or {})]
    if not any(entry.metrics for entry in entries):
        return
    keys = {key for entry in entries for metric in entry.metrics.values() for key in metric.keys}
    table = rows(Wanted(_COLUMNS, tuple(sorted(keys))))
    reducers = None if header.eval.config is None else header.eval.config.epochs_reducer
    lacking = _lacking(results, table)
    for entry in entries:
        scorer = entry.scorer or entry.name
        own = table.filter(pl.col("value").is_not_null(), scorer=scorer, score_name=entry.name)
        reduced, fault = _reduced(own, entry, reducers)
        if own.is_empty() and scorer in table["scorer"]:
            fault = fault or "it takes whole objects or lists, whose parts are the rows"
        for key, metric in entry.metrics.items():
            value, why, tolerance = None, fault, 1e-9
            if reduced is not None and fault is None:
                value, tolerance = _recomputed(metric, reduced)
                why = f"{metric.kind} is not recomputed" if value is None else None
            if metric.value is not None:
                told = (header.eval.task, scorer, entry.name, key, entry.reducer, metric.value)
                check = Check(*told, value, why, tolerance)
                yield check._replace(note=why or lacking) if check.follows is False else check


def _lacking(results: Results, table: pl.DataFrame) -> str | None:
    planned = results.total_samples
    found = table.select(pl.struct("sample_id", "epoch").n_unique()).item()
    if planned is not None and found < planned:
        return f"the log has {found:,} of {planned:,} samples"
    return None


def _reduced(
    rows: pl.DataFrame, entry: Published, reducers: list[str] | None
) -> tuple[pl.DataFrame | None, str | None]:
    """A row per sample, or per epoch if they are not reduced, in order; or why there is none."""
    total = (entry.scored_samples or 0) + (entry.unscored_samples or 0)
    single = total == len(rows) != rows["sample_id"].n_unique()
    if entry.reducer is None and (single or reducers == []):
        return rows.rename({"score": "x"}).filter(pl.col("x").is_not_null()), None
    name = (entry.reducer or "mean").rpartition("/")[2]
    score, raw = pl.col("score"), _raw()
    first = pl.col(f"^{METADATA}.*$").first()
    groups = rows.group_by("sample_id", maintain_order=True)
    if name in ("mean", "median", "max"):
        x = getattr(score, name)()
    elif name in ("mode", "majority"):
        return _most_common(rows.with_columns(raw), of_all=name == "majority"), None
    elif (match := _OF_COUNTS.fullmatch(name)) is not None:
        counted = groups.agg(first, n=score.count(), c=(score >= 1.0).sum())
        pairs = counted.select("n", "c").unique()
        values = [_of_counts(match[1], int(match[2]), *pair) for pair in pairs.rows()]
        known = pairs.with_columns(pl.Series("x", values, pl.Float64))
        joined = counted.join(known, on=["n", "c"], how="left", maintain_order="left")
        return joined.filter(pl.col("x").is_not_null()), None
    else:
        return None, f"reducer {name} is not recomputed"
    return groups.agg(first, x=x).filter(pl.col("x").is_not_null()), None


def _raw() -> pl.Expr:
    """Raw values as they compare in Python: 1, 1.0 and true are the same, texts are themselves."""
    is_text = pl.col("value").str.starts_with('"')
    text = pl.when(is_text).then("value").otherwise(pl.col("score").cast(pl.String))
    return pl.when(pl.col("score").is_not_null()).then(text).alias("raw")


def _most_common(rows: pl.DataFrame, *, of_all: bool) -> pl.DataFrame:
    """For each sample its most common raw value, the first of several; or that of a majority."""
    each = ["sample_id", "raw"]
    counted = rows.with_columns(all=pl.len().over("sample_id")).filter(pl.col("raw").is_not_null())
    metadata = pl.col(f"^{METADATA}.*$").first()
    values = counted.group_by(each, maintain_order=True).agg(
        metadata, pl.col("all").first(), x=pl.col("score").first(), times=pl.len()
    )
    most = values.filter(pl.col("times") == pl.col("times").max().over("sample_id"))
    chosen = most.unique("sample_id", keep="first", maintain_order=True)
    return chosen.filter(pl.col("times") * 2 > pl.col("all")) if of_all else chosen


def _of_counts(kind: str, k: int, n: int, c: int) -> float | None:
    """A reduced value of n epochs, c of which are right.

    >>> _of_counts("pass_at", 2, 3, 1), _of_counts("pass_k", 2, 3, 2)
    (0.6666666666666667, 0.3333333333333333)
    """
    if n == 0:
        return None
    if kind == "at_least":
        return float(c >= k)
    if n < k:
        return None
    if kind == "pass_at":
        return 1 - math.comb(n - c, k) / math.comb(n, k)
    return math.comb(c, k) / math.comb(n, k)


def _recomputed(metric: Metric, rows: pl.DataFrame) -> tuple[float | None, float]:
    """A metric over reduced rows, and how far it may be off; null if it is not known."""
    if metric.kind == "grouped":
        return _grouped(metric, rows), 1e-9
    if metric.kind == "frequency":
        texts = Counter(str(json.loads(text)) for text in rows["value"])
        times = float(texts[metric.name])
        share = times / len(rows) if len(rows) else 0.0
        return (share if metric.param("normalize", bool, default=True) else times), 1e-9
    x = rows["x"].to_numpy()
    if metric.kind == "bootstrap_stderr":
        noise = 5 / math.sqrt(2 * max(1, metric.param("num_samples", int, _RESAMPLES)))
        spread = float(x.std()) / math.sqrt(len(x)) if len(x) else 0.0
        return spread, noise * spread + 1e-9
    clusters = None
    if key := metric.param("cluster", str, ""):
        clusters = rows[METADATA + key]
        if clusters.null_count():
            return None, 1e-9
    return _of_values(metric, x, clusters), 1e-9


def _of_values(metric: Metric, x: Floats, clusters: pl.Series | None) -> float | None:
    n, kind, name = len(x), metric.kind, metric.name
    if kind not in ("accuracy", "mean", "std", "var", "stderr", "ci"):
        return None
    if n == 0:
        return math.nan
    mean = float(x.mean())
    if kind in ("accuracy", "mean"):
        return mean
    if kind == "ci" and (metric.param("method", str, "t") != "t" or name not in ("lower", "upper")):
        return None
    if n < _FEW:
        return mean if kind == "ci" else 0.0
    variance = float(x.var(ddof=1))
    if kind in ("var", "std"):
        return variance if kind == "var" else math.sqrt(variance)
    error, degrees = math.sqrt(variance / n), n - 1
    if clusters is not None:
        error, groups = _clustered(x - mean, clusters)
        degrees = max(groups - 1, 1)
    if kind == "stderr":
        return error
    from scipy.special import stdtrit

    half = error * float(stdtrit(degrees, 0.5 + metric.param("level", float, 0.95) / 2))
    return mean - half if name == "lower" else mean + half


def _clustered(residuals: Floats, clusters: pl.Series) -> tuple[float, int]:
    """The standard error of a mean whose samples come in clusters, and their number."""
    table = pl.DataFrame({"x": residuals, "g": clusters})
    sums = table.group_by("g", maintain_order=True).agg(pl.col("x").sum())["x"].to_numpy()
    if (groups := len(sums)) < _FEW:
        return 0.0, groups
    return math.sqrt(float(sums @ sums) * groups / (groups - 1)) / len(residuals), groups


def _grouped(metric: Metric, rows: pl.DataFrame) -> float | None:
    """A metric of one group of samples, of all samples, or the mean over groups."""
    inner, key = metric.param("metric", dict, {}), metric.param("group_key", str, "")
    if not key or rows[METADATA + key].null_count():
        return None
    each: Metric = converted({"name": "", **inner}, Metric, "a grouped metric")
    labelled = rows.with_columns(
        group=pl.Series([str(json.loads(text)) for text in rows[METADATA + key]])
    )
    template = metric.param("name_template", str, "{group_name}")
    groups = {
        template.replace("{group_name}", str(group)): _recomputed(each, part)[0]
        for (group,), part in labelled.group_by("group", maintain_order=True)
    }
    if metric.name in groups:
        return groups[metric.name]
    if metric.name != metric.param("all_label", str, "all"):
        return None
    if metric.param("all", str, "samples") == "samples":
        return _recomputed(each, rows)[0]
    known = [value for value in groups.values() if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(groups) else None
