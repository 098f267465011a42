"""PAS from tests to findings, studies, domains and models, against golden and published values."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import MissingColumnsError, ParameterError
from evalframe.replication.agreement.findings import finding_scores
from evalframe.replication.agreement.metrics import mean_pas, pooled_pas
from evalframe.replication.agreement.studies import domain_scores, model_scores, study_scores
from replication.golden import number

WAYS = ("pi_plus", "pi_minus", "pi_zero")


def near(value):
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


def table(tests, study="s"):
    """Golden tests as a table; an absent field is null, a null one NaN."""
    rows = []
    for test in tests:
        row = {"study_id": study, "finding_id": test.get("finding_id", "default")}
        for name in ("pas", "score", "n_eff"):
            row[name] = number(test[name]) if name in test else None
        posterior = test.get("pi_human", math.nan)
        if isinstance(posterior, dict):
            row |= {f"{way}_human": posterior[way] for way in WAYS}
        else:
            row["pi_human"] = number(posterior)
        rows.append(row)
    floats = {name: pl.Float64 for row in rows for name in row if not name.endswith("_id")}
    return pl.DataFrame(rows, schema_overrides=floats)


def tables(golden_cases):
    """The tests of several cases, each a study by its id."""
    each = [table(case["inputs"]["tests"], case["id"]) for case in golden_cases]
    return pl.concat([tests for tests in each if len(tests)], how="diagonal_relaxed")


def by_study(scores, column):
    return dict(scores.select("study_id", column).iter_rows())


def cases(golden, family):
    found = [c for c in golden("replication/aggregate_pas") if c["inputs"]["family"] == family]
    assert found, family
    return found


@pytest.mark.parametrize("family", ["finding_pas_raw", "finding_pas_norm", "finding_pas_norm_3way"])
def test_golden_findings(golden, family):
    column = "pas" if family == "finding_pas_raw" else "pas_normalised"
    every = cases(golden, family)
    tests = tables(every)
    originals = by_study(humanstudy_bench.finding_scores(tests), column)
    # The document has 0.5 and 0 for nothing; by default nothing is null.
    chance, default, of_possible = (
        by_study(finding_scores(rows, missing=missing), column)
        for rows, missing in (
            (tests, "chance"),
            (tests, "skip"),
            (tests.filter(pl.col("pas").is_between(0.0, 1.0)), "skip"),
        )
    )
    for case in every:
        name, tags = case["id"], case.get("tags", [])
        assert originals.get(name) == near(case["expected"]), name
        if "expected_seed_document" in case:
            if {"pas_out_of_range", "inf"} & {*tags}:
                alone = table(case["inputs"]["tests"])
                assert not alone["pas"].is_between(0.0, 1.0).all()
                assert default[name] == near(of_possible[name])
                continue
            clamped = min(max(case["expected_seed_document"], -0.999999), 0.999999)
            document = clamped if column == "pas_normalised" else case["expected_seed_document"]
            assert chance[name] == near(document), (name, tags)
            assert default[name] in (near(chance[name]), None), name


def test_golden_studies(golden):
    known = [case for case in cases(golden, "study_pas") if case["inputs"]["tests"]]
    tests = tables(known)
    studies = humanstudy_bench.study_scores(tests).rows_by_key("study_id", named=True, unique=True)
    findings = humanstudy_bench.finding_scores(tests).rows_by_key("study_id", named=True)
    documented = by_study(study_scores(tests, missing="chance"), "pas")
    for case in known:
        study, wanted = studies[case["id"]], case["expected"]
        assert study["pas"] == near(wanted["pas_raw"]), case["id"]
        assert study["pas_normalised"] == near(wanted["pas_norm"]), case["id"]
        for finding in findings[case["id"]]:
            own = wanted["per_finding"][finding["finding_id"]]
            # The original's own values per finding are clamped, also those of a single test.
            found = 1.0 if finding["pas"] is None else finding["pas"]
            assert min(max(found, 5e-7), 1 - 5e-7) == near(own["pas_raw"]), case["id"]
            assert finding["pas_normalised"] == near(own["pas_norm"]), case["id"]
        document = case.get("expected_seed_document")
        if document is not None and document["pas_raw"] is not None:
            assert documented[case["id"]] == near(document["pas_raw"]), case["id"]


def test_golden_plain_means(golden):
    for case in cases(golden, "study_pas_mean_only"):
        tests = table(case["inputs"]["tests"])
        made = humanstudy_bench.study_scores(tests, finding_rule="mean", rule="mean")
        assert made["pas"].item() == near(case["expected"]), case["id"]


def test_golden_inverse_variance(golden):
    for case in cases(golden, "pas_inverse_variance"):
        pas = [number(value) for value in case["inputs"]["pas"]]
        errors = [None if e is None else number(e) for e in case["inputs"]["se"]]
        floats = {"pas": pl.Float64, "std_error": pl.Float64}
        studies = pl.DataFrame({"pas": pas, "std_error": errors}, schema=floats)
        for room in (ef.replication, humanstudy_bench):
            made = studies.select(room.inverse_variance_pas()).item()
            wanted = {"pas": case["expected"]["pas"], "std_error": case["expected"]["se"]}
            if room is ef.replication and not studies["pas"].is_finite().any():
                wanted = dict.fromkeys(wanted)
            assert made == {name: near(value) for name, value in wanted.items()}, case["id"]


def test_inverse_variance_at_the_ends():
    studies = pl.DataFrame({"pas": [0.5, 0.7], "std_error": [None, math.nan]}, strict=False)
    assert studies.select(ef.replication.inverse_variance_pas()).item() == {
        "pas": 0.6,
        "std_error": None,
    }
    original = studies.select(humanstudy_bench.inverse_variance_pas()).item()
    assert original == {"pas": 0.6, "std_error": 0.0}
    small = (
        studies.with_columns(std_error=pl.lit(3e-11))
        .select(ef.replication.inverse_variance_pas())
        .item()
    )
    assert small["std_error"] == pytest.approx(3e-11 / math.sqrt(2))
    assert studies.clear().select(ef.replication.inverse_variance_pas()).item() == {
        "pas": None,
        "std_error": None,
    }
    none = studies.clear().select(humanstudy_bench.inverse_variance_pas()).item()
    assert none == {"pas": 0.0, "std_error": 0.0}


TESTS = pl.DataFrame(
    {
        "model": ["a"] * 6 + ["b"] * 2,
        "study_id": ["s1"] * 4 + ["s2"] * 2 + ["s1"] * 2,
        "sub_study_id": ["x", "x", "y", None, None, None, "x", "y"],
        "finding_id": ["F1", "F1", "F1", "F2", "F1", "F1", "F1", "F1"],
        "domain": ["A"] * 4 + ["B"] * 2 + ["A"] * 2,
        "pas": [0.9, 0.1, 0.0, 0.7, None, math.nan, 0.25, 0.75],
        "n_eff": [30.0, 10.0, 5.0, None, 7.0, 7.0, 3.0, -1.0],
        "test_weight": [1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0],
        "finding_weight": [2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    }
)


def logit(share):
    tail = max(min(share, 1 - share), 5e-7)
    return math.copysign(math.log((1 - tail) / tail), share - 0.5)


def share(logit_):
    return 1 / (1 + math.exp(-logit_))


def values(frame, column="pas"):
    return frame[column].to_list()


def test_findings_by_every_rule():
    two = 0.75 * logit(0.9) + 0.25 * logit(0.1)
    found = {
        "fisher_z": share(two),
        "mean_z": 0.5,
        "weighted_mean": 0.3,
        "mean": 0.5,
    }
    for rule, expected in found.items():
        made = finding_scores(TESTS, rule=rule)
        assert made["pas"].to_list() == pytest.approx(
            [
                0.7,
                expected,
                0.0,
                None,
                None if rule == "weighted_mean" else 0.25,
                0.75,
            ]
        ), rule
        chance = finding_scores(TESTS, rule=rule, missing="chance")
        assert_frame_equal(
            chance.select("pas", "n_tests"),
            made.select(pl.col("pas").fill_null(0.5), "n_tests"),
        )
    assert made["n_tests"].to_list() == [1, 2, 1, 0, 1, 1]
    assert made["n_missing"].to_list() == [0, 0, 0, 2, 0, 0]
    assert made.columns[:5] == ["model", "study_id", "sub_study_id", "finding_id", "domain"]


def test_the_key_of_findings():
    made = finding_scores(TESTS, finding_key="finding_id", rule="mean")
    assert "sub_study_id" not in made.columns
    assert made["pas"].to_list() == pytest.approx([1 / 3, 0.7, None, 0.5])
    without = finding_scores(TESTS.drop("sub_study_id"), rule="mean")
    assert without.equals(made)


def test_studies_by_every_rule():
    findings = finding_scores(TESTS)
    f1x, f1y, f2 = findings["pas"][1], 0.0, 0.7
    expected = {
        "mean": (f1x + f1y + f2) / 3,
        "mean_z": share((logit(f1x) + logit(f1y) + logit(f2)) / 3),
        "weighted_mean": (2 * f1x + f1y + f2) / 4,
    }
    for rule, wanted in expected.items():
        for given_ in (TESTS, findings, findings.lazy(), findings.drop("z_pas")):
            made = study_scores(given_, rule=rule).lazy().collect()
            assert made["pas"][0] == pytest.approx(wanted), rule
            assert made["n_findings"].to_list() == [3, 0, 2]
            assert made["n_findings_without_data"].to_list() == [0, 1, 0]
            assert made["n_tests"].to_list() == [4, 0, 2]


def test_every_level_leads_to_the_same_models():
    options = {"finding_rule": "mean_z", "study_rule": "mean_z"}
    whole = model_scores(TESTS, **options)
    findings = finding_scores(TESTS, rule="mean_z")
    assert model_scores(findings, study_rule="mean_z").equals(whole)
    studies = study_scores(findings, rule="mean_z")
    assert model_scores(studies).equals(whole)
    per_domain = domain_scores(TESTS, **options)
    assert per_domain.select("model", "domain").rows() == [("a", "A"), ("a", "B"), ("b", "A")]
    assert per_domain["pas"].to_list() == pytest.approx(values(studies))


def test_a_replicate_is_one_more_key():
    again = pl.concat([TESTS.with_columns(replicate=pl.lit(k)) for k in range(3)])
    made = model_scores(again, by=["replicate", "model"])
    alone = model_scores(TESTS)
    for (_,), part in made.group_by("replicate"):
        assert_frame_equal(part.drop("replicate"), alone)
    pooled = model_scores(TESTS, by=[])
    assert pooled.height == 1
    assert_frame_equal(model_scores(TESTS.drop("model")), pooled)


def test_rows_of_weight_zero_are_not_there():
    times = pl.Series("times", [1, 0, 1, 1, 0, 0, 2, 1])
    weighted = model_scores(TESTS.with_columns(times), weight="times")
    assert weighted.equals(model_scores(TESTS.filter(times > 0)))
    bad = TESTS.with_columns(times=pl.Series([math.nan, None, -1.0, 1, 1, 1, 1, 1]))
    assert finding_scores(bad, weight="times")["n_missing"].to_list() == [
        0, 2, 1, 2, 0, 0
    ]  # fmt: skip


def test_weights_of_studies_repeat_them():
    studies = study_scores(TESTS)
    times = pl.Series("times", [3, 1, 2])
    weighted = model_scores(studies.with_columns(times), weight="times")
    repeated = studies.with_columns(times).select(pl.all().repeat_by("times").explode())
    again = model_scores(repeated.drop("times"))
    assert weighted["pas"].to_list() == pytest.approx(again["pas"].to_list())


def test_pas_is_computed_where_only_posteriors_are_given():
    posteriors = {"pi_human": [0.9, 0.5], "pi_agent": [0.8, None]}
    tests = pl.DataFrame({"study_id": ["s"] * 2, "finding_id": ["F1", "F2"], **posteriors})
    made = finding_scores(tests, missing="skip")
    assert made["pas"].to_list() == [pytest.approx(0.74), None]
    assert made["pas_normalised"].to_list() == [pytest.approx(0.48 / 0.64), None]
    chance = finding_scores(tests, missing="chance")
    assert chance["pas_normalised"].to_list()[1] == 0.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: finding_scores(TESTS, rule="fisher"), ParameterError, "Did you mean 'fisher_z'"),
        (lambda: study_scores(TESTS, rule="mean_zz"), ParameterError, "Did you mean 'mean_z'"),
        (lambda: model_scores(TESTS, missing="none"), ParameterError, "missing must be one of"),
        (lambda: model_scores(TESTS, by="pas"), ParameterError, "a column 'pas' of its own"),
        (
            lambda: finding_scores(finding_scores(TESTS)),
            ParameterError,
            "finding_scores needs a table of tests, and this is one of findings",
        ),
        (
            lambda: study_scores(study_scores(TESTS)),
            ParameterError,
            "study_scores needs a table of tests or findings, and this is one of studies",
        ),
        (
            lambda: model_scores(TESTS.drop("study_id")),
            MissingColumnsError,
            "model_scores needs column 'study_id'",
        ),
        (lambda: domain_scores(TESTS.drop("domain")), MissingColumnsError, "'domain'"),
        (lambda: finding_scores(TESTS.drop("pas")), MissingColumnsError, "'pi_agent', 'pi_human'"),
        (
            lambda: finding_scores(TESTS.with_columns(pl.col("pas").cast(pl.String))),
            ParameterError,
            "must be numbers, but is String",
        ),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def naive(rows):
    """Model PAS by the documentation, in plain Python."""
    findings = {}
    for study, finding, pas, n_eff in rows:
        findings.setdefault((study, finding), []).append((pas, n_eff))
    studies = {}
    for (study, _), tests in findings.items():
        known = [(pas, n) for pas, n in tests if pas is not None]
        if not known:
            continue
        if len(known) == 1:
            score = known[0][0]
        else:
            weights = [1.0 if n is None or not n > 0 else n for _, n in known]
            pairs = zip(weights, known, strict=True)
            score = share(sum(w * logit(pas) for w, (pas, _) in pairs) / sum(weights))
        studies.setdefault(study, []).append(score)
    means = [sum(scores) / len(scores) for scores in studies.values()]
    return sum(means) / len(means) if means else None


ROWS = st.lists(
    st.tuples(
        st.sampled_from("AB"),
        st.sampled_from("xyz"),
        st.one_of(st.none(), st.sampled_from([0.0, 1.0, 0.5]), st.floats(0, 1)),
        st.sampled_from([None, 0.0, 1.0, 20.0, 500.0]),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=10, deadline=None)
@given(ROWS)
def test_models_equal_a_plain_program(rows):
    names = {"study_id": pl.String, "finding_id": pl.String, "pas": pl.Float64, "n_eff": pl.Float64}
    tests = pl.DataFrame(rows, schema=names, orient="row")
    expected = naive(rows)
    assert values(model_scores(tests))[0] == (expected and pytest.approx(expected, rel=1e-12))


def test_metrics_of_studies_with_intervals():
    random = np.random.default_rng(1)
    tests = pl.DataFrame(
        {
            "model": np.repeat(["a", "b"], 60),
            "study_id": np.tile(np.repeat(np.arange(12), 5), 2),
            "finding_id": np.tile(np.arange(5), 24),
            "pas": random.beta(0.5, 0.5, 120),
        }
    )
    studies = study_scores(tests)
    resample = ef.Bootstrap(cluster="study_id", n=200, seed=1)
    made = ef.evaluate(studies, [mean_pas(), pooled_pas()], by="model", resample=resample)
    estimates = made.filter(metric="mean_pas")["estimate"].to_list()
    assert estimates == pytest.approx(values(model_scores(studies)))
    assert (made["lower"] < made["estimate"]).all()
    paired = ef.compare(studies, mean_pas(), between="model", pair_on="study_id", resample=resample)
    assert paired.height == 1


def test_pooling_as_a_metric_is_that_of_findings():
    tests = TESTS.filter(study_id="s1", finding_id="F1", sub_study_id="x", model="a")
    pooled = tests.select(pooled_pas(weight="n_eff")).item()
    assert pooled == pytest.approx(values(finding_scores(tests))[0], rel=1e-14)
    exact = tests.select(pooled_pas()).item()
    assert exact == pytest.approx(0.5)
