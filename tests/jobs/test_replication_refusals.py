"""What `evalframe replication` refuses, or sets aside."""

from pathlib import Path

import polars as pl
import pytest

from evalframe.replication.sample import sample_tests

TESTS = sample_tests()
ROW = pl.int_range(pl.len())
SHARES = {"pi_plus_human": 0.5, "pi_minus_human": 0.3, "pi_zero_human": 0.2}
POSTERIORS = TESTS.select(
    "model", "study_id", "sub_study_id", "finding_id", "test_id"
).with_columns(
    **{name: pl.lit(share) for name, share in SHARES.items()},
    **{name.replace("human", "agent"): pl.lit(share) for name, share in SHARES.items()},
)


@pytest.fixture
def replication(commands):
    """Run `evalframe replication` in an empty folder."""
    return commands("replication", in_one_line=True)


def with_first(column, value, test_type=None, tests=TESTS):
    """The tests with another value in the first row, or in the first of a type."""
    place = 0 if test_type is None else tests["test_type"].to_list().index(test_type)
    changed = pl.when(place == ROW).then(pl.lit(value)).otherwise(column)
    return tests.with_columns(changed.alias(column))


IMPOSSIBLE = {
    "an unknown type": (
        with_first("test_type", "t-tset"),
        [
            "test_type is known: not so in 1 of 90 rows",
            "Remedy: correct 't-tset' (1 row; did you mean 't-test'?); known are anova,",
        ],
    ),
    "several unknown types": (
        TESTS.with_columns(test_type=pl.format("guess-{}", ROW % 5)),
        ["'guess-0' (18 rows), 'guess-1' (18 rows), 'guess-2' (18 rows) and 2 more; known are"],
    ),
    "an empty group": (
        with_first("n1_human", 0.0),
        [
            "n1 and n2 are 1 or more, and 3 or more together, in t tests (human): not so in 1",
            "row 0: model='harbor-7b', study_id='lantern-queue'",
        ],
    ),
    "k above n": (
        with_first("k_agent", 100.0, "binomial"),
        ["k is a whole number from 0 to n, in binomial tests (agent)", "k_agent=100.0"],
    ),
    "a negative cell": (with_first("a_human", -1.0, "chi-square"), ["a_human is not negative"]),
    "posteriors that sum to another number": (
        with_first("pi_zero_human", 0.5, tests=POSTERIORS),
        ["posteriors sum to 1 (human): not so in 1 of 90 rows", "correct the posteriors"],
    ),
    "a study without findings": (
        with_first("finding_id", None),
        ["a study has findings: not so in 1", "drop a study without findings, which has no score"],
    ),
    "a repeated test": (
        pl.concat([TESTS, TESTS.head(1)]),
        [
            "model, study_id, sub_study_id, finding_id, test_id are unique: not so in 1 of 91",
            "row 90:",
            "(as row 0)",
            "in by or in key",
        ],
    ),
}


@pytest.mark.parametrize(("tests", "messages"), IMPOSSIBLE.values(), ids=[*IMPOSSIBLE])
def test_impossible_tests(replication, tests, messages):
    tests.write_parquet("bad.parquet")
    told = replication("validate", "bad.parquet", exit_code=1)
    assert told.startswith("error: tests: 1 rule broken (rows are numbered from 0).")
    for message in messages:
        assert message in told


@pytest.mark.parametrize("what", ["k above n", "a repeated test"])
def test_impossible_tests_are_refused_or_set_apart(replication, what):
    tests, _ = IMPOSSIBLE[what]
    tests.write_parquet("bad.parquet")
    told = replication("bad.parquet", "-o", "out.csv", exit_code=1)
    assert told == replication("validate", "bad.parquet", exit_code=1)
    assert not Path("out.csv").exists()
    told = replication("bad.parquet", "-o", "out.csv", "-q", "--on-invalid", "quarantine")
    rejected = pl.read_parquet("out.rejected.parquet")
    assert rejected.columns == [*tests.columns, "row", "broken_rules"]
    assert f"{len(rejected)} written to out.rejected.parquet" in told
    assert Path("out.csv").exists()


def test_the_original_takes_what_is_impossible(replication):
    several = with_first("n1_human", 0.0)
    several = with_first("k_agent", 100.0, "binomial", several)
    several = with_first("a_human", -1.0, "chi-square", several)
    for tests in (several, IMPOSSIBLE["posteriors that sum to another number"][0]):
        tests.write_parquet("bad.parquet")
        replication("bad.parquet", "-o", "out.csv", "-q", "--rules", "reference")
    for name in ("an unknown type", "a study without findings", "a repeated test"):
        IMPOSSIBLE[name][0].write_parquet("bad.parquet")
        replication("bad.parquet", "-o", "out.csv", "--rules", "reference", exit_code=1)


def test_a_statistic_that_is_unknown_is_missing(replication):
    unknown = pl.when(ROW < 3).then(float("nan")).otherwise("stat_agent").alias("stat_agent")
    TESTS.with_columns(unknown).write_parquet("tests.parquet")
    told = replication("tests.parquet", "-o", "out.csv")
    assert "Missing: tests without a PAS, which are left out: 3 of 90." in told
    assert "without effect" in told
    TESTS.with_columns(stat_agent=pl.lit(None)).write_parquet("tests.parquet")
    assert "Missing:" in replication("tests.parquet", "-o", "out.csv")


TABLES = {
    "of findings": (
        pl.DataFrame({"model": ["a"], "study_id": ["s"], "finding_id": ["F"], "score": [0.5]}),
        "nothing says what came out on the human side: a table of tests needs 'pas', or",
    ),
    "without types": (
        TESTS.drop("test_type"),
        "needs column 'test_type'; the table has ['model',",
    ),
    "without studies": (
        TESTS.drop("study_id"),
        "tests needs column 'study_id'; the table has ['model', 'sub_study_id',",
    ),
    "of text": (
        TESTS.with_columns(pl.col("stat_human").cast(pl.String)),
        "tests: column 'stat_human' is String, not a number. Cast it: frame.with_columns",
    ),
    "without rows": (TESTS.head(0), "tests: the table has no rows. Check where it comes from."),
}


@pytest.mark.parametrize(("tests", "message"), TABLES.values(), ids=[*TABLES])
def test_tables_that_are_none_of_tests(replication, tests, message):
    tests.write_parquet("bad.parquet")
    for args in (["bad.parquet", "-o", "out.csv"], ["validate", "bad.parquet"]):
        assert message in replication(*args, exit_code=1)
    assert not Path("out.csv").exists()


COMMANDS = {
    "no tests": (["-o", "out.csv"], 2, "name TESTS, or --from-results FOLDER"),
    "a file that is absent": (["no.parquet", "-o", "o.csv"], 1, "no file or folder 'no.parquet'"),
    "an unknown column": (
        ["tests.parquet", "-o", "o.csv", "--by", "modell"],
        1,
        "Did you mean 'model'? Rename the column in the file, or name another in by, key",
    ),
    "an unknown cluster": (
        ["tests.parquet", "-o", "o.csv", "--bootstrap", "9", "--cluster", "participants"],
        1,
        "unknown cluster 'participants'. Did you mean 'participant'? Known: finding,",
    ),
    "participants without responses": (
        ["tests.parquet", "-o", "o.csv", "--bootstrap", "9", "--cluster", "participant"],
        1,
        "the cluster participant is drawn from responses; name them as participants",
    ),
    "odds below 0": (
        ["tests.parquet", "-o", "o.csv", "--human-prior-odds", "-1"],
        1,
        "human_prior_odds must be above 0 and finite, got -1.0",
    ),
    "rows set apart nowhere": (["validate"], 2, "name TESTS, or --from-results"),
    "JSON as tests": (["t.json", "-o", "o.csv"], 1, "are read by --from KIND PATH"),
    "results that are none": (
        ["--from-results", "t.json", "-o", "o.csv"],
        1,
        "t.json holds no 'test_results'; is it the right file?",
    ),
    "results without tests": (
        ["--from-results", "study/model", "-o", "o.csv"],
        1,
        "no record in these 1 evaluation results",
    ),
    "a summary of nobody": (
        ["one.parquet", "-o", "o.csv", "--summary", "s"],
        1,
        "the files of a summary are of models; name them by a column (--by)",
    ),
    "a summary in the way of a file": (
        ["tests.parquet", "-o", "o.csv", "--summary", "t.json"],
        1,
        "t.json is a file; name a folder for the summary",
    ),
    "a summary nowhere": (
        ["tests.parquet", "-o", "o.csv", "--summary", "no/where"],
        1,
        "cannot make where: no folder 'no'; create it first",
    ),
}


@pytest.mark.parametrize(("args", "code", "message"), COMMANDS.values(), ids=[*COMMANDS])
def test_commands_that_cannot_be_run(replication, args, code, message):
    TESTS.write_parquet("tests.parquet")
    TESTS.filter(model="quill-70b").drop("model").write_parquet("one.parquet")
    Path("t.json").write_text("{}")
    Path("study/model").mkdir(parents=True)
    Path("study/model/evaluation_results.json").write_text('{"test_results": []}')
    assert message in replication(*args, exit_code=code)
    assert not Path("o.csv").exists()
