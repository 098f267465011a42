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
from typing import TYPE_CHECKING, Any

import polars as pl

from evalframe.logs.checking import Check
from evalframe.logs.table import METADATA, Wanted

if TYPE_CHECKING:
    from evalframe.core.segments import Floats
    from evalframe.logs.inspect.records import Header

_COLUMNS = frozenset({"sample_id", "epoch", "scorer", "score_name", "score", "value"})
_OF_COUNTS = re.compile(r"(at_least|pass_at|pass_k)_(\d+)")
_RESAMPLES = 1_000
_FEW = 2


def checks(header: Header, rows: Callable[[Wanted], pl.DataFrame]) -> Iterator[Check]:
    """Each published number with what the rows give, or why they give nothing.

    Args:
        header: The header of the log.
        rows: Reads the rows of the log, with these columns.
    """
    results = header.results if isinstance(header.results, dict) else {}
    entries = [entry for entry in _entries(results) if isinstance(entry.get("metrics"), dict)]
    if not entries:
        return
    keys = {name for entry in entries for m in _metrics(entry).values() for name in _keys(m)}
    table = rows(Wanted(_COLUMNS, tuple(sorted(keys))))
    config = header.eval.config
    reducers = None if config is None else config.epochs_reducer
    lacking = _lacking(results, table)
    for entry in entries:
        scorer, name = entry.get("scorer") or entry.get("name"), entry.get("name")
        reducer = entry.get("reducer")
        own = table.filter(pl.col("value").is_not_null(), scorer=scorer, score_name=name)
        reduced, fault = _reduced(own, reducer, entry, reducers)
        if own.is_empty() and scorer in table["scorer"]:
            fault = fault or "it takes whole objects or lists, whose parts are the rows"
        for key, metric in _metrics(entry).items():
            value, why, tolerance = None, fault, 1e-9
            if reduced is not None and fault is None:
                value, tolerance = _recomputed(metric, reduced)
                why = f"{_bare(metric)} is not recomputed" if value is None else None
            published = metric.get("value")
            if isinstance(published, int | float):
                task = header.eval.task
                check = Check(task, scorer, name, key, reducer, published, value, why, tolerance)
                yield check._replace(note=why or lacking) if check.follows is False else check


def _entries(results: dict[str, Any]) -> list[dict[str, Any]]:
    """The published scores; old logs have one, with its metrics beside it."""
    scores = results.get("scores")
    if not scores and isinstance(only := results.get("scorer"), dict):
        scores = [{**only, "scorer": only.get("name"), "metrics": results.get("metrics")}]
    return [entry for entry in scores or () if isinstance(entry, dict)]


def _metrics(entry: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {k: m for k, m in (entry.get("metrics") or {}).items() if isinstance(m, dict)}


def _params(metric: dict[str, Any]) -> dict[str, Any]:
    params = metric.get("params") or metric.get("options")
    return params if isinstance(params, dict) else {}


def _keys(metric: dict[str, Any]) -> list[str]:
    """The metadata that a metric groups by."""
    found = (_params(metric).get(name) for name in ("cluster", "group_key"))
    return [key for key in found if isinstance(key, str)]


def _bare(metric: dict[str, Any]) -> str:
    """The name of a metric without its package; of a group of metrics that of the group."""
    return str(metric.get("group") or metric.get("name")).rpartition("/")[2]


def _lacking(results: dict[str, Any], table: pl.DataFrame) -> str | None:
    planned = results.get("total_samples")
    found = table.select(pl.struct("sample_id", "epoch").n_unique()).item()
    if isinstance(planned, int) and found < planned:
        return f"the log has {found:,} of {planned:,} samples"
    return None


def _reduced(
    rows: pl.DataFrame, reducer: Any, entry: dict[str, Any], reducers: list[str] | None
) -> tuple[pl.DataFrame | None, str | None]:
    """A row per sample, or per epoch if they are not reduced, in order; or why there is none."""
    counts = [entry.get(f"{kind}_samples") for kind in ("scored", "unscored")]
    total = sum(counts) if all(isinstance(count, int) for count in counts) else None  # type: ignore[arg-type]
    single = total == len(rows) != rows["sample_id"].n_unique()
    if reducer is None and (single or reducers == []):
        return rows.rename({"score": "x"}).filter(pl.col("x").is_not_null()), None
    name = str(reducer or "mean").rpartition("/")[2]
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


def _recomputed(metric: dict[str, Any], rows: pl.DataFrame) -> tuple[float | None, float]:
    """A metric over reduced rows, and how far it may be off; null if it is not known."""
    params, name = _params(metric), str(metric.get("name"))
    if _bare(metric) == "grouped":
        return _grouped(params, name, rows), 1e-9
    if _bare(metric) == "frequency":
        texts = Counter(str(json.loads(text)) for text in rows["value"])
        share = texts[name] / len(rows) if len(rows) else 0.0
        return (share if params.get("normalize", True) else float(texts[name])), 1e-9
    x = rows["x"].to_numpy()
    if _bare(metric) == "bootstrap_stderr":
        draws = params.get("num_samples", _RESAMPLES)
        noise = 5 / math.sqrt(2 * draws) if isinstance(draws, int) and draws > 0 else 1.0
        spread = float(x.std()) / math.sqrt(len(x)) if len(x) else 0.0
        return spread, noise * spread + 1e-9
    clusters = None
    if isinstance(key := params.get("cluster"), str):
        clusters = rows[METADATA + key]
        if clusters.null_count():
            return None, 1e-9
    return _of_values(_bare(metric), name, x, clusters, params), 1e-9


def _of_values(
    kind: str, name: str, x: Floats, clusters: pl.Series | None, params: dict[str, Any]
) -> float | None:
    n = len(x)
    if kind not in ("accuracy", "mean", "std", "var", "stderr", "ci"):
        return None
    if n == 0:
        return math.nan
    mean = float(x.mean())
    if kind in ("accuracy", "mean"):
        return mean
    if kind == "ci" and (params.get("method", "t") != "t" or name not in ("lower", "upper")):
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

    half = error * float(stdtrit(degrees, 0.5 + params.get("level", 0.95) / 2))
    return mean - half if name == "lower" else mean + half


def _clustered(residuals: Floats, clusters: pl.Series) -> tuple[float, int]:
    """The standard error of a mean whose samples come in clusters, and their number."""
    table = pl.DataFrame({"x": residuals, "g": clusters})
    sums = table.group_by("g", maintain_order=True).agg(pl.col("x").sum())["x"].to_numpy()
    if (groups := len(sums)) < _FEW:
        return 0.0, groups
    return math.sqrt(float(sums @ sums) * groups / (groups - 1)) / len(residuals), groups


def _grouped(params: dict[str, Any], name: str, rows: pl.DataFrame) -> float | None:
    """A metric of one group of samples, of all samples, or the mean over groups."""
    inner, key = params.get("metric"), params.get("group_key")
    if not isinstance(inner, dict) or not isinstance(key, str):
        return None
    texts = [None if text is None else str(json.loads(text)) for text in rows[METADATA + key]]
    if None in texts:
        return None
    labelled = rows.with_columns(pl.Series("group", texts, pl.String))
    template = params.get("name_template", "{group_name}")
    groups = {
        template.replace("{group_name}", str(group)): _recomputed(inner, part)[0]
        for (group,), part in labelled.group_by("group", maintain_order=True)
    }
    if name in groups:
        return groups[name]
    if name != params.get("all_label", "all"):
        return None
    if params.get("all", "samples") == "samples":
        return _recomputed(inner, rows)[0]
    known = [value for value in groups.values() if value is not None]
    return math.fsum(known) / len(known) if len(known) == len(groups) else None
