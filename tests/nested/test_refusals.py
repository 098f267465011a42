"""What `ef.per` refuses, with the remedy."""

from __future__ import annotations

import re

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.core.state import Axis, own

ITEMS = pl.DataFrame(
    {
        "task": ["a", "a", "b", "b", "b"],
        "item": [1, 2, 1, 2, 3],
        "score": [1.0, 0.0, 0.5, 0.5, 1.0],
    }
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ef.per("task"), "per('task') needs a metric, or columns and then=..."),
        (lambda: ef.per("task", loss=ef.mean("score")), "columns need then=..."),
        (lambda: ef.per([], ef.mean("score")), "needs the columns that name a unit"),
        (lambda: ef.per("task", pl.col("score").mean()), "declares no state"),
        (
            lambda: ef.per("task", loss=ef.mean("score"), then=ef.mean("los")),
            "then reads 'los', but the units have: loss, task. Did you mean 'loss'?",
        ),
        (
            lambda: ef.per("task", ef.mean("score"), then=ef.per("task", ef.mean("value"))),
            "then is a per itself; nest it inside",
        ),
        (lambda: ef.per("task", ef.per("task", ef.mean("score"))), "'task' is a unit twice"),
        (
            lambda: ef.per("task", task=ef.mean("score"), then=ef.mean("task")),
            "'task' is a unit and a unit-level column",
        ),
        (
            lambda: ef.per(pl.col("task").first(), ef.mean("score")),
            "is computed from other rows",
        ),
        (
            lambda: ef.evaluate(ITEMS, ef.per("task", ef.mean("score")), by="task"),
            "'task' is a group key and a unit",
        ),
        (
            lambda: ef.evaluate(ITEMS, ef.per("task", ef.mean("score")), resample=ef.Linearized()),
            "say what is independent, Linearized(cluster='task')",
        ),
        (
            lambda: ef.evaluate(
                ITEMS,
                ef.per("task", ef.mean("score"), fixed=True),
                resample=ef.Bootstrap(cluster="task"),
            ),
            "are fixed, but each lies in one cluster of 'task'",
        ),
        (
            lambda: ef.evaluate(
                ITEMS,
                ef.per("task", ef.mean("score")),
                resample=ef.Bootstrap(cluster=pl.col("item") // 3),
            ),
            "lie in several clusters of [(col(\"item\")) // (dyn int: 3)], such as 'b' in 0, 1",
        ),
        (
            lambda: ef.partial(ITEMS, ef.per("task", ef.mean("score")), by="task"),
            "'task' is a group key and a unit",
        ),
    ],
)
def test_refusals(make, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        make()


@ef.metric(name="pass_2_pooled", direction="maximize", range=(0, 1))
def pass_2_pooled(problem="problem", correct="correct", *, weight=None):
    wrong = own.tries - own.correct
    rate = 1 - (wrong / own.tries) * ((wrong - 1).clip(0) / (own.tries - 1))
    axis = Axis(
        level=problem,
        sums={"tries": weight, "correct": weight * correct},
        terms={"passed": rate, "problems": own.tries / own.tries},
    )
    return ef.State(axes=(axis,), finish=lambda t: t.passed / t.problems)


@ef.metric(name="accuracy_of_levels", direction="maximize", range=(0, 1))
def accuracy_of_levels(problem="problem", correct="correct", *, weight=None):
    axis = Axis(
        level=problem,
        sums={"tries": weight, "correct": weight * correct},
        terms={"rates": own.correct / own.tries, "problems": own.tries / own.tries},
    )
    return ef.State(axes=(axis,), finish=lambda t: t.rates / t.problems)


@pytest.mark.parametrize(("metric", "value"), [(pass_2_pooled, 5 / 6), (accuracy_of_levels, 0.5)])
def test_a_metric_of_units_in_disguise_is_refused_when_it_is_resampled(metric, value):
    tries = pl.DataFrame({"problem": [1, 1, 1, 2, 2, 2], "correct": [1, 0, 0, 1, 1, 0]})
    assert tries.select(metric()).item() == pytest.approx(value)
    for method in (ef.Bootstrap, ef.Jackknife, ef.Linearized):
        with pytest.raises(ParameterError, match=re.escape("ef.per('problem', ...)")):
            ef.evaluate(tries, metric(), resample=method(cluster="problem"))
