"""Job files and the defaults of their entries."""

import pytest

from evalframe.core.errors import EvalframeError, InputError
from evalframe.jobs import settings
from evalframe.jobs.flags import load, parse
from evalframe.jobs.selective import Loss
from evalframe.jobs.settings import Bootstrap
from evalframe.resample import methods

MINIMAL = {"family": "selective", "items": ["items.parquet"]}


def test_defaults():
    job = parse(MINIMAL)
    assert job.loss is None
    assert Loss(name="abs_norm").divisor == 3.0
    assert job.coverage_grid == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert job.bootstrap is None
    resampled = parse(MINIMAL | {"bootstrap": {"n": 9}})
    assert resampled.bootstrap == Bootstrap(n=9, interval="expanded_bca")
    assert parse(MINIMAL | {"bootstrap": 9}) == resampled


def test_the_cluster_is_the_participant_unless_named():
    assert parse(MINIMAL).cluster == "participant_id"
    assert parse(MINIMAL | {"bootstrap": {"n": 9, "cluster": "site"}}).cluster == "site"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "surveys"}, r"unknown family 'surveys'\. Did you mean 'survey'\? Known: items"),
        (
            {"bye": ["model"]},
            r"unknown entry of job 'bye'\. Did you mean 'by'",
        ),
        (
            {"bootstrap": {"sed": 1}},
            r"unknown entry of bootstrap 'sed'\. Did you mean 'seed'",
        ),
        ({"bootstrap": {"n": "many"}}, "bootstrap.n must be a whole number, got a text"),
        (
            {"bootstrap": {"interval": "bcA"}},
            "unknown bootstrap.interval 'bcA'. Did you mean 'bca'",
        ),
        ({"bootstrap": {"draws": "x"}}, "unknown bootstrap.draws 'x'.*counter, poisson, reference"),
        ({"loss": {"name": "absnorm"}}, "unknown loss.name 'absnorm'. Did you mean 'abs_norm'"),
        ({"loss": {}}, r"a loss is either a name \(abs, abs_norm, zero_one, squared\) or a column"),
        ({"loss": {"name": "abs", "scale": 2}}, "a scale belongs to the loss abs_norm, not to abs"),
        ({"loss": {"name": "abs_norm", "scale": float("inf")}}, "scale must be above 0 and finite"),
        ({"bootstrap": "many"}, "bootstrap must be a number of resamples or a table, got a text"),
        ({"bootstrap": {"seed": 1}}, "bootstrap lacks its entry 'n'"),
        ({"bootstrap": {"n": 9, "cluster": ""}}, "cluster is empty; name a column"),
        ({"columns": {"item": ""}}, "the name of a column is empty"),
        ({"items": ["a.csv", " "]}, "the name of an input is empty"),
        ({"on_invalid": "drop"}, "unknown on_invalid 'drop'. Known: quarantine, raise"),
        ({"items": []}, "items is empty; a job needs at least one"),
        ({"confidence": ["a", "a"]}, "confidence names a column twice: a, a"),
        ({"by": ["confidence"]}, "the result's column 'confidence' is taken; rename that group"),
        ({"coverage_grid": [0.5, 1.5]}, r"a coverage must lie in \(0, 1\], got 1.5"),
        ({"area_coverage": 0.0}, r"a coverage must lie in \(0, 1\], got 0.0"),
    ],
)
def test_a_job_that_says_nonsense(change, message):
    with pytest.raises(EvalframeError, match=message):
        parse(MINIMAL | change)


def test_job_files(tmp_path):
    path = tmp_path / "job.toml"
    with pytest.raises(InputError, match=r"no job file '.*job\.toml'"):
        load(path)
    path.write_text("family = selective")
    with pytest.raises(InputError, match=r"job\.toml is not a TOML job file: Invalid value"):
        load(path)
    path.write_text('\ufefffamily = "selective"\nitems = ["a.csv"]', encoding="utf-8")
    assert load(path).items == ("a.csv",), "a byte order mark is not in the way"
    path.write_text('items = ["items.parquet"]')
    with pytest.raises(EvalframeError, match=r"a job names its family, one of: selective"):
        load(path)


def test_the_choices_are_those_of_the_library():
    assert settings.Interval == methods.Interval
    assert settings.Draws == methods.Draws


def test_the_interval_follows_the_rules():
    survey = {"family": "survey", "items": ["a.csv"], "bootstrap": {"n": 9}}
    assert parse(survey).bootstrap.interval == "expanded_bca"  # type: ignore[union-attr]
    by_original = parse({**survey, "rules": "reference"})
    assert by_original.bootstrap.interval == "percentile"  # type: ignore[union-attr]
