"""Documents in RGB's order and in the seeded one: golden values, shapes and bad input."""

import math
import random
from itertools import groupby

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.compat.rgb import select_documents
from evalframe.core.errors import MissingColumnsError, ParameterError

seeded_documents = ef.rag.select_documents
BOTH = pytest.mark.parametrize("select", [select_documents, seeded_documents])

FLAT = pl.List(pl.String)
COUNTS = ["n_pos", "n_neg", "n_docs", "n_groups_covered", "n_wrong", "n_correct"]


def instance(dataset, positive, negative, wrong=None, number=0):
    """Passages named as in the golden file, from lengths; those of groups are a list."""
    if isinstance(positive, list):
        passages = [[f"g{g}.{i}" for i in range(size)] for g, size in enumerate(positive)]
    else:
        passages = [f"p{i}" for i in range(positive)]
    altered = None if wrong is None else [f"w{i}" for i in range(wrong)]
    negatives = [f"n{i}" for i in range(negative)]
    return (dataset, number, passages, negatives, altered)


def table(*rows):
    """Instances; among those of `_int` the passages of others are one group."""
    nested = any("_int" in row[0] for row in rows)
    if nested:
        rows = [(a, b, c if "_int" in a else [c], d, e) for a, b, c, d, e in rows]
    schema = {
        "dataset": pl.String,
        "id": pl.Int64,
        "positive": pl.List(FLAT) if nested else FLAT,
        "negative": FLAT,
        "positive_wrong": FLAT,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def documents(frame, select=select_documents, **arguments):
    return select(frame, **arguments)["documents"].to_list()


def naive(row, r, p, c, seed=2333):
    """Section 2 of the rules, one step after the other; None where the original fails."""
    dataset, _, positive, negative, wrong = row
    if p == 0:
        return []
    generator = random.Random(seed)
    neg = math.ceil(p * r)
    pos = p - neg
    if "_int" in dataset:
        groups = [list(group) for group in positive]
        for group in groups:
            generator.shuffle(group)
        if not all(groups) or (not groups and pos > 0):
            return None
        docs = [group[0] for group in groups]
        rank = 1
        while len(docs) < pos and any(len(group) > rank for group in groups):
            for group in groups:
                if len(group) > rank and len(docs) < pos:
                    docs.append(group[rank])
            rank += 1
        if p - len(docs) > 0:
            docs += negative[: p - len(docs)]
    elif "_fact" in dataset:
        correct = math.ceil(p * c)
        pos = p - neg - correct
        if pos < 0:
            return None
        indices = list(range(len(positive)))
        chosen = generator.sample(indices, min(len(indices), pos))
        docs = [wrong[i] for i in chosen]
        rest = [i for i in indices if i not in chosen]
        if correct > 0 and rest:
            docs += [positive[i] for i in generator.sample(rest, min(len(rest), correct))]
        if neg > 0:
            docs += negative[:neg]
    else:
        if r == 1:
            neg, pos = p, 0
        elif neg > len(negative):
            neg, pos = len(negative), p - len(negative)
        elif pos > len(positive):
            neg, pos = p - len(positive), len(positive)
        docs = positive[:pos] + negative[:neg]
    generator.shuffle(docs)
    return docs


def test_golden_made_up_lengths(golden):
    cases = golden("rag/selection")["synthetic"]
    assert len(cases) >= 120

    def setting(case):
        settings = (case["noise_rate"], case["passage_num"], case["correct_rate"])
        return ("_int" in case["dataset"], *settings)

    for (_, r, p, c), alike in groupby(sorted(cases, key=setting), setting):
        some = list(alike)
        shapes = [(case["dataset"], case["shape"]) for case in some]
        rows = [
            instance(dataset, shape["positive"], shape["negative"], shape.get("positive_wrong"))
            for dataset, shape in shapes
        ]
        made = select_documents(table(*rows), noise_rate=r, passage_num=p, correct_rate=c)
        assert made["documents"].to_list() == [case.get("docs") for case in some]
        assert (made["status"] == "ok").to_list() == ["error" not in case for case in some]


def real(shared, *datasets):
    """The real instances of some data sets, with the names of passages for passages."""
    rows = pl.read_parquet(shared / "data/rag/instances.parquet").filter(
        pl.col("dataset").is_in(datasets) & pl.col("n_negative").is_not_null()
    )
    columns = (
        "dataset",
        "id",
        "n_positive",
        "n_negative",
        "n_positive_wrong",
        "positive_group_sizes",
    )
    return table(
        *(
            instance(dataset, n if sizes is None else sizes, negative, wrong, number)
            for dataset, number, n, negative, wrong, sizes in rows.select(columns).iter_rows()
        )
    )


def test_golden_orders_of_real_instances(golden, shared):
    traces = golden("rag/selection")["ordered_traces"]
    frame = real(shared, "zh_refine", "zh_int", "en_fact", "zh_fact")
    for setting in {tuple(trace[2:5]) for trace in traces}:
        r, p, c = setting
        made = select_documents(frame, noise_rate=r, passage_num=p, correct_rate=c)
        found = {(row["dataset"], row["id"]): row["documents"] for row in made.to_dicts()}
        for dataset, number, *_, expected in (t for t in traces if tuple(t[2:5]) == setting):
            assert found[dataset, number] == expected


ROWS = st.one_of(
    st.builds(
        instance,
        st.just("en_int"),
        st.lists(st.integers(0, 4), max_size=4).filter(
            lambda sizes: 0 not in sizes or len(sizes) < 3
        ),
        st.integers(0, 7),
    ),
    st.builds(instance, st.sampled_from(["en", "zh"]), st.integers(0, 7), st.integers(0, 7)),
    st.integers(0, 7).flatmap(
        lambda n: st.builds(instance, st.just("zh_fact"), st.just(n), st.integers(0, 7), st.just(n))
    ),
)
RATES = st.one_of(st.sampled_from([0.0, 0.2, 0.28, 0.4, 0.6, 0.8, 1.0]), st.floats(0, 1))


@settings(max_examples=20, deadline=None)
@given(
    st.lists(ROWS, min_size=1, max_size=8),
    st.lists(RATES, min_size=1, max_size=3, unique=True),
    st.integers(0, 9),
    RATES,
    st.sampled_from([2333, 0, 2**64 - 1]),
)
def test_documents_and_counts_are_those_of_a_naive_program(rows, rates, p, c, seed):
    made = select_documents(
        table(*rows), noise_rate=rates, passage_num=p, correct_rate=c, seed=seed
    )
    expected = [naive(row, r, p, c, seed) for row in rows for r in rates]
    assert made["documents"].to_list() == expected
    assert made["noise_rate"].to_list() == rates * len(rows)
    for found, docs in zip(made.to_dicts(), expected, strict=True):
        kinds = None if docs is None else [name[0] for name in docs]
        assert counts_of(found) == expected_counts(found["dataset"], docs, kinds)
        assert (found["status"] == "ok") == (docs is not None)


def counts_of(found):
    return {name: found[name] for name in COUNTS} | {"rate": found["realised_noise_rate"]}


def expected_counts(dataset, docs, kinds):
    if docs is None:
        return dict.fromkeys([*COUNTS, "rate"])
    integration = "_int" in dataset
    counterfactual = "_fact" in dataset
    right = kinds.count("p") + kinds.count("g")
    covered = len({name.partition(".")[0] for name in docs if name[0] == "g"})
    return {
        "n_pos": None if counterfactual else right,
        "n_neg": kinds.count("n"),
        "n_docs": len(docs),
        "n_groups_covered": covered if integration else None,
        "n_wrong": kinds.count("w") if counterfactual else None,
        "n_correct": right if counterfactual else None,
        "rate": kinds.count("n") / len(docs) if docs else None,
    }


def test_five_documents_are_shuffled_alike():
    assert documents(table(instance("en", 1, 0))) == [["p0"]]
    assert documents(table(instance("en", 9, 9))) == [["p1", "p4", "p3", "p2", "p0"]]


def test_no_passages_are_asked_for():
    frame = table(instance("en", 3, 3), instance("en_int", [], 3), instance("en_fact", 2, 2))
    lacking = frame.with_columns(positive=None, negative=None, positive_wrong=None)
    for select in (select_documents, seeded_documents):
        for rows in (frame, lacking):
            made = select(rows, noise_rate=1.0, passage_num=0, correct_rate=1.0)
            assert made["documents"].to_list() == [[], [], []]
            assert made["status"].to_list() == ["ok"] * 3
            assert made["n_docs"].to_list() == [0] * 3
            assert made["realised_noise_rate"].to_list() == [None] * 3


@BOTH
@pytest.mark.parametrize(
    ("change", "arguments", "status"),
    [
        ({"dataset": None}, {}, "the data set is null"),
        ({"positive": None}, {}, "no list of positive passages"),
        ({"positive": [["p0"], None]}, {}, "no list of positive passages"),
        ({"negative": None}, {}, "no list of negative passages"),
        ({"dataset": "en_int", "positive": None}, {}, "no groups of positive passages"),
        ({"dataset": "en_int", "positive": [["a"], None]}, {}, "no list of passages for a group"),
        ({"dataset": "en_int", "positive": [["a"], []]}, {}, "a group has no passage"),
        ({"dataset": "en_int", "positive": []}, {}, "no group of positive passages"),
        ({"dataset": "en_fact", "positive_wrong": None}, {}, "no list of wrong passages"),
        (
            {"dataset": "en_fact", "positive_wrong": ["w0"]},
            {},
            "positive and positive_wrong differ in length: 3 and 1",
        ),
        (
            {"dataset": "en_fact"},
            {"noise_rate": 0.8, "correct_rate": 0.4},
            "noise_rate and correct_rate leave no room: 4 of noise and 2 correct of 5 passages",
        ),
        ({"negative": [None]}, {"noise_rate": 1.0}, "a passage to be shown is null"),
    ],
)
def test_items_without_documents_say_why(select, change, arguments, status):
    good = {
        "dataset": "en",
        "id": 0,
        "positive": [["p0", "p1", "p2"]],
        "negative": ["n0"],
        "positive_wrong": ["w0", "w1", "w2"],
    }
    schema = {**table().schema, "positive": pl.List(pl.List(pl.String))}
    frame = pl.DataFrame([good, good | change, good], schema=schema)
    made = select(frame, **arguments)
    assert made["status"].to_list() == ["ok", status, "ok"]
    left = made.select("documents", *COUNTS, "realised_noise_rate").row(1)
    assert left == (None,) * len(left)
    assert made["documents"].null_count() == 1
    assert made["n_docs"].null_count() == 1


def test_an_id_is_needed_by_the_seeded_order_only():
    frame = table(instance("en", 3, 3, number=None))
    assert select_documents(frame)["status"].item() == "ok"
    made = seeded_documents(frame)
    assert made["status"].item() == "the id is null, which the seeded order needs"
    assert select_documents(frame.drop("id", "positive_wrong"))["n_docs"].item() == 5


def test_flat_passages_are_no_groups():
    frame = pl.DataFrame({"dataset": ["en_int"], "positive": [["p0"]], "negative": [["n0"]]})
    made = select_documents(frame)
    assert made["status"].item() == "no groups of positive passages"


def test_groups_of_other_data_sets_are_one_list():
    flat = table(instance("en", 4, 4), instance("zh_fact", 4, 4, 4))
    one = flat.with_columns(pl.concat_list("positive").list.eval(pl.element().implode()))
    each = flat.with_columns(pl.col("positive").list.eval(pl.concat_list(pl.element())))
    assert one["positive"].list.len().to_list() == [1, 1]
    assert each["positive"].list.len().to_list() == [4, 4]
    for select in (select_documents, seeded_documents):
        expected = documents(flat, noise_rate=0.4, correct_rate=0.2, select=select)
        for frame in (one, each):
            assert documents(frame, noise_rate=0.4, correct_rate=0.2, select=select) == expected


def test_columns_and_rows_stay_in_place():
    frame = table(instance("en", 3, 3, number=7), instance("en", 1, 9, number=3))
    frame = frame.with_columns(query=pl.lit("?"))
    made = select_documents(frame, noise_rate=[0.4, 0])
    assert made.columns == [
        *frame.columns,
        *("noise_rate", "passage_num", "correct_passage_rate", "order", "seed", "documents"),
        *("n_pos", "n_neg", "n_docs", "n_groups_covered", "n_wrong", "n_correct"),
        *("realised_noise_rate", "status"),
    ]
    assert made.select("id", "noise_rate").rows() == [(7, 0.4), (7, 0.0), (3, 0.4), (3, 0.0)]
    assert made.schema["n_docs"] == pl.Int64
    assert made.schema["documents"] == FLAT
    assert made["passage_num"].to_list() == [5] * 4


@BOTH
def test_no_rows_and_untyped_columns(select):
    for frame in (
        table(),
        table(instance("en_int", [1], 1)).clear(),
        pl.DataFrame({"dataset": [], "id": [], "positive": [], "negative": []}),
    ):
        made = select(frame, noise_rate=[0.0, 1.0])
        assert made.is_empty()
    empty = pl.DataFrame({"dataset": ["en"], "id": [1], "positive": [[]], "negative": [[]]})
    assert empty.schema["positive"] == pl.List(pl.Null)
    made = select(empty)
    assert made.select("documents", "n_docs", "realised_noise_rate", "status").row(0) == (
        [],
        0,
        None,
        "ok",
    )


@BOTH
def test_streaming_gives_the_same(tmp_path, select):
    rows = [instance("en", k % 9, k % 7, number=k) for k in range(2_000)]
    rows += [instance("zh_int", [k % 3 + 1, 2], k % 5, number=k) for k in range(500)]
    table(*rows).write_parquet(tmp_path / "instances.parquet", row_group_size=300)
    scan = pl.scan_parquet(tmp_path / "instances.parquet")
    made = select(scan, noise_rate=[0.2, 0.6])
    memory = select(table(*rows), noise_rate=[0.2, 0.6])
    assert_frame_equal(made.collect(engine="streaming"), memory)


@BOTH
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"noise_rate": 1.1}, "noise_rate must be a number from 0 to 1, got 1.1"),
        ({"noise_rate": [0, -0.1]}, "noise_rate must .* got -0.1"),
        ({"noise_rate": math.nan}, "noise_rate must .* got nan"),
        ({"noise_rate": True}, "noise_rate must .* got True"),
        ({"noise_rate": "0.2"}, "noise_rate must be a number"),
        ({"noise_rate": None}, "noise_rate must .* got None"),
        ({"noise_rate": []}, "noise_rate is empty"),
        ({"noise_rate": [0.2, 0.2]}, "noise_rate has 0.2 twice"),
        ({"correct_rate": 2}, "correct_rate must .* got 2"),
        ({"passage_num": -1}, "passage_num must be .* from 0 to 1,000,000, got -1"),
        ({"passage_num": 5.0}, "passage_num must be an integer"),
        ({"passage_num": True}, "passage_num must be an integer"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": "a"}, "seed must be an integer from 0"),
    ],
)
def test_bad_arguments(select, arguments, message):
    with pytest.raises(ParameterError, match=message):
        select(table(instance("en", 3, 3)), **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": 1}, "dataset must be text, but is Int32"),
        ({"id": 0.5}, "id must be an integer or text, but is Float64"),
        ({"positive": "p0"}, "positive must be lists of passages, or lists of groups"),
        ({"negative": pl.lit([["n0"]])}, r"negative must be lists of passages, but is List\(List"),
        ({"positive_wrong": pl.lit([1])}, r"positive_wrong must .* but is List\(Int64\); cast it"),
        ({"status": "ok"}, "select_documents adds a column 'status'; rename"),
    ],
)
def test_bad_tables(change, message):
    frame = table(instance("en", 3, 3)).with_columns(
        **{k: v if isinstance(v, pl.Expr) else pl.lit(v) for k, v in change.items()}
    )
    with pytest.raises(ParameterError, match=message):
        seeded_documents(frame)
    with pytest.raises(MissingColumnsError, match="select_documents needs column 'negative'"):
        select_documents(frame.drop("negative"))
