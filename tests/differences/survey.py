"""What differs in surveys: 18,632 distributions of eight rounds, and no responses of models."""

import functools
import json

import polars as pl

import evalframe as ef
from differences.records import parquet
from evalframe.compat import dtef


@functools.cache
def distributions(shared):
    return ef.survey.as_distributions(parquet(shared / "data/survey/survey.parquet"))


@functools.cache
def marginal(shared):
    survey = parquet(shared / "data/survey/survey.parquet")
    return ef.survey.baseline(survey, "marginal")


def ceilings(shared):
    known = distributions(shared).with_columns(
        sound=ef.survey.noise_ceiling(), original=dtef.noise_ceiling()
    )
    of_countries = known.filter(pl.col("segment_attribute") == "country")
    sound, original = (of_countries[name].mean() for name in ("sound", "original"))
    above, claimed = ((known[name] > 0.7).mean() for name in ("sound", "original"))
    return (
        f"{original:.2f}, not {sound:.2f}, for countries; {claimed:.0%}, not {above:.0%}, of "
        f"{len(known):,} pairs above 0.70"
    )


def rounds(shared):
    sound, original = (
        leaderboard(marginal(shared)).row(0, named=True)
        for leaderboard in (ef.survey.leaderboard, dtef.leaderboard)
    )
    return (
        f"{original['n_segments']} of {sound['n_segments']} segments count; marginal baseline "
        f"{original['score']:.3f}, not {sound['score']:.3f}"
    )


def own_answers(shared):
    survey = parquet(shared / "data/survey/survey.parquet")
    without = ef.survey.baseline(survey, "marginal", oracle=False)["score"]
    gain = marginal(shared)["score"] - without
    return f"{gain.mean():.4f} on average, up to {gain.max():.3f}"


def zeros(shared):
    predicted = pl.col("actual") * 0
    answered = distributions(shared).with_columns(predicted=predicted, status=pl.lit("ok"))
    sound, original = (score(answered)["score"].mean() for score in (ef.survey.score, dtef.score))
    return f"{original:.2f}, not {sound:.0f}, on average over {len(answered):,} pairs"


def floors(shared):
    pairs = marginal(shared).drop("score").with_columns(status=pl.lit("ok"))
    sound, original = (
        pairs.select(room.jensen_shannon_similarity()).to_series() for room in (ef.survey, dtef)
    )
    rounded = dtef.score(pairs)["score"]
    return (
        f"floor {(sound - original).abs().max():.0e}, rounding {(sound - rounded).abs().max():.3f} "
        f"at most; mean {abs(sound.mean() - rounded.mean()):.0e}"
    )


def parsed(shared):
    cases = json.loads((shared / "golden/survey/parser.json").read_text())["cases"]
    texts = pl.DataFrame(
        [(case["text"], len(case["expected"]), case["question_key"]) for case in cases],
        schema=["response", "n_options", "key"],
        orient="row",
    )
    sound, original = (
        parse(texts, question_key="key")["status"] == "ok"
        for parse in (ef.survey.parse, dtef.parse)
    )
    return (
        f"- (of {len(texts)} golden texts {(original & ~sound).sum()} are read that are no "
        f"answers, {(sound & ~original).sum()} that are ones are not)"
    )


FIGURES = {
    "`noise_ceiling`": ceilings,
    "`leaderboard`": rounds,
    "`baseline`": own_answers,
    "`score`": zeros,
    "`jensen_shannon_similarity`": floors,
    "`parse`": parsed,
}
