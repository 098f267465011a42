"""Binary classification: rates, totals and classes."""

import numpy as np
import polars as pl
import pytest

import evalframe as ef
from evalframe.compat import ai_psychiatrist
from evalframe.core.contract import validate
from evalframe.core.errors import ContractError
from evalframe.selective.contract import binary_contract
from evalframe.selective.screening import binary_metrics
from evalframe.selective.total_score import total_score_metrics, total_scores

SCHEMA = {"case": pl.String, "p": pl.String, "l": pl.String, "s": pl.Float64}
GOLDEN = {
    "coverage_binary": "coverage",
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1_score": "f1",
    "auroc": "auroc",
    "true_positives": "true_positive",
    "false_positives": "false_positive",
    "true_negatives": "true_negative",
    "false_negatives": "false_negative",
}


@pytest.fixture(scope="module")
def cases(golden):
    cases = golden("selective/total_score_binary")["binary_cases"]
    assert len(cases) == 20
    return cases


def rows(case):
    none = [None] * len(case["predicted"])
    columns = {"case": case["id"], "p": case["predicted"], "l": case["actual"]}
    return pl.DataFrame({**columns, "s": case["scores"] or none}, schema=SCHEMA)


def expected(case):
    named = {**case["expected"], **(case["expected"]["confusion_matrix"] or {})}
    return {ours: named.get(theirs) for ours, theirs in GOLDEN.items()}


def test_golden_classifications(cases):
    sound = {case["id"]: case for case in cases if not case["error_type"]}
    table = pl.concat(rows(case) for case in sound.values())
    validate(table, binary_contract("p", "l"))
    metrics = [m for m in binary_metrics("p", "l", "s") if m.metric is not ef.f1_score.metric]
    metrics.append(ai_psychiatrist.f1_score("p", "l", positive="depressed"))
    made = ef.evaluate(table, metrics, by="case")
    for case, metric, estimate in made.select("case", "metric", "estimate").iter_rows():
        value = expected(sound[case])[metric]
        close = None if value is None else pytest.approx(value, rel=0, abs=1e-12)
        assert estimate == close, (case, metric)
    assert set(made["case"]) == {name for name, case in sound.items() if case["predicted"]}


def test_golden_of_nobody(cases):
    (empty,) = [case for case in cases if not case["predicted"]]
    made = rows(empty).select(binary_metrics("p", "l", "s")).row(0, named=True)
    assert made == expected(empty)


def test_golden_unknown_labels(cases):
    wrong = [case for case in cases if case["error_type"]]
    assert wrong
    for case in wrong:
        with pytest.raises(ContractError, match=r"row 0: p='yes'\n +Remedy: spell it 'depressed'"):
            validate(rows(case), binary_contract("p", "l"))


def test_labels_of_rows_without_a_prediction_may_be_anything():
    table = pl.DataFrame({"prediction": ["depressed", None, None], "label": [None, "?", None]})
    with pytest.raises(ContractError, match=r"1 rule broken[^!]*label is present where prediction"):
        validate(table, binary_contract())
    assert validate(table[1:], binary_contract()).rejected == 0


def test_the_contract_names_row_and_value_of_a_wrong_label():
    table = pl.DataFrame({"said": ["no", "yes"], "true": ["yes", "Yes"]})
    contract = binary_contract("said", "true", positive="yes", negative="no")
    with pytest.raises(ContractError, match=r"row 1: true='Yes', said='yes'"):
        validate(table, contract)


def test_classes_of_other_types():
    table = pl.DataFrame({"prediction": [True, None], "label": [False, True]})
    contract = binary_contract(positive=True, negative=False)
    assert validate(table, contract).rejected == 0
    with pytest.raises(ContractError, match="are compared, but are Boolean and String"):
        validate(table.with_columns(label=pl.lit("no")), contract)


def test_a_class_that_is_neither_is_missing_and_counted():
    people = pl.DataFrame(
        {
            "predicted_class": ["depressed", "not_depressed", "depressed", "maybe", None],
            "actual_class": ["depressed", "depressed", "Depressed", "depressed", "?"],
            "min_total": [11, 2, 12, 12, 5],
        }
    )
    found = ef.evaluate(people, binary_metrics())
    values = dict(zip(found["metric"], found["estimate"], strict=True))
    assert (values["accuracy"], values["precision"], values["recall"]) == (0.5, 1.0, 0.5)
    assert values["coverage_binary"] == 0.8
    assert found.filter(metric="accuracy")["n_missing"].item() == 2
    every = people.select(binary_metrics(negative=None))
    assert every["false_positives"].item() == 1


def test_one_evaluation_gives_all_metrics_of_totals_and_classes_with_intervals():
    people = total_scores(sampled(), by=["mode", "participant_id"])
    made = ef.evaluate(
        people,
        [*total_score_metrics(), *binary_metrics()],
        by="mode",
        resample=ef.Bootstrap(cluster="participant_id", n=50, seed=1),
    )
    assert made["metric"].unique(maintain_order=True).to_list() == [
        "coverage_total",
        "mean_absolute_error",
        "root_mean_squared_error",
        "pearson_correlation",
        "severity_tier_accuracy",
        *GOLDEN,
    ]
    assert made["n_clusters"].unique().to_list() == [40]
    assert made.select((pl.col("lower") <= pl.col("upper")).all()).item()
    spread = made.filter(pl.col("metric").is_in(["coverage_total", "pearson_correlation"]))
    assert spread["std_error"].min() > 0


def sampled():
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({"mode": ["few", "zero"]}).join(
        pl.DataFrame({"participant_id": range(40)}), how="cross"
    )
    items = rows.join(pl.DataFrame({"item_index": range(8)}), how="cross")
    label = rng.integers(0, 4, len(items))
    shift = rng.integers(-1, 2, len(items))
    answered = rng.random(len(items)) < 0.55
    prediction = pl.Series(np.clip(label + shift, 0, 3))
    return items.with_columns(label=pl.Series(label)).with_columns(
        prediction=pl.when(pl.Series(answered)).then(prediction)
    )
