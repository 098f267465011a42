"""`evalframe calibrate`, and `evalframe selective --from-run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from evalframe.core.choices import Rules, Target, Training
from evalframe.jobs.console import refuse_silence, say, terminal_width
from evalframe.jobs.family import Documents, help_texts
from evalframe.jobs.flags import Flag, command
from evalframe.jobs.settings import Columns


class Runs(msgspec.Struct, kw_only=True):
    """Flags of run documents."""

    mode: Annotated[
        tuple[str, ...], Flag("Mode of the run; once, or for each run.", "M", repeated=True)
    ] = ()
    intersection_only: Annotated[
        bool, Flag("Let two runs have different participants, and evaluate those in both.")
    ] = False
    artifact: Annotated[str | None, Flag("Write ai-psychiatrist's artifact.", "OUT.json")] = None
    rules: Annotated[
        Rules | None,
        Flag(
            "Of run documents: what the original computes, or what is sound.", default="reference"
        ),
    ] = None


def _evaluate(documents: Sequence[str], flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.run import silent
    from evalframe.jobs.selective.from_run import evaluate_documents, report

    refuse_silence(quiet, flags.get("output"), flags.get("artifact"))
    evaluation = evaluate_documents(documents, flags, silent if quiet else None)
    if not quiet:
        say(report(evaluation, width=terminal_width()))


RUNS = Documents(Runs, _evaluate)


class Calibrate(msgspec.Struct, kw_only=True):
    """Flags of `evalframe calibrate`."""

    items: tuple[str, ...] = ()
    from_run: Annotated[
        tuple[str, ...], Flag("A run document to train on.", "RUN.json", repeated=True)
    ] = ()
    mode: Annotated[str | None, Flag("Mode of the run.", "M")] = None
    method: Annotated[
        Literal[Training, "verbalized"],
        Flag(
            "verbalized is a temperature of stated confidence from 1 to 5; all others need "
            "--features"
        ),
    ]
    features: Annotated[
        tuple[str, ...], Flag("Signals to train on; all methods but logistic take one.")
    ] = ()
    target: Annotated[
        Target | None,
        Flag(
            "What to predict: the column correct, else prediction = label; |difference| <= 1; or "
            "1 - |difference| / 3.",
            default="correctness",
        ),
    ] = None
    rules: Annotated[
        Rules | None,
        Flag(
            "documented finds the optimum and refuses items that lack a signal; reference does as "
            "the original, by a grid and with its defaults.",
            default="documented",
        ),
    ] = None
    folds: Annotated[int | None, Flag("Judge it out of sample, too, by so many folds.")] = None
    cluster: Annotated[str | None, Flag("Never split.", "COLUMN", default="participant_id")] = None
    seed: Annotated[int | None, Flag("Of the folds.", default="42")] = None
    columns: Columns = {}
    output: Annotated[str, Flag("The artifact.", "C.json")]


def _calibrate(flags: dict[str, Any], quiet: bool) -> None:
    from evalframe.jobs.selective import calibrate

    trained = calibrate.calibrate(flags.pop("from_run", ()), flags)
    if not quiet:
        say(calibrate.summary(trained, flags["output"]))


calibrate = command("calibrate", Calibrate, _calibrate, texts=help_texts("selective"))
