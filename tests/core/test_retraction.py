"""States without a part: as if its rows had never been added, or an error that says why not."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core import cells
from evalframe.core.errors import ParameterError
from evalframe.core.retraction import RecomputeError

ITEMS = pl.DataFrame(
    {
        "model": ["a", "a", "a", "b", None],
        "person": [1, 2, 1, 1, 2],
        "loss": [0.25, 0.5, 1.0, 0.1, 0.2],
        "confidence": [0.9, 0.8, 0.8, 0.5, None],
    }
)
METRICS = [ef.aurc(), ef.augrc(), ef.selective_risk(), ef.coverage(prediction="loss")]


def state(items=ITEMS, **options):
    return ef.partial(items, METRICS, by="model", **options)


def with_loss(*losses):
    """Items of one group, with these losses."""
    return pl.DataFrame({"model": "a", "loss": losses, "confidence": 0.5, "person": 1})


def same_state(found, expected):
    """The same groups and levels, and the same metrics; other sums may stand elsewhere."""
    tables = [
        each.filter(pl.col(":level").is_not_null()).select("model", ":level", ":n", ":mass")
        for each in (found, expected)
    ]
    assert_frame_equal(*tables)
    assert_frame_equal(ef.finish(found), ef.finish(expected), abs_tol=1e-15)


@pytest.mark.parametrize("count", range(len(ITEMS) + 1))
def test_what_is_left_is_the_state_of_the_other_rows(count):
    left, part = state(ITEMS[:count]), state(ITEMS[count:])
    same_state(ef.retract(ef.merge(left, part), part), left)


def test_a_lazy_state_stays_lazy_and_the_part_may_be_a_file(tmp_path):
    state(ITEMS[:2]).write_parquet(tmp_path / "part.parquet")
    found = ef.retract(state().lazy(), tmp_path / "part.parquet")
    assert isinstance(found, pl.LazyFrame)
    same_state(found.collect(), state(ITEMS[2:]))


def test_states_of_cells_and_of_a_group_by_are_taken_from_each_other(monkeypatch):
    rows = pl.concat([ITEMS] * 4)
    hashed = state(rows), state(ITEMS)
    for name, value in {"_FIRST": 5, "_MANY": 0, "HEAD": 5}.items():
        monkeypatch.setattr(cells, name, value)
    in_cells = state(rows), state(ITEMS)
    assert not in_cells[0].equals(hashed[0]), "sums without a level stand elsewhere"
    expected = ef.evaluate(pl.concat([ITEMS] * 3), METRICS, by="model")
    for whole, part in ((hashed[0], in_cells[1]), (in_cells[0], hashed[1])):
        assert_frame_equal(ef.finish(ef.retract(whole, part)), expected, rel_tol=1e-12)


def test_clusters_are_taken_away_by_their_ids():
    apart = state(cluster="person")
    assert ef.retract(apart, cluster=[1]).equals(state(ITEMS[[1, 4]], cluster="person"))
    assert ef.retract(apart, cluster=[]).equals(apart)
    part = state(ITEMS[[1, 4]], cluster="person")
    same_state(ef.retract(apart, part), ef.retract(apart, cluster=[2]))


def test_whole_numbers_keep_all_their_digits():
    left, part = state(with_loss(1.0)), state(with_loss(*[2.0] * 1_000, 1e12))
    assert ef.finish(ef.retract(ef.merge(left, part), part)).equals(ef.finish(left))


@pytest.mark.parametrize("loss", [1e12 + 0.5, 1e300])
def test_sums_that_lose_their_digits_are_refused_with_their_groups(loss):
    part = state(with_loss(loss))
    told = "^little is left of 'loss', whose rounding .* that are left in model='a' anew$"
    with pytest.raises(RecomputeError, match=told):
        ef.retract(ef.merge(state(), part), part)


@pytest.mark.parametrize("loss", [float("inf"), 1e308])
def test_sums_without_end_are_refused_where_the_part_touches_them(loss):
    part = state(with_loss(loss, loss, loss))
    whole = ef.merge(state(), part)
    with pytest.raises(RecomputeError, match=r"^infinity and NaN .* left in model='a' anew"):
        ef.retract(whole, part)
    other = ITEMS.filter(model="b")
    assert set(ef.finish(ef.retract(whole, state(other)))["model"]) == {None, "a"}


@pytest.mark.parametrize(
    "part",
    [
        ITEMS.with_columns(confidence=0.7),
        pl.concat([ITEMS, ITEMS[:1]]),
        ITEMS.with_columns(pl.col("loss") / 2),
        ITEMS.with_columns(model=pl.lit("c")),
    ],
)
def test_rows_that_the_state_does_not_hold(part):
    told = "^the part holds rows that the state does not in model="
    with pytest.raises(ParameterError, match=told):
        ef.retract(state(), state(part))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ef.retract(state()), "either the state of a part or the ids of clusters"),
        (lambda: ef.retract(state(), state(), cluster=[1]), "either the state of a part or"),
        (lambda: ef.retract(state(), cluster=[1]), "the state keeps no clusters apart; make it"),
        (
            lambda: ef.retract(state(cluster="person"), cluster=[3, 1, 4]),
            "the state has no cluster 'person' of 3, 4",
        ),
        (
            lambda: ef.retract(state(cluster="person"), cluster=["x"]),
            r"clusters 'person' are Int64, which \['x'\] are not",
        ),
        (
            lambda: ef.retract(state(), ef.partial(ITEMS, METRICS)),
            "the part holds other metrics, keys or clusters than the state",
        ),
        (
            lambda: ef.retract(state(), of_version(state(), 3)),
            "the part was written by an older program, .* make it anew with partial",
        ),
        (
            lambda: ef.retract(ef.merge(state(), of_version(state(), 2)), state()),
            "the state was written by an older program, which did not count the rows of each",
        ),
    ],
)
def test_what_cannot_be_taken_away(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


def of_version(state, version):
    """The state as an older program wrote it."""
    marks = state.schema[":block"].categories.to_list()
    older = [mark.replace('"version": 4', f'"version": {version}') for mark in marks]
    return state.with_columns(pl.col(":block").cast(pl.String).replace(marks, older))
