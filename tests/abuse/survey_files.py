"""Files of the survey family: surveys in four forms, and run results."""

import csv
import functools
import io
import json
import re
import tempfile
from pathlib import Path

import polars as pl

from abuse.mutations import BYTES, TEXT
from abuse.readers import Reader, as_parquet
from evalframe import survey
from evalframe.compat import dtef
from evalframe.core.errors import InputError
from evalframe.survey.sample import sample_survey


@functools.cache
def _survey():
    segments, questions = pl.col("segment_id").rank("dense"), pl.col("question_id").rank("dense")
    return sample_survey().filter(pl.col("round") == "MB1").filter(segments <= 2, questions <= 2)


def _survey_document():
    with tempfile.TemporaryDirectory() as folder:
        [file] = dtef.write_survey(_survey(), Path(folder, "survey.json"))
        return file.read_bytes()


def _read_survey(path):
    names = ("round", "question_id", "segment_id", "option_index", "sample_size", "percent")
    return dtef.read_survey(path).responses.select(names).rows()


def _validated(path):
    report = dtef.validate(path)
    if not report.valid:
        raise InputError(str(report))
    return report.questions, report.segments, report.responses


def _true_survey(data):
    document = json.loads(data)
    return [
        (document["surveyId"], answer["questionId"], segment["id"], number, size, percent)
        for segment in document["segments"]
        for answer in segment["responses"]
        for size in [answer.get("sampleSize", _number(segment.get("sampleSize")))]
        for number, percent in enumerate(answer["distribution"])
    ]


def _number(value):
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _counted_survey(data):
    document = json.loads(data)
    segments = document["segments"]
    return len(document["questions"]), len(segments), sum(len(s["responses"]) for s in segments)


def _read_table(path):
    names = ("question_id", "segment_id", "option_index", "sample_size", "percent")
    return _rounded(survey.read_survey(path).responses.select(names).rows())


def _rounded(rows):
    return sorted((*row[:-1], round(float(row[-1]), 9)) for row in rows)


def _true_csv(data):
    return _stored_rows(_table_of(data))


def _stored_rows(rows):
    rows, labels = [*rows], {}
    assert rows
    for row in rows:
        labels.setdefault(row["question_id"], set()).add(row.get("option_label"))
    for row in rows:
        if "option_index" not in row:  # then options are in the order of the alphabet
            known = sorted(labels[row["question_id"]])
            row["option_index"] = known.index(row["option_label"])
    return _rounded(
        (
            row["question_id"],
            row["segment_id"],
            float(row["option_index"]),
            None if row.get("sample_size") in ("", None) else json.loads(str(row["sample_size"])),
            float(row["share"]) * 100 if "share" in row else float(row["percent"]),
        )
        for row in rows
    )


def _stored_survey(data):
    return _stored_rows(pl.read_parquet(data).rows(named=True))


def _dialogues():
    asked = [("q1", "Hot?", "Yes"), ("q1", "Hot?", "No"), ("q2", "Cold, or wet?", "Yes")]
    asked += [("q2", "Cold, or wet?", "No"), ("q3", "How old are you?", "Old")]
    table = pl.DataFrame(asked, schema=["Question ID", "Question", "Response"], orient="row")
    kind = pl.lit("Poll Single Select").alias("Question Type")
    shares = {"O3: Male": ["60%", "40%", "12.5%", "87.5%", "3%"]}
    shares |= {"O3: Female": ["75%", "25%", "", "100%", "4%"], "O7: Kenya": ["50", "50"] * 2 + [""]}
    columns = [pl.Series(name, values) for name, values in shares.items()]
    return table.with_columns(kind, *columns).write_csv().encode()


def _counts():
    sizes = {"O3: Male": [100, 98], "O3: Female": [120, 80], "O7: Kenya": [40, 42]}
    return pl.DataFrame({"Question ID": ["q1", "q2"], **sizes}).write_csv().encode()


def _read_dialogues(path):
    return _shown(dtef.read_dialogues(path, round="r").responses, "percent")


def _read_counts(path):
    aggregate = path.with_name("aggregate.csv")
    aggregate.write_bytes(_dialogues())
    sizes = dtef.read_dialogues(aggregate, path, round="r", min_sample_size=0).responses
    return sorted({*_shown(sizes.filter(pl.col("sample_size").is_not_null()), "sample_size")})


def _shown(table, value):
    segment = pl.col("segment_value").str.to_lowercase()
    return sorted(table.select("question_id", segment, pl.col(value).cast(pl.Float64)).rows())


def _segments(row):
    """The columns of segments, each with the value of its segment."""
    found = [(column, re.fullmatch(r"O(\d+): *(.+)", column)) for column in row]
    return [(c, m[2].strip().lower()) for c, m in found if m and 2 <= int(m[1]) <= 7]


def _table_of(data):
    text = data.removeprefix(b"\xef\xbb\xbf").decode().lstrip("\r\n")
    rows = [*csv.DictReader(io.StringIO(text, newline=""))]
    assert all(None not in row and None not in row.values() for row in rows)
    return rows


def _true_dialogues(data):
    rows = [
        row
        for row in _table_of(data)
        if row["Question Type"] == "Poll Single Select" and "how old" not in row["Question"].lower()
    ]
    told = [
        (row["Question ID"], value, row[column].strip().removesuffix("%").strip())
        for row in rows
        for column, value in _segments(row)
    ]
    answered = {told_[:2] for told_ in told if told_[2]}
    return sorted((*pair, float(cell or 0)) for *pair, cell in told if tuple(pair) in answered)


def _true_counts(data):
    told = [
        (row["Question ID"], value, row[column].strip().removesuffix("%").strip())
        for row in _table_of(data)
        for column, value in _segments(row)
        if row["Question ID"] in ("q1", "q2") and column in ("O3: Male", "O3: Female", "O7: Kenya")
    ]
    first = {told_[:2]: told_[2] for told_ in reversed(told)}
    return sorted((*pair, float(cell)) for pair, cell in first.items() if cell and float(cell) > 0)


def _run_result():
    about = {"surveyId": "gd1", "segmentId": "gender:male", "segmentLabel": "Male"}
    about |= {"segmentAttributes": {"gender": "male"}, "contextQuestionCount": 2, "batchSize": 1}
    cell = {"avgCoverageExtent": 0.75, "keyPointsCount": 1}
    late = {"error": "late"}
    cells = {"q1-gender:male": {"m": cell, "n": late}, "q2-gender:male": {"m": cell, "n": cell}}
    texts = {name: {model: "[60, 40]" for model in models} for name, models in cells.items()}
    return json.dumps(
        {
            "configId": "c1",
            "runLabel": "r1",
            "timestamp": "2020-01-01T00-00-00",
            "config": {"tags": ["dtef"], "context": {"dtef": about}},
            "evaluationResults": {"llmCoverageScores": cells},
            "allFinalAssistantResponses": texts,
        }
    ).encode()


def _read_runs(path):
    results = dtef.open_runs(path)
    names = ("prompt_id", "model", "score", "n_points", "response")
    if (use := results.runs["use"].item()) != "counted":
        raise InputError(f"{path.name} is not counted: {use}")
    return results.items.select(names).rows()


def _true_runs(data):
    document = json.loads(data)
    texts = document.get("allFinalAssistantResponses") or {}
    scores = (document.get("evaluationResults") or {}).get("llmCoverageScores") or {}
    return [
        (
            prompt,
            model,
            _finite((cell or {}).get("avgCoverageExtent")),
            (cell or {}).get("keyPointsCount"),
            (texts.get(prompt) or {}).get(model),
        )
        for prompt, models in scores.items()
        for model, cell in (models or {}).items()
    ]


def _finite(value):
    return value if value is None or abs(value) < float("inf") else None


READERS = {
    "read_survey": Reader("survey.json", _survey_document, _read_survey, _true_survey, share=0.6),
    "survey.validate": Reader("survey.json", _survey_document, _validated, _counted_survey),
    "read_survey csv": Reader(
        "survey.csv",
        lambda: _survey().drop("percent").write_csv().encode(),
        _read_table,
        _true_csv,
        TEXT,
        share=0.2,
    ),
    "read_survey parquet": Reader(
        "survey.parquet",
        lambda: as_parquet(_survey().drop("percent")),
        _read_table,
        _stored_survey,
        BYTES,
        share=0.2,
    ),
    "read_dialogues": Reader(
        "GD9.csv", _dialogues, _read_dialogues, _true_dialogues, TEXT, share=0.8
    ),
    "read_dialogues counts": Reader(
        "counts.csv", _counts, _read_counts, _true_counts, TEXT, share=0.2
    ),
    "open_runs": Reader("run.json", _run_result, _read_runs, _true_runs),
}
