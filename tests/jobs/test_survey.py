"""`evalframe survey`: the leaderboards that it writes and prints."""

import json
import re
from functools import cache
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import dtef
from evalframe.core.errors import ParameterError, UnknownNameError
from evalframe.jobs.flags import parse
from evalframe.jobs.survey import BASELINES, USUAL, MetricName
from evalframe.jobs.survey.outputs import TABLES
from evalframe.jobs.written import read_provenance
from evalframe.survey.baselines import MODELS
from evalframe.survey.sample import sample_responses, sample_survey
from evalframe.survey.similarity.registry import ALIASES, SIMILARITIES

SURVEY, RESPONSES = sample_survey(), sample_responses()
DISTRIBUTIONS = ef.survey.as_distributions(SURVEY)
KEYS = ["round", "segment_id", "question_id"]


@pytest.fixture
def survey(commands):
    """Run `evalframe survey` in a folder with `said.parquet` and `survey.parquet`."""
    return commands("survey", survey=SURVEY, said=RESPONSES)


SAID = ("said.parquet", "--truth", "survey.parquet")


def scored(responses=RESPONSES, *kinds, **options):
    """What the library makes of responses, and of baselines beside them."""
    rows = responses.drop("n_options").join(DISTRIBUTIONS, on=KEYS, maintain_order="left")
    read = ef.survey.parse(rows, options="options")
    models = ef.survey.score(read.lazy(), **options).collect()
    made = [ef.survey.baseline(SURVEY, kind, **options) for kind in kinds]
    shown = ["model", *KEYS, "segment_attribute", "sample_size", "score"]
    return pl.concat([models, *(rows.select(shown) for rows in made)], how="diagonal_relaxed")


@cache
def usual():
    """The scores of the sample with the usual baselines, and their leaderboard."""
    items = scored(RESPONSES, *USUAL)
    return items, ef.survey.leaderboard(items)


def test_the_result_is_what_the_library_gives(survey):
    text = survey(*SAID, "-o", "out.parquet")
    _, expected = usual()
    assert_frame_equal(pl.read_parquet("out.parquet"), expected)
    assert text.splitlines()[2].split()[:3] == ["1", "quill-70b", "0.863"]
    assert "MB2 gender:female 0.935" in text
    assert "21 of 900 items have no score and are left out." in text
    assert "highest context_count of a segment count; 450 with another are left out" in text
    record = read_provenance("out.parquet")
    assert record["records"] == {"rows": 900, "rejected": 0}
    assert [file["rows"] for file in record["inputs"]] == [900, 620]
    assert parse(record["job"]).items == ("said.parquet",)


def test_a_folder_gets_every_table(survey):
    survey(*SAID, "-o", "tables", "-q")
    found = {path.stem: pl.read_parquet(path) for path in Path("tables").iterdir()}
    assert found.keys() == {*TABLES}
    assert [name for name, table in found.items() if table.is_empty()] == ["pairwise"]
    items, _ = usual()
    attributes = ef.survey.as_survey(SURVEY).segment_attributes
    expected = ef.survey.leaderboards(items, attributes=attributes)
    for name in expected.keys() - {"category_leaders", "segment_overview"}:
        assert_frame_equal(found[name], expected[name])
    models = items.filter(~ef.survey.is_baseline())
    overview = ef.survey.segment_overview(models)
    assert_frame_equal(found["segment_overview"], overview)
    assert not found["category_leaders"]["model"].str.starts_with("baseline:").any()
    breakdown = ef.survey.attribute_breakdown(items, attributes)
    assert_frame_equal(found["attribute_breakdown"], breakdown)
    assert "response" not in found["scores"].columns
    assert len(found["scores"]) == 900 + 3 * 150


def test_intervals_and_weights(survey):
    flags = ["--weighting", "question", "--bootstrap", "30", "--level", "0.9", "--seed", "7"]
    text = survey(*SAID, "-o", "tables", *flags, "--baselines", "uniform")
    assert re.search(r"quill-70b +0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", text), text
    assert "90% intervals in brackets." in text
    assert "Tied: with the best" in text
    assert "each question counts alike" in text
    items = scored(RESPONSES, "uniform")
    resample = ef.Bootstrap(cluster="segment_id", n=30, seed=7, level=0.9)
    for name in ("overall", "category"):
        expected = ef.survey.leaderboard(items, name, weighting="question", resample=resample)
        assert_frame_equal(pl.read_parquet(f"tables/{name}.parquet"), expected)
    pairs = ef.survey.sign_flip_test(items, cluster="segment_id", n=30, seed=7)
    assert_frame_equal(pl.read_parquet("tables/pairwise.parquet"), pairs)


def test_metrics_and_rules_of_the_original(survey):
    options = ["--metric", "earth-mover", "--rules", "reference", "--baselines", "uniform"]
    survey(*SAID, "-o", "tables", "-q", *options)
    percentages = ef.survey.as_survey(SURVEY).distributions(normalised=False)
    rows = RESPONSES.drop("n_options").join(percentages, on=KEYS, maintain_order="left")
    said = pl.col("response").str.strip_chars() != ""  # blank ones are failed requests
    answered = rows.with_columns(pl.when(said).then("response").alias("response"))
    read = dtef.parse(answered)
    models = dtef.score(read.lazy(), metric="earth-mover").collect()
    found = pl.read_parquet("tables/scores.parquet")
    assert found["score"].head(900).to_list() == models["score"].to_list()
    only = models.select("model", *KEYS, "context_count", "score")
    expected = dtef.leaderboard(only)
    board = pl.read_parquet("tables/overall.parquet").filter(~ef.survey.is_baseline())
    assert board["score"].to_list() == pytest.approx(expected["score"].to_list())
    assert pl.read_parquet("tables/attribute_breakdown.parquet").is_empty()


def test_groups(survey):
    text = survey(*SAID, "-o", "out.parquet", "--by", "round,context_count")
    assert text.startswith("by_round  context_count  rank  model")
    assert "gender:female" in text
    assert "MB1 gender:female" not in text
    found = pl.read_parquet("out.parquet")
    sizes = found.group_by("by_round", "context_count").len()
    assert sizes["len"].to_list() == [6] * 4
    flags = ["--by", "round", "--bootstrap", "9", "-q"]
    survey(*SAID, "-o", "tables", *flags)
    assert len(pl.read_parquet("tables/pairwise.parquet")) == 15
    survey(*SAID, "-o", "out.csv", "--by", "segment_attribute", "-q")
    attributes = pl.read_csv("out.csv")["by_segment_attribute"].unique().sort()
    assert attributes.to_list() == ["ageGroup", "country", "gender"]
    group = {"round": "MB2", "context_count": 4}
    expected = ef.survey.leaderboard(scored(RESPONSES.filter(**group)))
    models = found.filter(~ef.survey.is_baseline(), by_round="MB2", context_count=4)
    assert models["score"].to_list() == pytest.approx(expected["score"].to_list())


def test_amounts_of_context(survey):
    items = scored(RESPONSES, "uniform")
    left = "Items with context_count 0 count; 450 with another are left out (--context)."
    flags = ["--baselines", "uniform", "--bootstrap", "20"]
    assert left in survey(*SAID, "-o", "tables", "--context", "0", *flags)
    resample = ef.Bootstrap(cluster="segment_id", n=20)
    expected = ef.survey.leaderboard(items, context=0, resample=resample)
    assert_frame_equal(pl.read_parquet("tables/overall.parquet"), expected)
    gaps = ef.survey.question_disparity(items, context=0)
    assert_frame_equal(pl.read_parquet("tables/question_disparity.parquet"), gaps)
    pairs = ef.survey.sign_flip_test(items, cluster="segment_id", context=0, n=20)
    assert_frame_equal(pl.read_parquet("tables/pairwise.parquet"), pairs)
    text = survey(*SAID, "-o", "out.parquet", "--context", "all")
    assert "Items of all amounts of context are pooled." in text
    assert "lowest context_count" in survey(*SAID, "-o", "out.parquet", "--context", "lowest")
    text = survey(*SAID, "-o", "out.parquet", "--by", "context_count")
    assert "left out (--context)" not in text
    text = survey(*SAID, "-o", "out.csv", "--context", "9", exit_code=1)
    assert "no row has this context_count; there are [0, 4]" in text
    assert "is none of highest" in survey(*SAID, "--context", "most", exit_code=2)
    job = {"family": "survey", "items": ["said.parquet"], "context": "most"}
    with pytest.raises(UnknownNameError, match="unknown context 'most'"):
        parse(job)


def test_segments_without_categories(survey):
    plain = pl.DataFrame(
        {
            "model": ["a", "a", "b", "b"],
            "segment_id": ["young", "old"] * 2,
            "question_id": ["q"] * 4,
            "score": [0.5, 0.6, 0.7, 0.8],
        }
    )
    plain.write_parquet("plain.parquet")
    flags = ["--weighting", "question", "--bootstrap", "20"]
    text = survey("plain.parquet", "-o", "tables", *flags)
    assert "No segment has a category, as 'gender:male'" in text
    assert "the tables of categories are empty" in text
    for name in ("category", "disparity", "category_leaders"):
        assert pl.read_parquet(f"tables/{name}.parquet").is_empty()
    assert len(pl.read_parquet("tables/segment_overview.parquet")) == 2
    assert "category" not in survey("plain.parquet", "-o", "out.csv")
    own = plain.with_columns(segment_id=pl.Series(["Age:young", "Age:old", "Age:young", "all"]))
    own.write_parquet("own.parquet")
    text = survey("own.parquet", "-o", "tables")
    assert "1 of 3 segments have no category, and are in no table of categories." in text
    assert pl.read_parquet("tables/disparity.parquet")["category"].to_list() == ["Age"]


def test_baselines_answer_what_models_were_asked(survey):
    part = RESPONSES.filter(pl.col("round") == "MB1", pl.col("segment_id") != "gender:male")
    part.write_parquet("part.parquet")
    survey("part.parquet", "--truth", "survey.parquet", "-o", "out.parquet", "-q")
    found = pl.read_parquet("out.parquet")
    assert found["n_segments"].unique().to_list() == [9]
    same = pl.col("round") == "MB1", pl.col("segment_id") != "gender:male"
    for kind in USUAL:
        scores = ef.survey.baseline(SURVEY, kind).filter(*same)["score"]
        row = found.filter(model=MODELS[kind])
        assert row["score"].item() == pytest.approx(scores.mean())


def test_a_survey_without_sizes_has_no_marginal(survey):
    SURVEY.drop("sample_size").write_parquet("bare.parquet")
    text = survey("said.parquet", "--truth", "bare.parquet", "-o", "out.csv")
    assert "no sample sizes, so there is no marginal baseline" in text
    assert "population-marginal" not in text
    args = ["said.parquet", "--truth", "bare.parquet", "-o", "out.csv", "--baselines", "marginal"]
    assert "the survey has none; add it" in survey(*args, exit_code=1)


def as_text(column):
    parts = pl.col(column).list.eval(pl.element().cast(pl.String)).list.join(", ")
    return pl.format("[{}]", parts).alias(column)


def test_surveys_in_every_form(survey):
    few = RESPONSES.filter(model="quill-70b")
    few.write_parquet("said.parquet")
    expected = ef.survey.leaderboard(scored(few, *USUAL))
    SURVEY.write_csv("long.csv")
    DISTRIBUTIONS.write_parquet("lists.parquet")
    labels = pl.col("options").list.eval(pl.format('"{}"', pl.element())).list.join(",")
    lists = DISTRIBUTIONS.with_columns(pl.format("[{}]", labels).alias("options"))
    lists.with_columns(as_text("actual")).write_csv("lists.csv")
    DISTRIBUTIONS.write_ndjson("lists.jsonl")
    Path("rounds").mkdir()
    whole = ef.survey.as_survey(SURVEY)
    dtef.write_survey(whole, "rounds")
    forms = ("long.csv", "lists.parquet", "lists.csv", "lists.jsonl", "rounds", "rounds/*.json")
    for given in forms:
        survey("said.parquet", "--truth", given, "-o", "out.parquet", "-q")
        assert_frame_equal(pl.read_parquet("out.parquet"), expected)


def test_predictions_in_every_form(survey):
    _, expected = usual()
    rows = scored().drop("response", "actual", "options", "score", "parse_rule", "n_options")
    rows.write_parquet("read.parquet")
    rows.with_columns(as_text("predicted")).write_csv("read.csv")
    RESPONSES.write_csv("said.csv")
    RESPONSES.write_ndjson("said.jsonl")
    for name in ("read.parquet", "read.csv", "said.csv", "said.jsonl"):
        survey(name, "--truth", "survey.parquet", "-o", "out.parquet", "-q")
        assert_frame_equal(pl.read_parquet("out.parquet"), expected, check_exact=False)


def test_scores_are_taken_as_they_stand(survey):
    survey(*SAID, "-o", "tables", "-q")
    text = survey("tables/scores.parquet", "-o", "again.parquet")
    assert "the scores of the table" in text
    found, expected = pl.read_parquet("again.parquet"), pl.read_parquet("tables/overall.parquet")
    assert_frame_equal(found, expected)
    models = pl.read_parquet("tables/scores.parquet").filter(~ef.survey.is_baseline())
    models.write_parquet("scores.parquet")
    args = ["scores.parquet", "--truth", "survey.parquet", "-o", "out.parquet", "-q"]
    survey(*args, "--metric", "cosine")
    cosine = ef.survey.leaderboard(scored(RESPONSES, *USUAL, metric="cosine"))
    assert_frame_equal(pl.read_parquet("out.parquet"), cosine)


def test_temperatures_are_models_of_their_own(survey):
    warm = [RESPONSES.with_columns(temperature=pl.lit(degree)) for degree in (0.0, 0.7)]
    pl.concat(warm).write_parquet("warm.parquet")
    args = ["warm.parquet", "--truth", "survey.parquet", "-q", "--baselines", "uniform"]
    survey(*args, "-o", "out.parquet")
    names = pl.read_parquet("out.parquet")["model"]
    assert names.to_list()[:2] == ["quill-70b[temp:0.0]", "quill-70b[temp:0.7]"]
    survey(*args, "-o", "out.parquet", "--by", "temperature")
    groups = pl.read_parquet("out.parquet").group_by("temperature").len()
    assert groups["len"].to_list() == [4, 4]
    warm[1].write_parquet("warm.parquet")
    survey(*args, "-o", "out.parquet")
    assert "quill-70b" in pl.read_parquet("out.parquet")["model"]


def test_rounds_where_only_one_side_has_them(survey):
    one = SURVEY.filter(round="MB1"), RESPONSES.filter(round="MB1")
    survey_of_one, said = (frame.drop("round") for frame in one)
    for name, frame in {"one": one[0], "bare": survey_of_one}.items():
        frame.write_parquet(f"{name}.parquet")
    for name, frame in {"with": one[1], "without": said}.items():
        frame.write_parquet(f"{name}.parquet")
    boards = {}
    for truth in ("one", "bare"):
        for items in ("with", "without"):
            args = [f"{items}.parquet", "--truth", f"{truth}.parquet", "-o", "out.parquet"]
            survey(*args, "-q")
            boards[truth, items] = pl.read_parquet("out.parquet")
    for board in boards.values():
        assert_frame_equal(board.select(pl.exclude("^.*_round$")), boards["bare", "without"])
    assert "best_round" in boards["one", "without"].columns
    # Questions that stand in one round each need no round.
    RESPONSES.drop("round").write_parquet("without.parquet")
    survey("without.parquet", "--truth", "survey.parquet", "-o", "out.parquet", "-q")
    assert_frame_equal(pl.read_parquet("out.parquet"), usual()[1])
    twice = pl.concat([one[0], one[0].with_columns(round=pl.lit("MB0"))])
    twice.write_parquet("twice.parquet")
    text = survey("without.parquet", "--truth", "twice.parquet", "-o", "o.csv", exit_code=1)
    assert "in rounds MB0, MB1; add a column 'round' to the predictions" in text


def test_segments_under_their_old_names(survey):
    old, new = ("country:t-rkiye", "country:turkey")
    renamed = {
        name: frame.with_columns(pl.col("segment_id").replace("country:arlen", name))
        for name, frame in {old: SURVEY, new: RESPONSES}.items()
    }
    renamed[old].write_parquet("old.parquet")
    renamed[new].write_parquet("new.parquet")
    survey("new.parquet", "--truth", "old.parquet", "-o", "tables", "-q")
    segments = pl.read_parquet("tables/segment.parquet").filter(segment_id=old)
    assert segments.group_by("round").len()["len"].to_list() == [6, 6]


def test_responses_to_prompts_of_several_questions(survey):
    asked = ef.survey.prompts(SURVEY, batch_size=3)
    replies = [
        json.dumps({name: shares for name, shares in zip(*row, strict=True)})
        if len(row[0]) > 1
        else str(row[1][0])
        for row in asked.select("question_id", "actual").iter_rows()
    ]
    said = asked.with_columns(response=pl.Series(replies), model=pl.lit("oracle"))
    said.write_parquet("prompts.parquet")
    survey("prompts.parquet", "--truth", "survey.parquet", "-o", "out.parquet", "-q")
    best = pl.read_parquet("out.parquet").row(0, named=True)
    assert (best["model"], best["parse_rate"], best["n_items"]) == ("oracle", 1.0, 150)
    assert best["score"] == pytest.approx(1.0)
    survey("prompts.parquet", "--truth", "survey.parquet", "-o", "tables", "-q")
    survey("tables/scores.parquet", "-o", "again.parquet", "-q")
    assert_frame_equal(pl.read_parquet("again.parquet"), pl.read_parquet("out.parquet"))


def test_choices_are_those_of_the_library():
    assert {*get_args(MetricName)} == {*SIMILARITIES, *ALIASES}
    assert {*BASELINES} == {*MODELS}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"truth": " "}, "truth is empty"),
        ({"truth": "s", "baselines": ["uniform"] * 2}, "named twice: uniform, uniform"),
        ({"versions": "latest"}, "for run results"),
        ({"runs": True, "prompts": "p"}, "leave out the prompts"),
        ({"runs": True, "answers": ["a"]}, "not of run results"),
    ],
)
def test_refused_jobs(entries, message):
    with pytest.raises(ParameterError, match=message):
        parse({"family": "survey", "items": ["a.parquet"], **entries})
