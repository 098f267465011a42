"""The same job on engines: wall time, processor time, memory and traffic beside one process.

Every run is a fresh process. A thread looks at it and all that it has started: their processor
time, and the memory of the largest. The start of a cluster is told apart from the job.
"""

from __future__ import annotations

import importlib.util
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import evalframe as ef
from benchmarks.measure import Figure, in_process

if TYPE_CHECKING:
    from types import TracebackType

_GROUPS, _LEVELS, _SHARDS = 200, 10_000, 50
_WALL, _CPU, _GROWTH, _TINY, _QUARTER = 1.3, 1.5, 11, 0.003, 0.25
_EVERY = 0.02
"""Seconds between two looks at memory."""


@dataclass(frozen=True)
class Scale:
    """Sizes: items of the job, of the larger one, of the huge group; tiny shards; items drawn."""

    items: int
    large: int
    huge: int
    tiny: int
    drawn: int


SMALL = Scale(200_000, 0, 20_000, 20, 10_000)
MIDDLE = Scale(10_000_000, 0, 12_000_000, 10_000, 1_000_000)
WHOLE = Scale(10_000_000, 100_000_000, 50_000_000, 10_000, 1_000_000)


def run(small: bool, *, whole: bool = False) -> list[Figure]:
    """All figures of this module.

    Args:
        small: Everything once at its smallest, held against no target.
        whole: 100,000,000 items, and a group of 50,000,000; some minutes and 2 GB of disk.
    """
    scale = SMALL if small else WHOLE if whole else MIDDLE
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = [*_jobs(folder, scale), *_tiny(folder, scale), *_huge(folder, scale)]
        figures += _replicates(folder, scale)
    if small:
        return [Figure(f.name, f.seconds, note=f.note) for f in figures]
    return figures


def _jobs(folder: Path, scale: Scale) -> list[Figure]:
    """Curves of 200 groups, all of which are in all shards."""
    figures, alone, dask = [], [], []
    for items in filter(None, (scale.items, scale.large)):
        shards = folder / f"items-{items}"
        write_items(shards, items)
        once = _told("curves", shards, "one")
        alone.append(once)
        what = f"AURC and AUGRC of {items:,} items in {_SHARDS} shards"
        figures.append(Figure(f"{what}, one process", once.seconds, note=str(once)))
        for engine in ("dask", "ray") if _has_ray() else ("dask",):
            made = _told("curves", shards, engine)
            dask += [made] if engine == "dask" else []
            figures += [
                _beside(f"{what}, {engine}, 2 workers", made, once, _WALL),
                Figure(
                    f"{engine}, processor time of all processes",
                    made.cpu,
                    "one process",
                    once.cpu,
                    made.cpu / once.cpu,
                    f"{_CPU} x",
                    made.cpu <= _CPU * once.cpu,
                ),
            ]
    if scale.large:
        growth = dask[1].seconds / dask[0].seconds
        figures.append(
            Figure(
                f"dask, growth from {scale.items:,} to {scale.large:,} items",
                dask[1].seconds,
                "a tenth of them",
                dask[0].seconds,
                growth,
                f"{_GROWTH} x",
                growth <= _GROWTH,
            )
        )
    return figures


def _tiny(folder: Path, scale: Scale) -> list[Figure]:
    """What a shard costs that holds next to nothing."""
    write_items(folder / "tiny", 100 * scale.tiny, scale.tiny)
    once, made = (_told("curves", folder / "tiny", engine) for engine in ("one", "dask"))
    each = made.seconds / scale.tiny
    return [
        Figure(
            f"a shard of {scale.tiny:,} tiny ones, dask",
            each,
            "one process",
            once.seconds / scale.tiny,
            made.seconds / once.seconds,
            f"{_TINY} s",
            each <= _TINY,
            note=str(made),
        )
    ]


def _huge(folder: Path, scale: Scale) -> list[Figure]:
    """One group whose confidences are all different."""
    shards = folder / "huge"
    write_items(shards, scale.huge, 24, distinct=True)
    data = pl.scan_parquet(shards / "*.parquet").collect().estimated_size() / 2**20
    once, made = (_told("ranges", shards, engine) for engine in ("one", "dask"))
    return [
        _beside(f"AURC, AUROC, ECE of one group of {scale.huge:,} levels, dask", made, once, None),
        Figure(
            "largest of its processes, beyond a process that has imported evalframe",
            limit="the data",
            ratio=made.largest / data,
            target=f"{_QUARTER} x",
            holds=made.largest <= _QUARTER * data,
            mebibytes=made.largest,
            limit_mebibytes=data,
        ),
    ]


def _replicates(folder: Path, scale: Scale) -> list[Figure]:
    """Poisson bootstraps of items whose clusters lie in all shards."""
    write_items(folder / "drawn", scale.drawn, 4, groups=20, levels=100)
    once, made = (_told("drawn", folder / "drawn", engine) for engine in ("one", "dask"))
    what = f"1,000 Poisson draws of 5,000 clusters in {scale.drawn:,} items, dask"
    return [_beside(what, made, once, None)]


def curves(shards: Path, engine: Any) -> pl.DataFrame:
    """Two curves of each group."""
    metrics = [ef.aurc(), ef.augrc()]
    return ef.evaluate(str(shards / "*.parquet"), metrics, by="group", engine=engine)


def ranges(shards: Path, engine: Any) -> pl.DataFrame:
    """A curve, a rank statistic and bins of equal mass of all rows."""
    metrics = [
        ef.aurc(),
        ef.auroc("confidence", "correct"),
        ef.expected_calibration_error(binning="equal_mass"),
    ]
    return ef.evaluate(str(shards / "*.parquet"), metrics, engine=engine)


def drawn(shards: Path, engine: Any) -> pl.DataFrame:
    """A curve of each group with an interval."""
    resample = ef.Bootstrap(cluster="cluster", n=1000, draws="poisson", interval="percentile")
    files = str(shards / "*.parquet")
    return ef.evaluate(files, ef.aurc(), by="group", resample=resample, engine=engine)


_WORK: dict[str, Callable[[Path, Any], pl.DataFrame]] = {
    "curves": curves,
    "ranges": ranges,
    "drawn": drawn,
}


@dataclass(frozen=True)
class Run:
    """What a job took.

    Attributes:
        seconds: By the clock, without the start of a cluster.
        start: Seconds until the cluster was there.
        cpu: Processor time of all processes, without that of the start.
        driver: Peak memory of the process that asks, in MiB, beyond what it held at the start.
        largest: The same of the worker that held most.
        sent: MiB through the loopback interface.
        value: Sum of the estimates, so that engines can be compared.
    """

    seconds: float
    start: float
    cpu: float
    driver: float
    largest: float
    sent: float
    value: float

    def __str__(self) -> str:
        """All but the seconds."""
        return (
            f"processor {self.cpu:.2f} s, start {self.start:.1f} s, peak of the driver "
            f"{self.driver:,.0f} MiB and of a worker {self.largest:,.0f} MiB beyond their start, "
            f"{self.sent:,.1f} MiB sent"
        )


def _told(work: str, shards: Path, engine: str) -> Run:
    """A job in a process of its own."""
    code = (
        "from benchmarks import engine\n"
        "if __name__ == '__main__':\n"
        f"    engine.tell({work!r}, {str(shards)!r}, {engine!r})"
    )
    return Run(*in_process(code))


def tell(work: str, shards: str, name: str) -> None:
    """Run a job, and print what it took."""
    import psutil

    started = time.perf_counter()
    with _cluster(name) as engine:
        _WORK[work](Path(shards), engine) if engine is not None else None  # workers import Polars
        start, before = time.perf_counter() - started, psutil.net_io_counters(pernic=True)["lo"]
        with _Watch() as watch:
            result = _WORK[work](Path(shards), engine)
        after = psutil.net_io_counters(pernic=True)["lo"]
    sent = (after.bytes_sent - before.bytes_sent) / 2**20
    print(watch.seconds, start, watch.cpu, watch.driver, watch.largest, sent)
    print(result["estimate"].sum())


@contextmanager
def _cluster(name: str) -> Iterator[Any]:
    """An engine of two workers of one thread, or None for this process alone."""
    from evalframe.engine.opening import opened

    engine: AbstractContextManager[Any] | None = None if name == "one" else opened(name)
    if engine is None:
        yield None
    else:
        with engine as adapter:
            yield adapter


class _Watch:
    """Processor time and memory of this process and of all that it has started."""

    def __enter__(self) -> _Watch:
        import psutil

        self._me, self._done = psutil.Process(), threading.Event()
        self._base = {each.pid: self._memory(each) for each in self._all()}
        self._peak: dict[int, float] = {}
        self._cpu = self._times()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        self._started = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds = time.perf_counter() - self._started
        self.cpu = self._times() - self._cpu
        self._done.set()
        self._thread.join()
        above = {pid: peak - self._base.get(pid, 0.0) for pid, peak in self._peak.items()}
        self.driver = above.pop(self._me.pid)
        self.largest = max(above.values(), default=self.driver)

    def _look(self) -> None:
        while True:
            for each in self._all():
                self._peak[each.pid] = max(self._peak.get(each.pid, 0.0), self._memory(each))
            if self._done.wait(_EVERY):
                return

    def _all(self) -> list[Any]:
        return [self._me, *self._me.children(recursive=True)]

    def _times(self) -> float:
        import psutil

        total = 0.0
        for each in self._all():
            try:
                times = each.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system
        return total

    def _memory(self, process: Any) -> float:
        import psutil

        try:
            return float(process.memory_full_info().uss) / 2**20
        except psutil.NoSuchProcess:
            return 0.0


def write_items(
    folder: Path,
    rows: int,
    shards: int = _SHARDS,
    *,
    groups: int = _GROUPS,
    levels: int = _LEVELS,
    distinct: bool = False,
) -> None:
    """Shards of items; all groups are in all of them, and levels are short decimals or distinct."""
    folder.mkdir()
    rng = np.random.default_rng(7)
    each = rows // shards
    for shard in range(shards):
        sure = rng.random(each)
        correct = rng.random(each) < 0.3 + 0.6 * sure
        level = sure if distinct else np.floor(sure * levels) / levels
        pl.DataFrame(
            {
                "group": rng.integers(0, groups, each).astype(np.int32),
                "cluster": rng.integers(0, 5_000, each).astype(np.int32),
                "confidence": level,
                "correct": correct,
                "loss": (~correct).astype(np.float64),
            }
        ).write_parquet(folder / f"{shard:05}.parquet")


def _beside(name: str, made: Run, once: Run, within: float | None) -> Figure:
    ratio, off = made.seconds / once.seconds, abs(made.value - once.value)
    return Figure(
        name,
        made.seconds,
        "one process",
        once.seconds,
        ratio,
        "" if within is None else f"{within} x",
        None if within is None else ratio <= within,
        note=f"{made}; sums of the estimates differ by {off:.1e}",
    )


def _has_ray() -> bool:
    return importlib.util.find_spec("ray") is not None
