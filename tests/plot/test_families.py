"""Charts of the families: curves, reliability, noise, segments, answers, effects, studies."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError
from plot.specs import axes, domain, marks, rows, told
from plot.tables import agreement, bins, curve, question, rates, replicated, scores


def test_a_curve_with_its_references():
    items = pl.DataFrame({"loss": [0.0, 0.0, 1.0, 1.0], "confidence": [0.9, 0.7, 0.8, 0.1]})
    best = ef.selective.rc_curve(items, confidence=-pl.col("loss"))
    chart = ef.plot.risk_coverage(curve(["a"]).drop("model"), optimal=best)
    assert marks(chart) == ["line", "line", "line"]
    random, optimal, line = chart.to_dict()["layer"]
    data = chart.to_dict()["datasets"]
    assert [row["y"] for row in data[random["data"]["name"]]] == [0.5, 0.5]
    assert [row["y"] for row in data[optimal["data"]["name"]]] == [0.0, 0.5]
    assert [row["x"] for row in data[line["data"]["name"]]] == [0.2, 0.4, 0.6, 0.8]
    assert "Dashed: random order; dotted: optimal order" in told(chart)
    assert "Coverage (share answered)" in axes(chart)


def test_bands_of_a_curve_are_drawn_where_they_are_known():
    ends = {"lower": 0.1, "upper": 0.6, "band_lower": 0.05, "band_upper": 0.7}
    late = pl.col("coverage") > 0.3
    banded = curve(["a"]).with_columns(pl.when(late).then(v).alias(k) for k, v in ends.items())
    chart = ef.plot.risk_coverage(banded, level=0.9)
    assert marks(chart) == ["area", "area", "line", "line"]
    assert sum("low" in row for row in rows(chart)) == 6
    assert "Dark band: 90% interval at each coverage; light band" in told(chart)


def test_groups_have_panels_and_share_the_axis():
    chart = ef.plot.risk_coverage(curve(["b", "a"])).to_dict()
    assert [panel["title"]["text"] for panel in chart["concat"]] == ["a", "b"]
    heights = {str(panel["layer"][0]["encoding"]["y"]["scale"]) for panel in chart["concat"]}
    assert len(heights) == 1


def test_reliability_by_hand():
    chart = ef.plot.reliability(bins(["a"]).drop("model"), level=0.95)
    assert marks(chart) == ["line", "line", "rule", "point", "rect"]
    assert [(row["x"], row["y"], row["n"]) for row in rows(chart) if "n" in row] == [
        (0.1, 0.0, 1),
        (0.55, 0.5, 2),
        (0.95, 1.0, 1),
    ]
    banded = bins(["a"]).with_columns(band_lower=pl.lit(0.1), band_upper=pl.lit(0.9))
    chart = ef.plot.reliability(banded)
    assert marks(chart).count("rule") == 2
    assert "Shaded: band that holds for all bins at once" in told(chart)


def test_noise_by_hand():
    chart = ef.plot.noise(rates(["a", "b"]), level=0.95)
    assert marks(chart) == ["line", "rule", "point"] * 2
    shown = [row for row in rows(chart) if row["y"] == 0.8]
    assert [(row["model"], row["noise"]) for row in shown] == [
        ("a", 0.0), ("a", 0.8), ("b", 0.0), ("b", 0.8),
    ]  # fmt: skip
    assert shown[0]["x"] < 0.0 < shown[2]["x"]  # side by side
    assert "95% interval of each share" in told(chart)
    assert {"Correct", "Rejected", "Share of unhelpful documents"} <= axes(chart)
    plain = rates(["a"]).select("noise_rate", "n", "accuracy", "rejection_rate")
    assert "no intervals" in told(ef.plot.noise(plain))
    unknown = rates(["a"]).vstack(rates(["a"]).head(1).with_columns(noise_rate=pl.lit(None, float)))
    assert "Drawn: 2 of 3 rows, those with a noise_rate" in told(ef.plot.noise(unknown))
    with pytest.raises(ParameterError, match="tells 6 models apart, and the table has 7"):
        ef.plot.noise(rates([*"abcdefg"]))
    with pytest.raises(ParameterError, match="'noise_rate' is String, not numbers; cast it"):
        ef.plot.noise(rates(["a"]).cast({"noise_rate": pl.String}))


def test_segments_by_hand():
    chart = ef.plot.segments(scores(["a", "b"]))
    assert marks(chart) == ["rect", "text"]
    assert domain(chart, "x") == ["old", "young"]
    assert {(row["segment"], row["text"]) for row in rows(chart)} == {
        ("old", "0.70"),
        ("young", "0.90"),
    }
    partly = scores(["a"]).with_columns(score=pl.when(segment_id="age:old").then("score"))
    cells = {row["segment"]: (row["text"], row["fill"]) for row in rows(ef.plot.segments(partly))}
    assert cells["young"] == ("—", "#F0F0F0")  # grey, not the palest blue
    assert cells["old"][0] == "0.70"
    gaps = pl.DataFrame({"model": ["a"], "category": "age", "gap": 0.2, "noise_gap": 0.1})
    chart = ef.plot.segments(scores(["a"]), gaps=gaps)
    assert marks(chart) == ["rect", "text", "bar", "point"]
    assert [(row["gap"], row["noise"]) for row in rows(chart) if "gap" in row] == [(0.2, 0.1)]
    unknown = gaps.with_columns(pl.lit(None, float).alias(each) for each in ("gap", "noise_gap"))
    assert marks(ef.plot.segments(scores(["a"]), gaps=unknown)) == ["rect", "text", "bar", "point"]
    with pytest.raises(ParameterError, match="every 'score' is null"):
        ef.plot.segments(scores(["a"]).with_columns(score=pl.lit(None, float)))


def test_answers_to_a_question_by_hand():
    table = question(["a", "b"]).with_columns(
        segment_id=pl.lit("age:old"), question_text=pl.lit("Do you?"), context_count=pl.lit(1)
    )
    refused = table.with_columns(predicted=pl.when(pl.col("model") == "a").then("predicted"))
    chart = ef.plot.distribution(refused)
    assert marks(chart) == ["bar", "rule", "point"]
    assert chart.title.text == ["Do you?"]
    assert told(chart) == (
        "age:old; grey: 100 respondents with 95% interval; points: predictions "
        "No distribution in the answer of b"
    )
    actual = [row for row in rows(chart) if "low" in row]
    assert (actual[0]["low"], actual[0]["high"]) == pytest.approx((0.2189, 0.3959), abs=1e-4)
    assert [row["x"] for row in rows(chart) if "model" in row] == [0.4, 0.6]
    twice = pl.concat([table, table.with_columns(context_count=pl.lit(2))])
    with pytest.raises(ParameterError, match="'a' has 2 predictions; filter by 'context_count'"):
        ef.plot.distribution(twice)
    with pytest.raises(ParameterError, match="draws one question_text, and the table has 2"):
        ef.plot.distribution(table.with_columns(question_text=pl.col("model")))
    none = table.with_columns(actual=pl.lit([0.0, 0.0], dtype=pl.List(pl.Float64)))
    with pytest.raises(ParameterError, match="are no distribution over the options"):
        ef.plot.distribution(none)
    with pytest.raises(ParameterError, match="are no distribution over the options"):
        ef.plot.distribution(table.with_columns(options=pl.lit(None, table.schema["options"])))


def test_effects_by_hand():
    table = replicated(["a"]).with_columns(
        effect_size_human=pl.col("effect_d_human"),
        effect_size_agent=pl.lit(7.0),
        std_error_human=pl.lit(0.1),
        std_error_agent=pl.lit(0.1),
    )
    line = {"ecs": 0.5, "ecs_lower": 0.2, "ecs_upper": 0.8, "slope": 1.5, "intercept": 0.1}
    ecs = pl.DataFrame({"model": ["a"], **line, "n_tests": 3})
    chart = ef.plot.effects(table, ecs=ecs)
    assert marks(chart) == ["line", "rule", "rule", "point", "line"]
    test = next(row for row in rows(chart) if row.get("human") == 0.5)
    assert (test["human_low"], test["human_high"]) == (0.4, 0.524)  # the axis ends there
    assert test["agent_low"] is None  # its effect is no d, which has another error
    assert chart.to_dict()["title"]["text"] == ["Effects in agents and in humans"]
    far = table.with_columns(effect_d_agent=pl.Series([0.4, 0.2, 9.0]))
    lone = far.vstack(far.with_columns(effect_d_human=pl.lit(None, float)))
    many = pl.concat([table] * 20 + [lone])
    told_of_many = told(ef.plot.effects(many))
    assert "at the edge: 1 test " in told_of_many
    assert "Left out: 3 of 66 tests, without both effects" in told_of_many
    with pytest.raises(ParameterError, match="ecs has 2 rows for a panel"):
        ef.plot.effects(table, ecs=pl.concat([ecs, ecs]))


def test_studies_by_hand():
    chart = ef.plot.studies(agreement(["a", "b"]))
    assert marks(chart) == ["rule", "rule", "point"]
    assert domain(chart) == ["s", "t"]
    crowd = ef.plot.studies(agreement([*"abcdefgh"]))
    assert marks(crowd) == ["rect"]
    assert len(rows(crowd)) == 16
    holes = agreement(["a"]).with_columns(pas=pl.Series([0.9, None]))
    assert told(ef.plot.studies(holes)).startswith("1 study, from")
    assert "Drawn: 1 of 2 scores, those that are known" in told(ef.plot.studies(holes))
    for models in (["a", None], [*"abcdefg", None]):  # null is a name
        assert "Drawn" not in told(ef.plot.studies(agreement(models)))
