"""States of shards against a scan that adds up two columns: how much the detour costs.

Of the items of `size`, all groups in all shards: in one state, in states of batches of shards that
travel as bytes, as engines have them, and shard by shard. Each run is a process of its own.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl

import evalframe as ef
from benchmarks import size
from benchmarks.measure import Figure, against
from evalframe.core.state_files import packed, unpacked
from evalframe.core.state_tables import merged

_BATCHES, _WITHIN, _MEBIBYTES = 8, 5, 1_024
_METRICS = [ef.aurc(), ef.augrc()]


def run(small: bool, *, whole: bool = False) -> list[Figure]:
    """All figures of this module.

    Args:
        small: Everything once at its smallest, held against no target.
        whole: 100,000,000 items in place of 10,000,000.
    """
    scale = size.SMALL if small else size.WHOLE if whole else size.MIDDLE
    what = f"{scale.items:,} items in {scale.item_shards} shards"
    with tempfile.TemporaryDirectory() as name:
        shards, output = Path(name) / "items", Path(name) / "result.parquet"
        size.write_items(shards, scale.items, scale.item_shards)
        bare = size.best(two_sums, shards, output, scale.rounds)
        figures = [_packing(shards, scale.rounds or 1)]
        for title, work in {
            "in one": at_once,
            f"of {_BATCHES} batches, as bytes, merged": in_batches,
            "shard by shard, merged": by_shard,
        }.items():
            ours = size.best(work, shards, output, scale.rounds)
            figures += [
                size.ratio(f"states {title}, finished, {what}", ours, bare, _WITHIN),
                size.held(f"states {title}, finished, {what}, peak", ours, _MEBIBYTES),
            ]
    if small:
        return [Figure(f.name, f.seconds, mebibytes=f.mebibytes, note=f.note) for f in figures]
    return figures


def two_sums(shards: Path, _: Path) -> None:
    """The limit: a streaming scan that adds up two columns per group."""
    sums = pl.col("loss", "confidence").sum()
    pl.scan_parquet(shards / "*.parquet").group_by("group").agg(sums).collect(engine="streaming")


def at_once(shards: Path, output: Path) -> None:
    """One state of all shards."""
    _finished(ef.partial(pl.scan_parquet(shards / "*.parquet"), _METRICS, by="group"), output)


def in_batches(shards: Path, output: Path) -> None:
    """The sum of states of batches of shards."""
    paths = sorted(shards.iterdir())
    batches = [paths[first::_BATCHES] for first in range(min(_BATCHES, len(paths)))]
    states = (ef.partial(pl.scan_parquet(batch), _METRICS, by="group") for batch in batches)
    parts = [packed(state.collect()) for state in states]
    _finished(merged(unpacked(part) for part in parts).lazy(), output)


def by_shard(shards: Path, output: Path) -> None:
    """The sum of states of shards."""
    scans = map(pl.scan_parquet, sorted(shards.iterdir()))
    _finished(ef.merge(*(ef.partial(scan, _METRICS, by="group") for scan in scans)).lazy(), output)


def _finished(state: pl.LazyFrame, output: Path) -> None:
    ef.finish(state).sink_parquet(output)


def _packing(shards: Path, rounds: int) -> Figure:
    """A state to bytes and back, against Parquet of it."""
    first = min(shards.iterdir())
    state = ef.partial(pl.scan_parquet(first), _METRICS, by="group").collect()
    copy = first.parent.parent / "state.parquet"

    def through_parquet() -> pl.DataFrame:
        state.write_parquet(copy)
        return pl.read_parquet(copy)

    figure = against(
        f"a state of {len(state):,} rows to bytes and back",
        lambda: unpacked(packed(state)),
        through_parquet,
        called="through Parquet",
        rounds=5 if rounds > 1 else 1,
        note=f"{len(packed(state)) / len(state):.1f} bytes a row",
    )
    through_parquet()
    note = f"{figure.note}, in Parquet {copy.stat().st_size / len(state):.1f}"
    return Figure(**{**vars(figure), "note": note})
