"""Errors that say what was found, where, and what to do next."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl


_SHOWN = 3
"""Examples in a message."""


_PLAN = "\n\nThis error occurred in the following expression"
"""What Polars adds to an error that is raised while it computes."""


class Argument(NamedTuple):
    """An argument that a message tells to set, as a call, a command or a job file writes it.

    >>> mode = Argument("eval_type", "shift")
    >>> print(mode, "|", mode.as_flag(), "|", mode.as_entry())
    eval_type="shift" | --eval-type shift | eval_type = "shift"
    """

    name: str
    value: str | bool | None = None

    def __str__(self) -> str:
        """The keyword argument of a call."""
        if isinstance(self.value, str):
            return f"{self.name}={json.dumps(self.value)}"
        return f"{self.name}={'...' if self.value is None else self.value}"

    def as_flag(self) -> str:
        """The flag of a command."""
        flag = "--" + _FLAGS.get(self.name, self.name).replace("_", "-")
        return f"{flag} {self.value}" if isinstance(self.value, str) else flag

    def as_entry(self) -> str:
        """The entry of a job file."""
        if self.name in _OPPOSITES:
            return f"{_FLAGS[self.name]} = true"
        return f"{self.name} = {'' if self.value is None else json.dumps(self.value)}".rstrip()


_FLAGS = {"resample": "bootstrap", "paired": "unpaired"}
"""Flags that have other names than their arguments."""

_OPPOSITES = ("paired",)
"""Arguments that are told to be false, of which the flag and the entry are the opposite."""


class EvalframeError(Exception):
    """Base of every error that evalframe raises on purpose.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> try:
        ...     ef.evaluate(pl.DataFrame({"los": [0.5]}), ef.selective_risk())
        ... except ef.EvalframeError as error:
        ...     print(error)
        metric 'selective_risk' needs column 'loss'; the table has ['los']. Did you mean 'los'?
        Name the column to use, or rename it.
    """

    def __init__(self, *parts: str | Argument) -> None:
        """Take the parts of the message; if Polars raises it again with its plan, drop the plan."""
        texts = (p if isinstance(p, Argument) else str(p).partition(_PLAN)[0] for p in parts)
        super().__init__(*texts)

    def message(self, shown: Callable[[Argument], str] = str) -> str:
        """The message, with its arguments as a caller writes them."""
        parts = (shown(part) if isinstance(part, Argument) else part for part in self.args)
        return "".join(parts)

    def __str__(self) -> str:
        """The message for callers in Python."""
        return self.message()


class ParameterError(EvalframeError, ValueError):
    """An argument lies outside its domain."""


class UnknownNameError(EvalframeError, KeyError):
    """A name (metric, variant, option) that nothing answers to."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
        """Name the nearest known spelling, then all of them."""
        known = sorted(known)
        return cls(f"unknown {kind} {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}")


class MissingColumnsError(EvalframeError):
    """A table lacks columns that were asked for.

    Attributes:
        missing: The columns, if another can be named for them.
    """

    ADVICE = " Name the column to use, or rename it."
    missing: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, needed_by: str, missing: Iterable[str], present: Iterable[str]
    ) -> MissingColumnsError:
        """Say who needs which column, and what the table has instead."""
        missing = sorted(missing)
        present = [name for name in present if not name.startswith(":")]  # our own, while we work
        hints = "".join(did_you_mean(name, present) for name in missing)
        named = ", ".join(repr(name) for name in missing)
        what = f"{needed_by} needs column{'s' * (len(missing) > 1)} {named}"
        return cls.saying(f"{what}; the table has {present}.{hints}", missing)

    @classmethod
    def saying(
        cls, what: str, missing: Iterable[str], *more: str | Argument
    ) -> MissingColumnsError:
        """Tell, with these words, to name a column in place of one that is missing."""
        error = cls(what, cls.ADVICE, *more)
        error.missing = (*missing,)
        return error


class ContractError(EvalframeError):
    """Rows or columns of a table break its contract."""


class InputError(EvalframeError):
    """A file or folder that cannot be read as asked."""


class OutputError(EvalframeError):
    """A file or folder that cannot be written as asked."""


class MissingExtraError(EvalframeError, ImportError):
    """A library of an optional feature is not installed."""


class RunWarning(UserWarning):
    """Files of another program are read, but may not say what was meant.

    Examples:
        >>> import warnings
        >>> from evalframe.compat.ai_psychiatrist import RunWarning
        >>> warnings.simplefilter("error", RunWarning)  # stop at such files
        >>> warnings.simplefilter("default", RunWarning)
    """


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program, beyond our own frames and those of Polars."""
    packages = (sys.modules[name].__file__ or "" for name in ("evalframe", "polars"))
    inner = tuple(f"{os.path.dirname(file)}{os.sep}" for file in packages)  # noqa: PTH120
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inner):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors of ours say which file they are about, where what raises them cannot know.

    >>> with naming("items.csv"):
    ...     raise ContractError("items: the table has no rows")
    Traceback (most recent call last):
    evalframe.core.errors.ContractError: items.csv: items: the table has no rows
    """
    try:
        yield
    except EvalframeError as error:
        error.args = (f"{name}: ", *error.args)
        raise


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Name the extra of evalframe to install where a library is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{what} needs {error.name}, which is not installed: pip install 'evalframe[{extra}]'"
        ) from error


def first_few(values: pl.Series) -> str:
    """The first of different values, for messages.

    >>> import polars as pl
    >>> first_few(pl.Series(["a", "b", "a", "c", "d"]))
    "'a', 'b', 'c', ..."
    """
    shown = values.unique(maintain_order=True)
    return ", ".join(map(repr, shown.head(_SHOWN))) + ", ..." * (len(shown) > _SHOWN)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint with the known name of the same metric, or the nearest one, or nothing.

    >>> did_you_mean("confidense", ["confidence", "label"])
    " Did you mean 'confidence'?"
    >>> did_you_mean("specificity", ["precision", "recall"])
    " Did you mean 'recall', with the negative class as positive=...?"
    """
    import difflib

    known = list(known)
    meant, *more = SYNONYMS.get(name.lower().replace("-", "_"), "").partition(",")
    if meant in known:
        return f" Did you mean {meant!r}{''.join(more)}?"
    folded = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.5)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


# Suggestions for messages, no aliases: one metric has one name.
SYNONYMS = {
    name: known
    for known, names in {
        "accuracy": "acc accuracy_score",
        "adaptive_calibration_error": "ace",
        "aurc": "rc_auc area_under_risk_coverage",
        "auroc": "auc roc_auc roc_auc_score auc_roc aucroc",
        "bayes_factor_t": "bf bayes_factor",
        "brier_score": "brier brier_score_loss",
        "brier_skill": "bss brier_skill_score",
        "concordance_correlation": "ccc concordance lins_ccc",
        "cosine_similarity": "cosine cos_sim",
        "earth_mover_similarity": "emd wasserstein earth_mover",
        "eaugrc": "e_augrc excess_augrc",
        "eaurc": "e_aurc excess_aurc",
        "expected_calibration_error": "ece calibration_error",
        "f1_score": "f1 f_score fscore",
        "false_negatives": "fn",
        "false_positives": "fp",
        "jensen_shannon_similarity": "jsd js jensen_shannon js_divergence",
        "macro_mean_absolute_error": "macro_mae",
        "maximum_calibration_error": "mce",
        "mean_absolute_error": "mae",
        "negative_log_likelihood": "nll log_loss logloss cross_entropy bce",
        "pearson_correlation": "pearson pearsonr correlation corr",
        "precision": "ppv precision_score positive_predictive_value",
        "precision, with the negative class as positive=...": "npv negative_predictive_value",
        "recall": "tpr sensitivity recall_score hit_rate true_positive_rate",
        "recall, with the negative class as positive=...": "specificity tnr true_negative_rate",
        "root_mean_squared_error": "rmse",
        "root_mean_squared_error, the root of it": "mse mean_squared_error",
        "squared_calibration_error": "sce rmsce",
        "true_negatives": "tn",
        "true_positives": "tp",
    }.items()
    for name in names.split()
}
"""What to write instead, by the other name: a name, and perhaps what more it takes."""
