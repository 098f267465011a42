"""Score files of the original program, read into one table; and the objects that they hold."""

from __future__ import annotations

import reprlib
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from evalframe.core.documents import decoded, read_regular
from evalframe.core.errors import InputError, MissingColumnsError, ParameterError
from evalframe.rag.files.finding import runs_in
from evalframe.rag.files.names import SETTINGS, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from evalframe.rag.files.finding import Paths

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
"""What score files hold, beside the noise rate."""


def read_rgb_scores(
    path: Paths,
    *,
    model: str | None = None,
    dataset: str | None = None,
    temperature: float | None = None,
    noise_rate: float | None = None,
    passage_num: int | None = None,
    correct_passage_rate: float | None = None,
) -> pl.DataFrame:
    """Scores as the original program stored them, one row for each score file.

    The settings come from the names of the files, as for `read_rgb`; further keys are not read.

    Args:
        path: Files, globs or folders, with all score files (`..._result.json`) below them.
        model: Holds for all files instead of what their names say.
        dataset: Likewise; also tells where the name of an unknown data set ends.
        temperature: Likewise.
        noise_rate: Likewise.
        passage_num: Likewise.
        correct_passage_rate: Likewise.

    Returns:
        model, dataset, temperature, noise_rate, passage_num, correct_passage_rate, variant
        (`chatgpt` for a judge's scores); the scores under their own names, null where the file has
        none: all_rate, tt (counted as right), nums (responses), fact_check_rate (errors detected),
        correct_rate (corrected, of those detected), fact_tt, correct_tt, reject_rate (what the
        judge found: rejections, or errors detected), rejecttt; then file.

    Raises:
        InputError: No such file, or one that holds no scores.
        ParameterError: A setting of another type.

    References:
        Files are those of RGB 65ec39e.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from evalframe.rag.files.scores import read_rgb_scores
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = "prediction_en_7b_temp0.2_noise0.4_passage5_correct0.0_result.json"
        ...     text = '{"all_rate": 0.5, "noise_rate": 0.4, "tt": 1, "nums": 2}'
        ...     _ = Path(folder, name).write_text(text)
        ...     read_rgb_scores(folder).select("model", "noise_rate", "all_rate", "nums").row(0)
        ('7b', 0.4, 0.5, 2)
    """
    told = Settings(model, dataset, temperature, noise_rate, passage_num, correct_passage_rate)
    runs = runs_in(path, told, scores=True)
    rows = [
        asdict(settings) | _stored(file, settings, checked=noise_rate is None) | {"file": str(file)}
        for file, settings in runs.items()
    ]
    schema = {**SETTINGS, "variant": pl.String(), **SCORES, "file": pl.String()}
    return pl.DataFrame(rows, schema=schema)


def score_object(
    counts: Mapping[str, int], *, noise_rate: float, dataset: str, judge: Judge | None = None
) -> dict[str, Score]:
    """What a score file holds, its keys in the order of the original.

    Args:
        counts: `nums` (responses) and `tt` (counted as right); of `_fact` data sets also `fact_tt`
            (errors detected) and `correct_tt` (corrected); of judges `rejecttt` (what the judge
            found), and for errors `correct_tt`.
        noise_rate: Of the run.
        dataset: Its name.
        judge: Whether the scores are a judge's, of rejections or of errors detected.

    Raises:
        MissingColumnsError: A count is lacking.
        ParameterError: There are no responses: the original ends with an error and writes nothing.

    >>> score_object({"tt": 3, "nums": 4}, noise_rate=0.2, dataset="en")
    {'all_rate': 0.75, 'noise_rate': 0.2, 'tt': 3, 'nums': 4}
    """
    flags = judge is None and "_fact" in dataset
    needed = ["nums", "tt", *["fact_tt", "correct_tt"] * flags, *["rejecttt"] * bool(judge)]
    needed += ["correct_tt"] * (judge == "errors")
    if missing := {*needed} - {*counts}:
        raise MissingColumnsError.of("score_object", missing, counts)
    if not counts["nums"]:
        raise ParameterError("there are no scores of no responses; the original divides by zero")
    tt, nums = counts["tt"], counts["nums"]
    if judge is not None:
        found = counts["rejecttt"]
        rates: dict[str, Score] = {"reject_rate": found / nums, "all_rate": tt / nums}
        if judge == "rejection":
            return rates | {"tt": tt, "rejecttt": found, "nums": nums}
        corrected = counts["correct_tt"]
        rates["correct_rate"] = _share(corrected, found)
        sums = {"tt": tt, "rejecttt": found, "correct_tt": corrected, "nums": nums}
        return rates | sums | {"noise_rate": noise_rate}
    scores = {"all_rate": tt / nums, "noise_rate": noise_rate, "tt": tt, "nums": nums}
    if flags:
        found, corrected = counts["fact_tt"], counts["correct_tt"]
        scores |= {"fact_check_rate": found / nums, "correct_rate": _share(corrected, found)}
        scores |= {"fact_tt": found, "correct_tt": corrected}
    return scores


def _share(part: int, whole: int) -> Score:
    return part / whole if whole else 0


def _stored(file: Path, settings: Settings, *, checked: bool) -> dict[str, Any]:
    """The scores of a file.

    Raises:
        InputError: It cannot be read, or holds something else.
    """
    try:
        found = decoded(read_regular(file), str(file))
    except OSError as error:
        raise InputError(f"{file} cannot be read ({error.strerror or error})") from error
    if not isinstance(found, dict) or "all_rate" not in found:
        raise InputError(f"{file} holds no scores: no object with 'all_rate'; is it another file?")
    read = {name: found[name] for name in ("noise_rate", *SCORES) if name in found}
    for name, value in read.items():
        whole = name in SCORES and SCORES[name].is_integer()
        if type(value) is int:
            fits = abs(value) <= (2**63 - 1 if whole else sys.float_info.max)
        else:
            fits = type(value) is float and not whole
        if not fits:
            kind = "an integer of 64 bits" if whole else "a number of 64 bits"
            raise InputError(f"{file}: {name!r} is {reprlib.repr(value)}, not {kind}")
    stored = read.pop("noise_rate", settings.noise_rate)
    if checked and stored != settings.noise_rate:
        raise InputError(
            f"{file}: its name says noise rate {settings.noise_rate}, but it holds {stored}. Rename"
            " the file, or give noise_rate=..."
        )
    return read
