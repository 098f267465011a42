"""Equal digests mean equal sums: whatever decides a sum changes the digest, nothing else does."""

import operator
import os
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalframe as ef
from evalframe.core.metric import lookup
from evalframe.core.tables import Keys
from evalframe.engine.definitions import definition, digest, program


def defined(metrics, by=None, cluster=None):
    metrics = metrics if isinstance(metrics, list) else [metrics]
    cluster = None if cluster is None else pl.col(cluster)
    return definition([metric.bound for metric in metrics], Keys.of(by), cluster)


def bounded(limit, table=(1.0, 2.0)):
    """A metric whose sums close over two values, as one of a notebook may."""

    @ef.metric(direction="none", range=(0, 1), name="bounded_of_store")
    def bounded_of_store(x="x", *, shift=0.0, weight=None):
        """Share of rows near some values."""
        near = ((x - shift).abs() < limit) | x.is_in(list(table))
        return ef.State(
            sums={"near": weight * near, "mass": weight},
            finish=lambda t: ef.ratio(t.near, t.mass),
        )

    return bounded_of_store


def test_each_difference_gives_another_digest():
    variants = {
        "as it is": defined(bounded(0.5)(), by="g"),
        "a closure": defined(bounded(0.25)(), by="g"),
        "data that text hides": defined(bounded(0.5, range(3, 200))(), by="g"),
        "one value of it": defined(bounded(0.5, [*range(3, 100), 0, *range(101, 200)])(), by="g"),
        "a parameter": defined(bounded(0.5)(shift=0.1), by="g"),
        "a column": defined(bounded(0.5)("y"), by="g"),
        "an expression": defined(bounded(0.5)(pl.col("x") + 0), by="g"),
        "a weight": defined(bounded(0.5)(weight="w"), by="g"),
        "a name": defined(bounded(0.5)().alias("near"), by="g"),
        "no key": defined(bounded(0.5)()),
        "another key": defined(bounded(0.5)(), by=pl.col("h").alias("g")),
        "two keys": defined(bounded(0.5)(), by=["g", "h"]),
        "a cluster": defined(bounded(0.5)(), by="g", cluster="c"),
        "ours": defined(ef.aurc(), by="g"),
        "ours, a column": defined(ef.aurc(confidence="sure"), by="g"),
        "two of ours": defined([ef.aurc(), ef.augrc()], by="g"),
        "in another order": defined([ef.augrc(), ef.aurc()], by="g"),
        "units": defined(ef.per("u", ef.aurc()), by="g"),
        "other units": defined(ef.per("v", ef.aurc()), by="g"),
        "fixed units": defined(ef.per("u", ef.aurc(), fixed=True), by="g"),
        "weighted units": defined(ef.per("u", ef.aurc(), weight="w"), by="g"),
        "their spread": defined(ef.per("u", ef.aurc(), then=ef.spread()), by="g"),
    }
    assert len({*variants.values()}) == len(variants), variants
    assert variants["as it is"] == defined(bounded(0.5)(), by="g")


def test_the_finish_is_not_part_of_it():
    def rate(finish):
        @ef.metric(direction="none", range=(0, 1), name="rate_of_store")
        def rate_of_store(x="x", *, weight=None):
            return ef.State(sums={"x": weight * x, "mass": weight}, finish=finish)

        return rate_of_store()

    one = defined(rate(lambda t: ef.ratio(t.x, t.mass)))
    assert one == defined(rate(lambda t: ef.ratio(t.mass, t.x)))


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(0.05, 0.95), min_size=2, max_size=2, unique=True))
def test_parameters_of_our_metrics_count_to_the_last_digit(coverages):
    one, other = (defined(ef.risk_at(coverage)) for coverage in coverages)
    assert one != other


def test_another_process_with_other_hashes_gives_the_same():
    code = (
        "import polars as pl, evalframe as ef\n"
        "from evalframe.core.tables import Keys\n"
        "from evalframe.engine.definitions import definition, program\n"
        "bounds = [ef.per('u', ef.accuracy(), weight='w').bound, ef.aurc().bound]\n"
        "print(definition(bounds, Keys.of(['g', pl.col('h').is_in(['a', 'b'])]), pl.col('c')))\n"
        "print(program())"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "1" if sys.flags.hash_randomization else "random"},
    ).stdout
    bounds = [ef.per("u", ef.accuracy(), weight="w").bound, ef.aurc().bound]
    keys = Keys.of(["g", pl.col("h").is_in(["a", "b"])])
    assert told == f"{definition(bounds, keys, pl.col('c'))}\n{program()}\n"


PYTHON = pl.col("x").map_batches(lambda x: x, return_dtype=pl.Float64, is_elementwise=True)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"metrics": ef.mean(PYTHON)}, "'value' of metric 'mean'"),
        ({"metrics": ef.aurc(), "by": PYTHON.alias("g")}, "the key 'g'"),
        ({"metrics": ef.mean(pl.reduce(operator.add, ["x", "y"]))}, "'value' of metric 'mean'"),
        ({"metrics": ef.mean(pl.fold(0, operator.add, ["x"]))}, "'value' of metric 'mean'"),
        ({"metrics": ef.aurc(), "by": pl.col("x").name.map(str.upper)}, "the key 'X'"),
        ({"metrics": ef.per(PYTHON.alias("u"), ef.aurc())}, "'u' of metric 'aurc_per_u'"),
        ({"metrics": ef.mean("x", weight=PYTHON)}, "'weight' of metric 'mean'"),
    ],
)
def test_a_python_function_is_refused(given, what):
    with pytest.raises(ef.EvalframeError, match=f"^{what} calls a Python function, .* add the col"):
        defined(**given)


def test_a_python_function_in_a_sum_of_a_metric_of_the_users_is_refused():
    @ef.metric(direction="none", range=(0, 1), name="python_of_store")
    def python_of_store(x="x", *, weight=None):
        sums = {"x": weight * x.map_batches(lambda x: x, pl.Float64, is_elementwise=True)}
        return ef.State(sums=sums, finish=lambda t: t.x)

    with pytest.raises(ef.EvalframeError, match="'x' of metric 'python_of_store' calls a Python"):
        defined(python_of_store())
    assert defined(ef.accuracy()) != defined(ef.precision())  # ours may: the source counts


def test_a_plugin_is_refused(tmp_path):
    from polars.plugins import register_plugin_function

    library = tmp_path / "plugin.so"
    library.touch()
    column = register_plugin_function(
        plugin_path=library, function_name="f", args=["x"], is_elementwise=True
    )
    with pytest.raises(ef.EvalframeError, match="calls a plugin, which may change unseen"):
        defined(ef.mean(column))


def test_a_value_that_cannot_be_written_down_is_refused():
    key = (pl.col("x") == pl.lit(object(), dtype=pl.Object)).alias("g")
    with pytest.raises(ef.EvalframeError, match="the key 'g' holds a value that cannot be kept"):
        defined(ef.aurc(), by=key)


def test_the_program_is_part_of_what_is_kept():
    assert program()["polars"] == pl.__version__
    assert lookup("aurc").define.__module__.startswith("evalframe.")
    assert digest([1]) != digest(["1"])
