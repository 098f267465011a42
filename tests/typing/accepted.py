"""A user's file over all families: it must pass `mypy --strict` beside the installed package.

It is only type-checked, never run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import evalframe as ef
from evalframe.compat import ai_psychiatrist, rgb
from evalframe.testing.laws import check_laws

items: pl.DataFrame = pl.read_parquet("data/items.parquet")
scan: pl.LazyFrame = pl.scan_parquet("data/items.parquet")
resample = ef.Bootstrap(cluster="participant_id", n=1_000, seed=42, interval="bca", draws="counter")


@ef.metric(direction="maximize", range=(0, 1), labels=["label"], label="share_{positive}")
def share(label: ef.Role = "label", *, weight: ef.Role = None, positive: int = 1) -> ef.State:
    """Share of a label."""
    return ef.State(
        sums={"hits": weight * (label == positive), "rows": weight},
        finish=lambda t: ef.ratio(t.hits, t.rows),
    )


@ef.metric(direction="none", range=(0, float("inf")))
def spread(loss: ef.Role = "loss", *, weight: ef.Role = None) -> ef.State:
    """A metric of a curve."""
    width = ef.at.mass - ef.before.mass + 0 * ef.own.mass + 0 * ef.total.mass + 0 * ef.level
    axis = ef.Axis(level=loss, sums={"mass": weight}, terms={"area": width}, descending=True)
    return ef.State(axes=[axis], finish=lambda t: t.area / t.mass)


def expressions() -> pl.DataFrame:
    shares = [share(positive=2), ef.variant(share, name="twos", positive=2)("label")]
    scores: pl.Expr = ef.jensen_shannon_similarity("predicted", pl.col("actual"))
    odds: pl.Expr = ef.log_bayes_factor_t("t", "n1", scale=0.5)
    both = ef.metric_set(ef.aurc, ef.risk_at(0.5), spread)
    wide = items.select(ef.aurc("loss", 1 - pl.col("confidence")), *shares, *both(), scores, odds)
    windows = items.with_columns(ef.coverage().over("mode").alias("share"))
    lazily: pl.LazyFrame = scan.group_by("mode").agg(ef.augrc(weight="weight").alias("area"))
    return wide.hstack(windows).hstack(lazily.collect())


def tables() -> float | None:
    result: pl.LazyFrame = ef.evaluate(
        scan,
        [
            ef.aurc,
            ef.coverage(),
            ef.risk_at(0.5),
            ef.risk_at(0.9, "loss")("error"),
            spread,
            pl.col("loss").median(),
        ],
        by=["mode", pl.col("item")],
        weight="weight",
        resample=resample,
    )
    sure = ef.evaluate(items, ef.aurc(), by="mode", resample=ef.Jackknife(cluster="participant_id"))
    naive = ef.evaluate(items, ef.aurc(), resample=ef.Linearized(), plan="levels")
    pairs = ef.compare(items, ef.aurc(), between="mode", resample=resample, test="permutation")
    against = ef.compare(items, ef.aurc, other=scan, pair_on="item", correction="bonferroni")
    apart = ef.compare(items, ef.aurc, between="mode", paired=False, resample=ef.Linearized())
    rows = ef.evaluate(items, ef.aurc, resample=ef.Bootstrap(n=100))
    ranked = ef.rank(items, ef.aurc(), between="mode", resample=resample, best="lowest", level=0.9)
    whole = [result.collect(), sure, naive, pairs, against, apart, rows, ranked]
    value: float | None = pl.concat(whole)["delta"].item()

    return value


def shards(parts: list[pl.DataFrame]) -> pl.DataFrame:
    states = [ef.partial(part, [ef.aurc(), share()], by="mode", cluster="item") for part in parts]
    states[0].write_parquet("state.parquet")
    whole = ef.merge(*states, pl.read_parquet("state.parquet"))
    return ef.finish(whole, resample=ef.Bootstrap(cluster="item"))


def selective(path: Path) -> pl.DataFrame:
    run = ai_psychiatrist.read_run(path, mode="few_shot")
    answers = run.with_columns(ef.selective.loss("abs"))
    ef.selective.check_signals(answers, ["verbalized"], where=pl.col("prediction").is_not_null())

    def fit(rows: pl.DataFrame | pl.LazyFrame) -> Any:
        return ef.selective.fit_temperature(rows, "token_msp", "correct")

    folds = ef.selective.cross_fit(answers, fit, cluster="participant_id")
    curve = ef.selective.rc_curve(folds, "loss", ef.selective.confidence("token_msp"), by="mode")
    table = ef.selective.reliability_table(folds, "calibrated", bins=5, binning="equal_mass")
    return curve.vstack(table)


def rag(folder: Path) -> list[Path]:
    responses = rgb.read(folder, model="m")
    labelled = ef.rag.label(responses, mode="lenient")
    rates = ef.rag.rates(labelled, by="model", intervals="wilson", dropped="wrong")
    ef.rag.published_table(rates, "noise_robustness").filter(dataset="en")
    ef.evaluate(labelled, [ef.answer_accuracy, ef.rejection_rate], by="model")
    shown = ef.rag.select_documents(scan, noise_rate=[0.2, 0.8], seed=1)
    written: int = ef.rag.write_prompts(ef.rag.prompts(shown), "prompts.jsonl")
    return rgb.write(labelled, folder, overwrite=written > 0)


def survey(answers: pl.LazyFrame) -> pl.DataFrame:
    truth: pl.LazyFrame = ef.survey.as_distributions(scan)
    parsed = ef.survey.parse(answers.join(truth, on="question_id"), options="options")
    scored = ef.survey.score(parsed).collect()
    board = ef.survey.leaderboard(scored, "overall", weighting="segment", resample=resample)
    marginal = ef.survey.baseline(scan, "marginal").select(ef.mean_score(), ef.parse_rate())
    return board.hstack(marginal.collect())


def replication(tests: pl.DataFrame) -> pl.DataFrame:
    agreed = ef.replication.with_evidence(tests, human_prior_odds=10.0, missing_agent="skip")
    models = ef.replication.model_scores(agreed, resample=resample, study_rule="mean_z")
    effects = ef.replication.ecs(agreed, "domain", by="model")
    lin = ef.evaluate(agreed, ef.concordance_correlation("effect_d_human", "effect_d_agent"))
    return pl.concat([models, effects, lin], how="diagonal")


def contracts(frame: pl.LazyFrame) -> str:
    contract: ef.Contract = ef.replication.replication_contract(model="system")
    found: ef.Validation = ef.validate(frame, contract, on_invalid="quarantine")
    check_laws([ef.aurc, share()], found.valid, by="mode", cluster="item", rtol=1e-9)
    try:
        ef.selective.fit_temperature(found.valid, "a", "b")
    except ef.EvalframeError as error:
        return str(error)
    return f"{found.rejected} rows"
