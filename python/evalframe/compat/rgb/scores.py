"""Score files, read into a table, and the objects they hold."""

from __future__ import annotations

import reprlib
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.compat.rgb.settings import SETTINGS, Settings, runs_in
from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from evalframe.compat.rgb.settings import Paths

Judge: TypeAlias = Literal["rejection", "errors"]
Score: TypeAlias = int | float

SCORES = {
    "all_rate": pl.Float64(),
    "tt": pl.Int64(),
    "nums": pl.Int64(),
    "fact_check_rate": pl.Float64(),
    "correct_rate": pl.Float64(),
    "fact_tt": pl.Int64(),
    "correct_tt": pl.Int64(),
    "reject_rate": pl.Float64(),
    "rejecttt": pl.Int64(),
}
"""Keys of score files besides the noise rate."""


def read_scores(
    path: Paths,
    *,
    model: str | None = None,
    dataset: str | None = None,
    temperature: float | None = None,
    noise_rate: float | None = None,
    passage_num: int | None = None,
    correct_passage_rate: float | None = None,
) -> pl.DataFrame:
    """Read stored scores, one row for each score file.

    The settings come from the names of the files, as for `read`; other keys are not read.

    Args:
        path: Files, globs or folders, with all score files (`..._result.json`) below them.
        model: Overrides the names of all files.
        dataset: Overrides the names; also separates the model from an unknown data set.
        temperature: Overrides the names.
        noise_rate: Overrides the names and the stored noise rates.
        passage_num: Overrides the names.
        correct_passage_rate: Overrides the names.

    Returns:
        model, dataset, temperature, noise_rate, passage_num, correct_passage_rate, variant
        (`chatgpt` for a judge's scores); the scores under their stored names, null if missing:
        all_rate, tt (counted as right), nums (responses), fact_check_rate (errors detected),
        correct_rate (corrected, of those detected), fact_tt, correct_tt, reject_rate (rejections
        or errors detected, by the judge), rejecttt; then file.

    Raises:
        InputError: A file does not exist or holds no scores, or a setting is missing.
        ParameterError: A setting has another type.

    References:
        RGB 65ec39e.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.compat import rgb
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = "prediction_en_7b_temp0.2_noise0.4_passage5_correct0.0_result.json"
        ...     text = '{"all_rate": 0.5, "noise_rate": 0.4, "tt": 1, "nums": 2}'
        ...     _ = Path(folder, name).write_text(text)
        ...     rgb.read_scores(folder).select("model", "noise_rate", "all_rate", "nums").row(0)
        ('7b', 0.4, 0.5, 2)
    """
    given = Settings(model, dataset, temperature, noise_rate, passage_num, correct_passage_rate)
    runs = runs_in(path, given, scores=True)
    rows = [
        asdict(settings) | _stored(file, settings, checked=noise_rate is None) | {"file": str(file)}
        for file, settings in runs.items()
    ]
    schema = {**SETTINGS, "variant": pl.String(), **SCORES, "file": pl.String()}
    return pl.DataFrame(rows, schema=schema)


def score_object(
    counts: Mapping[str, int], *, noise_rate: float, dataset: str, judge: Judge | None = None
) -> dict[str, Score]:
    """Return the object of a score file, with its keys in RGB's order.

    Args:
        counts: `nums` (responses) and `tt` (counted as right); of `_fact` data sets also `fact_tt`
            (errors detected) and `correct_tt` (corrected); of judges `rejecttt` (rejections or
            errors by the judge), and for errors `correct_tt`.
        noise_rate: Noise rate of the run.
        dataset: Name of the data set.
        judge: Set if the scores are a judge's: about `rejection`, or about `errors` detected.

    Raises:
        MissingColumnsError: A count is missing.
        ParameterError: There are no responses: RGB ends with an error and writes nothing.

    Examples:
        >>> from evalframe.compat import rgb
        >>> rgb.score_object({"tt": 3, "nums": 4}, noise_rate=0.2, dataset="en")
        {'all_rate': 0.75, 'noise_rate': 0.2, 'tt': 3, 'nums': 4}
    """
    flags = judge is None and "_fact" in dataset
    required = ["nums", "tt", *["fact_tt", "correct_tt"] * flags, *["rejecttt"] * bool(judge)]
    required += ["correct_tt"] * (judge == "errors")
    if missing := {*required} - {*counts}:
        raise MissingColumnsError.of("score_object", missing, counts)
    if not counts["nums"]:
        raise ParameterError("scores need at least one response; RGB divides by zero without any")
    tt, nums = counts["tt"], counts["nums"]
    if judge is not None:
        judged = counts["rejecttt"]
        rates: dict[str, Score] = {"reject_rate": judged / nums, "all_rate": tt / nums}
        if judge == "rejection":
            return rates | {"tt": tt, "rejecttt": judged, "nums": nums}
        corrected = counts["correct_tt"]
        rates["correct_rate"] = _share(corrected, judged)
        sums = {"tt": tt, "rejecttt": judged, "correct_tt": corrected, "nums": nums}
        return rates | sums | {"noise_rate": noise_rate}
    scores = {"all_rate": tt / nums, "noise_rate": noise_rate, "tt": tt, "nums": nums}
    if flags:
        detected, corrected = counts["fact_tt"], counts["correct_tt"]
        scores |= {"fact_check_rate": detected / nums, "correct_rate": _share(corrected, detected)}
        scores |= {"fact_tt": detected, "correct_tt": corrected}
    return scores


def _share(part: int, whole: int) -> Score:
    return part / whole if whole else 0


def _stored(file: Path, settings: Settings, *, checked: bool) -> dict[str, Any]:
    """Scores of a file, checked; with `checked` also its noise rate against its name."""
    try:
        stored = decoded(read_regular(file), str(file))
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror or error})") from error
    if not isinstance(stored, dict) or "all_rate" not in stored:
        raise InputError(f"{file} holds no scores: no object with 'all_rate'; is it another file?")
    scores = {name: stored[name] for name in ("noise_rate", *SCORES) if name in stored}
    for name, value in scores.items():
        whole = name in SCORES and SCORES[name].is_integer()
        if type(value) is int:
            fits = abs(value) <= (2**63 - 1 if whole else sys.float_info.max)
        else:
            fits = type(value) is float and not whole
        if not fits:
            kind = "an integer of 64 bits" if whole else "a number of 64 bits"
            raise InputError(f"{file}: {name!r} is {reprlib.repr(value)}, not {kind}")
    noise_rate = scores.pop("noise_rate", settings.noise_rate)
    if checked and noise_rate != settings.noise_rate:
        raise InputError(
            f"{file}: its name says noise rate {settings.noise_rate}, but it holds {noise_rate}. "
            "Rename the file, or give noise_rate=..."
        )
    return scores
