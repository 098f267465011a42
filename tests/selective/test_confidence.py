"""Confidences by variant, from the signals of items."""

import json
import math

import polars as pl
import pytest

from evalframe import selective
from evalframe.compat import ai_psychiatrist
from evalframe.core.errors import (
    ContractError,
    EvalframeError,
    InputError,
    ParameterError,
    UnknownNameError,
)
from evalframe.selective.confidences import (
    check_signals,
    confidence,
    requirements,
    select_variants,
)
from evalframe.selective.signals import SIGNALS
from evalframe.selective.variants import BASE

TEMPERATURE = {"method": "temperature_scaling", "temperature": 2.0}
LOGISTIC = {
    "method": "logistic",
    "features": ["llm_evidence_count", "consistency_modal_confidence"],
    "model": {
        "coefficients": [1.0, 0.5],
        "intercept": 0.0,
        "scaler": {"mean": [1.0, 0.0], "std": [1.0, 1.0]},
    },
}
ISOTONIC = {
    "method": "isotonic",
    "features": ["token_msp"],
    "model": {"x_thresholds": [0.0, 1.0], "y_thresholds": [0.5, 1.0]},
}


def decoded(value):
    return float(value["$float"]) if isinstance(value, dict) else value


def as_row(signals):
    """One row of an item table, by the rules of the run reader."""
    values = {name: decoded(value) for name, value in signals.items()}
    row = {name: cell(name, values[name]) if name in values else math.nan for name in SIGNALS}
    if "llm_evidence_count" not in values:
        row["llm_evidence_count"] = 0.0
    return pl.DataFrame(row, schema=dict.fromkeys(SIGNALS, pl.Float64))


def cell(name, value):
    if value is None or (type(value) in (int, float)):
        return value
    if isinstance(value, bool):
        return math.nan if name == "verbalized_confidence" else float(value)
    # The original counts by float(...), which takes a number in a string.
    return float(value) if isinstance(value, str) and name == "llm_evidence_count" else math.nan


def row(**signals):
    return as_row(signals)


def checked(frame, variant, calibration=None):
    expr = confidence(variant, calibration=calibration)
    check_signals(frame, [variant], calibration=calibration)
    return frame.select(expr).to_series()


def is_hazard(case):
    """NaN: where the documented rules refuse what the original takes."""
    values = [decoded(value) for value in case["signals"].values()]
    floats = [value for value in values if isinstance(value, float)]
    return any(map(math.isnan, floats))


def test_golden_confidence(golden):
    for case in golden("selective/csf")["csf_cases"]:
        frame, name, expected = as_row(case["signals"]), case["variant"], decoded(case["expected"])
        if case["error"]:
            with pytest.raises(EvalframeError):
                checked(frame, name)
        elif is_hazard(case):
            assert frame.select(confidence(name)).item() is None, case["id"]
            with pytest.raises(ContractError):
                check_signals(frame, name)
        else:
            found = checked(frame, name)
            assert found.name == name
            assert found.item() == pytest.approx(expected, abs=1e-12), case["id"]


def test_golden_confidence_by_the_rules_of_the_original(golden):
    for case in golden("selective/csf")["csf_cases"]:
        frame, name, expected = as_row(case["signals"]), case["variant"], decoded(case["expected"])
        if not case["error"]:
            found = frame.select(ai_psychiatrist.confidence(name)).item()
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True), case["id"]
        else:
            with pytest.raises(EvalframeError):
                ai_psychiatrist.check_signals(frame, name)


def test_golden_calibrated(golden):
    csf = golden("selective/csf")
    for case in csf["calibrated_cases"]:
        artifact = csf["calibration_artifacts"].get(case["calibration"])
        frame, name, expected = as_row(case["signals"]), case["confidence_key"], case["expected"]
        if case["error"]:
            with pytest.raises(EvalframeError):
                checked(frame, name, artifact)
            continue
        for room in (selective, ai_psychiatrist):
            expr = room.confidence(name, calibration=artifact)
            room.check_signals(frame, name, calibration=artifact)
            assert expr.meta.output_name() == name
            assert frame.select(expr).item() == pytest.approx(expected, abs=1e-12), case["id"]


def test_golden_selector(golden):
    csf = golden("selective/csf")
    for text, names in csf["selector"].items():
        assert select_variants(text) == names
    assert sorted(BASE) == csf["base_variants"]


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("variant", "signals", "reference"),
    [
        ("token_msp", {"token_msp": NAN}, 1.0),
        ("token_msp", {"token_msp": INF}, 1.0),
        ("token_energy", {"token_energy": NAN}, 1.0),
        ("token_energy", {"token_energy": INF}, 1.0),
        ("consistency", {"consistency_modal_confidence": NAN}, 1.0),
        ("hybrid_evidence_similarity", {"retrieval_similarity_mean": NAN}, 0.5),
        ("hybrid_evidence_similarity", {"llm_evidence_count": NAN}, 0.5),
        ("llm", {"llm_evidence_count": NAN}, NAN),
        ("llm", {"llm_evidence_count": INF}, INF),
        ("retrieval_similarity_mean", {"retrieval_similarity_mean": NAN}, NAN),
        ("retrieval_similarity_max", {"retrieval_similarity_max": -INF}, -INF),
        ("token_pe", {"token_pe": NAN}, NAN),
        ("consistency_inverse_std", {"consistency_score_std": NAN}, NAN),
    ],
)
def test_hazards_are_null_unless_asked_for(variant, signals, reference):
    frame = row(**{"retrieval_similarity_mean": 0.0, **signals})
    assert frame.select(confidence(variant)).item() is None
    found = frame.select(ai_psychiatrist.confidence(variant)).item()
    assert found == pytest.approx(reference, nan_ok=True)
    with pytest.raises(
        ContractError, match=f"{next(iter(signals))} (is|has) .*, for {variant}: not so"
    ):
        check_signals(frame, variant)


@pytest.mark.parametrize(
    ("variant", "signals"),
    [
        ("llm", {"llm_evidence_count": None}),
        ("hybrid_verbalized", {"llm_evidence_count": None, "verbalized_confidence": 3}),
        ("verbalized", {"verbalized_confidence": 3.5}),
        ("verbalized", {"verbalized_confidence": NAN}),
        ("verbalized", {"verbalized_confidence": INF}),
        ("token_pe", {"token_pe": -1}),
        ("token_energy", {"token_energy": 710}),
        ("consistency_inverse_std", {"consistency_score_std": -1}),
        ("hybrid_consistency", {"consistency_modal_confidence": None}),
        ("secondary:token_msp+llm:product", {"token_msp": None, "llm_evidence_count": 0}),
    ],
)
def test_where_the_original_stops_there_is_no_value(variant, signals):
    frame = row(**{"retrieval_similarity_mean": 0.0, **signals})
    for room in (selective, ai_psychiatrist):
        assert frame.select(room.confidence(variant)).item() is None
        with pytest.raises(ContractError):
            room.check_signals(frame, variant)


@pytest.mark.parametrize(
    ("variant", "signals", "expected"),
    [
        ("verbalized", {"verbalized_confidence": None}, 0.5),
        ("verbalized", {"verbalized_confidence": 4.0}, 0.75),
        ("verbalized", {"verbalized_confidence": 9}, 1.0),
        ("retrieval_similarity_max", {"retrieval_similarity_max": None}, 0.0),
        ("token_pe", {"token_pe": INF}, 0.0),
        ("token_energy", {"token_energy": -INF}, 0.0),
        ("token_energy", {"token_energy": 709}, 1.0),
        ("hybrid_evidence_similarity", {"retrieval_similarity_mean": None}, 0.0),
    ],
)
def test_defaults_and_ends(variant, signals, expected):
    for room in (selective, ai_psychiatrist):
        room.check_signals(row(**signals), variant)
        assert row(**signals).select(room.confidence(variant)).item() == expected


def test_every_variant_over_a_scan_of_integers(tmp_path):
    names = [*BASE, "secondary:token_msp+verbalized:average"]
    items = pl.DataFrame({name: [1, 0, 3] for name in SIGNALS})
    items.write_parquet(tmp_path / "items.parquet")
    scan = pl.scan_parquet(tmp_path / "items.parquet")
    check_signals(scan, names)
    found = scan.select(map(confidence, names)).collect()
    assert found.columns == names
    assert set(found.dtypes) == {pl.Float64}
    assert not any(found.null_count().row(0))


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "token_mps",
            UnknownNameError,
            "variant 'token_mps'. Did you mean 'token_msp'.*secondary:",
        ),
        ("", UnknownNameError, "unknown confidence variant ''"),
        (" llm", UnknownNameError, "Did you mean 'llm'"),
        ("LLM", UnknownNameError, r"secondary:<a>\+<b>:<average\|product>"),
        ("secondary:llm+llm", ParameterError, r"write secondary:<a>\+<b>:<average\|product>"),
        ("secondary:llm:average", ParameterError, "is no combination of two"),
        ("secondary:", ParameterError, "is no combination of two"),
        ("secondary:nope+no:sum", UnknownNameError, "in 'secondary:nope.no:sum': 'nope'"),
        ("secondary:llm+no:sum", UnknownNameError, "'no'.*Known: consistency"),
        ("secondary:llm+llm:sum", UnknownNameError, "'sum'.*Known: average, product"),
        ("secondary:llm+token_msp+token_pe:average", UnknownNameError, r"'token_msp\+token_pe'"),
        ("secondary:a:llm+llm:average", UnknownNameError, "'a:llm'"),
        ("secondary:llm +llm:average", UnknownNameError, "'llm '"),
        ("secondary:calibrated+llm:average", UnknownNameError, "'calibrated'"),
        ("calibrated:nope", UnknownNameError, "in 'calibrated:nope': 'nope'"),
        ("calibrated:", UnknownNameError, "in 'calibrated:': ''"),
        ("calibrated:calibrated", UnknownNameError, "in 'calibrated:calibrated'"),
        (None, ParameterError, "is named by a string, got None"),
    ],
)
def test_names_that_are_none(name, error, message):
    for function in (confidence, requirements):
        with pytest.raises(error, match=message):
            function(name)


@pytest.mark.parametrize(
    ("variant", "calibration", "message"),
    [
        ("calibrated", None, "of method logistic or platt or isotonic; name one by calibration="),
        ("calibrated:llm", None, "of method temperature_scaling or isotonic; name one by"),
        ("verbalized_calibrated", None, "'verbalized_calibrated' needs a calibration"),
        ("calibrated", TEMPERATURE, "a supervised model; this one is of method 'temperature_sc"),
        ("calibrated:llm", LOGISTIC, "one scalar confidence; this one is of method 'logistic'"),
        ("calibrated:llm", 2.0, "a calibrator, an artifact or its path, got 2.0"),
    ],
)
def test_calibrations_that_do_not_fit(variant, calibration, message):
    for call in (confidence, requirements):
        with pytest.raises(ParameterError, match=message):
            call(variant, calibration=calibration)
    with pytest.raises(ParameterError, match=message):
        check_signals(row(), [variant], calibration=calibration)


def test_a_calibration_is_an_artifact_a_path_or_a_calibrator(tmp_path):
    from evalframe.selective.calibrators.saved import read_calibration

    path = tmp_path / "temperature.json"
    path.write_text(json.dumps(TEMPERATURE))
    frame = row(token_msp=0.9)
    name = "calibrated:token_msp"
    for calibration in (TEMPERATURE, path, str(path), read_calibration(path)):
        assert frame.select(confidence(name, calibration=calibration)).item() == pytest.approx(0.75)
    assert frame.select(confidence(name, calibration=ISOTONIC)).item() == pytest.approx(0.95)


def test_the_original_does_not_check_the_artifact():
    falling = {"x_thresholds": [0.1, 0.5, 0.8], "y_thresholds": [0.9, 0.5, 0.1]}
    artifact = {"method": "isotonic", "features": ["token_msp"], "model": falling}
    name = "calibrated:token_msp"
    with pytest.raises(InputError, match="y_thresholds"):
        confidence(name, calibration=artifact)
    expr = ai_psychiatrist.confidence(name, calibration=artifact)
    assert row(token_msp=0.3).select(expr).item() == pytest.approx(0.7)


def test_a_calibration_that_is_not_needed_is_not_read():
    assert row(token_msp=0.9).select(confidence("token_msp", calibration="none.json")).item() == 0.9


def test_features_of_a_calibrated_variant_have_the_documented_defaults():
    needs = requirements("calibrated", calibration=LOGISTIC)
    assert [(need.column, need.null, need.absent) for need in needs] == [
        ("llm_evidence_count", 0.0, 0.0),
        ("consistency_modal_confidence", 3.0, 3.0),
    ]
    frame = pl.concat([row(), row(llm_evidence_count=None, consistency_modal_confidence=None)])
    check_signals(frame, "calibrated", calibration=LOGISTIC)
    expr = confidence("calibrated", calibration=LOGISTIC)
    expected = 1 / (1 + math.exp(-(-1.0 + 1.5)))
    assert frame.select(expr).to_series().to_list() == pytest.approx([expected] * 2, abs=1e-15)


def test_an_infinite_feature_is_no_certainty():
    frame = row(llm_evidence_count=INF)
    expr = confidence("calibrated", calibration=LOGISTIC)
    assert frame.select(expr).item() is None
    with pytest.raises(ContractError, match="llm_evidence_count is not infinite, for calibrated"):
        check_signals(frame, "calibrated", calibration=LOGISTIC)
    expr = ai_psychiatrist.confidence("calibrated", calibration=LOGISTIC)
    assert frame.select(expr).item() == 1.0


def test_invalid_signals_stay_null_when_calibrated():
    for calibration in (TEMPERATURE, ISOTONIC):
        expr = confidence("calibrated:token_msp", calibration=calibration)
        frame = pl.concat([row(token_msp=None), row(token_msp=NAN), row(token_msp=INF)])
        assert frame.select(expr).to_series().to_list() == [None] * 3


def test_check_and_value_agree():
    """Where the check passes there is a finite confidence, else there is none."""
    ends = [None, NAN, INF, -INF, -2.0, -1.0, -0.5, 0.0, 0.3, 1.0, 3.0, 3.5, 17.0, 710.0]
    for name in BASE:
        for column in (need.column for need in requirements(name)):
            frame = pl.concat(
                [row(**{name: 1.0 for name in SIGNALS} | {column: value}) for value in ends]
            )
            found = frame.select(confidence(name)).to_series()
            for place, value in enumerate(found):
                try:
                    check_signals(frame[[place]], name)
                except ContractError:
                    assert value is None, (name, column, ends[place])
                else:
                    assert math.isfinite(value), (name, column, ends[place])


def test_selections():
    text = "token_msp,calibrated:llm,secondary:llm+token_msp:product"
    assert select_variants(text) == text.split(",")
    with pytest.raises(ParameterError, match="given twice: llm"):
        select_variants("llm,token_msp,llm")
    with pytest.raises(ParameterError, match="'all' stands alone; got it in 'all,llm'"):
        select_variants("all,llm")
    for text in ("", "llm,", "llm, token_msp", "nope"):
        with pytest.raises(UnknownNameError):
            select_variants(text)


def test_every_variant_is_native_and_row_level():
    from evalframe.core.rows import is_row_level

    for name in [*BASE, "secondary:token_msp+verbalized:average"]:
        expr = confidence(name)
        assert is_row_level(expr)
        assert "python" not in str(expr).lower()


def test_the_docstring_names_every_variant():
    assert all(f"`{name}`" in confidence.__doc__ for name in BASE)
