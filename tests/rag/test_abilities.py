"""The four abilities: which a row tests, the published layouts, and the price of noise."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError

KEYS = ["model", "dataset", "noise_rate", "passage_num"]
HIT, MISS, REFUSAL = [1], [0], [-1]


def runs(*rows):
    """Responses from (model, dataset, noise rate, passages, labels, factlabels, evaluations)."""
    parts = [
        pl.DataFrame(
            {
                "model": model,
                "dataset": dataset,
                "noise_rate": noise,
                "passage_num": passages,
                "id": range(len(labels)),
                "label": labels,
                "factlabel": flags[0] if flags else [0] * len(labels),
                "evaluation": flags[1] if len(flags) > 1 else [None] * len(labels),
            },
            schema_overrides={"label": pl.List(pl.Int8), "evaluation": pl.String},
        )
        for model, dataset, noise, passages, labels, *flags in rows
    ]
    return pl.concat(parts)


def published(frame, name):
    return ef.rag.published_table(ef.rag.rates(frame, by=KEYS), name)


def test_which_ability_a_row_tests():
    frame = pl.DataFrame(
        {
            "dataset": ["en", "zh_refine", "en", "zh_int", "en_fact", "en_int_fact", None, "en"],
            "noise_rate": [0.0, 0.8, 1.0, 1.0, 0.0, 0.0, 0.0, None],
        }
    )
    noise, rejection, integration, facts = (
        "noise_robustness",
        "negative_rejection",
        "information_integration",
        "counterfactual_robustness",
    )
    expected = [noise, noise, rejection, integration, facts, integration, None, None]
    assert frame.select(ef.rag.ability()).to_series().to_list() == expected


def test_noise_and_integration_have_a_column_for_each_rate():
    frame = runs(
        ("b", "en", 0.0, 5, [HIT, HIT]),
        ("a", "en", 0.4, 5, [HIT, MISS]),
        ("a", "en", 0.0, 5, [HIT, REFUSAL]),
        ("a", "en", 1.0, 5, [REFUSAL, REFUSAL]),
        ("a", "en_int", 0.2, 5, [[1, 1], [1, 0]]),
    )
    table = published(frame, "noise_robustness")
    assert table.columns == ["model", "dataset", "passage_num", "0.0", "0.4"]
    assert table.rows() == [("a", "en", 5, 0.5, 0.5), ("b", "en", 5, 1.0, None)]
    assert published(frame, "information_integration").rows() == [("a", "en_int", 5, 0.5)]


def test_rejection_with_and_without_right_answers():
    labels, judge = [REFUSAL, HIT, MISS, REFUSAL], ["not addressed", "Yes", "not addressed", "Yes"]
    table = published(runs(("a", "en", 1.0, 5, labels, [0] * 4, judge)), "negative_rejection")
    assert table.row(0, named=True) == {
        "model": "a",
        "dataset": "en",
        "passage_num": 5,
        "rej": 0.75,
        "rejection_rate": 0.5,
        "rej_judge": 0.5,
    }


def test_counterfactual_runs_stand_beside_those_without_documents():
    frame = runs(
        ("a", "en_fact", 0.0, 0, [HIT, HIT]),
        ("a", "en_fact", 0.0, 5, [HIT, MISS], [1, 1], ["has identified", "No"]),
        ("b", "en_fact", 0.0, 5, [MISS, MISS]),
    )
    first, second = published(frame, "counterfactual_robustness").rows(named=True)
    shown = ["acc", "acc_doc", "ed", "ed_judge", "cr", "cr_keywords"]
    assert (first["noise_rate"], first["passage_num"]) == (0.0, 5)
    assert [first[name] for name in shown] == [1.0, 0.5, 1.0, 0.5, 1.0, 0.5]
    assert [second[name] for name in shown] == [None, 0.0, 0.0, None, None, None]


def test_runs_without_documents_are_pooled_and_met_by_every_run_with_some():
    frame = runs(
        ("a", "en_fact", 0.0, 0, [HIT, HIT]),
        ("a", "en_fact", 0.2, 0, [MISS, HIT]),
        ("a", "en_fact", 0.0, 5, [HIT, HIT]),
        ("a", "en_fact", 0.2, 5, [MISS, HIT]),
        ("a", "en_fact", 0.2, 10, [MISS, MISS]),
        ("b", "en_fact", 0.0, 0, [MISS, HIT]),
    ).with_columns(correct_passage_rate=pl.when(passage_num=0).then(0.0).otherwise(0.4))
    table = ef.rag.rates(frame, by=[*KEYS, "correct_passage_rate"])
    found = ef.rag.published_table(table, "counterfactual_robustness")
    keys = ["model", "noise_rate", "passage_num", "correct_passage_rate", "acc", "acc_doc"]
    assert found.select(keys).rows() == [
        ("a", 0.0, 5, 0.4, 0.75, 1.0),
        ("a", 0.2, 5, 0.4, 0.75, 0.5),
        ("a", 0.2, 10, 0.4, 0.75, 0.0),
        ("b", None, None, None, 0.5, None),
    ]


def test_names_of_data_sets_may_be_categories():
    frame = runs(("a", "en_fact", 0.0, 5, [HIT])).cast({"dataset": pl.Categorical})
    assert frame.select(ef.rag.ability()).item() == "counterfactual_robustness"
    assert published(frame, "counterfactual_robustness")["acc_doc"].item() == 1.0


def test_a_layout_says_what_it_needs():
    table = ef.rag.rates(runs(("a", "en", 0.0, 5, [HIT])), by=["model", "noise_rate"])
    with pytest.raises(MissingColumnsError, match="published_table needs column 'dataset'"):
        ef.rag.published_table(table, "noise_robustness")
    with pytest.raises(UnknownNameError, match="Did you mean 'noise_robustness'"):
        ef.rag.published_table(table, "noise_robustnes")


NOISY = runs(
    ("a", "en", 0.0, 5, [HIT] * 20),
    ("a", "en", 0.8, 5, [HIT, MISS] * 10),
    ("b", "en", 0.0, 5, [HIT] * 15 + [MISS] * 5),
    ("b", "en", 0.4, 5, [HIT] * 15 + [MISS] * 5),
    ("c", "en", 0.6, 5, [HIT] * 4),
)


def test_the_drop_is_against_no_noise_in_the_same_group():
    drop = ef.rag.accuracy_drop(NOISY, by=["model", "dataset"])
    assert drop.select("model", "noise_rate", "accuracy_drop").rows() == [
        ("a", 0.8, 0.5),
        ("b", 0.4, 0.0),
        ("c", 0.6, None),
    ]
    assert drop["lower"].null_count() == 3


def test_the_interval_of_a_drop_is_paired_on_questions():
    resample = ef.Bootstrap(cluster="id", n=300, seed=1)
    drop = ef.rag.accuracy_drop(NOISY, by="model", resample=resample)
    first, second, third = drop.rows(named=True)
    pair = NOISY.filter(model="a")
    compared = ef.compare(pair, ef.answer_accuracy(), between="noise_rate", resample=resample)
    known = compared.row(0, named=True)
    assert first["accuracy_drop"] == -known["delta"] == 0.5
    assert (first["lower"], first["upper"]) == (-known["upper"], -known["lower"])
    assert first["lower"] > 0.2
    # The same questions are answered with and without noise: nothing varies.
    assert (second["accuracy_drop"], second["lower"], second["upper"]) == (0.0, 0.0, 0.0)
    assert (third["accuracy"], third["accuracy_drop"], third["lower"]) == (1.0, None, None)
    whole = ef.rag.accuracy_drop(pair.drop("model"), resample=resample)
    assert whole["lower"].to_list() == [first["lower"]]


def test_a_drop_without_a_clean_run_is_null_also_when_resampled():
    alone = NOISY.filter(model="c")
    resample = ef.Bootstrap(cluster="id", n=10)
    drop = ef.rag.accuracy_drop(alone, by="model", resample=resample)
    assert drop.select("accuracy", "accuracy_drop", "n_clusters").row(0) == (1.0, None, None)
    unlike = pl.concat([NOISY, alone.with_columns(noise_rate=0.0, id=pl.col("id") + 100)])
    unpaired = ef.rag.accuracy_drop(unlike, by="model", resample=resample)
    last = unpaired.filter(model="c").row(0, named=True)
    assert (last["accuracy"], last["accuracy_drop"], last["n_clusters"]) == (None, None, 0)
    odd = pl.concat([NOISY, NOISY.with_columns(noise_rate=pl.lit(float("nan")))])
    assert ef.rag.accuracy_drop(odd, by="model")["noise_rate"].is_not_nan().all()
    with pytest.raises(ParameterError, match="'noise_rate' of its own"):
        ef.rag.accuracy_drop(alone, by="noise_rate")


def test_a_drop_may_be_drawn_within_data_sets():
    responses = pl.DataFrame(
        {
            "dataset": ["en", "zh"] * 8,
            "id": [0, 0, 1, 1, 2, 2, 3, 3] * 2,
            "noise_rate": [0.0] * 8 + [0.8] * 8,
            "label": [[1]] * 8 + [[0], [1]] * 4,
        }
    )
    method = ef.Bootstrap(cluster="id", within="dataset", n=20)
    drop = ef.rag.accuracy_drop(responses, by=None, resample=method)
    assert drop.select("accuracy_drop", "lower", "upper").row(0) == (0.5, 0.5, 0.5)
