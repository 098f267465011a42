"""Documents in the seeded order: what they follow from, and how they are distributed."""

from itertools import pairwise, permutations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evalframe.compat import rgb
from evalframe.rag.documents.selecting import select_documents

COUNTS = ["n_pos", "n_neg", "n_docs", "n_groups_covered", "n_wrong", "n_correct", "status"]
SCHEMA = {
    "dataset": pl.String,
    "id": pl.Int64,
    "positive": pl.List(pl.List(pl.String)),
    "negative": pl.List(pl.String),
    "positive_wrong": pl.List(pl.String),
}


def table(*rows):
    """Instances from data set, sizes of groups and number of negatives; ids count up."""
    made = []
    for number, (dataset, sizes, negative) in enumerate(rows):
        groups = [[f"p{g}.{i}" for i in range(size)] for g, size in enumerate(sizes)]
        wrong = [name.replace("p", "w") for group in groups for name in group]
        made.append((dataset, number, groups, [f"n{i}" for i in range(negative)], wrong))
    return pl.DataFrame(made, schema=SCHEMA, orient="row")


def seeded(frame, **arguments):
    return select_documents(frame, **arguments)


ROWS = st.tuples(
    st.sampled_from(["en", "zh_int", "en_fact"]),
    st.lists(st.integers(0, 4), max_size=4),
    st.integers(0, 7),
)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(ROWS, min_size=1, max_size=8),
    st.sampled_from([0.0, 0.2, 0.4, 0.6, 1.0]),
    st.integers(0, 9),
    st.sampled_from([0.0, 0.2, 0.5]),
    st.integers(0, 2**64 - 1),
)
def test_as_many_of_each_kind_as_in_the_original(rows, r, p, c, seed):
    frame = table(*rows)
    arguments = {"noise_rate": r, "passage_num": p, "correct_rate": c, "seed": seed}
    made = seeded(frame, **arguments)
    original = rgb.select_documents(frame, **arguments)
    assert_frame_equal(made.select(COUNTS), original.select(COUNTS))
    for row in made.filter(status="ok").to_dicts():
        shown = row["documents"]
        assert len({*shown}) == len(shown) == row["n_docs"]
        kinds = [name[0] for name in shown]
        assert kinds.count("n") == row["n_neg"]
        assert kinds.count("w") == (row["n_wrong"] or 0)
        sources = [name[1:] for name in shown if name[0] in "pw"]
        assert len({*sources}) == len(sources)  # no passage both right and wrong
        if row["n_groups_covered"]:
            taken = [
                sum(name.startswith(f"p{g}.") for name in shown)
                for g in range(len(row["positive"]))
            ]
            sizes = [len(group) for group in row["positive"]]
            # In turn: a group is passed over only where it has no more.
            assert all(
                t == min(size, max(taken)) or t >= max(taken) - 1
                for t, size in zip(taken, sizes, strict=True)
            )
            assert min(taken) >= 1


@settings(max_examples=8, deadline=None)
@given(st.lists(ROWS, min_size=2, max_size=8), st.sampled_from([0.0, 0.2]))
def test_nested_over_noise_rates_and_in_one_order(rows, c):
    rates = [0.0, 0.2, 0.4, 0.6, 0.8]
    made = seeded(table(*rows), noise_rate=rates, correct_rate=c)
    for _, item in made.filter(status="ok").group_by("id"):
        steps = item.sort("noise_rate")["documents"].to_list()
        for less, more in pairwise(steps):
            kept = [name for name in more if name in less]
            assert kept == [name for name in less if name in more]
            assert {name for name in less if name[0] == "n"} <= {*more}
            assert {name for name in more if name[0] == "w"} <= {*less}


@settings(max_examples=6, deadline=None)
@given(st.lists(ROWS, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_an_item_does_not_depend_on_the_others(rows, random):
    frame = table(*rows)
    whole = seeded(frame, noise_rate=0.4, correct_rate=0.2)
    order = random.sample(range(len(rows)), len(rows))
    assert_frame_equal(seeded(frame[order], noise_rate=0.4, correct_rate=0.2), whole[order])
    one = order[0]
    assert_frame_equal(seeded(frame[[one]], noise_rate=0.4, correct_rate=0.2), whole[[one]])
    narrow = frame.with_columns(pl.col("id").cast(pl.Int16))
    text = frame.with_columns(pl.col("id").cast(pl.String))
    for same in (narrow, text):
        found = seeded(same, noise_rate=0.4, correct_rate=0.2)["documents"]
        assert found.equals(whole["documents"], null_equal=True)


def test_data_set_id_and_seed_matter():
    rows = [("en", [20], 20)] * 3
    frame = table(*rows)
    first = seeded(frame, noise_rate=0.4)["documents"].to_list()
    assert len({tuple(shown) for shown in first}) == 3
    other = seeded(frame, noise_rate=0.4, seed=1)["documents"].to_list()
    assert all(a != b for a, b in zip(first, other, strict=True))
    renamed = seeded(frame.with_columns(dataset=pl.lit("zh")), noise_rate=0.4)["documents"]
    assert all(a != b for a, b in zip(first, renamed.to_list(), strict=True))


def test_the_same_in_every_version():
    frame = table(("en", [4], 4), ("zh_int", [2, 3], 2), ("en_fact", [1, 1, 1], 2))
    made = seeded(frame, noise_rate=0.4, correct_rate=0.2, seed=2333)["documents"].to_list()
    assert made == [
        ["n2", "p0.3", "n1", "p0.2", "p0.1"],
        ["p0.0", "n0", "n1", "p1.2", "p0.1"],
        ["p2.0", "n0", "w0.0", "n1", "w1.0"],
    ]


@pytest.mark.parametrize(("dataset", "sizes"), [("en", [4]), ("en_fact", [4]), ("en_int", [4])])
def test_all_choices_and_orders_are_equally_likely(dataset, sizes):
    count = 6_000
    frame = pl.concat([table((dataset, sizes, 3)).with_columns(id=pl.lit(0))] * count)
    frame = frame.with_columns(id=pl.int_range(pl.len(), dtype=pl.Int64))
    made = seeded(frame, noise_rate=0.5, passage_num=2)
    shown = made.with_columns(
        kinds=pl.col("documents")
        .list.eval(pl.element().str.replace_all(r"\d\.", ""))
        .list.join(" ")
    )
    found = shown.group_by("kinds").len()
    expected = 4 * 3 * 2  # one of four, one of three, in either order
    assert len(found) == expected
    # 24 cells of 250 on average: five standard deviations are about 78.
    assert found["len"].is_between(250 - 78, 250 + 78).all()


def test_all_orders_of_all_documents():
    frame = pl.concat([table(("en", [4], 0))] * 4_800)
    frame = frame.with_columns(id=pl.int_range(pl.len(), dtype=pl.Int64))
    made = seeded(frame, passage_num=4)["documents"].list.join(" ").value_counts()
    assert len(made) == len([*permutations(range(4))])
    assert made["count"].is_between(200 - 70, 200 + 70).all()
