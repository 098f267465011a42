"""Jobs of the selective family: its descriptor, and the fields of its jobs and commands."""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args

import msgspec

from evalframe.core.choices import Rules, Target, Training
from evalframe.core.errors import ParameterError
from evalframe.jobs.family import Command, Demo, Family, Lazy
from evalframe.jobs.flags import Flag
from evalframe.jobs.settings import Columns, TableJob

LossName: TypeAlias = Literal["abs", "abs_norm", "zero_one", "squared"]

LOSSES: tuple[str, ...] = get_args(LossName)
METRICS = (
    "coverage",
    "selective_risk",
    "aurc",
    "augrc",
    "aurc_at",
    "augrc_at",
    "aurc_optimal",
    "augrc_optimal",
    "eaurc",
    "eaugrc",
    "aurc_achievable",
    "risk_at",
)
"""Metrics of a job that names none: every quantity of selective prediction."""

PREDICTION, LABEL, PARTICIPANT, ITEM = "prediction", "label", "participant_id", "item"

ROLES = (
    *(PREDICTION, LABEL, PARTICIPANT, ITEM, "weight", "confidence", "loss", "correct", "score"),
    "mode",
)
"""Columns that a job may name, besides the roles of its metrics."""

_PARTICIPANT = "participant"
"""Another name of the role of participants."""


class Loss(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named loss of prediction and label, or a column that holds the loss."""

    name: LossName | None = None
    column: str | None = None
    scale: Annotated[float | None, Flag("Divisor of abs_norm.", default="3", name="loss-scale")] = (
        None
    )

    def __post_init__(self) -> None:
        if (self.name is None) == (self.column is None):
            raise ParameterError(f"a loss is either a name ({', '.join(LOSSES)}) or a column")
        if self.column == "":
            raise ParameterError("the column of the loss is empty; name one")
        if self.scale is None:
            return
        if self.name != "abs_norm":
            other = self.name or f"column {self.column}"
            raise ParameterError(f"a scale belongs to the loss abs_norm, not to {other}; omit it")
        if not 0 < self.scale < math.inf:
            raise ParameterError(f"scale must be above 0 and finite, got {self.scale}")

    @property
    def divisor(self) -> float:
        """Divisor of abs_norm; the default is the range of PHQ-8 items."""
        return 3.0 if self.scale is None else self.scale


def loss_entry(text: str | None) -> dict[str, str]:
    """The loss of a flag as an entry of a job file: its name, or column:NAME."""
    kind, _, column = (text or "abs_norm").partition(":")
    return {"column": column} if kind == "column" and column else {"name": text or "abs_norm"}


class SelectiveJob(TableJob, frozen=True, kw_only=True, tag_field="family", tag="selective"):
    """A job of the selective family."""

    column_flags: ClassVar = {
        "prediction": "Null abstains.  [default: prediction]",
        "label": "The truth.  [default: label]",
        "participant": "[default: participant_id]",
        "item": "[default: item]",
        "weight": "Of each row.  [default: 1]",
    }
    defaults: ClassVar = {
        "cluster": "the participant",
        "key": "--by, participant and item, the last two as far as the table has them",
    }

    by: Annotated[tuple[str, ...], Flag("Columns to group by.")] = ()
    confidence: Annotated[tuple[str, ...], Flag("Confidence columns, each evaluated.")] = (
        "confidence",
    )
    loss: Annotated[
        Loss | None,
        Flag(
            f"{', '.join(LOSSES)}, or column:NAME for a column. abs_norm divides |prediction - "
            "label| by 3, for items rated 0 to 3 (PHQ-8); zero_one is for answers that are right "
            "or wrong.",
            "NAME",
            default="a column loss, else 1 minus a column correct, else zero_one for answers that "
            "are text, Boolean or only 0 and 1; with --from-run abs_norm",
            parse=loss_entry,
        ),
    ] = None
    metrics: Annotated[
        tuple[str | dict[str, Any], ...] | None,
        Flag(
            "What to compute; see `evalframe metrics`. module:name is a metric of your own, from "
            "where you are or installed; naming a module runs it.",
            default=", ".join(METRICS),
            checks=False,
        ),
    ] = None
    coverage_grid: Annotated[
        tuple[float, ...], Flag("Coverages of risk_at.", default="0.1,...,0.9", checks=False)
    ] = tuple(k / 10 for k in range(1, 10))
    area_coverage: Annotated[float, Flag("Of aurc_at and augrc_at.", checks=False)] = 0.5
    convention: Annotated[
        str | None,
        Flag(
            "Of every metric that has one; of the default metrics those it does not define are "
            "left out.",
            "NAME",
            default="trapezoid_total",
            checks=False,
        ),
    ] = None
    calibration: Annotated[
        str | None,
        Flag(
            "Artifact of `evalframe calibrate`: evaluate the confidence `calibrated`, too; of run "
            "documents the variants that are calibrated.",
            "C.json",
            checks=False,
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if _PARTICIPANT in self.columns:
            named = {PARTICIPANT if k == _PARTICIPANT else k: v for k, v in self.columns.items()}
            msgspec.structs.force_setattr(self, "columns", named)
        for name in ("confidence", "metrics"):
            if getattr(self, name) == ():
                raise ParameterError(f"{name} is empty; a job needs at least one")
        if len(set(self.confidence)) < len(self.confidence):
            raise ParameterError(f"confidence names a column twice: {', '.join(self.confidence)}")
        if "confidence" in self.by:
            raise ParameterError("the result's column 'confidence' is taken; rename that group")
        for coverage in (*self.coverage_grid, self.area_coverage):
            if not 0 < coverage <= 1:
                raise ParameterError(f"a coverage must lie in (0, 1], got {coverage}")

    @property
    def cluster(self) -> str:
        """The column whose values are resampled together."""
        return (self.bootstrap and self.bootstrap.cluster) or PARTICIPANT


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


class Calibrate(msgspec.Struct, kw_only=True):
    """Flags of `evalframe calibrate`."""

    items: tuple[str, ...] = ()
    reader: str | None = None
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


FAMILY = Family(
    name="selective",
    subject="Selective prediction",
    row="one item of one participant: a prediction or none, the truth, a confidence",
    title="Selective prediction: metrics of predictions that may abstain, calibration.",
    main="evaluate",
    items="ITEMS",
    job=SelectiveJob,
    metrics=Lazy("evalframe.jobs.selective:METRICS"),
    compute=Lazy("evalframe.jobs.selective.run:compute"),
    check=Lazy("evalframe.jobs.selective.run:check"),
    printed=Lazy("evalframe.jobs.selective.run:printed_metrics"),
    roles=Lazy("evalframe.jobs.selective.run:roles"),
    tables=Lazy("evalframe.jobs.selective.run:TABLES"),
    sample=Lazy("evalframe.compat.ai_psychiatrist.writer:sample_files"),
    sizes=("participants",),
    reader="run",
    documents=Command(Runs, Lazy("evalframe.jobs.selective.from_run:run")),
    commands={"calibrate": Command(Calibrate, Lazy("evalframe.jobs.selective.calibrate:run"))},
    shortcuts=("calibrate", "validate"),
    drawn=PARTICIPANT,
    shown=("metrics", "bands", "curve", "optimal", "reliability"),
    demo=Demo(
        question="Is a system right where it is sure?",
        reading="AURC: the area under the loss of the most confident items over how many they "
        "are, lower is better; answering less lowers it, too, so read it beside Cmax, the share "
        "of items that is answered. risk@0.50: the mean loss (0 is right, 1 as wrong as can be) "
        "of the half of all items that is most confident.",
        words=(
            *("{items}", "--by", "mode"),
            *("--loss", "abs_norm", "--metrics", "aurc,coverage,risk_at_0.50"),
        ),
        output="selective",
    ),
)
