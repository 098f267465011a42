"""What differs in rates of responses: 14,700 of 71 public runs, and the scores of 273 runs."""

import functools
import json

import polars as pl

import evalframe as ef
from differences.records import parquet


@functools.cache
def labelled(shared):
    folder = shared / "data/rag"
    instances = parquet(folder / "instances.parquet")
    stored = parquet(folder / "results_licensed.parquet").drop("label", "factlabel")
    with_answers = ef.rag.attach_answers(
        stored.rename({"prediction": "response"}),
        instances.rename({"answer_groups": "answers"}),
    )
    return ef.rag.label(with_answers)


@functools.cache
def published_runs(shared):
    return json.loads((shared / "data/rag/real_scores.json").read_text())["runs"]


@functools.cache
def rates(shared):
    runs = ["source", "run_file", "dataset", "noise_rate"]
    return ef.rag.rates(labelled(shared), by=runs)


def rejections(shared):
    noise = rates(shared).filter(pl.col("noise_rate") == 1.0)
    more = noise["all_rate"] - noise["rejection_rate"]
    return (
        f"{(more > 0).sum()} of {len(noise)} runs: +{more.mean():.2f} on average, up to "
        f"+{more.max():.2f}"
    )


def corrections(shared):
    counted = [run["recomputed"] for run in published_runs(shared)]
    flagged = [run for run in counted if run.get("fact_tt")]
    more = [(run["correct_tt"] - run["correct_tt_requiring_1"]) / run["fact_tt"] for run in flagged]
    affected = sum(gap > 0 for gap in more)
    return f"{affected} of {len(flagged)} runs that flag an error: up to +{max(more):.2f}"


def keywords(shared):
    judged = labelled(shared).filter(
        pl.col("evaluation").is_not_null(), pl.col("noise_rate") == 1.0
    )
    lenient = ef.rag.label(judged.drop("label", "factlabel"), mode="lenient")
    strict, found = (
        ef.rag.rates(each, by="noise_rate").row(0, named=True) for each in (judged, lenient)
    )
    return (
        f"{strict['rejection_rate']:.0%} of {strict['n']} responses rejected, lenient "
        f"{found['rejection_rate']:.0%}, by a judge {strict['judge_rejection_rate']:.0%}"
    )


def dropped_questions(shared):
    sizes = parquet(shared / "data/rag/instances.parquet").group_by("dataset").len("size")
    runs = pl.DataFrame(
        [(run["dataset"], run["recomputed"]["nums"]) for run in published_runs(shared)],
        schema=["dataset", "n"],
        orient="row",
    )
    subset = pl.col("n") == 50  # a subset of that size is published
    short = runs.join(sizes, on="dataset").filter(pl.col("n") < pl.col("size"), ~subset)
    lost = (short["size"].cast(pl.Int64) - short["n"]).sort()
    return f"{len(short)} of {len(runs)} runs lack {lost[0]} to {lost[-1]} of 100 questions"


FIGURES = {
    "`all_rate`": rejections,
    "`correct_rate`": corrections,
    "`label`": keywords,
    "`rates`": dropped_questions,
}
