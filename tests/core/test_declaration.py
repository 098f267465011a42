"""Declared metrics: docstrings, signatures and help."""

from __future__ import annotations

import inspect

import evalframe as ef
from evalframe.core.metric import registered


@ef.metric(direction="minimize", range=(0, float("inf")), label="mass_above_{threshold}")
def mass_above(
    loss="loss", item="item_index", part=None, *, weight=None, threshold: float, unit: float = 1.0
):
    """Rows with losses above a threshold.

    Args:
        threshold: Losses of at least this
            are added up.

    Returns:
        Float64, 0 for no rows.

    References:
        None.
    """
    return ef.State(sums={"mass": weight * (loss > threshold)}, finish=lambda t: t.mass / unit)


def test_a_docstring_is_completed_from_the_declaration():
    assert inspect.getdoc(mass_above) == inspect.cleandoc(
        """Rows with losses above a threshold.

        Args:
            loss: A column or an expression.
            item: A column or an expression. By default the column `item_index`.
            part: Optional. A column or an expression.
            weight: How often each row counts; null, negative and infinite weights are missing.
            threshold: Losses of at least this
                are added up.
            unit: Parameter of the metric.

        Returns:
            Float64 named `mass_above_{threshold}`, in [0, inf); lower is better. 0 for no rows.

        References:
            None.
        """
    )


def _functions():
    for metric in registered().values():
        function = getattr(inspect.getmodule(metric.define), metric.define.__name__, None)
        # A metric that needs a parameter is private, behind a documented function of it.
        is_private = metric.define.__name__.startswith("_")
        if metric.family != "user" and hasattr(function, "metric") and not is_private:
            yield function


def test_the_help_of_a_metric_explains_its_arguments_and_names_the_result():
    for function in _functions():
        metric, docstring = function.metric, inspect.getdoc(function)
        for argument in [*metric.roles, "weight", *metric.params]:
            assert f"\n    {argument}: " in docstring, metric.name
        assert "Parameter of the metric." not in docstring, metric.name
        assert f"Float64 named `{metric.label or metric.name}`" in docstring
