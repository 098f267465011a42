"""Settings of a run, and the file names that carry them."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from evalframe.core.errors import InputError, ParameterError

if TYPE_CHECKING:
    from typing import Any

SETTINGS = {
    "model": pl.String(),
    "dataset": pl.String(),
    "temperature": pl.Float64(),
    "noise_rate": pl.Float64(),
    "passage_num": pl.Int64(),
    "correct_passage_rate": pl.Float64(),
}
"""The columns that tell runs apart."""

REQUIRED = ("model", "dataset", "noise_rate", "passage_num")
"""What every run must say; the other settings may be null."""

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
_KINDS: dict[str, tuple[type, str]] = {
    "model": (str, "text"),
    "dataset": (str, "text"),
    "temperature": (Real, "a number"),
    "noise_rate": (Real, "a number"),
    "passage_num": (Integral, "an integer"),
    "correct_passage_rate": (Real, "a number"),
    "variant": (str, "text"),
}
"""What each setting is, as a type and in words."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is known of a run; None where it is not.

    Attributes:
        model: Who answered.
        dataset: Name of the data set.
        temperature: Of the model.
        noise_rate: Share of noise among the documents.
        passage_num: Number of documents.
        correct_passage_rate: Share of correct documents, of counterfactual data.
        variant: What else the name of the file says: `chatgpt` for responses with a judge's text.

    Raises:
        ParameterError: A setting is of another type.
    """

    model: str | None = None
    dataset: str | None = None
    temperature: float | None = None
    noise_rate: float | None = None
    passage_num: int | None = None
    correct_passage_rate: float | None = None
    variant: str | None = None

    def __post_init__(self) -> None:
        """Check the types, since readers take settings from their callers."""
        for name, (kind, words) in _KINDS.items():
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, kind)):
                raise ParameterError(f"{name} must be {words}, but is {value!r}")

    def __str__(self) -> str:
        """All that is known, to be read."""
        known = ((name, value) for name, value in asdict(self).items() if value is not None)
        return ", ".join(f"{name}={value!r}" for name, value in known)

    @property
    def complaint(self) -> str | None:
        """What is wrong with them, or None."""
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
    """Whether a file of this name holds scores, not predictions.

    >>> is_scores(Path("prediction_en_chatgpt_temp0.7_noise0.0_passage5_correct0.0_result.json"))
    True
    """
    return path.suffix in _SUFFIXES and path.stem.endswith(_SCORES)


def is_named_as_run(path: Path) -> bool:
    """Whether the name carries the settings of a run.

    >>> is_named_as_run(Path("prediction_en_chatgpt_temp0.7_noise0.0_passage5_correct0.0.json"))
    True
    """
    return path.suffix in _SUFFIXES and _NAME.fullmatch(path.stem) is not None


def settings_of(path: Path, given: Settings) -> Settings:
    """The settings of a file: those given, the others from its name.

    Known data sets are recognised at the start of the name. A model is what stands between the data
    set and the next setting.

    Raises:
        InputError: A setting is neither given nor in the name, or lies outside its domain.

    >>> name = "prediction_en_fact_org%2Fmodel-7b_v1.3_temp0.2_noise1e-05_passage5_correct0.4.json"
    >>> found = settings_of(Path(name), Settings())
    >>> found.dataset, found.model, found.noise_rate
    ('en_fact', 'org/model-7b_v1.3', 1e-05)
    """
    found = _in_name(path, given.dataset)
    told = {name: value for name, value in asdict(given).items() if value is not None}
    settings = Settings(**found | told)
    if complaint := settings.complaint:
        raise InputError(
            f"{path}: {complaint}. Names are read as prediction_DATASET_MODEL_temp0.2_noise0.6"
            "_passage5_correct0.0.json, with data sets such as en, zh_int or en_fact. Rename the"
            " file, or give what it does not say: dataset=..., noise_rate=..."
        )
    return settings


def run_name(settings: Settings) -> str:
    """The name of a run's files, up to what tells predictions from scores.

    Raises:
        ParameterError: Settings that cannot be read back from it.

    >>> run_name(Settings("Qwen-7B", "zh_int", 0.7, 0.4, 5, 0.0))
    'prediction_zh_int_Qwen-7B_temp0.7_noise0.4_passage5_correct0.0'
    """
    temperature, share = settings.temperature, settings.correct_passage_rate
    name = (
        f"prediction_{settings.dataset}_{_escaped(settings.model or '')}"
        + ("" if temperature is None else f"_temp{temperature}")
        + f"_noise{settings.noise_rate}_passage{settings.passage_num}"
        + ("" if share is None else f"_correct{share}")
        + ("" if settings.variant is None else f"_{settings.variant}")
    )
    found = _in_name(Path(f"{name}.json"), None)
    if found.get("dataset") is None:
        found = _in_name(Path(f"{name}.json"), settings.dataset)
    unread = found != asdict(settings) or "\0" in name
    if complaint := settings.complaint or (unread and "a file's name cannot say so"):
        raise ParameterError(f"{settings}: {complaint}. Rename the model, data set or variant")
    return name


def _in_name(path: Path, dataset: str | None) -> dict[str, Any]:
    parts = _NAME.fullmatch(path.stem)
    if parts is None:
        return {}
    number = {
        name: None if parts[name] is None else float(parts[name])
        for name in ("temperature", "noise_rate", "correct_passage_rate")
    }
    after = parts["after"].removesuffix(_SCORES) if is_scores(path) else parts["after"]
    variant = "_".join(part for text in (parts["before"], after) if (part := text.strip("_-. ")))
    return {
        **_split(parts["run"], dataset),
        **number,
        "passage_num": int(parts["passage_num"]),
        "variant": variant or None,
    }


def _split(run: str, dataset: str | None) -> dict[str, str | None]:
    """Data set and model."""
    known = _DATASET.fullmatch(run)
    if dataset is not None and run.startswith(f"{dataset}_"):
        model = run.removeprefix(f"{dataset}_")
    else:
        model = known["model"] if known else run
        dataset = known["dataset"] if known else None
    return {"dataset": dataset, "model": model.replace("%2F", "/").replace("%25", "%")}


def _escaped(model: str) -> str:
    return model.replace("%", "%25").replace("/", "%2F")
