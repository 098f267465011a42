"""Metrics as jobs name them."""

import math
import re
import sys

import pytest

from evalframe.core.errors import EvalframeError
from evalframe.jobs.flags import parse as parse_job
from evalframe.jobs.metrics import parse
from evalframe.jobs.selective.metrics import resolve

ROLES = {"prediction": "answer", "loss": "wrong", "confidence": "token_msp"}


def names(*entries, **job):
    document = {"family": "selective", "items": ["x.csv"], "metrics": list(entries), **job}
    return [metric.bound.name for metric in resolve(parse_job(document), ROLES)]


def test_the_name_of_a_variant_is_understood():
    metric, params = parse("risk_at_0.50")
    assert (metric.name, params) == ("risk_at", {"coverage": 0.5})
    metric, params = parse("coverage_at_risk_0.05")
    assert (metric.name, params) == ("coverage_at_risk", {"risk": 0.05})


def test_open_coverages_come_from_the_job():
    assert names("risk_at", coverage_grid=[0.25, 1.0]) == ["risk_at_0.25", "risk_at_1.00"]
    assert names("aurc_at", "augrc_at", area_coverage=0.75) == ["aurc_at_0.75", "augrc_at_0.75"]
    assert names("risk_at_0.50", {"name": "risk_at", "coverage": 1}) == [
        "risk_at_0.50",
        "risk_at_1.00",
    ]


def test_conventions_by_job_and_by_metric():
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


def test_metrics_are_computed_from_the_columns_of_the_job():
    job = parse_job({"family": "selective", "items": ["x.csv"], "metrics": ["coverage", "aurc"]})
    coverage, aurc = resolve(job, ROLES)
    assert set(coverage.meta.root_names()) == {"answer"}
    assert set(aurc.meta.root_names()) == {"wrong", "token_msp"}


def test_a_loss_column_abstains_for_the_coverage_and_is_no_prediction_of_other_metrics():
    document = {
        "family": "selective",
        "items": ["x.csv"],
        "metrics": ["coverage", "accuracy"],
        "loss": {"column": "wrong"},
    }
    roles = {"prediction": "wrong", "loss": "wrong", "confidence": "c"}
    coverage, accuracy = resolve(parse_job(document), roles)
    assert set(coverage.meta.root_names()) == {"wrong"}
    assert set(accuracy.meta.root_names()) == {"prediction", "label"}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("aurk", r"unknown metric 'aurk'\. Did you mean 'aurc'\? Known: .*selective_risk"),
        ("ece", r"unknown metric 'ece'\. Did you mean 'expected_calibration_error'\?"),
        ("Log-Loss", r"unknown metric 'Log-Loss'\. Did you mean 'negative_log_likelihood'\?"),
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
def test_metrics_that_do_not_exist(entry, message):
    with pytest.raises(EvalframeError, match=message):
        names(entry)


def test_one_name_twice():
    with pytest.raises(
        EvalframeError, match="metric 'aurc' is asked for twice; name it once, or give"
    ):
        names("aurc", {"name": "aurc", "convention": "trapezoid_predicted"})


def test_catalogue(call):
    lines = call("metrics", "--family", "selective").stdout.splitlines()
    head, *rows = [tuple(re.split(r"  +", line)) for line in lines]
    assert head == ("name", "family", "direction", "range", "roles")
    assert ("coverage", "selective", "maximize", "[0, 1]", "prediction") in rows
    assert ("risk_at_{coverage}", "selective", "minimize", "[0, inf]", "loss, confidence") in rows
    told = call("metrics", "--family", "selektive", exit_code=1).stderr
    assert "unknown family 'selektive'. Did you mean 'selective'" in told


OWN = """
import evalframe as ef

@ef.metric(direction="minimize", range=(0, 1))
def mean_loss(loss="loss", *, weight=None, power=1.0):
    return ef.State(
        sums={"mass": weight, "loss": weight * loss**power},
        finish=lambda t: ef.ratio(t.loss, t.mass),
    )

squared = ef.variant(mean_loss, name="mean_square", power=2.0)
number = 3
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A folder with modules, of which only one declares metrics, beside a job."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "own_metrics.py").write_text(OWN)
    (folder / "own_package").mkdir()
    (folder / "own_package/__init__.py").write_text("")
    inner = "from evalframe import coverage as answered\nfrom own_package.names import NAME\n"
    (folder / "own_package/inner.py").write_text(inner)
    (folder / "own_package/names.py").write_text("NAME = 'inner'\n")
    (folder / "own_folder").mkdir()
    (folder / "own_folder/inside.py").write_text("from evalframe import augrc\n")
    (folder / "click").mkdir()
    (folder / "not_ours.py").write_text("raise SystemExit('this module was run')\n")
    (folder / "broken.py").write_text("import evalframe\n1 / 0\n")
    (folder / "leaves.py").write_text("import evalframe, sys\nsys.exit(3)\n")
    (folder / "misspelt.py").write_text("import evalframe\ndef f(:\n")
    (folder / "numpy.py").write_text("import evalframe\n")
    return folder


def own(folder, *entries):
    job = {"family": "selective", "items": ["x.csv"], "metrics": list(entries)}
    return [metric.bound for metric in resolve(parse_job(job), ROLES, folder)]


def test_metrics_by_import_path_from_the_folder_of_the_job(modules):
    found = own(
        modules,
        "own_metrics:mean_loss",
        "own_metrics:squared",
        {"name": "own_metrics:mean_loss", "power": 3.0, "alias": "cubed"},
        "own_package.inner:answered",
        "own_folder.inside:augrc",
        "evalframe.selective.areas:aurc",
    )
    assert [bound.name for bound in found] == [
        "mean_loss",
        "mean_square",
        "cubed",
        "coverage",
        "augrc",
        "aurc",
    ]
    assert [bound.params.get("power") for bound in found[:4]] == [1.0, 2.0, 3.0, None]
    assert str(found[0].roles["loss"]) == 'col("wrong")'
    assert "own_metrics" in sys.modules
    assert str(modules) not in sys.path


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("os:system", "os belongs to Python itself and holds no metric; it was not imported"),
        ("antigravity:geohash", "antigravity belongs to Python itself"),
        ("xml.dom:minidom", "xml.dom belongs to Python itself"),
        ("builtins:eval", "builtins belongs to Python itself"),
        ("own_metrics:number", "is no metric, .* Metrics of own_metrics: mean_loss, squared"),
        ("own_metrics:mean_los", r"is no metric, .*Did you mean 'mean_loss'\?"),
        ("own_metrics:ef", "is no metric"),
        ("own_metrics:mean_loss()", "is no import path; write module:name, such as my_metrics:gi"),
        ("own_metrics:__builtins__", "names that begin with an underscore"),
        ("own_metrics:mean_loss.metric", "is no import path"),
        ("../own_metrics:mean_loss", "without folders"),
        ("/etc/passwd:x", "is no import path"),
        ("own_metrics.py:mean_loss", "no module own_metrics.py, neither in"),
        ("own-metrics:mean_loss", "is no import path"),
        ("own_metrics :mean_loss", "without folders, blanks"),
        ("own_metrics:mean_loss:", "names an empty column; write METRIC:COLUMN"),
        ("own_metrics:", "is no import path"),
        (":mean_loss", "is no import path"),
        ("absent_metrics:x", "no module absent_metrics, .*; put absent_metrics.py beside the job"),
        ("own_package.absent:x", "no module own_package.absent, .*put own_package/absent.py"),
        ("own_package:NAME", "own_package .* does not import evalframe, so it declares no metric"),
        ("not_ours:x", "does not import evalframe, .*; it was not imported"),
        ("scipy.stats:norm", "scipy.stats .* does not import evalframe"),
        ("click:command", "click .*__init__.py.* does not import evalframe"),
        ("own_folder:x", "own_folder is no Python file, so it was not imported"),
        ("broken:x", "broken .* cannot be imported: ZeroDivisionError: division by zero"),
        ("leaves:x", "leaves .* cannot be imported: SystemExit: 3"),
        ("misspelt:x", "misspelt is not Python: invalid syntax"),
        ("numpy:x", "module numpy lies beside the job .* and elsewhere .*; rename the first"),
    ],
)
def test_what_a_job_must_not_name_is_refused(modules, path, message):
    before = set(sys.modules)
    with pytest.raises(EvalframeError, match=message):
        own(modules, path)
    new = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert not new - {"own_metrics", "own_package", "own_folder"}


def test_metrics_over_units_by_the_name_of_their_result_and_as_tables():
    macro = {"per": "task", "metric": "accuracy", "alias": "macro", "fixed": True}
    gap = {
        "per": ["task", "language"],
        "columns": {"share": {"name": "mean", "value": "score"}},
        "then": {"name": "spread", "value": "share"},
        "weight": "size",
    }
    assert names("accuracy_per_task", "accuracy_per_task_per_site", macro, gap) == [
        "accuracy_per_task",
        "accuracy_per_task_per_site",
        "macro",
        "spread_per_task_language",
    ]
    document = {"family": "selective", "items": ["x.csv"], "metrics": [macro, gap]}
    first, second = (metric.bound for metric in resolve(parse_job(document), ROLES))
    assert (first.fixed, second.fixed) == (True, False)
    assert second.weight.name == "mean"


def test_columns_may_have_per_in_their_names():
    columns = ["tokens_per_second", "site"]
    job = parse_job(
        {
            "family": "selective",
            "items": ["x.csv"],
            "metrics": ["accuracy_per_site_per_tokens_per_second"],
        }
    )
    for known, units in ((columns, ["tokens_per_second", "site"]), ((), ["second", "tokens"])):
        (metric,) = (each.bound for each in resolve(job, ROLES, columns=known))
        assert [*metric.unit, *metric.columns["value"].unit] == units
        assert metric.name == "accuracy_per_site_per_tokens_per_second"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"per": "task", "metrc": "accuracy"}, "argument of per 'metrc'. Did you mean 'metric'"),
        ({"per": 1, "metric": "accuracy"}, "per names the columns of a unit, got 1"),
        ({"per": "task"}, r"per\('task'\) needs a metric"),
        ({"per": "task", "metric": "risk_at"}, "is 9 metrics, one for each coverage"),
        ("acuracy_per_task", "accuracy"),
    ],
)
def test_metrics_over_units_that_are_not_understood(entry, message):
    with pytest.raises(EvalframeError, match=message):
        names(entry)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"fixed": "no"}, "fixed of a per must be true or false, got 'no'"),
        ({"alias": 3}, "alias of a per must be a name, got 3"),
        ({"alias": ""}, "alias of a per must be a name, got ''"),
        ({"metric": 5}, "a metric is a name or a table with a name, got 5"),
        ({"columns": "accuracy"}, "columns of a per are a table of metrics by name"),
        ({"columns": {"unit": "accuracy"}}, "a column of a per cannot be named 'unit'"),
    ],
)
def test_wrong_parts_of_a_metric_of_units_are_named(entry, message):
    with pytest.raises(EvalframeError, match=message):
        names({"per": "task", "metric": "accuracy", **entry})
