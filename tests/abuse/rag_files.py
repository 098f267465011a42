"""Files of the rag family: predictions, scores and questions of RGB, and responses."""

import functools
import json
import tempfile

import polars as pl

from abuse.mutations import BYTES
from abuse.readers import Reader, as_parquet
from evalframe import rag
from evalframe.compat import rgb
from evalframe.rag.sample.questions import sample_instances, sample_instances_int
from evalframe.rag.sample.responses import sample_responses


def _lines(data):
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [json.loads(line.strip(b" \t\r")) for line in lines if line.strip(b" \t\r")]


def _as_lines(table):
    rows = ({k: v for k, v in row.items() if v is not None} for row in table.iter_rows(named=True))
    return b"\n".join(json.dumps(row).encode() for row in rows)


_RUN = "prediction_en_harbor-7b_noise0.2_passage5"


@functools.cache
def _rgb():
    responses = sample_responses(questions=4).filter(
        pl.col("response").is_not_null(),
        dataset="en",
        model="harbor-7b",
        noise_rate=0.2,
        passage_num=5,
    )
    labelled = rag.label(responses.drop("evaluation", "correct_passage_rate"))
    with tempfile.TemporaryDirectory() as folder:
        asked = {"query": pl.lit("Who?"), "documents": pl.lit(["a", "b"], dtype=pl.List(pl.String))}
        files = rgb.write(labelled.with_columns(**asked), folder)
        return {file.name: file.read_bytes() for file in files}


def _groups(answers):
    each = answers if isinstance(answers, list) else [answers]
    return [group if isinstance(group, list) else [group] for group in each]


def _true_rgb(data):
    return [
        (
            line["id"],
            line["query"],
            _groups(line["ans"]),
            line["prediction"],
            line.get("docs"),
            line["label"],
            line.get("factlabel"),
            line.get("evaluation"),
        )
        for line in _lines(data)
    ]


def _read_rgb(path):
    names = ("id", "query", "answers", "response", "documents", "label", "factlabel", "evaluation")
    return rgb.read(path).select(names).rows()


_SCORES = ("all_rate", "tt", "nums", "fact_check_rate", "correct_rate", "fact_tt", "correct_tt")


def _true_scores(data):
    document = json.loads(data)
    assert document.get("noise_rate", 0.2) == 0.2
    return [(document["all_rate"], *map(document.get, _SCORES[1:]))]


def _questions(table, dataset):
    names = {"answers": "answer", "fake_answers": "fakeanswer"}
    rows = table.filter(dataset=dataset).drop("dataset")
    return _as_lines(rows.rename(names, strict=False))


def _read_questions(path):
    names = ("id", "query", "answers", "fake_answers", "positive", "negative", "positive_wrong")
    return rgb.read_instances(path).select(names).rows()


def _true_questions(data):
    return [
        (
            line["id"],
            line["query"],
            _groups(line["answer"]),
            _each(line.get("fakeanswer")),
            line["positive"],
            line["negative"],
            line.get("positive_wrong"),
        )
        for line in _lines(data)
    ]


def _each(value):
    return value if value is None or isinstance(value, list) else [value]


@functools.cache
def _prompts():
    chosen = rag.select_documents(sample_instances(questions=2).filter(dataset="en"))
    return rag.prompts(chosen)


@functools.cache
def _responses():
    ids = _prompts()["prompt_id"].drop_nulls()
    texts = [f"An answer: {number}" for number in range(len(ids) - 1)]
    table = pl.DataFrame({"id": ids, "response": [*texts, None], "model": "m"})
    return table.with_columns(seconds=pl.int_range(pl.len()) / 4)


def _read_responses(path):
    table = rag.read_responses(path, _prompts())
    return sorted(table.drop_nulls("response").select("prompt_id", "response", "model").rows())


def _true_responses(data):
    rows = [(line["id"], line.get("response"), line["model"]) for line in _lines(data)]
    return sorted(row for row in rows if row[1] is not None)


def _stored_responses(data):
    table = pl.read_parquet(data, columns=["id", "response", "model"])
    return sorted(table.drop_nulls("response").rows())


READERS = {
    "read_rgb": Reader(f"{_RUN}.json", lambda: _rgb()[f"{_RUN}.json"], _read_rgb, _true_rgb),
    "read_rgb_scores": Reader(
        f"{_RUN}_result.json",
        lambda: _rgb()[f"{_RUN}_result.json"],
        lambda path: rgb.read_scores(path).select(_SCORES).rows(),
        _true_scores,
    ),
    "read_rgb_instances": Reader(
        "en_fact.json",
        lambda: _questions(sample_instances(questions=3), "en_fact"),
        _read_questions,
        _true_questions,
        share=0.5,
    ),
    "read_rgb_instances integration": Reader(
        "en_int.json",
        lambda: _questions(sample_instances_int(questions=3), "en_int"),
        _read_questions,
        _true_questions,
        share=0.5,
    ),
    "read_responses": Reader(
        "answers.jsonl",
        lambda: _as_lines(_responses()),
        _read_responses,
        _true_responses,
        share=0.5,
    ),
    "read_responses parquet": Reader(
        "answers.parquet",
        lambda: as_parquet(_responses()),
        _read_responses,
        _stored_responses,
        BYTES,
        share=0.5,
    ),
}
