"""Pairs of distributions as tables, and what a measure gives for them."""

import polars as pl


def pairs(*rows):
    schema = dict.fromkeys(("predicted", "actual"), pl.List(pl.Float64))
    return pl.DataFrame(rows, schema=schema, orient="row", strict=False)


def values(measure, *rows, **parameters):
    return pairs(*rows).select(measure(**parameters)).to_series().to_list()


def value(measure, predicted, actual, **parameters):
    return values(measure, (predicted, actual), **parameters)[0]
