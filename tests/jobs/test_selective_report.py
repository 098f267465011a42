"""What is printed of selective metrics, letter by letter."""

from textwrap import dedent

import polars as pl
import pytest

import evalframe as ef
from evalframe.jobs.selective.run import printed_metrics


def text(block):
    return dedent(block).strip("\n")


ESTIMATES = {
    "coverage": (0.488, 0.485),
    "aurc": (0.1066, 0.1153),
    "augrc": (0.0267, 0.0279),
    "aurc_at_0.50": (0.1, 0.11),
    "risk_at_0.20": (0.2, 0.1),
    "aurc_optimal": (0.033, 0.038),
    "eaurc": (0.0736, -0.0773),
    "aurc_achievable": (0.08, 0.11),
    "achievable_gain_pct": (24.953, 4.597),
    "eaugrc": (0.01, 0.02),
}
WITH_INTERVAL = ("aurc", "augrc", "risk_at_0.20")


@pytest.fixture
def result():
    """As of `evaluate(..., by="mode")`."""
    return pl.DataFrame(
        [
            {
                "mode": mode,
                "metric": metric,
                "estimate": values[place],
                "lower": values[place] - 0.02 if metric in WITH_INTERVAL else None,
                "upper": values[place] + 0.02 if metric in WITH_INTERVAL else None,
                "n": 1328,
                "n_missing": 0,
            }
            for place, mode in enumerate(["zero", "few"])
            for metric, values in ESTIMATES.items()
        ]
    )


def test_what_matters_most(result):
    shown = printed_metrics(result, ["mode"], level=0.95, notes=["Convention: population."])
    assert shown.replace("\N{MINUS SIGN}", "-") == text(
        """
        mode      n   Cmax                  AURC                 AUGRC  risk@0.20  gain %   excess  optimal  achievable
        ----  -----  -----  --------------------  --------------------  ---------  ------  -------  -------  ----------
        zero  1,328  0.488  0.107 [0.087, 0.127]  0.027 [0.007, 0.047]        0.2    25.0   0.0736    0.033        0.08
        few   1,328  0.485  0.115 [0.095, 0.135]  0.028 [0.008, 0.048]        0.1     4.6  -0.0773    0.038        0.11

        95% intervals in brackets.
        Of AURC: gain %, excess, optimal, achievable.
        Also in the result: aurc_at, eaugrc.
        Convention: population.
        """  # noqa: E501 (as it is printed)
    )


def test_markdown(result):
    shown = printed_metrics(result.filter(mode="few"), ["mode"], metrics=["aurc"], markdown=True)
    assert shown == text(
        """
        | mode |     n |                 AURC |
        | ---- | ----: | -------------------: |
        | few  | 1,328 | 0.115 [0.095, 0.135] |

        Intervals in brackets.
        """
    )


def test_metrics_that_are_asked_for_have_their_intervals(result):
    shown = printed_metrics(result, ["mode"], metrics=["risk_at_0.20", "eaugrc", "aurc_at_0.50"])
    assert shown.splitlines()[0].split() == [
        *("mode", "n", "risk@0.20", "AUGRC", "excess", "AURC@0.50")
    ]
    assert "Also" not in shown


def test_details_go_where_lines_are_short(result):
    lines = printed_metrics(result, ["mode"], width=80).splitlines()
    assert len(lines[1]) <= 80
    assert lines[0].split()[:4] == ["mode", "n", "Cmax", "AURC"]
    assert "Not shown at 80 characters: gain %, excess, optimal, achievable." in lines


def test_of_many_risks_three_are_shown():
    coverages = [k / 10 for k in range(1, 10)]
    risks = pl.DataFrame(
        {
            "metric": ["aurc", *(f"risk_at_{c:.2f}" for c in coverages)],
            "estimate": [0.5, *(c if c < 0.65 else None for c in coverages)],
            "lower": None,
            "upper": None,
            "n": 3,
            "n_missing": 0,
        }
    )
    lines = printed_metrics(risks, []).splitlines()
    assert lines[0].split() == ["n", "AURC", "risk@0.10", "risk@0.40", "risk@0.60"]
    assert lines[-1] == "Also in the result: risk_at (6)."


def test_keys_may_have_the_names_of_metrics(result):
    named = result.rename({"mode": "aurc"})
    lines = printed_metrics(named, ["aurc"], metrics=["aurc"]).splitlines()
    assert lines[2].split() == ["zero", "1,328", "0.107", "[0.087,", "0.127]"]
    nulls = result.with_columns(mode=pl.when(mode="few").then(pl.lit("-")))
    assert len(printed_metrics(nulls, ["mode"], metrics=["aurc"]).splitlines()) == 6


def test_rows_left_out_are_counted(result):
    missing = result.with_columns(n_missing=pl.when(mode="few", metric="aurc").then(2).otherwise(0))
    head, _, zero, few, *_ = printed_metrics(missing, ["mode"]).splitlines()
    assert head.split()[:4] == ["mode", "n", "missing", "Cmax"]
    assert (zero.split()[2], few.split()[2]) == ("0", "2")
    # Those of AURC, which need a confidence; coverage has none missing.
    assert "missing" not in printed_metrics(missing, ["mode"], metrics=["coverage"])


def test_metrics_that_it_does_not_know_stand_under_their_names(result):
    other = result.with_columns(metric=pl.lit("my_own")).unique("mode", maintain_order=True)
    assert printed_metrics(other, ["mode"]).splitlines()[0].split() == ["mode", "n", "my_own"]


def test_no_rows(result):
    assert printed_metrics(result.clear(), ["mode"]).splitlines()[-1] == "No rows."


def test_what_evaluate_gives_reads_as_it_is():
    items = pl.DataFrame(
        {
            "person": [1, 2, 3, 4],
            "prediction": [1, 1, 1, None],
            "loss": [0.0, 1.0, 0.5, None],
            "confidence": [0.9, 0.8, 0.7, 0.1],
        }
    )
    metrics = [ef.coverage(), ef.aurc(), ef.aurc_achievable(), ef.achievable_gain_pct()]
    plain = ef.evaluate(items, metrics)
    assert printed_metrics(plain, []).splitlines()[2].split() == [
        *("4", "0.75", "0.188", "33.3", "0.125")
    ]
