"""Golden scores: of five invented models in statistics.json, and of runs in aggregation.json."""

import polars as pl
from hypothesis import strategies as st

_NAMES = ("model", "segment_id", "question_id", "score", "context_count")


def model_scores(golden):
    """One row per model, segment, question and run."""
    rows = golden("survey/statistics")["model_scores"]
    columns = dict(zip(_NAMES, zip(*(row[:5] for row in rows), strict=True), strict=True))
    scores = pl.Series([float(score) for score in columns.pop("score")])
    return pl.DataFrame(columns).with_columns(score=scores)


SCHEMA = {
    "run_id": pl.Int64,
    "round": pl.String,
    "model": pl.String,
    "segment_id": pl.String,
    "context_count": pl.Int64,
    "question_id": pl.String,
    "score": pl.Float64,
}


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def records(golden):
    """The golden records with what their runs say."""
    content = golden("survey/aggregation")
    rows = []
    for record in content["records"]:
        told = content["results"][str(record["result"])]["config"]["context"]["dtef"]
        rows.append(
            (
                record["result"],
                told["surveyId"],
                record["model_id"],
                told["segmentId"],
                told["contextQuestionCount"],
                record["question_id"],
                record["item_score"],
            )
        )
    return frame(rows)


ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.just("gd1"),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["gender:male", "gender:female", "country:peru", "odd"]),
        st.sampled_from([None, 0, 3, 5]),
        st.sampled_from(["q1", "q2"]),
        st.sampled_from([None, 0.1, 0.25, 0.5, 0.8, 1.0]),
    ),
    max_size=30,
)
"""Scores of few models, segments, contexts and questions, in any order."""
