"""peers.json: the same quantities under the conventions of four systems, and what relates them."""

import itertools

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.selective.curves import rc_curve

ITEMS = {"case": pl.String, "loss": pl.Float64, "confidence": pl.Float64}
RISKS = ["coverage", "selective_risk", "generalized_risk"]
CONVENTIONS = [
    "trapezoid_total",
    "trapezoid_predicted",
    "trapezoid_per_item_renorm",
    "rectangle_per_item",
    "population",
]


def areas(convention):
    """Both areas in a convention."""
    return {
        f"aurc {convention}": ef.aurc(convention=convention),
        f"augrc {convention}": ef.augrc(convention=convention),
    }


ALL_AREAS = {name: area for c in CONVENTIONS for name, area in areas(c).items()}


@pytest.fixture(scope="module")
def peers(golden):
    return golden("selective/peers")


@pytest.fixture(scope="module")
def items(peers):
    """The items of all cases; abstentions have neither loss nor confidence."""
    return table(
        (case["id"], loss, confidence)
        for case in peers["cases"]
        for loss, confidence in [
            *zip(case["loss"], case["confidence"], strict=True),
            *[(None, None)] * case["n_abstained"],
        ]
    )


def table(rows):
    return pl.DataFrame(list(rows), schema=ITEMS, orient="row")


def wide(items, **metrics):
    """One row per case, one column per metric."""
    asked = [metric.alias(name) for name, metric in metrics.items()]
    long = ef.evaluate(items, asked, by="case")
    return long.pivot("metric", index="case", values="estimate", maintain_order=True)


def gather(cases, **values):
    """One row per case, one column per function of a case."""
    rows = [(case["id"], *(value(case) for value in values.values())) for case in cases]
    schema = {"case": pl.String} | dict.fromkeys(values, pl.Float64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def assert_agree(result, expected, tolerance):
    """All cases and columns that are expected."""
    assert len(expected)
    chosen = expected.select("case").join(result, on="case", how="left", maintain_order="left")
    chosen = chosen.select(expected.columns)
    assert_frame_equal(chosen, expected, abs_tol=tolerance, rel_tol=0)


def read(*path):
    """A function of a case: the value at a path."""

    def value(case):
        for key in path:
            case = case[key]
        return case

    return value


def test_ai_psychiatrist(peers, items):
    names = ["cmax", "aurc", "augrc", "aurc_optimal", "augrc_optimal", "aurc_achievable"]
    metrics = {name: getattr(ef, name)() for name in names[1:]} | {"cmax": ef.coverage("loss")}
    expected = gather(peers["cases"], **{name: read("ai_psychiatrist", name) for name in names})
    assert_agree(wide(items, **metrics), expected, 1e-12)


def test_fd_shifts_areas(peers, items):
    result = wide(
        items,
        aurc=ef.aurc(convention="trapezoid_predicted"),
        augrc=ef.augrc(convention="trapezoid_predicted"),
        augrc_optimal=ef.augrc_optimal(),
        aurc_optimal=ef.aurc_optimal(),
        cmax=ef.coverage("loss"),
    ).with_columns(
        pl.col("aurc_optimal") / pl.col("cmax"), pl.col("augrc_optimal") / pl.col("cmax") ** 2
    )
    names = ["aurc", "augrc", "augrc_optimal"]
    expected = gather(peers["cases"], **{name: read("fd_shifts", name) for name in names})
    assert_agree(result, expected, 1e-10)
    # Its optimal AURC is the finite-sample oracle for losses that are not binary only.
    graded = [case for case in peers["cases"] if not case["fd_shifts"]["binary_residuals"]]
    assert_agree(result, gather(graded, aurc_optimal=read("fd_shifts", "aurc_optimal")), 1e-10)


def test_fd_shifts_curves(peers, items):
    curves = rc_curve(items.drop_nulls("loss"), by="case").sort("case", "coverage")
    stored = [case for case in peers["cases"] if "curve_descending" in case["fd_shifts"]]
    rows = []
    for case in stored:
        curve = case["fd_shifts"]["curve_descending"]
        # Its curve descends to a point at coverage 0, which has no threshold.
        columns = [curve[name][-2::-1] for name in RISKS] + [curve["threshold"][::-1]]
        rows += [(case["id"], *point) for point in zip(*columns, strict=True)]
    names = ["case", *RISKS, "threshold"]
    expected = pl.DataFrame(rows, schema=names, orient="row").sort("case", "coverage")
    known = curves.filter(pl.col("case").is_in([case["id"] for case in stored])).select(names)
    assert_frame_equal(known, expected, abs_tol=1e-10, rel_tol=0)


def test_fd_shifts_working_points(peers, items):
    """Coverage at a risk is the same; risk at a coverage is the lowest from there on."""
    predicted = items.drop_nulls("loss")
    curves = rc_curve(predicted, by="case")
    for name in peers["cases"][0]["fd_shifts"]["working_points"]:
        kind, bound = name.split("=")
        point = ("fd_shifts", "working_points", name)
        if kind == "risk<":  # an error where no point is admissible
            expected = gather(peers["cases"], found=lambda c, p=point: read(*p)(c).get("coverage"))
            result = wide(predicted, found=ef.coverage_at_risk(float(bound))())
            assert_agree(result, expected, 1e-12)
            continue
        expected = gather(
            peers["cases"], risk=read(*point, "risk"), achieved=read(*point, "coverage")
        )
        beyond = curves.filter(pl.col("coverage") >= float(bound)).group_by("case")
        assert_agree(
            beyond.agg(risk=pl.col("selective_risk").min()), expected.drop("achieved"), 1e-10
        )
        first = wide(
            predicted,
            risk=ef.risk_at(float(bound))(),
            achieved=ef.achieved_coverage_at(float(bound))(),
        )
        same = expected.join(first, on=["case", "achieved"], how="semi")
        assert_agree(first, same, 1e-10)


def test_items_one_by_one(peers, items):
    """The conventions without plateaus, and fd-shifts' older AURC, where confidences differ."""
    distinct = [case for case in peers["cases"] if case["distinct_confidence"]]
    result = wide(
        items,
        **areas("rectangle_per_item"),
        **areas("trapezoid_per_item_renorm"),
        **areas("trapezoid_predicted"),
        population=ef.aurc(convention="population"),
    )
    for convention, source in (
        ("rectangle_per_item", "per_sample_rectangle"),
        ("trapezoid_per_item_renorm", "torch_uncertainty_from_identity"),
    ):
        cases = [case for case in distinct if source in case]
        read_both = {f"{area} {convention}": read(source, area) for area in ("aurc", "augrc")}
        assert_agree(result, gather(cases, **read_both), 1e-12)
    rectangles = gather(distinct, population=read("per_sample_rectangle", "aurc"))
    assert_agree(result, rectangles, 1e-12)
    first = pl.col("selective_risk").first() * pl.col("coverage").first()
    begun = rc_curve(items.drop_nulls("loss"), by="case").group_by("case").agg(first)
    older = result.join(begun, on="case").select(
        "case", legacy=pl.col("aurc trapezoid_predicted") - pl.col("selective_risk")
    )
    known = [case for case in distinct if "legacy_aurc" in case["fd_shifts"]]
    assert_agree(older, gather(known, legacy=read("fd_shifts", "legacy_aurc")), 1e-10)


def test_ties_are_the_expectation_over_their_orders(peers, items):
    """Every order of tied items, as a case of its own with distinct confidences."""
    small = [case for case in peers["cases"] if not case["distinct_confidence"]]
    small = [case for case in small if len(case["loss"]) <= 6]
    orders = table(
        (f"{case['id']} {number}", loss, -rank)
        for case in small
        for number, order in enumerate(_orders(case))
        for rank, loss in enumerate(order)
    )
    assert orders["case"].n_unique() > 3 * len(small)
    metrics = areas("rectangle_per_item") | areas("trapezoid_per_item_renorm")
    each = wide(orders, **metrics).with_columns(pl.col("case").str.split(" ").list.first())
    expected = each.group_by("case").agg(pl.all().mean()).sort("case")
    assert_agree(wide(items, **metrics), expected, 1e-12)


def _orders(case):
    """The losses in all orders that keep the more confident item first."""
    for order in itertools.permutations(zip(case["confidence"], case["loss"], strict=True)):
        if all(a >= b for (a, _), (b, _) in itertools.pairwise(order)):
            yield [loss for _, loss in order]


def test_torch_uncertainty(peers):
    cases = peers["torch_uncertainty_cases"]
    assert all(case["distinct"] for case in cases)
    items = table(
        (case["id"], float(probs.index(max(probs)) != target), max(probs))
        for case in cases
        for probs, target in zip(case["probs"], case["target"], strict=True)
    )
    expected = gather(
        cases,
        **{
            f"{area} trapezoid_per_item_renorm": read("expected", area)
            for area in ("aurc", "augrc")
        },
        **{f"risk_at_{c:.2f}": read("expected", f"risk_at_cov_{c}") for c in (0.25, 0.5, 0.8, 1.0)},
    )
    risks = {f"risk_at_{c:.2f}": ef.risk_at(c)() for c in (0.25, 0.5, 0.8, 1.0)}
    result = wide(items, **areas("trapezoid_per_item_renorm"), **risks)
    assert_agree(result, expected, 2e-6)
    # Its own coverage at risk is null in admissible cases, so the direct answer is compared.
    limits = list(cases[0]["max_admissible_coverage"])
    result = wide(items, **{limit: ef.coverage_at_risk(float(limit))() for limit in limits})
    direct = gather(cases, **{limit: read("max_admissible_coverage", limit) for limit in limits})
    assert_agree(result, direct, 1e-12)


def test_identities(items):
    """Section 22 of the specification, on every case."""
    predicted = pl.col("loss").is_not_null()
    correct = pl.col("loss") == 0
    ranks = pl.col("confidence").rank().filter(correct & predicted)
    n_correct, n_wrong = (pl.col("loss").eq(value).sum() for value in (0, 1))
    auroc = (ranks.sum() - n_correct * (n_correct + 1) / 2) / (n_correct * n_wrong)
    by_confidence = pl.col("loss").sort_by("confidence", descending=True, nulls_last=True)
    known = items.group_by("case").agg(
        n=predicted.sum().cast(pl.Float64),
        cmax=predicted.mean(),
        first=by_confidence.first(),
        last=pl.col("loss").mean(),
        acc=(correct & predicted).sum() / predicted.sum(),
        auroc=auroc,
        binary=pl.col("loss").is_in([0.0, 1.0]).all(),
        distinct=pl.col("confidence").drop_nulls().is_duplicated().any().not_(),
    )
    normalized = {"aurc n": ef.aurc_normalised(), "augrc n": ef.augrc_normalised()}
    made = wide(items, **ALL_AREAS, **normalized).join(known, on="case")
    n, cmax, first, last = (pl.col(name) for name in ("n", "cmax", "first", "last"))
    total, among, torch, rectangle, _ = (
        (pl.col(f"aurc {c}"), pl.col(f"augrc {c}")) for c in CONVENTIONS
    )
    acc = pl.col("acc")
    everywhere = {
        "aurc total": (total[0], cmax * among[0]),
        "augrc total": (total[1], cmax**2 * among[1]),
        "aurc normalized": (pl.col("aurc n"), among[0]),
        "augrc normalized": (pl.col("augrc n"), among[1]),
        "augrc population": (pl.col("augrc population"), among[1]),
    }
    one_by_one = {
        "rectangle": (rectangle[0], among[0] + (last - first) / (2 * n)),
        "torch aurc": (torch[0], (among[0] - first / n) * n / (n - 1)),
        "torch augrc": (torch[1], (among[1] - first / (2 * n**2)) * n / (n - 1)),
    }
    ranking = {
        "auroc": (among[1], (1 - pl.col("auroc")) * acc * (1 - acc) + (1 - acc) ** 2 / 2),
    }
    for frame, identities in (
        (made, everywhere),
        (made.filter("distinct", n > 1), one_by_one),
        (made.filter("binary", pl.col("auroc").is_finite()), ranking),
    ):
        assert len(frame)
        for name, (left, right) in identities.items():
            worst = frame.select((left - right).abs().max()).item()
            assert worst <= 1e-12, name


def test_augrc_from_failure_auroc(peers, items):
    binary = [case for case in peers["cases"] if "augrc_from_failure_auroc" in case]
    expected = gather(binary, augrc=read("augrc_from_failure_auroc", "augrc"))
    assert_agree(wide(items, augrc=ef.augrc_normalised()), expected, 1e-12)


WORKED = {  # table at the end of section 22: AURC and AUGRC, ties in plateaus
    "trapezoid_total": (0.15, 0.10),
    "trapezoid_predicted": (0.1875, 0.15625),
    "optimal": (0.116667, 0.08),
}
ORDERED = {  # the same, ties correct-first and wrong-first
    "trapezoid_per_item_renorm": ((0.194444, 0.166667), (0.361111, 0.25)),
    "rectangle_per_item": ((0.208333, 0.1875), (0.333333, 0.25)),
}


def test_worked_example():
    def example(*confidences):
        rows = zip([0, 1, 0, 1, None], [*confidences, None], strict=True)
        return table(("example", *row) for row in rows)

    def values(items, *metrics):
        return [round(value, 6) for value in items.select(*metrics).row(0)]

    tied = example(0.9, 0.8, 0.8, 0.4)
    metrics = ALL_AREAS | {"aurc optimal": ef.aurc_optimal(), "augrc optimal": ef.augrc_optimal()}
    for name, wanted in WORKED.items():
        both = [metrics[f"{area} {name}"].alias(area) for area in ("aurc", "augrc")]
        assert values(tied, *both) == list(wanted)
    for name, wanted in ORDERED.items():
        both = [metrics[f"{area} {name}"].alias(area) for area in ("aurc", "augrc")]
        correct_first, wrong_first = example(0.9, 0.7, 0.8, 0.4), example(0.9, 0.8, 0.7, 0.4)
        assert values(correct_first, *both) == list(wanted[0])
        assert values(wrong_first, *both) == list(wanted[1])
        mean = [(a + b) / 2 for a, b in zip(*wanted, strict=True)]
        assert values(tied, *both) == pytest.approx(mean, abs=1e-6)
    assert values(tied, ef.aurc_achievable()) == [0.15]
