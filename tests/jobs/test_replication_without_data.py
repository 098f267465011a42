"""`evalframe replication` of studies without data: one number in every table, file and print."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.replication.sample import sample_designs, sample_participants, sample_tests

HAS_DATA = ~(
    pl.col("study_id").is_in(["two-maps", "choir-practice"])
    | ((pl.col("study_id") == "ferry-tickets") & (pl.col("finding_id") == "F2"))
)
"""Two studies and a finding are without data."""

FULL = sample_tests()
TESTS = FULL.with_columns(
    pl.when(HAS_DATA).then(pl.col(name)).alias(name)
    for name in FULL.columns
    if name.endswith("_agent") and name != "prior_odds_agent"
)
LACKING = ["n_studies_without_data", "n_findings_without_data"]
RULES = {
    "left out": ([], {}),
    "chance": (["--missing", "chance"], {"missing": "chance"}),
    "reference": (["--rules", "reference"], {"numbers": "original"}),
}


@pytest.fixture
def replication(commands):
    """Run `evalframe replication` in a folder with `tests.parquet` and the responses to them."""
    people = TESTS.filter(model="quill-70b").select(pl.exclude("^.*_agent$", "model"))
    responses = sample_participants().filter(HAS_DATA)
    return commands(
        "replication", tests=TESTS, people=people, responses=responses, design=sample_designs()
    )


def tables_in(folder):
    """The tables of a folder, without their order by rank."""
    found = {path.stem: pl.read_parquet(path) for path in Path(folder).iterdir()}
    return found | {"models": found["models"].sort("model")}


@pytest.mark.parametrize(("flags", "options"), RULES.values(), ids=[*RULES])
def test_one_number_everywhere(replication, flags, options):
    drawn = ["--bootstrap", "20", "--seed", "5", "--interval", "percentile"]
    text = replication("tests.parquet", "-o", "tables", "--summary", "files", *flags, *drawn)
    found = tables_in("tables")
    models, studies = found["models"], found["studies"]
    pas = dict(models.select("model", "pas").rows())

    room = humanstudy_bench if "numbers" in options else ef.replication
    tests = room.with_evidence(TESTS)
    results = humanstudy_bench.result_tables(tests, **options)
    options = {name: value for name, value in options.items() if name != "numbers"}
    resample = ef.Bootstrap(cluster="study_id", n=20, seed=5, interval="percentile")
    of_tests = room.model_scores(tests, resample=resample, **options)
    assert_frame_equal(models.select(of_tests.columns), of_tests)
    for level in (room.finding_scores, room.study_scores):
        scores = level(tests, **options)
        again = room.model_scores(scores, resample=resample, **options)
        assert_frame_equal(again, of_tests, abs_tol=1e-12)
    of_domains = room.domain_scores(tests, resample=resample, **options)
    assert_frame_equal(found["domains"].select(of_domains.columns), of_domains, abs_tol=1e-12)
    of_studies = room.study_scores(tests, **options)
    assert_frame_equal(studies.select(of_studies.columns), of_studies)

    # All models have the same studies, so that each keeps its score in every pair.
    for row in found["differences"].filter(metric="pas").iter_rows(named=True):
        assert row["estimate_left"] == pytest.approx(pas[row["left"]], abs=1e-12)
        assert row["estimate_right"] == pytest.approx(pas[row["right"]], abs=1e-12)

    assert dict(results.models.select("model", "pas").rows()) == pytest.approx(pas)
    simple = json.loads(Path("files/simple_results.json").read_text())["configs"]
    assert {name: each["pas_raw"] for name, each in simple.items()} == pytest.approx(pas)
    written = {
        (name, study["study_id"]): study["pas_raw"]
        for name, each in simple.items()
        for study in each["studies"]
    }
    shown = {row[:2]: row[2] for row in studies.select("model", "study_id", "pas").rows()}
    assert written == pytest.approx(shown)
    table = pl.read_csv("files/simple_studies.csv")
    rounded = dict(zip(table.select("config", "study_id").rows(), table["pas_raw"], strict=True))
    assert rounded == pytest.approx(shown, abs=1e-4)
    if room is ef.replication:  # the original writes no PAS into its summary
        summary = json.loads(Path("files/benchmark_summary.json").read_text())["models"]
        for name, each in summary.items():
            assert each["summary"]["average_pas_raw"] == pytest.approx(pas[name])
            domains = found["domains"].filter(model=name)
            expected = dict(domains.select("domain", "pas").rows())
            assert each["summary"]["pas_domain"] == pytest.approx(expected)
    for name, value in pas.items():
        [line] = [line for line in text.splitlines() if name in line]
        printed = re.findall(r"0\.\d+", line)[0]
        assert printed == f"{value:.{len(printed) - 2}f}"


def test_what_has_no_data_might_as_well_not_be_there(replication):
    TESTS.filter(HAS_DATA).write_parquet("some.parquet")
    drawn = ["--bootstrap", "20", "--seed", "5"]
    text = replication("tests.parquet", "-o", "tables", *drawn)
    assert "Without a usable test: 24 of 81 findings, and with them 6 of 24 studies" in text
    assert "studies without data" in text
    replication("some.parquet", "-o", "some", *drawn, "-q")
    found, expected = tables_in("tables"), tables_in("some")
    models = found["models"]
    assert models.select(*LACKING).unique().rows() == [(2, 8)]
    for name in ("models", "domains"):
        pas = pl.selectors.matches("^(pas|rank|tied|n_tests$|n_findings$|n_studies$|n_clusters$)")
        assert_frame_equal(found[name].select(pas), expected[name].select(pas), abs_tol=1e-12)
    pairs = [each["differences"].filter(metric="pas") for each in (found, expected)]
    assert_frame_equal(*(each.drop("p_adjusted") for each in pairs), abs_tol=1e-12)
    text = replication("tests.parquet", "-o", "chance", "--missing", "chance")
    assert "and with them 6 of 24 studies, which count as 0.5." in text
    chance = tables_in("chance")["models"]
    assert chance.select(*LACKING).equals(models.select(*LACKING))
    assert chance["pas"].to_list() != pytest.approx(models["pas"].to_list(), abs=1e-3)


def test_participants_are_scored_alike(replication):
    odds = pl.lit(2.0).alias("prior_odds_agent")
    for name in ("people.parquet", "tests.parquet"):
        pl.read_parquet(name).with_columns(odds).write_parquet(name)
    flags = ["people.parquet", "--participants", "responses.parquet", "--design", "design.parquet"]
    replication(*flags, "-o", "plain", "-q")
    drawn = ["--bootstrap", "2", "--cluster", "participant"]
    replication(*flags, "-o", "drawn", *drawn, "-q")
    plain, found = tables_in("plain"), tables_in("drawn")
    replication("tests.parquet", "-o", "tables", "-q")
    for name in ("models", "domains", "studies"):
        shared = plain[name].columns
        assert_frame_equal(found[name].select(shared), plain[name], abs_tol=1e-12)
        # Statistics of the sample are rounded to four decimals.
        assert_frame_equal(plain[name], tables_in("tables")[name], abs_tol=2e-3)
    assert plain["models"].select(*LACKING).unique().rows() == [(2, 8)]
