"""Verdicts: words that follow from tests, in tables small enough to check by hand."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.reporting.verdict import verdict

NO_TESTS = "ntervals are no tests: rank and compare say which differences are certain."


def board(scores, tied, last=None, **more):
    """A board of systems a, b, ... in the order of their ranks."""
    number = len(scores)
    columns = {"rank": range(1, number + 1), "model": [*"abcdefghijklmnopq"[:number]]}
    columns |= {"metric": "accuracy", "estimate": scores, "rank_set_upper": last or number}
    return pl.DataFrame({**columns, "tied_with_best": tied, **more})


def pairs(delta, p_adjusted, half=0.1, **more):
    number = range(len(delta))
    values = pl.Series(delta, dtype=pl.Float64)
    ends = {"lower": values - half, "upper": values + half}
    names = {"left": [f"a{k}" for k in number], "right": [f"b{k}" for k in number]}
    p = {"p_adjusted": pl.Series(p_adjusted, dtype=pl.Float64)}
    return pl.DataFrame({"metric": "accuracy", **names, "delta": values, **ends, **p, **more})


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            board(
                [0.9, 0.88, 0.87, 0.5],
                [True, True, True, False],
                margin_to_best=[None, 0.021, 0.0281, 0.1],
                n_clusters=300,
            ),
            "Three of four models are tied with the best; differences below 0.029 cannot be told "
            "apart with 300 questions.",
        ),
        # The last but one is nearer, but told apart: fewer of its answers are by chance.
        (
            board([0.9, 0.6, 0.7], [True, True, False], margin_to_best=[None, 0.4, 0.1]),
            "Two of three models are tied with the best; some differences below 0.25 cannot be "
            "told apart.",
        ),
        (
            board([0.9, 0.8], [True, True], n_clusters=[30, 28], margin_to_best=[None, 0.11]),
            "No model can be told from the best; differences below 0.11 cannot be told apart with "
            "28 to 30 questions.",
        ),
        (board([0.9, 0.9], [True, True]), "No model can be told from the best."),
        (board([0.9, 0.8, 0.7], [True, False, False], last=1), "“a” is better than both others."),
        (board([0.9, 0.5], [True, False], last=1), "“a” is better than “b”."),
        (
            board([0.9 - k / 20 for k in range(14)], [True] + [False] * 13, last=1),
            "“a” is better than all 13 others.",
        ),
        # b is beaten by c, and not by a, whose score is less certain.
        (
            board([0.9, 0.7, 0.8], [True, False, False], last=[2, 3, 2]),
            "“a” is the only one of three models that no other beats.",
        ),
        (
            board([0.9, None, 0.5], [True, None, False], last=1),
            "“a” is better than “c”.",
        ),
        (
            board([0.9, 0.5], [True, True]).drop("tied_with_best"),
            "No intervals were computed, so nothing can be said about ties.",
        ),
        (board([0.9], [True]), ""),
    ],
)
def test_of_boards(table, said):
    assert verdict(table, cluster="question_id") == said


def test_what_has_no_estimate_is_named_beside_the_ranks():
    ranked = board([0.9, 0.5, None], [True, False, None], last=1)
    ranked = ranked.with_columns(rank=pl.Series([1, 2, None]))
    assert verdict(ranked) == "“a” is better than “b”; one more could not be ranked."


def test_of_boards_of_several_groups():
    one = board([0.9, 0.5, 0.4], [True, False, False], last=1)
    some, none = (
        one.with_columns(tied_with_best=pl.col("rank") < 3),
        one.with_columns(tied_with_best=pl.lit(value=True)),
    )
    tables = [one, some, some, none, one.head(1)]
    groups = [t.select(pl.lit(k).alias("task"), pl.all()) for k, t in enumerate(tables)]
    assert verdict(pl.concat(groups)) == (
        "Of four tasks, one has one model that no other is better than, two have several that are "
        "tied with the best and one has no model that can be told from the best."
    )
    assert verdict(pl.concat(groups[1:3])) == (
        "Of two tasks, each has several that are tied with the best."
    )


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            pairs([0.3, -0.2, 0.05], [0.01, 0.04, 0.5], n_clusters=40),
            "Two of three pairs differ (adjusted p < 0.05); differences below 0.1 cannot be told "
            "apart with 40 clusters.",
        ),
        (
            pairs([0.09, 0.2], [0.01, 0.01], half=pl.Series([0.08, 0.15])),
            "Both pairs differ (adjusted p < 0.05); some differences below 0.12 cannot be told "
            "apart.",
        ),
        (
            pairs([0.0, 0.1, -0.1, None], [0.9, 0.8, 0.7, None], half=0.25),
            "None of three pairs differs (adjusted p < 0.05); differences below 0.25 cannot be "
            "told apart; one more could not be tested.",
        ),
        # A permutation found what an interval did not: widths say nothing of this test.
        (pairs([0.05, 0.3], [0.01, 0.01]), "Both pairs differ (adjusted p < 0.05)."),
        (pairs([0.3], [0.01]), "“b0” is better than “a0” in accuracy."),
        (
            pairs([0.3], [0.01]).with_columns(metric=pl.lit("aurc")),
            "“a0” is better than “b0” in aurc.",
        ),
        (
            pairs([-0.3], [0.01]).with_columns(metric=pl.lit("mine")),
            "“b0” has a lower mine than “a0”.",
        ),
        (
            pairs([0.02], [0.6]),
            "“a0” and “b0” cannot be told apart; differences below 0.1 cannot be told apart.",
        ),
        (pairs([None, 0.1], [None, None]), "No pair could be tested."),
        (
            pairs([0.1], [0.1]).drop("p_adjusted"),
            "No p-values were computed, so nothing can be said about differences.",
        ),
    ],
)
def test_of_pairs(table, said):
    assert verdict(table) == said


def test_of_keys_that_are_ranked_together_no_groups_are_made():
    models = {"model": ["a", "a", "b"], "degree": [0.0, 0.7, 0.0], "pas": [0.9, 0.8, 0.4]}
    sets = {"rank_set_lower": [1, 1, 3], "rank_set_upper": [2, 2, 3]}
    found = {"rank": [1, 2, 3], **sets, "tied_with_best": [True, True, False]}
    table = pl.DataFrame({**models, **found})
    assert verdict(table) == "Two of three systems are tied with the best."
    table = ef.show(table)
    assert [column.title for column in table.columns[:3]] == ["rank", "model", "degree"]
    assert table.columns[3].tied == [True, True, False]
    lone = pl.DataFrame({"pas": [0.9], **{name: values[:1] for name, values in found.items()}})
    assert ef.show(lone).verdict == ""


def test_too_few_draws_are_no_equality():
    p = 2 / 501  # the smallest that 500 draws give
    many = pairs([0.3] * 51 + [0.0] * 4, [1.0] * 55, p_value=[p] * 51 + [0.7] * 4)
    assert verdict(many) == (
        "No pair can be told apart, since the draws are too few for 55 tests; take at least 2,200."
    )
    # One p-value below 0.05 is not the smallest that there is.
    once = pairs([0.15, 0.0, 0.0], [0.09, 0.9, 0.9], p_value=[0.03, 0.9, 0.9])
    assert verdict(once).startswith("None of three pairs differs")
    expanded = pairs([0.3] * 6, [0.14] * 6, p_value=[0.0232847] * 6)
    assert verdict(expanded).endswith("too few for 6 tests; take many more, or compare fewer.")
    known = verdict(expanded.with_columns(n_clusters=30))
    assert known.endswith("too few for 6 tests; take at least 510, or compare fewer.")
    exact = pairs([0.3] * 10, [2 / 2**8 * 10] * 10, p_value=[2 / 2**8] * 10)
    assert verdict(exact).endswith("too few for 10 tests; compare fewer, or on more keys.")


def test_of_estimates_no_word_is_made_of_intervals():
    one = pl.DataFrame({"model": ["a", "b"], "estimate": [0.1, 0.9], "lower": 0.0, "upper": 1.0})
    by = [
        one.select("model", pl.lit(m).alias("metric"), pl.exclude("model"))
        for m in ("aurc", "accuracy")
    ]
    assert (
        verdict(pl.concat(by))
        == f"“a” has the best aurc and “b” has the best accuracy; i{NO_TESTS}"
    )
    assert verdict(by[0].with_columns(metric=pl.lit("mine"))) == f"I{NO_TESTS}"
    assert verdict(by[0].with_columns(lower=None, upper=None)).startswith("No intervals")
    assert verdict(by[0].head(1)) == ""


def test_names_are_shown_as_text():
    hostile = board([0.9, 0.5], [True, False], last=1)
    hostile = hostile.with_columns(model=pl.Series(["x" * 10_000, "a\u202e\nb"]))
    said = verdict(hostile.rename({"model": "{evil}"}))
    assert said == f"“{'x' * 21}…{'x' * 10}” is better than “a\\u202e b”."
    named = board([0.9, 0.8, 0.5], [True, True, False])
    named = named.with_columns(model=pl.Series(["a", "b", "baseline:uniform"]))
    assert verdict(named) == "Two of three models and baselines are tied with the best."
    many = board([0.9, 0.8, 0.5], [True, True, False]).rename({"model": "a[0]"})
    assert verdict(many).startswith("Two of three systems are tied")


def test_of_results_as_they_come():
    loss = {"a": [0, 0, 0, 1, 0, 0], "b": [1, 1, 1, 1, 1, 0], "c": [0, 0, 1, 0, 0, 0]}
    items = pl.DataFrame(loss).with_row_index("item")
    items = items.unpivot(index="item", variable_name="model", value_name="loss")
    draws, risk = ef.Bootstrap(cluster="item", n=200), ef.selective_risk()
    ranked = ef.rank(items, risk, between="model", resample=draws)
    assert verdict(ranked, cluster="item").startswith("Two of three models are tied with the best")
    found = ef.compare(items, risk, between="model", resample=draws)
    assert verdict(found).startswith("None of three pairs differs (adjusted p < 0.05)")
    assert verdict(ef.evaluate(items, risk, by="model")).startswith("No intervals")
