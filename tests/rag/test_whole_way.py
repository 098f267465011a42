"""From instances to rates by way of prompts and responses; what the original drops is told."""

import json

import polars as pl

import evalframe as ef
from evalframe.compat.rgb import select_documents


def instance(case, item):
    positive, negative = item["shape"]
    groups = positive if isinstance(positive, list) else None
    lists = [f"p{k}" for k in range(positive)] if groups is None else [["p"] * n for n in groups]
    return {
        "dataset": case["dataset"],
        "id": item["id"],
        "query": "?",
        "answers": json.dumps(item["answer"]),
        "positive": lists,
        "negative": [f"n{k}" for k in range(negative)],
        "response": item["response"],
    }


def test_golden_items_that_the_original_drops(golden):
    cases = golden("rag/rates")["dropped_items"]
    assert len(cases) == 2
    for case in cases:
        rows = [instance(case, item) for item in case["items"]]
        positive = pl.List(pl.List(pl.String)) if "_int" in case["dataset"] else pl.List(pl.String)
        instances = pl.DataFrame(rows, schema_overrides={"positive": positive}).with_columns(
            ef.rag.answers_from_json(on_invalid="null")
        )
        shown = select_documents(
            instances.drop("response"),
            noise_rate=case["noise_rate"],
            passage_num=case["passage_num"],
            correct_rate=case["correct_rate"],
        )
        asked = ef.rag.prompts(shown)
        sent = asked.filter(pl.col("prompt").is_not_null()).join(instances, on="id")
        answered = sent.select(pl.col("prompt_id").alias("id"), "response", model=pl.lit("m"))
        labelled = ef.rag.label(ef.rag.read_responses(answered, asked))
        kept = labelled.filter(pl.col("label").is_not_null())
        assert kept["id"].to_list() == case["kept_ids"]
        assert kept["label"].to_list() == case["labels"]
        found = ef.rag.rates(labelled).row(0, named=True)
        assert found["n"] == case["expected_scores"]["nums"]
        assert found["n_dropped"] == len(rows) - found["n"]
        assert found["all_rate"] == case["expected_scores"]["all_rate"]
