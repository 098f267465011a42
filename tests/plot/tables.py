"""Small tables of every kind that charts draw, by the name of the chart, for models of any name."""

import polars as pl

import evalframe as ef


def result(models):
    half = pl.int_range(len(models), eager=True) / 20
    ends = {"lower": half + 0.2, "upper": half + 0.4}
    return pl.DataFrame({"model": models, "metric": "aurc", "estimate": half + 0.3, **ends})


def comparison(models):
    place = {model: number for number, model in enumerate(models)}
    found = [(a, b) for a in models for b in models if place[a] < place[b]]
    left, right = zip(*found, strict=True)
    delta = pl.Series([0.1 * (place[b] - place[a]) for a, b in found])
    ends = {"lower": delta - 0.05, "upper": delta + 0.05, "p_adjusted": 0.01}
    return pl.DataFrame({"metric": "aurc", "left": left, "right": right, "delta": delta, **ends})


def board(models):
    rank = pl.int_range(1, len(models) + 1, eager=True)
    limits = {"rank_set_lower": rank, "rank_set_upper": rank, "tied_with_best": rank == 1}
    return result(models).select(rank.alias("rank"), pl.all()).with_columns(**limits)


def curve(models):
    items = pl.DataFrame(
        {"loss": [0.0, 0.0, 1.0, 1.0, None], "confidence": [0.9, 0.7, 0.8, 0.1, 0]}
    )
    one = ef.selective.rc_curve(items)
    return pl.concat([one.select(pl.lit(m, pl.String).alias("model"), pl.all()) for m in models])


def bins(models):
    items = pl.DataFrame({"confidence": [0.1, 0.55, 0.55, 0.95], "correct": [0, 1, 0, 1]})
    one = ef.selective.reliability_table(items)
    return pl.concat([one.select(pl.lit(m, pl.String).alias("model"), pl.all()) for m in models])


def rates(models):
    right = {"accuracy": 0.8, "accuracy_lower": 0.7, "accuracy_upper": 0.9}
    rejected = {"rejection_rate": 0.1, "rejection_rate_lower": 0.05, "rejection_rate_upper": 0.2}
    keys = pl.DataFrame({"model": models}).join(
        pl.DataFrame({"noise_rate": [0.0, 0.8]}), how="cross"
    )
    return keys.with_columns(n=pl.lit(20), **{k: pl.lit(v) for k, v in (right | rejected).items()})


def scores(models):
    people = pl.DataFrame({"segment_id": ["age:young", "age:old"], "score": [0.9, 0.7]})
    keys = pl.DataFrame({"model": models}).with_columns(category=pl.lit("age"))
    return keys.join(people, how="cross")


def question(models):
    rows = pl.DataFrame({"model": models}).with_columns(
        options=pl.lit(["no", "yes"], dtype=pl.List(pl.String)),
        actual=pl.lit([0.3, 0.7], dtype=pl.List(pl.Float64)),
        predicted=pl.lit([40.0, 60.0], dtype=pl.List(pl.Float64)),
    )
    return rows.with_columns(sample_size=100)


def replicated(models):
    effects = {"effect_d_human": [0.5, 0.1, 0.2], "effect_d_agent": [0.4, 0.2, -0.1]}
    one = pl.DataFrame({"study_id": "s", "test_id": ["x", "y", "z"], **effects})
    return pl.DataFrame({"model": models}).join(one, how="cross")


def agreement(models):
    one = pl.DataFrame({"study_id": ["s", "t"], "pas": [0.9, 0.4]})
    return pl.DataFrame({"model": models}).join(one, how="cross")


def simulated(models):
    return pl.DataFrame({"method": models}).with_columns(covered=pl.lit(90), trials=pl.lit(100))


CHARTS = {
    "forest": (ef.plot.forest, result, "estimate"),
    "pairs": (ef.plot.pairs, comparison, "delta"),
    "ranks": (ef.plot.ranks, board, "rank_set_lower"),
    "risk_coverage": (ef.plot.risk_coverage, curve, "selective_risk"),
    "reliability": (ef.plot.reliability, bins, "accuracy"),
    "noise": (ef.plot.noise, rates, "accuracy"),
    "segments": (ef.plot.segments, scores, "score"),
    "distribution": (ef.plot.distribution, question, "actual"),
    "effects": (ef.plot.effects, replicated, "effect_d_agent"),
    "studies": (ef.plot.studies, agreement, "pas"),
    "coverage_simulation": (ef.plot.coverage_simulation, simulated, "covered"),
}
"""Of each chart its function, its table of models, and a column that it needs."""
