"""`evalframe replication --participants`: the agent side from responses."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.replication.sample import sample_designs, sample_participants, sample_tests

TESTS, RESPONSES, DESIGN = sample_tests(), sample_participants(), sample_designs()
KEYS = ["study_id", "sub_study_id", "finding_id", "test_id"]
HUMAN = TESTS.filter(model="quill-70b").select(pl.exclude("^.*_agent$", "model"))
FLAGS = ("--participants", "responses.parquet", "--design", "design.parquet")


@pytest.fixture
def replication(commands):
    """Run `evalframe replication` in a folder with tests, responses and their design."""
    return commands("replication", tests=TESTS, human=HUMAN, responses=RESPONSES, design=DESIGN)


def test_statistics_of_agents_come_from_responses(replication):
    assert "lower" not in replication("human.parquet", "-o", "tables", *FLAGS)
    found = pl.read_parquet("tables/tests.parquet")
    statistics = ef.replication.participant_statistics(RESPONSES, DESIGN)
    on = ["model", *KEYS]
    same = statistics.drop("test_type")
    joined = found.select(on).join(same, on=on, maintain_order="left")
    assert_frame_equal(found.select(same.columns), joined)
    assert found["model"].to_list() == TESTS["model"].to_list()
    assert found["test_id"].to_list() == TESTS["test_id"].to_list()
    replication("tests.parquet", "-o", "expected", "-q")
    for name in ("studies", "domains", "models"):
        models, expected = (
            pl.read_parquet(f"{at}/{name}.parquet") for at in ("tables", "expected")
        )
        # Those of the sample are rounded to four decimals.
        assert_frame_equal(models, expected, abs_tol=2e-3)
    # What a table says of agents gives way, and so does what rests on it.
    stale = TESTS.with_columns(pas=0.5, n_eff=1.0, stat_agent=pl.lit(0.0))
    stale.write_parquet("stale.parquet")
    replication("stale.parquet", "-o", "out.parquet", *FLAGS, "-q")
    assert_frame_equal(pl.read_parquet("out.parquet"), models)


def test_tables_of_text(replication):
    replication("human.parquet", "-o", "expected.parquet", *FLAGS, "-q")
    HUMAN.write_csv("human.csv")
    RESPONSES.write_csv("responses.csv")
    lists = {
        "conditions": pl.format('["{}"]', pl.col("conditions").list.join('","')),
        "categories": pl.format(
            "[{}]", pl.col("categories").list.eval(pl.element().cast(pl.String)).list.join(",")
        ),
    }
    written = {name: pl.when(pl.col(name).is_not_null()).then(text) for name, text in lists.items()}
    DESIGN.with_columns(**written).write_csv("design.csv")
    flags = ["--participants", "responses.csv", "--design", "design.csv", "-q"]
    replication("human.csv", "-o", "out.parquet", *flags)
    expected = pl.read_parquet("expected.parquet")
    assert_frame_equal(pl.read_parquet("out.parquet"), expected, abs_tol=1e-9)
    plain = pl.col("conditions").list.join(" or ")
    DESIGN.with_columns(plain).drop("categories").write_csv("design.csv")
    told = replication("human.csv", "-o", "out.parquet", *flags, exit_code=1)
    assert "design.csv: 'conditions' must be lists, or their JSON such as" in told


def test_participants_are_drawn(replication):
    flags = [*FLAGS, "--bootstrap", "2", "--seed", "5", "--cluster", "participant"]
    text = replication("human.parquet", "-o", "tables", *flags)
    assert "intervals in brackets" in text
    assert "Resampled: participants of agents" in text
    found = {path.stem: pl.read_parquet(path) for path in Path("tables").iterdir()}
    resample = ef.Bootstrap(cluster="participant_id", n=2, seed=5)
    for name, level in {"models": "model", "domains": "domain", "studies": "study"}.items():
        keys = {"model": [], "domain": ["domain"], "study": ["study_id"]}[level]
        expected = ef.replication.participant_intervals(
            RESPONSES, DESIGN, found["tests"].filter(model="quill-70b").select(
                *KEYS, "domain", "test_weight", "finding_weight", "pi_human",
                "pi_plus_human", "pi_minus_human", "pi_zero_human", "effect_d_human",
            ),
            resample=resample, level=level,
        )  # fmt: skip
        table = found[name].sort("model", *keys).select(expected.columns)
        assert_frame_equal(table, expected, abs_tol=1e-9)
    assert found["differences"].is_empty()
    assert "ecs_lower" not in found["ecs"].columns
    text = replication("human.parquet", "-o", "out.csv", *FLAGS, "--bootstrap", "9")
    assert "Resampled: studies, 9 times." in text


def test_tests_without_responses_or_without_humans(replication):
    few = RESPONSES.filter((pl.col("model") != "harbor-7b") | (pl.col("test_id") != "mood"))
    few.write_parquet("responses.parquet")
    text = replication("human.parquet", "-o", "out.parquet", *FLAGS)
    assert "Missing: tests without a PAS, which are left out: 1 of 90." in text
    part = TESTS.filter(pl.col("study_id") != "two-maps")
    part.write_parquet("part.parquet")
    text = replication("part.parquet", "-o", "out.parquet", *FLAGS)
    assert "tests of the responses that the table of tests lacks: 12." in text
    assert pl.read_parquet("out.parquet")["n_studies"].to_list() == [7, 7, 7]


MOOD = pl.col("test_id") == "mood"
REFUSED = {
    "an unknown condition": (
        {"responses": RESPONSES.with_columns(pl.col("condition").replace("lit", "Lit"))},
        [
            "responses: 270 rows are not foreseen by the design.",
            "no such condition 'Lit': study_id='lantern-queue', sub_study_id='guessing', "
            "finding_id='F1', test_id='length' (90 rows)",
            "Remedy: correct their names, add them to the design, or drop these responses.",
        ],
    ),
    "an unknown test": (
        {"design": DESIGN.filter(pl.col("study_id") != "two-maps")},
        ["no such test: study_id='two-maps'", "and 1 more"],
    ),
    "an unknown type": (
        {"design": DESIGN.with_columns(test_type=pl.lit("t-tets"))},
        ["unknown test type 't-tets'. Did you mean 't-test'?"],
    ),
    "two types of one test": (
        {
            "design": DESIGN.with_columns(
                test_type=pl.when(MOOD).then(pl.lit("mannwhitneyu")).otherwise("test_type")
            )
        },
        ["test_id='mood': it is a 't-test' here and a 'mannwhitneyu' there. Correct one of them."],
    ),
    "fewer keys in the design": (
        {"design": DESIGN.drop("test_id").unique(KEYS[:3], maintain_order=True)},
        ["the design, as the tests have it, needs column 'test_id'"],
    ),
    "more keys in the design": (
        {"human": HUMAN.drop("test_id").unique(KEYS[:3], maintain_order=True)},
        ["the table of tests, as the design has it, needs column 'test_id'"],
    ),
    "a repeated response": (
        {"responses": pl.concat([RESPONSES, RESPONSES.head(1)])},
        ["responses: 1 rule broken", "row 5400:", "(as row 0)"],
    ),
    "another type of key": (
        {"human": HUMAN.with_columns(study_id=pl.col("study_id").rank("dense"))},
        ["'study_id' is UInt32 in the tests, but String in the responses; write it alike"],
    ),
    "no participants": (
        {"responses": RESPONSES.drop("participant_id")},
        ["responses needs column 'participant_id'"],
    ),
}


@pytest.mark.parametrize(("tables", "messages"), REFUSED.values(), ids=[*REFUSED])
def test_responses_that_do_not_fit(replication, tables, messages):
    for name, table in tables.items():
        table.write_parquet(f"{name}.parquet")
    told = replication("human.parquet", "-o", "out.csv", *FLAGS, exit_code=1)
    assert told.startswith("error: ")
    for message in messages:
        assert message in told
    assert not Path("out.csv").exists()


def test_flags_that_do_not_go_together(replication):
    args = ["human.parquet", "-o", "out.csv"]
    told = replication(*args, *FLAGS[:2], exit_code=1)
    assert "participants and design go together" in told
    drawn = ["--bootstrap", "9", "--cluster", "participant"]
    told = replication(*args, *drawn, "--missing-agent", "uniform", *FLAGS, exit_code=1)
    assert "does not go with the cluster participant" in told
    told = replication(*args, *drawn, "--interval", "bca", *FLAGS, exit_code=1)
    assert "no BCa intervals" in told
    told = replication("human.parquet", *FLAGS, "-o", "responses.parquet", exit_code=1)
    assert "responses.parquet is one of the inputs" in told
