"""`evalframe rag documents`: prompts that go out, and the responses that come back to them."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat import rgb
from evalframe.jobs.rag import KEYS
from evalframe.jobs.written import read_provenance
from evalframe.rag.sample.questions import sample_instances
from evalframe.rag.sample.responses import sample_responses


@pytest.fixture
def rag(commands):
    """Run `evalframe rag` in a folder with `responses.parquet`."""
    return commands("rag", responses=sample_responses(questions=2))


def test_documents_are_written_as_prompts(rag):
    sample_instances(questions=6).write_parquet("instances.parquet")
    args = ["documents", "instances.parquet", "--noise", "0,0.6"]
    text = rag(*args, "-o", "prompts.jsonl")
    assert "40 prompts in prompts.jsonl" in text
    assert "without" not in text
    text = Path("prompts.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 40
    assert lines[1]["metadata"]["noise_rate"] == 0.6
    told = rag(*args, "-o", "p.parquet", "--correct", "0.6", "--order", "seeded", "--seed", "7")
    assert "leave no room" in told
    prompts = pl.read_parquet("p.parquet")
    expected = ef.rag.select_documents(
        sample_instances(questions=6), noise_rate=[0, 0.6], correct_rate=0.6, seed=7
    )
    assert prompts["documents"].to_list() == expected["documents"].to_list()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["instances.parquet", "--noise", "2", "-o", "p.jsonl"], "from 0 to 1, got 2.0"),
        (["instances.parquet", "-o", "p.txt"], "name it .parquet or .jsonl"),
        (["instances.parquet", "-o", "instances.parquet"], "is one of the inputs"),
        (["responses.parquet", "-o", "p.jsonl"], "needs columns 'negative', 'positive'"),
    ],
)
def test_refused_documents(rag, args, message):
    sample_instances(questions=2).write_parquet("instances.parquet")
    assert message in " ".join(rag("documents", *args, exit_code=1).split())


def reply(line):
    """What a model says: every other question is answered, with all that is accepted."""
    even = line["metadata"]["id"] % 2 == 0
    return "; ".join(line["target"]) if even else "信息不足"


def test_prompts_go_out_as_lines_and_come_back(rag, call):
    sample_instances(questions=4).write_parquet("instances.parquet")
    asked = ["documents", "instances.parquet", "--noise", "0,1", "-q", "-o"]
    rag(*asked, "prompts.jsonl")
    lines = [json.loads(line) for line in Path("prompts.jsonl").read_text().splitlines()]
    replies = [{"id": line["id"], "response": reply(line)} for line in lines]
    Path("replies.jsonl").write_text("\n".join(map(json.dumps, replies[:-3])))
    told = rag("replies.jsonl", "--prompts", "prompts.jsonl", "-o", "out.parquet")
    assert f"3 of {len(lines)} prompts have no response, and are left out as dropped." in told
    found = pl.read_parquet("out.parquet")
    joined = ef.rag.read_responses("replies.jsonl", "prompts.jsonl", model=None)
    by = [key for key in KEYS if key != "model"]
    expected = rgb.rates(ef.rag.label(joined), by=by, intervals="wilson")
    assert_frame_equal(found, expected)
    assert found["n_correct"].sum() + found["n_rejected"].sum() == len(replies) - 3
    assert found["n_dropped"].sum() == 3
    # The same from Parquet, by a job file, and with the id under its other name.
    rag(*asked, "prompts.parquet")
    table = pl.read_ndjson("replies.jsonl").rename({"id": "prompt_id"})
    table.write_csv("replies.csv")
    entries = ['items = ["replies.csv"]', 'prompts = "prompts.parquet"', 'output = "job.parquet"']
    Path("job.toml").write_text("\n".join(['family = "rag"', *entries]))
    call("run", "job.toml", "-q")
    assert_frame_equal(pl.read_parquet("job.parquet"), expected)
    assert len(read_provenance("job.parquet")["inputs"]) == 2
    # Tables of prompts also have those that could not be asked, which lines have not.
    rag(*asked, "prompts.parquet", "--correct", "0.4")
    told = rag("replies.csv", "--prompts", "prompts.parquet", "-o", "out.parquet", exit_code=1)
    assert "answer none of the prompts" in told
    right = pl.read_parquet("prompts.parquet").filter(pl.col("prompt").is_not_null())
    right.select("prompt_id", response=pl.lit("x")).write_csv("replies.csv")
    told = rag("replies.csv", "--prompts", "prompts.parquet", "-o", "out.parquet")
    lost = len(lines) - len(right)
    assert lost > 0
    assert f"no response ({lost} could not be asked)" in told


def test_responses_that_do_not_fit_their_prompts(rag):
    sample_instances(questions=1).write_parquet("instances.parquet")
    rag("documents", "instances.parquet", "-q", "-o", "p.jsonl")
    ids = pl.read_ndjson("p.jsonl").select("id")
    table = ids.select("id", response=pl.lit("x"), model=pl.lit("m"), judged=pl.lit("a"))
    twice = pl.concat([table.with_columns(sample=k) for k in (1, 2)])
    pl.concat([table, table.head(1).with_columns(id=pl.lit("none"))]).write_csv("orphan.csv")
    twice.write_csv("twice.csv")

    def run(*args, exit_code=0):
        return " ".join(rag(*args, "-o", "out.parquet", exit_code=exit_code).split())

    told = run("orphan.csv", "--prompts", "p.jsonl", exit_code=1)
    assert f"1 of {len(table) + 1} responses answer none of the prompts: 'none'" in told
    told = run("twice.csv", "--prompts", "p.jsonl", exit_code=1)
    assert "answered more than once by a model" in told
    assert "(--by or --key)" in told
    run("twice.csv", "--prompts", "p.jsonl", "--by", "model,sample")
    assert pl.read_parquet("out.parquet")["n"].to_list() == [len(table)] * 2
    run("twice.csv", "--prompts", "p.jsonl", "--by", "model", "--key", "prompt_id,sample")
    assert pl.read_parquet("out.parquet")["n"].to_list() == [2 * len(table)]
    for other in (["--instances", "instances.parquet"], ["--from-rgb", "x"]):
        assert "leave out" in run("twice.csv", "--prompts", "p.jsonl", *other, exit_code=1)
    text = rag("twice.csv", "--prompts", "p.jsonl", "-o", "p.jsonl", exit_code=1)
    assert "is one of the inputs" in text


def test_questions_without_text_are_told_of(rag):
    instances = sample_instances(questions=2)
    mute = pl.when(pl.int_range(pl.len()) > 0).then("query").alias("query")
    instances.with_columns(mute).write_parquet("instances.parquet")
    told = rag("documents", "instances.parquet", "-o", "p.jsonl")
    assert "the query is null" in told
    assert f"{len(instances) - 1} prompts" in told
