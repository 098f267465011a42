"""Mistakes of users that a type checker must find: each with the code of mypy's complaint.

It is only type-checked, never run.
"""

from __future__ import annotations

import polars as pl

import evalframe as ef

items = pl.DataFrame({"loss": [0.0], "confidence": [0.5], "mode": ["few"]})

# names that do not exist
ef.aurk()  # error: attr-defined
ef.selective.confidense("verbalized")  # error: attr-defined
ef.rag.labell(items)  # error: attr-defined
ef.aurc(confidnce="token_msp")  # error: call-arg
ef.variant(ef.coverage, nam="share", named=1)("prediction").metrics()  # error: attr-defined

# texts that are none of the choices
ef.aurc(convention="trapezoid")  # error: arg-type
ef.replication.with_evidence(items, missing_agent="none")  # error: call-overload
ef.survey.leaderboard(items, "segments")  # error: call-overload
ef.survey.baseline(items, "margin")  # error: call-overload
ef.rag.label(items, mode="loose")  # error: call-overload
ef.rag.rates(items, dropped="right")  # error: call-overload
ef.Bootstrap(cluster="item", interval="bc")  # error: arg-type
ef.Bootstrap(cluster="item", draws="mersenne")  # error: arg-type
ef.evaluate(items, ef.aurc, plan="level")  # error: call-overload
ef.compare(items, ef.aurc, between="mode", correction="fdr")  # error: call-overload
ef.rank(items, ef.aurc, between="mode", resample=ef.Bootstrap(), best="top")  # error: call-overload
ef.compare(items, ef.aurc, between="mode", test="t")  # error: call-overload
ef.validate(items, ef.survey.survey_contract(), on_invalid="drop")  # error: arg-type
ef.metric(direction="up", range=(0, 1))  # error: arg-type

# positional where the name must be said
ef.evaluate(items, ef.aurc, "mode")  # error: call-overload
ef.compare(items, ef.aurc, "mode")  # error: call-overload
ef.partial(items, ef.aurc, "mode")  # error: call-overload
ef.Bootstrap("item")  # error: call-arg
ef.aurc("loss", "confidence", "weight")  # error: call-arg
ef.selective.rc_curve(items, "loss", "confidence", "mode")  # error: call-overload
ef.rag.rates(items, "mode")  # error: call-overload
ef.survey.score(items, "reference")  # error: call-overload
ef.replication.ecs(items, "domain", "model")  # error: call-overload

# values of another type
ef.evaluate(items, "aurc")  # error: arg-type
ef.evaluate(items.to_dict(as_series=False), ef.aurc)  # error: call-overload
ef.evaluate(items, ef.aurc, by=3)  # error: call-overload
ef.evaluate(items, ef.aurc, resample="bootstrap")  # error: call-overload
ef.compare(items, ef.aurc, between="mode", paired="no")  # error: call-overload
ef.partial(items, ef.aurc, cluster=["mode", "item"])  # error: call-overload
ef.merge([items, items])  # error: call-overload
ef.risk_at("0.5")  # error: arg-type
ef.Bootstrap(cluster="item", n="1000")  # error: arg-type
ef.log_bayes_factor_t(2.3, "n")  # error: arg-type
ef.replication.model_scores(items, resample=True)  # error: call-overload
ef.metric(direction="none", range=(0, 1), name=3)  # error: arg-type
ef.State(sums={"rows": 1}, finish=lambda t: t.rows)  # error: dict-item
ef.State(sums={"rows": pl.len()}, finish=lambda t: 1.0)  # error: arg-type, return-value
ef.ratio(1, 2)  # error: arg-type
ef.variant(ef.aurc, convention=["population"])  # error: arg-type
ef.metric_set(ef.aurc, "augrc")  # error: arg-type

# tables that are not collected yet
ef.evaluate(items.lazy(), ef.aurc)["estimate"]  # error: index
ef.evaluate(items.lazy(), ef.aurc).write_parquet("aurc.parquet")  # error: attr-defined
ef.finish(ef.partial(items.lazy(), ef.aurc)).to_pandas()  # error: attr-defined
ef.survey.leaderboard(items.lazy()).item()  # error: attr-defined
ef.rag.label(items.lazy()).rows()  # error: attr-defined
ef.replication.ecs(items.lazy()).row(0)  # error: attr-defined
ef.selective.rc_curve(items.lazy()).to_dicts()  # error: attr-defined

# arguments that must be given
ef.evaluate(items)  # error: call-overload
ef.risk_at()  # error: call-arg
ef.State(sums={"rows": pl.len()})  # error: call-arg
ef.metric(direction="none")  # error: call-arg
ef.survey.baseline(items)  # error: call-overload
