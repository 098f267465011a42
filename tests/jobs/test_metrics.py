from __future__ import annotations

import math
from typing import Any

import pytest

from evalframe.core.errors import EvalframeError
from evalframe.jobs.parsing import parse as parse_job
from evalframe.jobs.selective.metrics import catalogue, parse, resolve

ROLES = {"prediction": "answer", "loss": "wrong", "confidence": "token_msp"}


def names(*entries: Any, **job: Any) -> list[str]:
    document = {"family": "selective", "items": ["x.csv"], "metrics": list(entries), **job}
    return [metric.bound.name for metric in resolve(parse_job(document), ROLES)]


def test_the_name_of_a_variant_is_understood() -> None:
    metric, params = parse("risk_at_0.50")
    assert (metric.name, params) == ("risk_at", {"coverage": 0.5})
    metric, params = parse("coverage_at_risk_0.05")
    assert (metric.name, params) == ("coverage_at_risk", {"risk": 0.05})


def test_open_coverages_come_from_the_job() -> None:
    assert names("risk_at", coverage_grid=[0.25, 1.0]) == ["risk_at_0.25", "risk_at_1.00"]
    assert names("aurc_at", "augrc_at", area_coverage=0.75) == ["aurc_at_0.75", "augrc_at_0.75"]
    assert names("risk_at_0.50", {"name": "risk_at", "coverage": 1}) == [
        "risk_at_0.50",
        "risk_at_1.00",
    ]


def test_conventions_by_job_and_by_metric() -> None:
    own = {"name": "aurc", "alias": "own", "convention": "rectangle_per_item"}
    document = {
        "family": "selective",
        "items": ["x.csv"],
        "metrics": ["coverage", "aurc", own],
        "convention": "trapezoid_predicted",
    }
    found = [m.bound for m in resolve(parse_job(document), ROLES)]
    assert [bound.params.get("convention") for bound in found] == [
        None,
        "trapezoid_predicted",
        "rectangle_per_item",
    ]
    assert [bound.name for bound in found] == ["coverage", "aurc", "own"]


def test_metrics_are_computed_from_the_columns_of_the_job() -> None:
    job = parse_job({"family": "selective", "items": ["x.csv"], "metrics": ["coverage", "aurc"]})
    coverage, aurc = resolve(job, ROLES)
    assert set(coverage.meta.root_names()) == {"answer"}
    assert set(aurc.meta.root_names()) == {"wrong", "token_msp"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("aurk", r"unknown metric 'aurk'\. Did you mean 'aurc'\? Known: .*selective_risk"),
        ("risk_at_x", r"unknown metric 'risk_at_x'\. Did you mean 'risk_at'\?"),
        ("risk_at_1.50", r"coverage must lie in \(0, 1\], got 1.5"),
        ({"name": "risk_at", "coverage": "all"}, "coverage of risk_at must be a number, got 'all'"),
        ({"name": "aurc", "conversion": "x"}, "unknown argument of aurc 'conversion'.*convention"),
        ({"name": "aurc", "convention": "x"}, "convention.*trapezoid_total"),
        ({"name": "aurc", "convention": ["x"]}, "convention of aurc must be a single value"),
        ({"name": "aurc", "alias": ""}, "the alias of aurc is empty; give it a name"),
        ({"name": "risk_at", "coverage": True}, "coverage of risk_at must be a number, got True"),
        (
            {"name": "risk_at_0.5", "coverage": 0.7},
            "risk_at_0.5 has its coverage in its name; leave out coverage, or name it 'risk_at'",
        ),
        ({"name": "coverage_at_risk", "risk": -1}, "risk of coverage_at_risk must be at least 0"),
        ({"name": "coverage_at_risk", "risk": math.nan}, "must be at least 0, got nan"),
        ({"name": "aurc", "alias": 1}, "a metric needs a name, and perhaps an alias"),
        ({"alias": "a"}, r"a metric needs a name, .*got \{'alias': 'a'\}"),
    ],
)
def test_metrics_that_do_not_exist(entry: Any, message: str) -> None:
    with pytest.raises(EvalframeError, match=message):
        names(entry)


def test_one_name_twice() -> None:
    with pytest.raises(EvalframeError, match="metric 'aurc' is asked for twice; give one an alias"):
        names("aurc", {"name": "aurc", "convention": "trapezoid_predicted"})


def test_catalogue() -> None:
    head, *rows = catalogue("selective")
    assert head == ("name", "family", "direction", "range", "roles")
    assert ("coverage", "selective", "maximize", "[0, 1]", "prediction") in rows
    assert ("risk_at_{coverage}", "selective", "minimize", "[0, inf]", "loss, confidence") in rows
    with pytest.raises(
        EvalframeError, match=r"unknown family 'selektive'\. Did you mean 'selectiv"
    ):
        catalogue("selektive")
