"""The tables of the family: tests, participants' responses, and the design of tests on them.

Only columns of the table are checked; null and NaN are missing values and break no rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from evalframe.core.contract import Column, Contract, Rule, each_once
from evalframe.core.errors import MissingColumnsError
from evalframe.core.frames import like_input
from evalframe.core.tables import lazy
from evalframe.core.typing import Frame
from evalframe.replication.agreement.directions import both_sides_rule
from evalframe.replication.effects.kinds import (
    form_of,
    kind_of,
    kind_of_design,
    needs_type,
    usual_names,
)
from evalframe.replication.effects.types import SIDES, Side
from evalframe.replication.possible_tests import BySchema, TestsContract, possible

KEYS = ("study_id", "sub_study_id", "finding_id", "test_id")
"""Columns that identify a test."""

SAMPLES = ("independent", "paired", "one")
"""Kinds of samples of a t-test."""

_A_FINDING = Rule(
    "a study has findings",
    pl.col("finding_id").is_not_null(),
    ("study_id", "finding_id"),
    "name the finding; drop a study without findings, which has no score",
)

_SLACK = 1e-6

_TEXTS = ("domain", "test_type")

_SHARES = ("pi", "pi_plus", "pi_minus", "pi_zero", "p_value", "p0")
_COUNTS = ("n1", "n2", "n_total", "n", "k", "a", "b", "c", "d", "prior_odds")
_NUMBERS = ("stat", "df1", "df2", "df", "direction", "estimate", "std_error", *_COUNTS, *_SHARES)


def replication_contract(
    *,
    model: str | None = "model",
    sub_study_id: str | None = "sub_study_id",
    test_id: str | None = "test_id",
    by: str | Sequence[str] = (),
) -> Contract:
    """The contract of a table of tests: one row per model, study, sub-study, finding and test.

    Statistics, posteriors and scores have fixed names and are optional. Impossible statistics break
    a rule, as in `with_bayes_factors`: no degree of freedom, a correlation beyond 1, a U above
    `n1 n2`, more successes than trials. The type of a test must be known, see `known_test_types`,
    except in rows that already have a Bayes factor, posterior or PAS, and effects.

    Args:
        model: Column of the model; None for a table of one model, or of humans alone.
        sub_study_id: Column of the part of the study, null or not; None for a table without it.
        test_id: Column of the test within its finding; None for a table of one test each.
        by: Additional columns that identify a run; null is a value like any other.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> ef.replication.replication_contract(sub_study_id=None, by="temperature").key
        ('model', 'study_id', 'finding_id', 'test_id', 'temperature')
    """
    extra = (by,) if isinstance(by, str) else tuple(by)
    columns = _keys(model, sub_study_id, test_id)
    key = dict.fromkeys([*(column.name for column in columns), *extra])
    columns += [Column(name, "string", required=False, nullable=True) for name in _TEXTS]
    numbers = ["pas", "test_weight", "finding_weight"]
    numbers += [f"{name}_{side}" for side in SIDES for name in _NUMBERS]
    columns += [Column(name, "number", False, nullable=True, finite=False) for name in numbers]
    columns += [
        Column(f"independent_{side}", "boolean", required=False, nullable=True) for side in SIDES
    ]
    columns += [Column(name, nullable=True, finite=False) for name in extra]
    typed = _known_type(kind_of("test_type"))
    directions = tuple(f"direction_{side}" for side in SIDES)
    rules = [
        _A_FINDING,
        BySchema(typed.name, typed.holds, typed.columns, typed.remedy, _where_needed),
        _share("pas"),
        *map(_not_negative, ("test_weight", "finding_weight")),
        BySchema("directions", pl.lit(value=True), directions, "give both", _both_sides),
    ]
    for side in SIDES:
        rules += _side_rules(side)
    return TestsContract("tests", each_once(columns), tuple(rules), tuple(key))


def responses_contract(
    *,
    model: str | None = "model",
    sub_study_id: str | None = "sub_study_id",
    test_id: str | None = "test_id",
    participant: str = "participant_id",
    condition: str | None = "condition",
    value: str = "value",
    value_2: str | None = None,
    weight: str | None = None,
    by: str | Sequence[str] = (),
) -> Contract:
    """The contract of participants' responses: one row per test, participant and condition.

    Args:
        model: Column of the model; None for a table of one model, or of humans.
        sub_study_id: As in `replication_contract`.
        test_id: As in `replication_contract`.
        participant: Column of the participant, within the study.
        condition: Column of the condition, null for tests of a single sample; None for
            a table without it.
        value: Column of the measure, null without an answer.
        value_2: Column of the second of paired or correlated measures, or None.
        weight: Column of the number of times that a participant is included: whole numbers from 0.
        by: Additional columns that identify a run; null is a value like any other.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> ef.replication.responses_contract(model=None, test_id=None).key
        ('study_id', 'sub_study_id', 'finding_id', 'participant_id', 'condition')
    """
    extra = (by,) if isinstance(by, str) else tuple(by)
    columns = _keys(model, sub_study_id, test_id)
    within = [participant, condition] if condition else [participant]
    key = dict.fromkeys([*(column.name for column in columns), *extra, *within])
    columns.append(Column(participant, "key", meaning="the participant"))
    columns += [Column(condition, "key", nullable=True)] if condition else []
    # Yes and no are measures too.
    measures = [name for name in (value, value_2) if name]
    columns += [Column(name, ("number", "boolean"), nullable=True) for name in measures]
    columns += [Column(weight, "number", meaning="how often it counts")] if weight else []
    columns += [Column(name, nullable=True, finite=False) for name in extra]
    rules = [_A_FINDING]
    if weight:
        is_whole = pl.col(weight) == pl.col(weight).round()
        remedy = f"let {weight!r} say how often the participant counts"
        rules += [_not_negative(weight), Rule(f"{weight} is whole", is_whole, (weight,), remedy)]
    return Contract("responses", each_once(columns), tuple(rules), tuple(key))


def designs_contract(
    *, sub_study_id: str | None = "sub_study_id", test_id: str | None = "test_id"
) -> Contract:
    """The contract of a table of designs: one row per test on participants' responses.

    Args:
        sub_study_id: As in `replication_contract`.
        test_id: As in `replication_contract`.

    Returns:
        The contract, for `ef.validate`; its `key` are the columns that identify a row.

    Examples:
        >>> import evalframe as ef
        >>> [rule.name for rule in ef.replication.designs_contract().rules][4:6]
        ['two samples have two conditions', 'several samples have two conditions or more']
    """
    kind = kind_of_design("test_type")
    samples = samples_of_design()
    # A column of nulls only has no lists.
    no_list = pl.lit(None, pl.List(pl.Null))
    conditions, categories = (pl.coalesce(n, no_list) for n in ("conditions", "categories"))
    many = conditions.list.len().fill_null(0)
    two = (kind == "rank") | ((kind == "t") & (samples == "independent"))
    lists = [
        Column(name, "values", required=False, nullable=True, finite=False)
        for name in ("conditions", "categories")
    ]
    numbers = [Column(name, "number", False, nullable=True) for name in ("p0", "null_value")]
    samples_column = Column("samples", "string", required=False, nullable=True)
    keys = _keys(None, sub_study_id, test_id)
    columns = [*keys, Column("test_type", "string"), samples_column, *lists, *numbers]
    name_them = "name them in 'conditions', in the order that gives the statistic its sign"
    rules = (
        _A_FINDING,
        _known_type(kind),
        Rule(
            "samples are independent, paired or one",
            pl.col("samples").is_in(SAMPLES),
            ("samples",),
            f"write one of {', '.join(SAMPLES)}, or null for what the type says, or independent",
        ),
        Rule(
            "samples are those that the test type says",
            pl.col("samples") == samples,
            ("test_type", "samples"),
            "correct one of them, or set samples to null",
        ),
        Rule(
            "two samples have two conditions",
            ~two | (many == 2),
            ("test_type", "samples", "conditions"),
            name_them,
        ),
        Rule(
            "several samples have two conditions or more",
            ~kind.is_in(["f", "chi_square"]) | (many >= 2),
            ("test_type", "conditions"),
            name_them,
        ),
        Rule(
            "conditions differ",
            (conditions.list.n_unique() == many) & ~conditions.list.contains(pl.lit(None)),
            ("conditions",),
            "name each condition once, and none null",
        ),
        Rule(
            "categories differ, and are two or more",
            (categories.list.n_unique() == categories.list.len()) & (categories.list.len() >= 2),
            ("categories",),
            "name each value once, or leave null for [1, 0]",
        ),
        Rule(
            "p0 lies between 0 and 1",
            (_value("p0") > 0) & (_value("p0") < 1),
            ("p0",),
            "give the share under the null hypothesis, or null for 0.5",
        ),
    )
    key = dict.fromkeys(column.name for column in keys)
    return Contract("design", tuple(columns), rules, tuple(key))


def samples_of_design() -> pl.Expr:
    """The samples of each test of a design, by its type or else by `samples`."""
    says = form_of("test_type")
    named = pl.when(says.is_in(SAMPLES)).then(says)
    return pl.coalesce(named, pl.col("samples").cast(pl.String), pl.lit("independent"))


@like_input
def missing_tests(tests: Frame, *, model: str = "model") -> pl.LazyFrame:
    """Tests that some models have and others lack.

    Args:
        tests: One row per model and test, identified by those of `study_id`, `sub_study_id`,
            `finding_id` and `test_id` that are columns of the table.
        model: Column of the model.

    Returns:
        The model and the test, sorted; no rows if all models have all tests.

    Raises:
        MissingColumnsError: The column of the model or `study_id` is missing.

    Examples:
        >>> import polars as pl, evalframe as ef
        >>> tests = pl.DataFrame({"model": ["a", "a", "b"], "study_id": ["s1", "s2", "s1"]})
        >>> ef.replication.missing_tests(tests).rows()
        [('b', 's2')]
    """
    table = lazy(tests)
    columns = table.collect_schema().names()
    keys = [name for name in KEYS if name in columns]
    if missing := {model, KEYS[0]} - {*columns}:
        raise MissingColumnsError.of("missing_tests", missing, columns)
    models, every = table.select(model).unique(), table.select(keys).unique()
    on = [model, *keys]
    tested = table.select(on)
    pairs = models.join(every, how="cross")
    return pairs.join(tested, on=on, how="anti", nulls_equal=True).sort(on)


def _keys(model: str | None, sub_study_id: str | None, test_id: str | None) -> list[Column]:
    columns = [Column(model, "key")] if model else []
    columns.append(Column("study_id", "key"))
    columns += [Column(sub_study_id, "key", nullable=True)] if sub_study_id else []
    columns.append(Column("finding_id", "key", nullable=True))
    return columns + ([Column(test_id, "key", nullable=True)] if test_id else [])


def _value(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Float64).fill_nan(None)


def _known_type(kind: pl.Expr) -> Rule:
    holds = kind.is_not_null() | pl.col("test_type").is_null()
    remedy = f"write one of {usual_names()}"
    return Rule("test_type is known", holds, ("test_type",), remedy)


def _share(name: str) -> Rule:
    return Rule(f"{name} lies in [0, 1]", _value(name).is_between(0, 1), (name,), f"correct {name}")


def _not_negative(name: str) -> Rule:
    return Rule(f"{name} is not negative", _value(name) >= 0, (name,), f"correct {name!r}")


def _where_needed(rule: Rule, schema: pl.Schema) -> Iterator[Rule]:
    """Rows that already have all that is computed from the type need no known type."""
    yield Rule(rule.name, rule.holds | ~needs_type(schema), rule.columns, rule.remedy)


def _both_sides(_: Rule, schema: pl.Schema) -> Iterator[Rule]:
    """The rule of `with_posteriors` for directions, if the table has them."""
    rule = both_sides_rule(schema)
    if rule is not None:
        yield rule


def _side_rules(side: Side) -> list[Rule]:
    """The rules for the columns of a side."""
    names = {name: f"{name}_{side}" for name in _NUMBERS}
    posteriors = [names[name] for name in ("pi_plus", "pi_minus", "pi_zero")]
    total = pl.sum_horizontal(map(_value, posteriors), ignore_nulls=False)

    return [
        *(_share(names[name]) for name in _SHARES),
        *(_not_negative(names[name]) for name in (*_COUNTS, "std_error")),
        Rule(
            f"posteriors sum to 1 ({side})",
            (total - 1).abs() <= _SLACK,
            tuple(posteriors),
            "correct the posteriors",
        ),
        Rule(
            f"{names['direction']} is 1, -1 or 0",
            _value(names["direction"]).is_in([1.0, -1.0, 0.0]),
            (names["direction"],),
            "write the sign of the effect",
        ),
        BySchema(
            f"statistics are possible ({side})",
            pl.lit(value=True),
            ("test_type", names["stat"]),
            "correct them",
            partial(possible, side=side),
        ),
    ]
