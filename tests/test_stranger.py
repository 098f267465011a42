"""Metrics of somebody who has read the README only, used in every way that the built-in ones are.

`MODULE` is all that the stranger writes; the tests hold it to at most 15 lines a metric.
"""

import ast
import importlib.util
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import evalframe as ef
from evalframe.core.errors import EvalframeError
from evalframe.jobs.cli import cli
from evalframe.testing.laws import check_laws

MODULE = '''
import evalframe as ef

@ef.metric(direction="maximize", range=(0, 1))
def weighted_f(label="label", prediction="prediction", *, weight=None, beta=1.0):
    """Weighted F-beta of binary predictions."""
    return ef.State(
        sums={
            "hits": weight * label * prediction,
            "predicted": weight * prediction,
            "actual": weight * label,
        },
        finish=lambda t: ef.ratio((1 + beta**2) * t.hits, beta**2 * t.actual + t.predicted),
    )

@ef.metric(direction="none", range=(0, 1))
def loss_gini(loss="loss", *, weight=None):
    """Gini coefficient: how unequally the losses are spread."""
    lorenz = (ef.at.mass - ef.before.mass) * (ef.at.loss + ef.before.loss) / 2
    sums = {"mass": weight, "loss": weight * loss}
    return ef.State(
        axes=[ef.Axis(level=loss, sums=sums, terms={"lorenz": lorenz})],
        finish=lambda t: 1 - 2 * ef.ratio(t.lorenz, t.mass * t.loss),
    )

f_2 = ef.variant(weighted_f, name="f_2", beta=2.0)
'''

ROWS = pl.DataFrame(
    {
        "model": ["a"] * 8 + ["b"] * 8,
        "participant_id": [1, 1, 2, 2, 3, 3, 4, 4] * 2,
        "item": ["p", "q"] * 8,
        "label": [1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1],
        "prediction": [1, 1, 0, 1, 0, 1, 0, None, 1, 0, 1, 0, 1, 1, 0, 0],
        "loss": [0.0, 1, 0.5, 0.5, 0.25, 0.75, None, 1, 1, 0, 0.125, 2, 0.25, 0.5, float("nan"), 1],
        "confidence": [0.9, 0.8, 0.3, 0.4, 0.6, 0.5, 0.7, 0.1] * 2,
    }
)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """The stranger's module, from a folder that is on no path."""
    folder = tmp_path_factory.mktemp("stranger")
    (folder / "their_metrics.py").write_text(MODULE)
    ROWS.fill_nan(None).write_parquet(folder / "rows.parquet")
    spec = importlib.util.spec_from_file_location("their_metrics", folder / "their_metrics.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["their_metrics"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["their_metrics"]


@pytest.fixture
def folder(theirs, monkeypatch):
    place = Path(theirs.__file__).parent
    monkeypatch.chdir(place)
    return place


def test_a_metric_takes_at_most_fifteen_lines():
    for node in ast.parse(MODULE).body:
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.decorator_list[0].lineno + 1 <= 15, node.name


def gini(losses):
    """By the mean absolute difference of all pairs."""
    pairs = [abs(x - y) for x in losses for y in losses]
    return sum(pairs) / len(pairs) / (2 * sum(losses) / len(losses))


def test_values_are_those_of_the_definitions(theirs):
    known = ROWS["loss"].fill_nan(None).drop_nulls().to_list()
    shown = ROWS.select(theirs.weighted_f(), theirs.f_2(), theirs.loss_gini()).row(0)
    # 6 hits, 2 false alarms, 3 misses.
    assert shown == pytest.approx((2 * 6 / (8 + 9), 5 * 6 / (4 * 9 + 8), gini(known)))


def test_in_groups_windows_and_tables_with_a_bootstrap(theirs):
    metrics = [theirs.weighted_f, theirs.f_2, theirs.loss_gini]
    grouped = ROWS.group_by("model").agg(f() for f in metrics).sort("model")
    windows = ROWS.select("model", *(f().over("model") for f in metrics)).unique().sort("model")
    assert windows.rows() == [(m, *map(pytest.approx, v)) for m, *v in grouped.rows()]
    resample = ef.Bootstrap(cluster="participant_id", n=50)
    result = ef.evaluate(ROWS, metrics, by="model", resample=resample)
    assert result["estimate"].to_list() == pytest.approx(
        [value for _, *values in grouped.rows() for value in values]
    )
    assert result["n_clusters"].to_list() == [4] * 6
    assert (result["lower"] <= result["upper"]).all()


def test_compared_between_models(theirs):
    result = ef.compare(
        ROWS, [theirs.weighted_f, theirs.loss_gini], between="model", pair_on="participant_id"
    )
    assert result["metric"].to_list() == ["weighted_f", "loss_gini"]
    assert result["delta"].null_count() == 0


def test_they_keep_the_laws(theirs):
    metrics = [theirs.weighted_f, theirs.f_2, theirs.loss_gini]
    check_laws(metrics, ROWS, by="model", cluster="participant_id")


ELSEWHERE = """
import pickle, polars as pl, evalframe as ef
states = [pl.read_parquet(f"state{k}.parquet") for k in range(2)]
try:
    ef.finish(ef.merge(*states))
except ef.EvalframeError as error:
    print(error)
with open("metric.pickle", "rb") as file:
    print(pickle.load(file).bound.name)
print(ef.finish(ef.merge(*states))["estimate"].to_list())
"""


def test_states_of_shards_are_finished_in_a_process_that_has_imported_their_metrics(theirs, folder):
    metrics = [theirs.weighted_f(), theirs.loss_gini()]
    for k, shard in enumerate([ROWS[::2], ROWS[1::2]]):
        ef.partial(shard, metrics, by="model").write_parquet(f"state{k}.parquet")
    (folder / "metric.pickle").write_bytes(pickle.dumps(theirs.f_2("label", "prediction")))
    shown = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], cwd=folder, capture_output=True, text=True, check=True
    )
    refused, unpickled, estimates = shown.stdout.splitlines()
    assert refused.startswith("unknown metric 'weighted_f'")
    assert refused.endswith("One of your own is known when its module has been imported")
    assert unpickled == "f_2"
    expected = ef.evaluate(ROWS, metrics, by="model")["estimate"].to_list()
    assert ast.literal_eval(estimates) == pytest.approx(expected, rel=1e-12)


@pytest.fixture
def run(folder):
    def call(*args):
        return CliRunner().invoke(cli, args, prog_name="evalframe")

    return call


def test_from_the_command_line(theirs, run):
    args = ["rows.parquet", "-o", "out.parquet", "--by", "model", "--loss", "column:loss"]
    made = run(
        "selective", *args, "--metrics", "their_metrics:loss_gini,their_metrics:f_2,coverage"
    )
    assert made.exit_code == 0, made.output
    found = pl.read_parquet("out.parquet").filter(metric="f_2")["estimate"].to_list()
    expected = ROWS.group_by("model").agg(theirs.f_2()).sort("model")["f_2"].to_list()
    assert found == pytest.approx(expected)


JOB = """
family = "selective"
items = ["rows.parquet"]
output = "made.parquet"
by = ["model"]
loss = { column = "loss" }
metrics = [
    "their_metrics:loss_gini",
    { name = "their_metrics:weighted_f", beta = 2.0, alias = "by_hand" },
    "their_metrics:f_2",
]
bootstrap = { n = 20 }
"""


def test_from_a_job_file_in_a_process_that_has_not_imported_it(folder):
    Path("job.toml").write_text(JOB)
    program = shutil.which("evalframe", path=Path(sys.executable).parent)
    subprocess.run([program, "run", "job.toml", "-q"], cwd=folder, check=True)
    made = pl.read_parquet("made.parquet")
    assert made["metric"].to_list()[:3] == ["loss_gini", "by_hand", "f_2"]
    values = made.pivot("metric", index="model", values="estimate")
    assert values["by_hand"].to_list() == values["f_2"].to_list()
    assert made["lower"].null_count() == 0


WRONG = {
    "a typo in the finish": (
        'sums={"mass": weight}, finish=lambda t: t.mas',
        r"its finish fails: no sum or term 'mas'\. Did you mean 'mass'\?",
    ),
    "a typo in a term": (
        'axes=[ef.Axis(level=loss, sums={"mass": weight}, terms={"x": ef.at.mas})], '
        "finish=lambda t: t.x",
        r"term 'x' reads 'mas', but the sums are \['mass'\]\. Did you mean 'mass'\?",
    ),
    "a column that is no role": (
        'sums={"hits": weight * pl.col("lable")}, finish=lambda t: t.hits',
        r"sum 'hits' reads the column 'lable', which is no role .* a parameter of the function",
    ),
    "a sum of other rows": (
        'sums={"loss": weight * (loss - loss.mean())}, finish=lambda t: t.loss',
        r"sum 'loss' is computed from other rows, .*; give the expression of one row",
    ),
    "a sum that adds up by itself": (
        'sums={"loss": (weight * loss).sum()}, finish=lambda t: t.loss',
        "sum 'loss' is computed from other rows",
    ),
    "a sum without weight": (
        'sums={"loss": loss}, finish=lambda t: t.loss',
        "sum 'loss' leaves out the weight, so that weights would not count",
    ),
    "a number as sum": (
        'sums={"rows": 1}, finish=lambda t: t.rows',
        "sum 'rows' must be an expression, got",
    ),
    "sums without names": ("sums=[weight], finish=lambda t: t.a", r"sums must be named, such as"),
    "no sums": ("finish=lambda t: t.n", "there is nothing to add up; name sums"),
    "a term of other levels": (
        'axes=[ef.Axis(level=loss, sums={"mass": weight}, terms={"x": ef.own.mass.cum_sum()})], '
        "finish=lambda t: t.x",
        "term 'x' is computed from other levels, .*: ef.at and ef.before are its running sums",
    ),
    "a number as term": (
        'axes=[ef.Axis(level=loss, sums={"mass": weight}, terms={"x": 1})], finish=lambda t: t.x',
        "term 'x' must be an expression, got 1",
    ),
    "a level by name": (
        'axes=[ef.Axis(level="loss", sums={"mass": weight})], finish=lambda t: t.mass',
        "level must be an expression, got 'loss'",
    ),
    "an axis that is none": ('axes=["loss"], finish=lambda t: t.n', "axes must be a list of ef.Ax"),
    "a finish of other groups": (
        'sums={"mass": weight}, finish=lambda t: t.mass / t.mass.sum()',
        "its finish is computed from other groups",
    ),
    "a finish of a column": (
        'sums={"mass": weight}, finish=lambda t: pl.col("loss")',
        "its finish reads the column 'loss'; it sees totals only, such as t.mass",
    ),
    "a finish that is a number": (
        'sums={"mass": weight}, finish=lambda t: 3',
        "its finish must return an exp",
    ),
    "a finish that is none": (
        'sums={"m": weight}, finish=pl.col("m")',
        "finish must be a function",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_state_that_would_not_add_up_is_refused(case):
    text, message = WRONG[case]
    define = eval(f"lambda loss='loss', *, weight=None: ef.State({text})", {"ef": ef, "pl": pl})
    wrong = ef.metric(direction="none", range=(0, 1), name="wrong")(define)
    with pytest.raises(EvalframeError, match=rf"metric wrong: {message}"):
        wrong()


def test_what_is_no_state_is_refused():
    for define in (
        lambda loss="loss", *, weight=None: loss.mean(),
        lambda x="x", *, weight=None: 1,
    ):
        wrong = ef.metric(direction="none", range=(0, 1), name="no_state")(define)
        with pytest.raises(EvalframeError, match=r"metric no_state: it must return ef\.State"):
            wrong()


@pytest.mark.parametrize(
    ("define", "told", "message"),
    [
        (lambda loss="loss": 0, {}, "needs the keyword-only parameter weight=None, such as def m"),
        (lambda loss="loss", weight=None: 0, {}, "needs the keyword-only parameter weight=None"),
        (lambda x="x", *, weight="w": 0, {}, "needs the keyword-only parameter weight=None"),
        (lambda loss, *, weight=None: 0, {}, "role 'loss' needs its default column"),
        (lambda loss=1.0, *, weight=None: 0, {}, "a parameter of the metric.* comes behind the"),
        (lambda *, weight=None: 0, {}, 'it needs a column, such as loss="loss", before the'),
        (lambda *loss, weight=None: 0, {}, r"\*loss says neither how many columns there are"),
        (lambda x="x", *, weight=None, **k: 0, {}, r"\*\*k says neither"),
        (lambda x="x", *, weight=None: 0, {"name": None}, "cannot be named '<lambda>'"),
        (lambda x="x", *, weight=None: 0, {"name": "a:b"}, "a metric cannot be named 'a:b'"),
        (lambda x="x", *, weight=None: 0, {"name": "aurc"}, "is registered by .*; rename yours"),
        (lambda x="x", *, weight=None: 0, {"direction": "up"}, "direction must be one of"),
        (lambda x="x", *, weight=None: 0, {"range": (1, 0)}, "range ascending"),
        (lambda x="x", *, weight=None: 0, {"range": 1}, "range ascending, got 'none' and 1"),
        (lambda x="x", *, weight=None: 0, {"labels": ["y"]}, "labels names 'y', which is no role"),
        (lambda x="x", *, weight=None, k=1: 0, {"label": "m_{j}"}, "shows 'j', which is no param"),
    ],
)
def test_a_wrong_declaration_is_refused(define, told, message):
    with pytest.raises(EvalframeError, match=message):
        ef.metric(**{"direction": "none", "range": (0, 1), "name": "m", **told})(define)
