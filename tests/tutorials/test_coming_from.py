"""Both sides of each row of the page for users of other tools give the same numbers.

scikit-learn takes seconds to import, so its functions stand here by their definitions.
"""

import re

import numpy as np
import polars as pl
import pytest
from scipy import optimize, spatial, stats

import evalframe as ef

PARTS = re.split(r"^## ", ef.explain("coming-from"), flags=re.MULTILINE)[1:]
ROW = re.compile(r"^\| .+? \| `(.+)` \| `(.+)` \|$", re.MULTILINE)


def share(found, among):
    return np.mean(np.asarray(found)[np.asarray(among)])


def precision_score(y, said):
    return share(y, said)


def recall_score(y, said):
    return share(said, y)


def f1_score(y, said):
    return 2 / (1 / precision_score(y, said) + 1 / recall_score(y, said))


def roc_auc_score(y, score):
    y, score = np.asarray(y), np.asarray(score)
    ranks = stats.rankdata(score)[y].sum() - y.sum() * (y.sum() + 1) / 2
    return ranks / (y.sum() * (~y).sum())


def log_loss(y, p):
    return -np.mean(np.log(np.where(y, p, 1 - np.asarray(p))))


def mean_squared_error(y, guess):
    return np.mean((np.asarray(guess) - np.asarray(y)) ** 2)


def calibration_curve(y, p, n_bins):
    bins = np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], p)
    return [share(y, bins == each) for each in np.unique(bins)], None


class IsotonicRegression:
    """Ties are one point, of their mean and their number."""

    def fit(self, x, y):
        at, inverse, n = np.unique(x, return_inverse=True, return_counts=True)
        means = np.bincount(inverse, weights=y) / n
        self.value = dict(zip(at, optimize.isotonic_regression(means, weights=n).x, strict=True))
        return self

    def predict(self, x):
        return [self.value[each] for each in x]


DEFINED = {
    "accuracy_score": lambda y, guess: np.mean(np.asarray(y) == np.asarray(guess)),
    "brier_score_loss": mean_squared_error,
    "mean_absolute_error": lambda y, guess: np.mean(np.abs(np.asarray(y) - np.asarray(guess))),
    "root_mean_squared_error": lambda y, guess: np.sqrt(mean_squared_error(y, guess)),
    **{each.__name__: each for each in (precision_score, recall_score, f1_score)},
    **{each.__name__: each for each in (roc_auc_score, log_loss, calibration_curve)},
    **{each.__name__: each for each in (IsotonicRegression, stats.pearsonr)},
    "false_discovery_control": stats.false_discovery_control,
    "jensenshannon": spatial.distance.jensenshannon,
}


def numbers(value):
    if isinstance(value, pl.DataFrame):
        value = value.to_numpy()
    return np.asarray(value, dtype=float).squeeze()


@pytest.mark.parametrize("part", PARTS[:3], ids=lambda part: part.split("\n")[0])
def test_both_sides_of_a_row_are_equal(part):
    names = dict(DEFINED)
    for line in re.findall(r"^(?:>>>|\.\.\.) (.*)$", part, re.MULTILINE):
        names.setdefault(":code", []).append(line)
    exec("\n".join(names.pop(":code")), names)
    rows = ROW.findall(part)
    assert len(rows) == part.count("\n| ") - 1
    for there, here in rows:
        theirs, ours = numbers(eval(there, names)), numbers(eval(here, names))
        assert theirs.shape == ours.shape, there
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, err_msg=there)
