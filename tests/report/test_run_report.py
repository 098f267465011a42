"""The table of a run, letter by letter."""

from __future__ import annotations

from textwrap import dedent

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import MissingColumnsError, ParameterError, UnknownNameError
from evalframe.report.run_report import run_table


def text(block: str) -> str:
    return dedent(block).strip("\n")


ESTIMATES = {
    "coverage": (0.488, 0.485),
    "aurc": (0.1066, 0.1153),
    "augrc": (0.0267, 0.0279),
    "aurc_at_0.50": (0.1, 0.11),
    "risk_at_0.20": (0.2, 0.00004),
    "aurc_optimal": (0.033, 0.038),
    "eaurc": (0.0736, -0.0773),
    "aurc_achievable": (0.08, 0.11),
    "achievable_gain_pct": (24.953, 4.597),
    "eaugrc": (0.01, 0.02),
}
WITH_INTERVAL = ("coverage", "aurc", "augrc", "risk_at_0.20")


@pytest.fixture
def result() -> pl.DataFrame:
    """As of `evaluate(..., by="mode")`."""
    return pl.DataFrame(
        [
            {
                "mode": mode,
                "metric": metric,
                "estimate": values[place],
                "std_error": 0.01,
                "lower": values[place] - 0.02 if metric in WITH_INTERVAL else None,
                "upper": values[place] + 0.02 if metric in WITH_INTERVAL else None,
                "n": 1328,
                "n_missing": 0,
            }
            for place, mode in enumerate(["zero", "few"])
            for metric, values in ESTIMATES.items()
        ]
    )


def test_terminal(result: pl.DataFrame) -> None:
    assert run_table(result, level=0.95) == text(
        """
        mode      n    Cmax      AURC [lower, upper]  optimal   excess  achievable  gain %     AUGRC [lower, upper]  risk@0.20
        ----  -----  ------  -----------------------  -------  -------  ----------  ------  -----------------------  ---------
        zero  1,328  0.4880  0.1066 [0.0866, 0.1266]   0.0330   0.0736      0.0800    25.0  0.0267 [0.0067, 0.0467]     0.2000
        few   1,328  0.4850  0.1153 [0.0953, 0.1353]   0.0380  -0.0773      0.1100     4.6  0.0279 [0.0079, 0.0479]      4e-05

        95% intervals in brackets.
        Of AURC: optimal, excess, achievable, gain %.
        Also in the result: aurc_at, eaugrc.
        """  # noqa: E501
    )


def test_markdown(result: pl.DataFrame) -> None:
    assert run_table(result, format="markdown", digits=3) == text(
        """
        | mode |     n |  Cmax |  AURC [lower, upper] | optimal | excess | achievable | gain % | AUGRC [lower, upper] | risk@0.20 |
        | ---- | ----: | ----: | -------------------: | ------: | -----: | ---------: | -----: | -------------------: | --------: |
        | zero | 1,328 | 0.488 | 0.107 [0.087, 0.127] |   0.033 |  0.074 |      0.080 |   25.0 | 0.027 [0.007, 0.047] |     0.200 |
        | few  | 1,328 | 0.485 | 0.115 [0.095, 0.135] |   0.038 | -0.077 |      0.110 |    4.6 | 0.028 [0.008, 0.048] |     4e-05 |

        Of AURC: optimal, excess, achievable, gain %.
        Also in the result: aurc_at, eaugrc.
        """  # noqa: E501
    )


def test_what_the_result_lacks_is_left_out(result: pl.DataFrame) -> None:
    few = result.filter(pl.col("metric").is_in(["aurc", "eaurc"])).drop("lower", "upper", "n")
    assert run_table(few, level=0.95) == text(
        """
        mode    AURC   excess
        ----  ------  -------
        zero  0.1066   0.0736
        few   0.1153  -0.0773
        """
    )


def test_intervals_that_are_null_throughout_are_none(result: pl.DataFrame) -> None:
    none = result.with_columns(lower=pl.lit(None, pl.Float64), upper=pl.lit(None, pl.Float64))
    assert "[" not in run_table(none, level=0.95)


def test_nulls_are_dashes_and_gaps_stay_gaps(result: pl.DataFrame) -> None:
    holes = result.with_columns(
        estimate=pl.when(metric="aurc", mode="few").then(None).otherwise("estimate"),
        upper=pl.when(metric="augrc", mode="few").then(None).otherwise("upper"),
    ).remove(metric="coverage", mode="zero")
    shown = holes.filter(pl.col("metric").is_in(["aurc", "augrc", "coverage"]))
    assert run_table(shown) == text(
        """
        mode      n    Cmax      AURC [lower, upper]     AUGRC [lower, upper]
        ----  -----  ------  -----------------------  -----------------------
        zero  1,328       -  0.1066 [0.0866, 0.1266]  0.0267 [0.0067, 0.0467]
        few   1,328  0.4850       -                   0.0279 [0.0079, -]
        """
    )


def test_long_names_keys_once_and_bars(result: pl.DataFrame) -> None:
    name = "secondary:verbalized+token_msp:average | of a model with a long name"
    named = result.filter(metric="aurc").select(
        pl.lit(3).alias("input"), pl.lit(name).alias("a|b"), *result.columns
    )
    assert run_table(named) == text(
        f"""
        input  a|b{" " * 65}  mode      n      AURC [lower, upper]
        -----  {"-" * 68}  ----  -----  -----------------------
        3      {name}  zero  1,328  0.1066 [0.0866, 0.1266]
               {" " * 68}  few   1,328  0.1153 [0.0953, 0.1353]
        """
    )
    lines = run_table(named, format="markdown", columns=["aurc"]).splitlines()
    assert lines[0].startswith(r"| input | a\|b ")
    assert all(line.count("|") - line.count(r"\|") == 6 for line in lines)
    assert lines[3].startswith(f"| 3     | {name.replace('|', chr(92) + '|')} | few ")


def test_keys_that_are_left_out_must_not_be_needed(result: pl.DataFrame) -> None:
    one = result.with_columns(run=pl.lit("r")).filter(metric="augrc")
    assert run_table(one, by=["run", "mode"]).startswith("run  mode")
    single = run_table(one.filter(mode="few").drop("mode", "n"))
    assert single.splitlines()[2] == "0.0279 [0.0079, 0.0479]"
    with pytest.raises(
        ParameterError,
        match=r"several rows of metric 'augrc' belong to one line; .* by=\['run'\], .*'mode'",
    ):
        run_table(one, by="run")


def test_null_keys_are_keys(result: pl.DataFrame) -> None:
    unnamed = result.with_columns(mode=pl.when(mode="few").then(pl.lit("mode"))).filter(
        metric="eaurc"
    )
    assert [line.split() for line in run_table(unnamed).splitlines()[2:]] == [
        ["-", "1,328", "0.0736"],
        ["mode", "1,328", "-0.0773"],
    ]


def risks(*coverages: float) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "metric": ["aurc", *(f"risk_at_{c:.2f}" for c in coverages)],
            "estimate": [0.5, *(c if c < 0.7 else None for c in coverages)],
        }
    )


def test_of_many_risks_three_are_shown() -> None:
    table = run_table(risks(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
    assert table.splitlines()[0].split() == ["AURC", "risk@0.10", "risk@0.40", "risk@0.60"]
    assert table.splitlines()[-1] == "Also in the result: risk_at (6)."
    few = run_table(risks(0.1, 0.2, 0.8))
    assert few.splitlines()[0].split() == ["AURC", "risk@0.10", "risk@0.20"]


def test_chosen_metrics_in_their_order_with_their_intervals(result: pl.DataFrame) -> None:
    chosen = ["eaugrc", "aurc_at_0.50", "coverage"]
    assert run_table(result, columns=chosen) == text(
        """
        mode      n  AUGRC excess  AURC@0.50      Cmax [lower, upper]
        ----  -----  ------------  ---------  -----------------------
        zero  1,328        0.0100     0.1000  0.4880 [0.4680, 0.5080]
        few   1,328        0.0200     0.1100  0.4850 [0.4650, 0.5050]
        """
    )
    with pytest.raises(UnknownNameError, match=r"unknown metric of the result 'eaurk'\. Did you"):
        run_table(result, columns=["eaurk"])


def test_metrics_that_it_does_not_know_stand_under_their_names() -> None:
    other = pl.DataFrame({"metric": ["ece", "my_own"], "estimate": [0.25, 0.5], "n": [3, 3]})
    assert run_table(other).splitlines()[0].split() == ["n", "ece", "my_own"]


def test_rows_left_out_are_counted(result: pl.DataFrame) -> None:
    missing = result.with_columns(n_missing=pl.when(mode="few", metric="aurc").then(2).otherwise(0))
    head, _, zero, few, *_ = run_table(missing).splitlines()
    assert head.split()[:4] == ["mode", "n", "missing", "Cmax"]
    assert (zero.split()[2], few.split()[2]) == ("0", "2")
    # Those of AURC, which need a confidence; coverage has none missing.
    assert "missing" not in run_table(missing, columns=["coverage"])


def test_narrow_lines_give_up_details(result: pl.DataFrame) -> None:
    whole = run_table(result)
    width = len(whole.splitlines()[1])
    assert run_table(result, width=width) == whole
    narrow = run_table(result, width=100).splitlines()
    assert len(narrow[1]) <= 100
    assert narrow[-2] == "Not shown at 100 characters: optimal, achievable."
    assert "Of AURC: excess, gain %." in narrow
    least = run_table(result, width=1).splitlines()[0]
    assert least.split() == ["mode", "n", "Cmax", "AURC", "[lower,", "upper]"]


def test_no_rows(result: pl.DataFrame) -> None:
    assert run_table(result.clear()) == text(
        """
        mode
        ----

        No rows.
        """
    )


def test_what_evaluate_gives_reads_as_it_is() -> None:
    items = pl.DataFrame(
        {
            "person": [1, 2, 3, 4],
            "prediction": [1, 1, 1, None],
            "loss": [0.0, 1.0, 0.5, None],
            "confidence": [0.9, 0.8, 0.7, 0.1],
        }
    )
    metrics = [ef.coverage(), ef.aurc(), ef.aurc_achievable(), ef.achievable_gain_pct()]
    sure = ef.evaluate(items, metrics, resample=ef.Jackknife(cluster="person"))
    head = "n  Cmax  AURC [lower, upper]  achievable  gain %"
    assert run_table(sure, digits=2).splitlines()[0] == head
    plain = run_table(ef.evaluate(items, metrics)).splitlines()
    assert plain[2].split() == ["4", "0.7500", "0.1875", "0.1250", "33.3"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"format": "html"}, ParameterError, "unknown format 'html'; known: terminal, markdown"),
        ({"digits": -1}, ParameterError, "digits is -1; choose 0 or more"),
        ({"level": 95}, ParameterError, "level is 95; choose a fraction between 0 and 1"),
        ({"by": "mod"}, MissingColumnsError, "needs column 'mod'.* Did you mean 'mode'"),
    ],
)
def test_arguments_out_of_range(result, arguments, error, message) -> None:
    with pytest.raises(error, match=message):
        run_table(result, **arguments)


def test_a_comparison_is_no_run(result: pl.DataFrame) -> None:
    with pytest.raises(MissingColumnsError, match="the table of a run needs column 'estimate'"):
        run_table(result.rename({"estimate": "delta"}))
