"""Many shards: metrics of up to 100,000,000 items, and rates of up to 20,000,000 responses.

Each run is a process of its own, which tells its seconds and its peak of memory. Polars reads
Parquet without mapping files, so the peak is all there is.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, in_process
from evalframe.jobs.cli import cli

_GROUPS = 200
_LEVELS = 10_000
_COVERAGES = (0.1, 0.3, 0.5, 0.7, 0.9)
_TEXTS = 50_000
"""Different responses, of which each shard is drawn."""

_WITHIN, _GROWTH, _ALIKE = 4, 12, 1e-12
_ITEMS_MEBIBYTES, _RESPONSES_MEBIBYTES = 2_048, 3_072


@dataclass(frozen=True)
class Scale:
    """How large the inputs are, and how often the quicker runs are repeated; the best counts.

    Without rounds everything is run once, in this process. Ratios are held against their target
    where the input is large enough to hide the start of a program.
    """

    items: int
    item_shards: int
    responses: int
    response_shards: int
    rounds: int
    is_whole: bool = False


SMALL = Scale(300_000, 2, 2_000, 2, rounds=0)
MIDDLE = Scale(10_000_000, 50, 2_000_000, 20, rounds=2)
WHOLE = Scale(100_000_000, 50, 20_000_000, 20, rounds=2, is_whole=True)


def run(small: bool, *, whole: bool = False) -> list[Figure]:
    """All figures of this module.

    Args:
        small: Everything once at its smallest, held against no target.
        whole: The full size, which takes some minutes and 3 GB of disk.
    """
    scale = SMALL if small else WHOLE if whole else MIDDLE
    with tempfile.TemporaryDirectory() as folder:
        figures = [*_items(Path(folder), scale), *_responses(Path(folder), scale)]
    if small:
        return [Figure(f.name, f.seconds, mebibytes=f.mebibytes, note=f.note) for f in figures]
    return figures


def _items(folder: Path, scale: Scale) -> list[Figure]:
    for name, count in {"items": scale.items, "tenth": scale.items // 10}.items():
        write_items(folder / name, count, scale.item_shards)
    bare = best(bare_sums, folder / "items", folder, scale.rounds)
    once = best(at_once, folder / "items", folder / "once.parquet", scale.rounds)
    apart = best(by_shard, folder / "items", folder / "apart.parquet", min(scale.rounds, 1))
    tenth = best(at_once, folder / "tenth", folder / "tenth.parquet", scale.rounds)
    off = _largest_difference(folder / "once.parquet", folder / "apart.parquet")
    what, within = f"{scale.items:,} items", _WITHIN if scale.is_whole else None
    return [
        ratio(f"evalframe selective, {what} in {scale.item_shards} shards", once, bare, within),
        held(f"evalframe selective, {what}, peak", once, _ITEMS_MEBIBYTES),
        ratio(f"partial, merge, finish, {what}, shard by shard", apart, bare, within),
        held(f"partial, merge, finish, {what}, peak", apart, _ITEMS_MEBIBYTES),
        Figure(
            "the same numbers both ways",
            target=f"{_ALIKE:g}",
            holds=off <= _ALIKE,
            note=f"largest difference {off:.1e}",
        ),
        Figure(
            f"evalframe selective, growth to {what}",
            once.seconds,
            "a tenth of them",
            tenth.seconds,
            once.seconds / tenth.seconds,
            f"{_GROWTH} x",
            once.seconds <= _GROWTH * tenth.seconds,
        ),
    ]


def _responses(folder: Path, scale: Scale) -> list[Figure]:
    write_responses(folder / "responses", scale.responses, scale.response_shards)
    made = best(rates, folder / "responses", folder / "rates.parquet", min(scale.rounds, 1))
    what = f"evalframe rag, {scale.responses:,} responses"
    return [
        Figure(f"{what} in {scale.response_shards} shards", made.seconds),
        held(f"{what}, peak", made, _RESPONSES_MEBIBYTES),
    ]


@dataclass(frozen=True)
class Run:
    """What a process took."""

    seconds: float
    mebibytes: float


def best(work: Callable[[Path, Path], None], shards: Path, output: Path, rounds: int) -> Run:
    """The quickest of some processes, with the highest peak of all."""
    if not rounds:
        return told(work, shards, output)
    call = f"size.told(work, size.Path({str(shards)!r}), size.Path({str(output)!r}))"
    imports = f"from benchmarks import size; from {work.__module__} import {work.__name__} as work"
    code = f"{imports}; run = {call}; print(run.seconds, run.mebibytes)"
    runs = [Run(*in_process(code)) for _ in range(rounds)]
    return Run(min(r.seconds for r in runs), max(r.mebibytes for r in runs))


def told(work: Callable[[Path, Path], None], shards: Path, output: Path) -> Run:
    """Do the work, and say what this process took for it."""
    started = time.perf_counter()
    work(shards, output)
    seconds = time.perf_counter() - started
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return Run(seconds, int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def bare_sums(shards: Path, _: Path) -> None:
    """The limit: a scan that adds up the same columns per group."""
    columns = pl.col("prediction", "confidence", "correct", "loss")
    scan = pl.scan_parquet(shards / "*.parquet")
    scan.group_by("group").agg(columns.sum()).collect(engine="streaming")


def at_once(shards: Path, output: Path) -> None:
    """The command line on all shards."""
    names = [metric.meta.output_name() for metric in metrics()]
    flags = ["--by", "group", "--loss", "column:loss", "--metrics", ",".join(names), "--quiet"]
    cli(["selective", str(shards / "*.parquet"), "-o", str(output), *flags], standalone_mode=False)


def by_shard(shards: Path, output: Path) -> None:
    """States of shards, each read by itself when it is merged."""
    scans = map(pl.scan_parquet, sorted(shards.iterdir()))
    states = [ef.partial(scan, metrics(), by="group") for scan in scans]
    ef.finish(ef.merge(*states).lazy()).sink_parquet(output)


def rates(shards: Path, output: Path) -> None:
    """The command line on all responses."""
    asked = ["rag", str(shards / "*.parquet"), "-o", str(output), "--quiet"]
    cli(asked, standalone_mode=False)


def metrics() -> list[pl.Expr]:
    """Coverage, areas, risks at five coverages, calibration error and Brier score."""
    risks = [ef.risk_at(coverage)() for coverage in _COVERAGES]
    errors = [ef.expected_calibration_error(), ef.brier_score()]
    return [ef.coverage(), ef.aurc(), ef.augrc(), *risks, *errors]


def write_items(folder: Path, count: int, shards: int) -> None:
    """Items of all groups in every shard, a tenth abstained, confidences of four decimals."""
    folder.mkdir()
    rows = count // shards
    for shard in range(shards):
        rng = np.random.default_rng([shard, count])
        confidence = rng.integers(0, _LEVELS + 1, rows) / _LEVELS
        correct = rng.random(rows) < confidence
        items = pl.DataFrame(
            {
                "group": rng.integers(0, _GROUPS, rows),
                "prediction": rng.integers(0, 4, rows),
                "confidence": confidence,
                "correct": correct,
                "loss": np.where(correct, 0.0, rng.integers(1, 4, rows) / 3),
                "answered": rng.random(rows) >= 0.1,
            }
        )
        answers = pl.when("answered").then(pl.col("prediction", "correct", "loss"))
        items.with_columns(answers).drop("answered").write_parquet(folder / f"{shard:03}.parquet")


def write_responses(folder: Path, count: int, shards: int) -> None:
    """Responses of about 200 characters with two groups of answers, every 17th a rejection."""
    folder.mkdir()
    rows, rng = count // shards, np.random.default_rng(0)
    syllables = ["Ra", "no", "mi", "Tel", "kor", "sa", "ven", "Lu"]
    words = pl.Series([a + b + c for a in syllables for b in syllables for c in syllables])
    names = [f"w{k}" for k in range(25)]
    numbers = {name: rng.integers(0, len(words), _TEXTS) for name in names}
    place = pl.int_range(pl.len())
    ending = pl.when(place % 3 == 0).then(pl.lit("")).otherwise(pl.lit("x"))
    refusal = pl.when(place % 17 == 0).then(pl.lit("There is insufficient information."))
    texts = pl.DataFrame({name: words.gather(drawn) for name, drawn in numbers.items()}).select(
        response=refusal.otherwise(pl.concat_str(names, separator=" ")),
        answers=pl.concat_list("w3", pl.concat_str(pl.col("w7") + " ", "w8", ending)),
    )
    for shard in range(shards):
        settings = pl.select(
            model=pl.lit(f"model {shard % 4}"),
            dataset=pl.lit("en"),
            noise_rate=pl.int_range(rows) % 5 / 5,
            id=pl.int_range(rows) + shard * rows,
        )
        drawn = texts[rng.integers(0, len(texts), rows)]
        pl.concat([settings, drawn], how="horizontal").write_parquet(folder / f"{shard:02}.parquet")


def ratio(name: str, ours: Run, bare: Run, within: float | None) -> Figure:
    """Seconds against those of the limit, and perhaps a target for the ratio."""
    times = ours.seconds / bare.seconds
    return Figure(
        name,
        ours.seconds,
        "a bare scan and sums per group",
        bare.seconds,
        times,
        "" if within is None else f"{within:g} x",
        None if within is None else times <= within,
    )


def held(name: str, ours: Run, mebibytes: int) -> Figure:
    """The peak of memory against its target."""
    target = f"{mebibytes / 1024:g} GiB"
    return Figure(name, target=target, holds=ours.mebibytes < mebibytes, mebibytes=ours.mebibytes)


def _largest_difference(one: Path, other: Path) -> float:
    """Of the estimates of two results; infinite if one lacks what the other has."""
    tables = [pl.read_parquet(path).select("group", "metric", "estimate") for path in (one, other)]
    both = tables[0].join(tables[1], on=["group", "metric"], how="full")
    here, there = pl.col("estimate"), pl.col("estimate_right")
    apart = pl.when(here.is_null() & there.is_null()).then(0.0).otherwise((here - there).abs())
    return float(both.select(apart.fill_null(float("inf")).max()).item())
