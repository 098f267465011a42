"""Settings of a run, and the names of files and folders that carry them."""

from __future__ import annotations

import glob
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from evalframe.core.errors import InputError, ParameterError
from evalframe.core.files import matching

Paths: TypeAlias = str | Path | Sequence[str | Path]

SETTINGS = {
    "model": pl.String(),
    "dataset": pl.String(),
    "temperature": pl.Float64(),
    "noise_rate": pl.Float64(),
    "passage_num": pl.Int64(),
    "correct_passage_rate": pl.Float64(),
}
"""The columns that distinguish runs."""

REQUIRED = ("model", "dataset", "noise_rate", "passage_num")
"""Settings that every run has; the others can be null."""

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_NAME = re.compile(
    rf"(?P<before>.*?)prediction_(?P<run>.+?)(?:_temp(?P<temperature>{_NUMBER}))?"
    rf"_noise_?(?P<noise_rate>{_NUMBER})_passage_?(?P<passage_num>[0-9]+)"
    rf"(?:_correct_?(?P<correct_passage_rate>{_NUMBER}))?"
    # A model may be named like settings, so the last ones count.
    rf"(?P<after>(?!.*_noise_?{_NUMBER}_passage_?[0-9]).*)",
    re.DOTALL,
)
_DATASET = re.compile(r"(?P<dataset>(?:en|zh)(?:_refine|_int|_fact)?)_(?P<model>.+)", re.DOTALL)
_SUFFIXES = (".json", ".jsonl")
_SCORES = "result"
_MOST_PASSAGES = 2**63 - 1
_KINDS: dict[pl.DataType, tuple[type, str]] = {
    pl.String(): (str, "text"),
    pl.Float64(): (Real, "a number"),
    pl.Int64(): (Integral, "an integer"),
}
"""Python type of a column's values, also as text."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a run, None if unknown; `variant` is the rest of a file's name, as `chatgpt`."""

    model: str | None = None
    dataset: str | None = None
    temperature: float | None = None
    noise_rate: float | None = None
    passage_num: int | None = None
    correct_passage_rate: float | None = None
    variant: str | None = None

    def __post_init__(self) -> None:
        """Check the types, since readers pass on what their callers set."""
        for name, dtype in {**SETTINGS, "variant": pl.String()}.items():
            value, (kind, words) = getattr(self, name), _KINDS[dtype]
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
                raise ParameterError(f"{name} must be {words}, but is {value!r}")

    def __str__(self) -> str:
        """Name and value of each known setting."""
        pairs = ((name, value) for name, value in asdict(self).items() if value is not None)
        return ", ".join(f"{name}={value!r}" for name, value in pairs)

    @property
    def complaint(self) -> str | None:
        """The first fault of these settings, or None."""
        if missing := [name for name in REQUIRED if getattr(self, name) is None]:
            return f"nothing says what {' and '.join(missing)} {'are' if missing[1:] else 'is'}"
        if not self.model or not self.dataset:
            return "model and dataset must have a name"
        for name in ("noise_rate", "correct_passage_rate"):
            share = getattr(self, name)
            if share is not None and not 0 <= share <= 1:
                return f"{name} is {share!r}, which lies outside [0, 1]"
        if self.temperature is not None and not abs(self.temperature) <= sys.float_info.max:
            return "temperature is not finite"
        if self.passage_num is not None and self.passage_num < 0:
            return f"passage_num is {self.passage_num}, which is negative"
        if self.passage_num is not None and self.passage_num > _MOST_PASSAGES:
            return f"passage_num is above {_MOST_PASSAGES:,}, the largest integer of 64 bits"
        return None


def is_scores(path: Path) -> bool:
    """Return True if a file of this name holds scores, not predictions."""
    return path.suffix in _SUFFIXES and path.stem.endswith(_SCORES)


def is_named_as_run(path: Path) -> bool:
    """Return True if the name carries the settings of a run."""
    return path.suffix in _SUFFIXES and _NAME.fullmatch(path.stem) is not None


def runs_in(paths: Paths, overrides: Settings, *, scores: bool) -> dict[Path, Settings]:
    """Score or prediction files in these files, globs and folders, with the settings of each."""
    entries = [paths] if isinstance(paths, str | Path) else list(paths)
    try:
        files = [path for entry in entries for path in _files(Path(entry), scores=scores)]
    except OSError as error:
        raise InputError(
            f"{error.filename} cannot be read ({error.strerror or error}); give another path"
        ) from error
    if not files:
        raise InputError("no file to read; name a file, a glob or a folder")
    return {path: settings_of(path, overrides) for path in dict.fromkeys(files)}


def _files(entry: Path, *, scores: bool) -> list[Path]:
    kind = "score" if scores else "prediction"
    if entry.is_dir():
        below = sorted(entry.rglob("*"))
        runs = [path for path in below if path.is_file() and is_named_as_run(path)]
        if files := [path for path in runs if is_scores(path) == scores]:
            return files
        raise InputError(
            f"folder {str(entry)!r} holds no {kind} file: none of its {len(below):,} entries is "
            f"named like prediction_..._noise0.2_passage5_correct0.0{'_result' * scores}.json"
        )
    if entry.is_file():
        return [entry]
    if entry.exists():
        raise InputError(f"{entry} is not a regular file; copy its content into one")
    if not glob.has_magic(str(entry)):
        raise InputError(f"no file or folder {str(entry)!r}")
    files = [path for path in matching(entry) if path.is_file() and is_scores(path) == scores]
    if not files:
        raise InputError(f"no {kind} file matches {str(entry)!r}")
    return files


def settings_of(path: Path, given: Settings) -> Settings:
    """Settings of a file: those given, the others from its name.

    >>> name = "prediction_en_fact_org%2Fmodel-7b_v1.3_temp0.2_noise1e-05_passage5_correct0.4.json"
    >>> settings = settings_of(Path(name), Settings())
    >>> settings.dataset, settings.model, settings.noise_rate
    ('en_fact', 'org/model-7b_v1.3', 1e-05)
    """
    overrides = {name: value for name, value in asdict(given).items() if value is not None}
    settings = Settings(**_in_name(path, given.dataset) | overrides)
    if complaint := settings.complaint:
        raise InputError(
            f"{path}: {complaint}. Names are read as prediction_DATASET_MODEL_temp0.2_noise0.6"
            "_passage5_correct0.0.json, with data sets such as en, zh_int or en_fact. Rename the"
            " file, or give what it does not say: dataset=..., noise_rate=..."
        )
    return settings


def run_name(settings: Settings) -> str:
    """Name of a run's files, without what distinguishes predictions from scores."""
    model = (settings.model or "").replace("%", "%25").replace("/", "%2F")
    temperature, share = settings.temperature, settings.correct_passage_rate
    name = (
        f"prediction_{settings.dataset}_{model}"
        + ("" if temperature is None else f"_temp{temperature}")
        + f"_noise{settings.noise_rate}_passage{settings.passage_num}"
        + ("" if share is None else f"_correct{share}")
        + ("" if settings.variant is None else f"_{settings.variant}")
    )
    back = _in_name(Path(f"{name}.json"), None)
    if back.get("dataset") is None:
        back = _in_name(Path(f"{name}.json"), settings.dataset)
    unread = back != asdict(settings) or "\0" in name
    if complaint := settings.complaint or (unread and "a file's name cannot say so"):
        raise ParameterError(f"{settings}: {complaint}. Rename the model, data set or variant")
    return name


def _in_name(path: Path, dataset: str | None) -> dict[str, Any]:
    parts = _NAME.fullmatch(path.stem)
    if parts is None:
        return {}
    numbers = {
        name: None if parts[name] is None else float(parts[name])
        for name in ("temperature", "noise_rate", "correct_passage_rate")
    }
    after = parts["after"].removesuffix(_SCORES) if is_scores(path) else parts["after"]
    variant = "_".join(part for text in (parts["before"], after) if (part := text.strip("_-. ")))
    return {
        **_split(parts["run"], dataset),
        **numbers,
        "passage_num": int(parts["passage_num"]),
        "variant": variant or None,
    }


def _split(run: str, dataset: str | None) -> dict[str, str | None]:
    """Data set and model."""
    match = _DATASET.fullmatch(run)
    if dataset is not None and run.startswith(f"{dataset}_"):
        model = run.removeprefix(f"{dataset}_")
    else:
        model = match["model"] if match else run
        dataset = match["dataset"] if match else None
    return {"dataset": dataset, "model": model.replace("%2F", "/").replace("%25", "%")}
