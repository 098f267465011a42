"""What `evalframe survey` does with surveys alone: prompts, baselines, validation."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.choices import ContextFormat, EvalType, Reasoning
from evalframe.jobs.flags import fields_of, members
from evalframe.jobs.survey import Prompts
from evalframe.jobs.written import read_provenance
from evalframe.survey.prompting.configurations import N_INDIVIDUALS
from evalframe.survey.prompting.texts import BUDGET
from evalframe.survey.sample import sample_survey

SURVEY = sample_survey()


@pytest.fixture
def survey(commands):
    """Run `evalframe survey` in a folder with a survey."""
    return commands("survey", in_one_line=True, survey=SURVEY)


def test_prompts_about_participants(survey):
    attribute, value = (
        ef.survey.as_survey(SURVEY).segment_attributes.select("attribute", "value").row(0)
    )
    lists = ef.survey.as_distributions(SURVEY)
    question, options = lists.select("question_id", "options").row(0)
    people = pl.DataFrame(
        {"respondent_id": [7, 8], attribute: [value.upper(), None], question: options[:2]}
    )
    people.write_csv("people.csv")
    flags = ["--participants", "people.csv", "--eval-type", "individual-answer"]
    survey("prompts", "survey.parquet", "-o", "prompts.parquet", "-q", *flags)
    found = pl.read_parquet("prompts.parquet")
    assert found["respondent_id"].unique().to_list() == ["7"]
    told = survey("prompts", "survey.parquet", "-o", "p.jsonl", *flags[:2], exit_code=1)
    assert "name --eval-type individual-answer" in told
    told = survey("prompts", "survey.parquet", "-o", "people.csv", *flags, exit_code=1)
    assert "people.csv" in told


def test_prompts_are_those_of_the_library(survey):
    told = survey("prompts", "survey.parquet", "-o", "prompts.parquet")
    assert "MB1 10 8 80 0.0" in told
    assert told.endswith("150 prompts of 20 configurations in prompts.parquet")
    assert_frame_equal(pl.read_parquet("prompts.parquet"), ef.survey.prompts(SURVEY))
    flags = "--segments gender:male,gender:female --questions mb1-q2,mb1-q1 --batch-size 2"
    flags += " --context mb1-q3,mb1-q4,mb1-q5 --context-count 2 --context-format interview"
    flags += " --reasoning cot --token-budget 3000 --temperature 0 --system Answer --seed 5"
    survey("prompts", "survey.parquet", "-o", "prompts.parquet", *flags.split())
    expected = ef.survey.prompts(
        SURVEY,
        segments=["gender:male", "gender:female"],
        questions=["mb1-q2", "mb1-q1"],
        batch_size=2,
        context=["mb1-q3", "mb1-q4", "mb1-q5"],
        context_count=2,
        context_format="interview",
        reasoning="cot",
        token_budget=3000,
        temperature=0.0,
        system="Answer",
        seed=5,
    )
    assert_frame_equal(pl.read_parquet("prompts.parquet"), expected)
    flags = "--eval-type synthetic-individual --individuals 7 --context-count all --quiet"
    flags += " --rules reference --token-budget 600 --blueprints blueprints.parquet"
    assert not survey("prompts", "survey.parquet", "-o", "prompts.jsonl", *flags.split())
    expected = dtef.prompts(
        SURVEY,
        eval_type="synthetic-individual",
        n_individuals=7,
        context_count=None,
        token_budget=600,
    )
    configurations = ef.survey.blueprints(expected)
    assert_frame_equal(pl.read_parquet("blueprints.parquet"), configurations)
    lines = Path("prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[3])["input"][-1]["content"] == expected["prompt"][3]


def replies():
    """What a model says to the prompts in `prompts.jsonl`: the shares, in whole percentages."""
    rows = []
    for text in Path("prompts.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        shares = [[round(100 * share) for share in json.loads(each)] for each in line["target"]]
        names = line["metadata"]["question_id"]
        said = (
            str(shares[0]) if len(names) == 1 else json.dumps(dict(zip(names, shares, strict=True)))
        )
        rows.append({"id": line["id"], "response": said})
    return pl.DataFrame(rows)


@pytest.mark.parametrize("flags", ["", "--batch-size 3 --context-count 1"])
def test_prompts_go_out_as_lines_and_come_back(survey, call, flags):
    survey("prompts", "survey.parquet", "-o", "prompts.jsonl", "-q", *flags.split())
    said = replies()
    said.head(-2).write_ndjson("replies.jsonl")
    args = ["--truth", "survey.parquet", "--baselines", "uniform", "-o", "out.parquet"]
    told = survey("replies.jsonl", "--prompts", "prompts.jsonl", *args)
    assert "The responses name no model; they count as one, 'unnamed'." in told
    assert f"2 of {len(said)} prompts, counted for each model, have no response." in told
    found = pl.read_parquet("out.parquet")

    joined = ef.survey.read_responses("replies.jsonl", "prompts.jsonl", model=pl.lit("unnamed"))
    truth = ef.survey.as_distributions(SURVEY.lazy()).select(
        "round", "segment_id", "question_id", "options", "actual"
    )
    asked = joined.lazy().join(
        truth, on=["round", "segment_id", "question_id"], maintain_order="left"
    )
    read = ef.survey.parse(asked, options="options", question_key="question_key")
    scored = ef.survey.score(read.lazy()).collect()
    base = ef.survey.baseline(SURVEY, "uniform")
    shared = [name for name in base.columns if name in scored.columns]
    both = pl.concat([scored, base.select(shared)], how="diagonal_relaxed")
    expected = ef.survey.leaderboard(both)
    columns = ["rank", "model", "score", "n_items", "parse_rate"]
    assert_frame_equal(found.select(columns), expected.select(columns))
    assert found["score"][0] > 0.99

    survey("prompts", "survey.parquet", "-o", "prompts.parquet", "-q", *flags.split())
    named = said.head(-2).with_columns(model=pl.lit("unnamed"))
    parts = named["id"].str.split_exact("/", 1).struct.rename_fields(["config_id", "prompt_id"])
    named.drop("id").with_columns(parts.struct.unnest()).write_csv("replies.csv")
    entries = ['items = ["replies.csv"]', 'prompts = "prompts.parquet"', 'truth = "survey.parquet"']
    entries += ['baselines = ["uniform"]', 'output = "job.parquet"']
    Path("job.toml").write_text("\n".join(['family = "survey"', *entries]))
    call("run", "job.toml", "-q")
    assert_frame_equal(pl.read_parquet("job.parquet"), found)
    assert len(read_provenance("job.parquet")["inputs"]) == 3


def test_runs_of_prompts(survey):
    survey("prompts", "survey.parquet", "-o", "prompts.jsonl", "-q")
    runs = [replies().with_columns(model=pl.lit("m"), temperature=t) for t in (0.0, 1.0)]
    pl.concat(runs).write_csv("runs.csv")
    args = ["--prompts", "prompts.jsonl", "--truth", "survey.parquet", "-o", "out.parquet", "-q"]
    survey("runs.csv", *args)
    models = pl.read_parquet("out.parquet")["model"]
    assert {"m[temp:0.0]", "m[temp:1.0]"} < {*models}
    pl.concat(runs).drop("temperature").write_csv("twice.csv")
    assert "more than once by a model" in survey("twice.csv", *args, exit_code=1)
    pl.concat([runs[0], runs[0].head(1).with_columns(id=pl.lit("x"))]).write_csv("orphan.csv")
    told = survey("orphan.csv", *args, exit_code=1)
    assert f"1 of {len(runs[0]) + 1} responses answer none of the prompts: 'x'" in told
    runs[0].drop("id").write_csv("bare.csv")
    assert "needs column 'id'" in survey("bare.csv", *args, exit_code=1)
    args[-2] = "prompts.jsonl"
    assert "is one of the inputs" in survey("runs.csv", *args, exit_code=1)


def test_texts_of_questions_from_another_table(survey):
    SURVEY.drop("question_text", "option_label").write_parquet("bare.parquet")
    keys = ["round", "question_id"]
    texts = SURVEY.group_by(*keys, "question_text", maintain_order=True).agg(
        pl.col("option_label").unique(maintain_order=True).alias("options")
    )
    texts.write_parquet("questions.parquet")
    described = ["--questions-from", "questions.parquet"]
    survey("prompts", "bare.parquet", "-o", "prompts.parquet", *described)
    expected = ef.survey.prompts(SURVEY)
    assert_frame_equal(pl.read_parquet("prompts.parquet"), expected)
    texts.head(3).write_parquet("questions.parquet")
    told = survey("prompts", "bare.parquet", "-o", "p.jsonl", *described, exit_code=1)
    assert told.startswith("error: bare.parquet, questions.parquet: unknown question_id in 12")


@pytest.mark.parametrize(
    ("flags", "exit_code", "message"),
    [
        ("-o p.txt", 1, "unknown format '.txt'"),
        ("-o p.csv", 1, "name it .parquet or .jsonl"),
        ("-o survey.parquet", 1, "is one of the inputs"),
        ("-o p.jsonl --blueprints p.jsonl", 1, "would both be p.jsonl"),
        ("-o p.jsonl --blueprints b.csv", 1, "b.csv cannot hold column 'prompt_ids'"),
        ("-o p.jsonl --batch-size 9", 1, "batch_size is 1 to 5, got 9"),
        ("-o p.jsonl --context-count some", 2, "Invalid value for '--context-count'"),
        ("-o p.jsonl --segments gender:mal", 1, "Did you mean 'gender:male'?"),
        (
            "-o p.jsonl --batch-size 2 --eval-type individual-answer",
            1,
            "which question it answers; leave out --batch-size",
        ),
        (
            "-o p.jsonl --context-format attribute-label --context-count 3",
            1,
            "--context-format attribute-label shows no context; leave it out, or --context-count",
        ),
    ],
)
def test_refused_prompts(survey, flags, exit_code, message):
    assert message in survey("prompts", "survey.parquet", *flags.split(), exit_code=exit_code)


def test_options_of_prompts_are_those_of_the_library():
    flags = {each.name: each for each in fields_of(Prompts)}
    choices = {"context_format": ContextFormat, "eval_type": EvalType, "reasoning": Reasoning}
    for name, library in choices.items():
        assert library in members(flags[name].type)
    assert flags["token_budget"].default == BUDGET
    assert flags["n_individuals"].default == N_INDIVIDUALS


def test_baselines_are_those_of_the_library(survey):
    told = survey("baselines", "survey.parquet", "-o", "scores.parquet")
    found = pl.read_parquet("scores.parquet")
    kinds = ("uniform", "marginal", "cross_segment")
    expected = [ef.survey.baseline(SURVEY, kind) for kind in kinds]  # type: ignore[arg-type]
    assert_frame_equal(found, pl.concat(expected))
    assert f"all rounds {expected[0]['score'].mean():.3f}" in told
    assert told.endswith("450 scores in scores.parquet")
    assert told.startswith(survey("baselines", "survey.parquet")), "printed without an output, too"
    assert "name the result: -o OUT" in survey("baselines", "survey.parquet", "-q", exit_code=2)
    assert read_provenance("scores.parquet")["baselines"] == [*kinds]
    survey("scores.parquet", "-o", "board.parquet", "-q")
    board = pl.read_parquet("board.parquet")
    assert board["model"].to_list()[0] == "baseline:population-marginal"
    flags = "--kinds dirichlet,permutation --permutations 50 --seed 3 --metric cosine"
    told = survey("baselines", "survey.parquet", "-o", "scores.parquet", *flags.split())
    drawn = ef.survey.permutation_baseline(SURVEY, by="all", metric="cosine", n=50, seed=3)
    ends = drawn.select("lower", "upper").row(0)
    assert f"[{ends[0]:.3f}, {ends[1]:.3f}]" in told
    dirichlet = ef.survey.baseline(SURVEY, "dirichlet", metric="cosine", seed=3)
    found = pl.read_parquet("scores.parquet").filter(model="baseline:random-dirichlet")
    assert_frame_equal(found.drop("model"), dirichlet.drop("model"))


def test_rounds_before(survey):
    """A survey of later rounds, and the same questions in a file of earlier ones."""
    later = SURVEY.filter(round="MB1")
    before = later.with_columns(round=pl.lit("MB0"), share=pl.col("share").reverse())
    before = before.with_columns(later["share"].alias("share"), percent=later["percent"])
    later.write_parquet("later.parquet")
    before.write_parquet("before.parquet")
    args = ["baselines", "later.parquet", "--prior", "before.parquet", "-o", "scores.parquet"]
    told = survey(*args)
    found = pl.read_parquet("scores.parquet").filter(model="baseline:prior-round")
    assert found["round"].unique().to_list() == ["MB1"]
    assert found["prior_round"].unique().to_list() == ["MB0"]
    assert found["score"].to_list() == pytest.approx([1.0] * 80)
    assert "baseline:prior-round MB1 1.0" in told
    before.drop("round").write_parquet("before.parquet")
    survey(*args, "--kinds", "prior_round", "-q")
    assert pl.read_parquet("scores.parquet")["prior_round"].unique().to_list() == ["prior"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("-o scores.csv", "scores.csv cannot hold column 'actual'"),
        ("-o survey.parquet", "is one of the inputs"),
        ("-o scores.parquet --kinds unform", "unknown kind of baseline 'unform'"),
        ("-o scores.parquet --kinds ,", "kinds is empty; name any of uniform"),
        ("-o scores.parquet --permutations 0", "1 or more, got 0"),
        ("-o scores.parquet --prior survey.parquet", "round 'MB1' is in the survey and in"),
        ("-o s.parquet --prior survey.parquet --kinds uniform", "are for the kind prior_round"),
    ],
)
def test_refused_baselines(survey, flags, message):
    assert message in survey("baselines", "survey.parquet", *flags.split(), exit_code=1)


def test_surveys_are_checked(survey):
    told = survey("validate", "survey.parquet")
    assert told.startswith("valid: MB1, MB2: 15 questions, 20 segments, 150 distributions")
    assert "4 segments have fewer than 30 respondents: country:dunmere (MB1)" in told
    silent = (pl.col("segment_id") == "gender:male") & (pl.col("question_id") == "mb1-q1")
    SURVEY.filter(~silent).drop("sample_size").write_csv("survey.csv")
    told = survey("validate", "survey.csv")
    assert "1 segments did not answer all questions: gender:male (MB1)" in told
    assert "20 segments are of unknown size" in told
    Path("rounds").mkdir()
    dtef.write_survey(ef.survey.as_survey(SURVEY), "rounds")
    assert survey("validate", "rounds", "survey.parquet").count("valid: ") == 2
    first_round = min(Path("rounds").iterdir())
    document = json.loads(first_round.read_text())
    answers = document["segments"][0]["responses"]
    answers.append(answers[0])
    first_round.write_text(json.dumps(document))
    assert "1 conflicts:" in survey("validate", "rounds", exit_code=1)
    answers[0]["distribution"][0] += 30
    first_round.write_text(json.dumps(document))
    told = survey("validate", "rounds", "survey.parquet", exit_code=1)
    assert "invalid: 15 questions" in told
    assert "segments[0].responses[0].distribution: sums to 13" in told
    assert "valid: MB1, MB2" in told
    assert "no file or folder 'absent'" in survey("validate", "absent", exit_code=1)
    refused = survey("prompts", "rounds", "survey.parquet", "-o", "p.jsonl", exit_code=1)
    assert "is a document and other files of the survey are tables" in refused
