"""`evalframe replication`: the scores that it writes and prints."""

import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import humanstudy_bench
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.flags import parse
from evalframe.jobs.replication.outputs import TABLES
from evalframe.jobs.run import run_job
from evalframe.jobs.written import read_provenance
from evalframe.replication.sample import sample_tests

DATA = Path(__file__).parents[2] / "data"
TESTS = sample_tests()
KEYS = ["study_id", "sub_study_id", "finding_id", "test_id"]
SPREADS = ("std_error", "lower", "upper", "drop_rate")


@pytest.fixture
def replication(commands):
    """Run `evalframe replication` in a folder with `tests.parquet`."""
    return commands("replication", tests=TESTS)


@cache
def scored(room=ef.replication):
    """The tests with the evidence that the library computes."""
    factors = room.with_bayes_factors(TESTS)
    posteriors = room.with_posteriors(factors)
    shares = room.with_pas(posteriors)
    return room.with_effect_sizes(shares.lazy().collect())


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """All tables of a job of the sample."""
    folder = tmp_path_factory.mktemp("tables")
    TESTS.write_parquet(folder / "tests.parquet")
    job = {"family": "replication", "items": ["tests.parquet"], "output": "tables"}
    run_job(parse(job), folder, quiet=True)
    return {path.stem: pl.read_parquet(path) for path in (folder / "tables").iterdir()}


def test_the_result_is_what_the_library_gives(replication):
    text = replication("tests.parquet", "-o", "out.parquet")
    found = pl.read_parquet("out.parquet")
    tests = scored()
    models = ef.replication.model_scores(tests).sort("pas", descending=True)
    assert_frame_equal(found.select(models.columns), models)
    ecs = ef.replication.ecs(tests)
    concordance = dict(ecs.select("model", "ecs").rows())
    assert dict(found.select("model", "ecs").rows()) == pytest.approx(concordance)
    assert found["rank"].to_list() == [1, 2, 3]
    assert text.splitlines()[2].split() == [
        *("1", "lantern-13b", "0.812", "0.711", "0.323", "30", "27", "8", "0.1")
    ]
    assert "Fisher's z, weighted by n_eff (fisher_z)" in text
    assert "their mean (mean); studies count alike." in text
    assert "missing" not in text
    record = read_provenance("out.parquet")
    assert record["records"] == {"rows": 90, "rejected": 0}
    assert parse(record["job"]).items == ("tests.parquet",)


def test_a_folder_gets_every_table(tables):
    found = tables
    assert found.keys() == {*TABLES}
    assert [name for name, table in found.items() if table.is_empty()] == ["differences"]
    tests = scored()
    assert_frame_equal(found["tests"], tests)
    assert_frame_equal(found["findings"], ef.replication.finding_scores(tests))
    studies = ef.replication.study_scores(tests)
    assert_frame_equal(found["studies"].select(studies.columns), studies)
    domains = ef.replication.domain_scores(tests)
    assert_frame_equal(found["domains"].select(domains.columns), domains)
    counts = dict(found["ecs"].group_by("level").len().rows())
    assert counts == {"overall": 3, "domain": 9, "study": 24, "finding": 81}
    for level in ("domain", "study", "finding"):
        expected = ef.replication.ecs(tests, level)
        rows = found["ecs"].filter(level=level).select(expected.columns)
        assert_frame_equal(rows, expected)
    by_study = found["ecs"].filter(level="study").select("ecs").to_series()
    assert found["studies"]["ecs"].to_list() == by_study.to_list()


def test_intervals_by_studies_and_findings(replication):
    flags = ["--bootstrap", "30", "--level", "0.9", "--seed", "7"]
    text = replication("tests.parquet", "-o", "tables", *flags)
    assert "90% intervals in brackets." in text
    assert "Resampled: studies, 30 times." in text
    tests = scored()
    resample = ef.Bootstrap(cluster="study_id", n=30, seed=7, level=0.9)
    found = {path.stem: pl.read_parquet(path) for path in Path("tables").iterdir()}
    models = ef.replication.model_scores(tests, resample=resample)
    assert_frame_equal(found["models"].sort("model").select(models.columns), models)
    ecs = ef.replication.ecs(tests, resample=resample)
    spread = [f"ecs_{name}" for name in SPREADS]
    assert_frame_equal(found["models"].sort("model").select(spread), ecs.select(spread))
    domains = ef.replication.domain_scores(tests, resample=resample)
    assert_frame_equal(found["domains"].select(domains.columns), domains)
    differences = found["differences"]
    assert differences.group_by("metric").len().sort("metric").rows() == [("ecs", 3), ("pas", 3)]
    row = differences.filter(metric="pas", left="harbor-7b", right="quill-70b")
    pas = dict(models.select("model", "pas").rows())
    assert row["delta"].item() == pytest.approx(pas["quill-70b"] - pas["harbor-7b"])
    text = replication("tests.parquet", "-o", "out.parquet", *flags, "--cluster", "finding")
    assert "Resampled: findings within studies" in text
    resample = ef.Bootstrap(cluster="finding_id", n=30, seed=7, level=0.9)
    models = ef.replication.model_scores(tests, resample=resample)
    found_ = pl.read_parquet("out.parquet").sort("model")
    assert_frame_equal(found_.select(models.columns), models)


def test_rules_and_prior_odds(replication):
    text = replication("tests.parquet", "-o", "out.parquet", "--rules", "reference")
    assert "(mean_z), findings become studies by Fisher's z (mean_z)" in text
    assert "The original's rules." in text
    assert "Sizes:" not in text
    tests = scored(humanstudy_bench)
    models = humanstudy_bench.model_scores(tests)
    found = pl.read_parquet("out.parquet").sort("model")
    assert_frame_equal(found.select(models.columns), models)
    options = ["--finding-rule", "weighted_mean", "--study-rule", "weighted_mean"]
    options += ["--finding-key", "finding_id"]
    replication("tests.parquet", "-o", "out.parquet", "-q", *options)
    chosen = {"finding_rule": "weighted_mean", "study_rule": "weighted_mean"}
    models = ef.replication.model_scores(scored(), finding_key="finding_id", **chosen)
    found = pl.read_parquet("out.parquet").sort("model")
    assert_frame_equal(found.select(models.columns), models)
    assert found["n_findings"].unique().to_list() == [22]
    bare = TESTS.drop("prior_odds_human", "prior_odds_agent")
    bare.write_parquet("bare.parquet")
    odds = ["--human-prior-odds", "2", "--agent-prior-odds", "0.5"]
    replication("bare.parquet", "-o", "tables", "-q", *odds)
    factors = ef.replication.with_bayes_factors(bare)
    expected = ef.replication.with_posteriors(factors, human_prior_odds=2, agent_prior_odds=0.5)
    found = pl.read_parquet("tables/tests.parquet")
    assert_frame_equal(
        found.select("pi_human", "pi_agent"), expected.select("pi_human", "pi_agent")
    )


def test_every_level_gives_the_same(replication, tables):
    expected, tests = tables["models"], tables["tests"]
    who = ["model", *KEYS, "domain"]
    effects = ["effect_d_human", "effect_d_agent", "n_eff"]
    ways = [f"pi_{way}_{side}" for side in ("human", "agent") for way in ("plus", "minus", "zero")]
    forms = {
        "statistics.csv": TESTS,
        "factors.parquet": tests.select(
            *who, *effects, pl.col("^(bayes_factor|prior_odds|direction)_.*$")
        ),
        "posteriors.jsonl": tests.select(*who, *effects, *ways),
        "finished.parquet": tests.select(*who, *effects, "pas", *ways[:3]),
        "mixed.parquet": tests.with_columns(
            pl.when(pl.int_range(pl.len()) % 2 == 0).then("pas").alias("pas"),
            pl.when(pl.int_range(pl.len()) % 3 == 0).then("pi_human").alias("pi_human"),
        ),
        "finished-too.parquet": tests,
    }
    for name, frame in forms.items():
        write = {".csv": "write_csv", ".jsonl": "write_ndjson"}.get(Path(name).suffix)
        getattr(frame, write or "write_parquet")(name)
        replication(name, "-o", "out.parquet", "-q")
        # A table of finished PAS does not say how it came about.
        silent = ["n_two_way"] if name == "finished.parquet" else []
        found = pl.read_parquet("out.parquet")
        assert found["n_two_way"].to_list() == [None if silent else 0] * 3
        assert_frame_equal(found.drop(silent), expected.drop(silent), abs_tol=1e-12)
    text = replication("finished.parquet", "-o", "out.md", "--rules", "reference")
    assert "PAS of tests: values of the table are used unchanged." in text
    pas = tests.select(*who, "pas")
    pas.write_parquet("pas.parquet")
    text = replication("pas.parquet", "-o", "out.parquet")
    assert "ECS" not in text
    found = pl.read_parquet("out.parquet")
    models = ef.replication.model_scores(pas).sort("pas", descending=True)
    assert_frame_equal(found.select(models.columns), models)


def test_groups(replication, tables):
    warm = [TESTS.with_columns(degree=pl.lit(degree)) for degree in (0.0, 0.7)]
    pl.concat([warm[0], warm[1].filter(pl.col("model") != "harbor-7b")]).write_parquet("w.parquet")
    text = replication("w.parquet", "-o", "tables", "--by", "model,degree", "--bootstrap", "9")
    assert text.partition("\n\n")[2].split()[:4] == ["rank", "model", "degree", "PAS"]
    ends = r" [\d.\N{MINUS SIGN}]+ \[[\d.\N{MINUS SIGN}]+, [\d.\N{MINUS SIGN}]+\]"
    assert len(re.findall(ends, text)) == 3 * 5, "PAS, normalised PAS and ECS of each system"
    found = pl.read_parquet("tables/models.parquet")
    assert found["rank"].to_list() == [1, 1, 3, 3, 5]
    differences = pl.read_parquet("tables/differences.parquet")
    assert differences.columns[:4] == ["degree", "metric", "left", "right"]
    one = TESTS.filter(model="quill-70b").drop("model")
    one.write_parquet("one.parquet")
    text = replication("one.parquet", "-o", "out.parquet")
    assert "0.679" in text
    assert "rank" not in text
    TESTS.rename({"model": "config"}).write_parquet("config.parquet")
    replication("config.parquet", "-o", "out.parquet", "--by", "config", "-q")
    expected = tables["models"].rename({"model": "config"})
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)


def test_domains_of_the_benchmark_are_known(replication):
    keys = {"model": "m", "finding_id": "F1"}
    studies = pl.DataFrame({"study_id": ["study_001", "study_009", "study_010", "other"]})
    studies.with_columns(**{k: pl.lit(v) for k, v in keys.items()}, pas=0.5).write_parquet(
        "b.parquet"
    )
    replication("b.parquet", "-o", "tables", "-q")
    found = pl.read_parquet("tables/domains.parquet").select("domain", "n_studies")
    assert found.rows() == [(None, 1), ("Cognition", 1), ("Strategic", 2)]


def test_missing_tests_are_counted_and_told(replication):
    some = TESTS.filter((pl.col("model") != "harbor-7b") | (pl.col("study_id") != "two-maps"))
    is_mood = (pl.col("model") == "quill-70b") & (pl.col("test_id") == "mood")
    is_map = (pl.col("model") == "quill-70b") & (pl.col("test_id") == "certainty")
    unknown = pl.when(~(is_mood | is_map)).then("stat_agent").alias("stat_agent")
    some.with_columns(unknown).write_parquet("some.parquet")
    text = replication("some.parquet", "-o", "out.parquet")
    found = pl.read_parquet("out.parquet")
    counts = found.select("model", "n_studies", "n_tests", "n_missing", "n_absent").sort("model")
    assert counts.rows() == [
        ("harbor-7b", 7, 26, 0, 4),
        ("lantern-13b", 8, 30, 0, 0),
        ("quill-70b", 8, 28, 2, 0),
    ]
    assert "Missing: tests without a PAS, which are left out: 2 of 86." in text
    assert "Without a usable test: 1 of 77 findings, which are left out; --missing chance" in text
    assert "Absent: tests that others have, and these lack: harbor-7b (4)." in text
    told = replication("validate", "some.parquet")
    assert "tests: all 86 rows accepted" in told
    assert "4 tests that some have and others lack:" in told
    assert "harbor-7b  two-maps  main          F1          first-map" in told
    assert "lack" not in replication("validate", "tests.parquet")


def test_impossible_weights_are_told(replication):
    keys = {"model": "m", "study_id": "s", "finding_id": "F1"}
    tests = pl.DataFrame({"test_id": [*"abcde"], "pas": [0.5, 0.7, 0.9, None, float("nan")]})
    infinite = [1.0, float("inf"), 1.0, 1.0, 1.0]
    named = tests.with_columns(**{name: pl.lit(value) for name, value in keys.items()})
    named.with_columns(test_weight=pl.Series(infinite)).write_parquet("weights.parquet")
    text = " ".join(replication("weights.parquet", "-o", "out.parquet").split())
    assert pl.read_parquet("out.parquet").select("n_tests", "n_missing").row(0) == (2, 3)
    assert "Missing: tests without a PAS, which are left out: 2 of 5." in text
    assert "Impossible: tests with a weight or n_eff that is infinite or negative, or a PAS" in text
    assert "outside [0, 1], which are left out: 1 of 5." in text
    assert "Without a usable test" not in text
    named.with_columns(pas=pl.lit(None, pl.Float64)).write_parquet("none.parquet")
    text = " ".join(replication("none.parquet", "-o", "o.csv", "--finding-rule", "mean").split())
    assert "Without a usable test: 1 of 1 findings, and with them 1 of 1 studies, which" in text


def test_json_lines_keep_the_order_of_columns(replication):
    later = TESTS.head(1).with_columns(model=pl.lit("late"), zeta=1, alpha=2)
    TESTS.write_ndjson("tests.jsonl")
    with Path("tests.jsonl").open("a") as file:
        file.write(later.write_ndjson())
    replication("tests.jsonl", "-o", "tables", "-q")
    columns = pl.read_parquet("tables/tests.parquet").columns
    assert columns[: TESTS.width + 2] == [*TESTS.columns, "alpha", "zeta"]


def test_agents_without_data(replication):
    human = TESTS.filter(model="quill-70b").select(pl.exclude("^.*_agent$", "model"))
    human.write_parquet("human.parquet")
    text = replication("human.parquet", "-o", "tables", "--missing-agent", "uniform")
    assert "Agents without a statistic: uniform." in text
    found = pl.read_parquet("tables/tests.parquet")
    expected = ef.replication.with_posteriors(
        ef.replication.with_bayes_factors(human, "human").with_columns(
            log_bayes_factor_agent=pl.lit(None, pl.Float64), direction_agent=pl.lit(None)
        ),
        missing_agent="uniform",
    )
    pas = ef.replication.with_pas(expected)["pas"]
    assert found["pas"].to_list() == pas.to_list()
    assert found["pas"].round(9).unique().to_list() == [round(1 / 3, 9)]
    assert "log_bayes_factor_agent" not in found.columns
    told = replication("human.parquet", "-o", "out.csv", exit_code=1)
    assert "nothing says what came out on the agent side" in told


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"human_prior_odds": 0}, r"human_prior_odds must be above 0 and finite, got 0\.0"),
        ({"agent_prior_odds": float("nan")}, "agent_prior_odds must be above 0"),
        ({"design": "d.parquet"}, "participants and design go together"),
        (
            {"results": True, "participants": "p", "design": "d"},
            "evaluation results hold their statistics",
        ),
        ({"bootstrap": {"n": 9, "cluster": "participant"}}, "drawn from responses; name them"),
    ],
)
def test_refused_jobs(entries, message):
    with pytest.raises(ParameterError, match=message):
        parse({"family": "replication", "items": ["a.parquet"], **entries})


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"finding_rule": "fisher"}, "unknown finding_rule 'fisher'. Did you mean 'fisher_z'?"),
        ({"study_rule": "meanz"}, "unknown study_rule 'meanz'. Did you mean 'mean_z'?"),
        ({"finding_key": "id"}, "unknown finding_key 'id'"),
        ({"missing_agent": "none"}, "unknown missing_agent 'none'"),
        ({"rules": "documentd"}, "unknown rules 'documentd'. Did you mean 'documented'?"),
        (
            {"bootstrap": {"n": 9, "cluster": "studies"}},
            "unknown cluster 'studies'. Did you mean 'study'? Known: finding, participant, study",
        ),
        ({"finding_rules": "mean"}, "unknown entry of job 'finding_rules'. Did you mean"),
    ],
)
def test_unknown_choices(entries, message):
    with pytest.raises(UnknownNameError) as caught:
        parse({"family": "replication", "items": ["a.parquet"], **entries})
    assert message in str(caught.value)


def test_a_guessed_size_of_f_is_told(replication):
    is_f = pl.col("test_type") == "anova"
    sizes = ("n_total_human", "n_human")
    unsized = TESTS.with_columns(pl.when(~is_f).then(name).alias(name) for name in sizes)
    unsized.write_parquet("unsized.parquet")
    text = " ".join(replication("unsized.parquet", "-o", "tables").split())
    guessed = TESTS.filter(is_f).height
    told = f"df1 + df2 + 1 is taken, as holds for one factor: {guessed} of 90 tests."
    assert f"Sizes: F tests without n_total, for which {told}" in text
    made = pl.read_parquet("tables/tests.parquet")
    assert made["n_from_df_human"].equals(made["test_type"] == "anova", check_names=False)


def test_finished_tests_may_be_of_any_type(replication):
    own = {"pas": 0.5, "effect_d_human": 0.2, "effect_d_agent": 0.4, "n_eff": 9.0}
    first = pl.int_range(pl.len()) == 0
    tests = TESTS.with_columns(
        *(pl.when(first).then(pl.lit(value)).alias(name) for name, value in own.items()),
        test_type=pl.when(first).then(pl.lit("my own model")).otherwise("test_type"),
    )
    tests.write_parquet("own.parquet")
    replication("validate", "own.parquet")
    replication("own.parquet", "-o", "tables", "-q")
    made = pl.read_parquet("tables/tests.parquet")
    assert made.select("test_type", *own).row(0) == ("my own model", *own.values())
    assert made["pas"].null_count() == 0


def test_the_original_reads_its_own_names(replication):
    renamed = pl.col("test_type").replace("mannwhitneyu", "wilcoxon")
    TESTS.with_columns(renamed).write_parquet("named.parquet")
    replication("named.parquet", "-o", "named.csv", "--rules", "reference", "-q")
    replication("tests.parquet", "-o", "usual.csv", "--rules", "reference", "-q")
    assert_frame_equal(pl.read_csv("named.csv"), pl.read_csv("usual.csv"))
    told = replication("named.parquet", "-o", "no.csv", exit_code=1)
    assert "it means two tests: write 'mannwhitneyu' for U of two groups" in told
