"""The contract of predictions: their own rules, and those of agreement with a survey.

Remedies list rounds, segments and questions that are not in the survey, with suggestions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalframe.core.contract import Column, Contract, Rule
from evalframe.core.errors import ContractError, did_you_mean
from evalframe.jobs.survey import KEYS, RUNS, SurveyJob
from evalframe.survey.contract import predictions_contract
from evalframe.survey.scoring import STATUSES
from evalframe.survey.surveys.segments import canonical_id
from evalframe.survey.surveys.tables import Survey, as_distributions

if TYPE_CHECKING:
    from evalframe.jobs.rows import Rows
    from evalframe.jobs.survey.surveys import OpenedSurvey


ANSWERS = ("segment_attribute", "sample_size", "n_options", "options", "actual")
"""Columns that predictions get from the survey."""

SEGMENT = "segment_id"

_SPELLED, _ATTRIBUTE, _SIZE, _OWN = ":spelled", ":attribute", ":size", ":own"
_APART = "\x1f"


@dataclass(frozen=True)
class Truth:
    """The distributions of a survey, by the keys that predictions share with it.

    Attributes:
        distributions: One row per question and segment, the segment by its present name.
        rounds: The round, if predictions and survey have it.
        added: The round, if only the survey has it.
    """

    survey: Survey
    distributions: pl.DataFrame
    rounds: list[str]
    added: list[str]

    @classmethod
    def of(cls, opened: OpenedSurvey, columns: Sequence[str], *, normalised: bool) -> Truth:
        """The truth for predictions with these columns.

        Percentages that are not `normalised` are for dtef-app, which divides by their sum when it
        scores: the last digit decides how scores are rounded. A question that a segment answers
        twice, without rounds or under an old and a new name of the segment, is an error.
        """
        table = as_distributions(opened.survey, normalised=normalised)
        spelled = table.with_columns(canonical_id(), pl.col(SEGMENT).alias(_SPELLED))
        has_rounds = opened.has_rounds and "round" in columns
        rounds = ["round"] if has_rounds else []
        added = ["round"] if opened.has_rounds and not has_rounds else []
        truth = cls(opened.survey, spelled, rounds, added)
        repeated = spelled.filter(pl.struct(truth.keys).is_duplicated())
        if len(repeated):
            question, segment = repeated.select("question_id", SEGMENT).row(0)
            raise ContractError(
                f"question {question!r} of segment {segment!r} is in the survey more than once"
                + (
                    f", in rounds {', '.join(repeated['round'].unique().sort())}; add a column "
                    "'round' to the predictions"
                    if added
                    else "; keep one of them"
                )
            )
        return truth

    @property
    def keys(self) -> list[str]:
        """Columns that name a distribution."""
        return [*self.rounds, SEGMENT, "question_id"]

    @property
    def question(self) -> list[str]:
        """Columns that name a question."""
        return [*self.rounds, "question_id"]

    def attached(self, predictions: pl.LazyFrame) -> pl.LazyFrame:
        """Predictions with the answers of the survey and its spelling of segments.

        Shares with labelled options are sorted like the survey's. If the question is null, as for
        prompts about several, only columns of the segment are added.
        """
        labelled = {"options", "predicted"} <= {*predictions.collect_schema()}
        own = predictions.rename({"options": _OWN}) if labelled else predictions
        rows = own.drop(ANSWERS, strict=False).with_columns(
            *(pl.col(name).cast(pl.String) for name in (*self.rounds, "question_id")),
            canonical_id(pl.col(SEGMENT).cast(pl.String)),
        )
        table = self.distributions.lazy()
        segment = [*self.rounds, SEGMENT]
        groups = table.group_by(segment).agg(
            pl.col(_SPELLED).first(),
            pl.col("segment_attribute").first().alias(_ATTRIBUTE),
            pl.col("sample_size").max().alias(_SIZE),
        )
        answers = table.select(*self.keys, *self.added, *ANSWERS)
        joined = rows.join(answers, on=self.keys, how="left", maintain_order="left").join(
            groups, on=segment, how="left", maintain_order="left"
        )
        if labelled:
            joined = joined.with_columns(predicted=_in_order()).drop(_OWN)
        return joined.with_columns(
            pl.coalesce(_SPELLED, SEGMENT).alias(SEGMENT),
            pl.coalesce("segment_attribute", _ATTRIBUTE),
            pl.coalesce("sample_size", _SIZE),
        ).drop(_SPELLED, _ATTRIBUTE, _SIZE)


def _in_order() -> pl.Expr:
    """Predicted shares in the order of the survey's options, if both have labels.

    Sorting both lists of labels gives the position of each option of the survey among the own ones.
    """
    places = pl.col(_OWN).list.eval(pl.element().arg_sort())
    ranks = pl.col("options").list.eval(pl.element().arg_sort().arg_sort())
    wanted = places.list.gather(ranks, null_on_oob=True)
    moved = pl.col("predicted").list.gather(wanted, null_on_oob=True)
    return pl.when(pl.col(_OWN) != pl.col("options")).then(moved).otherwise("predicted")


def named(parts: Sequence[str]) -> pl.Expr:
    """These keys as one string, in predictions as in the truth; null if one is null."""
    keys = {name: pl.col(name).cast(pl.String) for name in parts}
    if SEGMENT in keys:
        keys[SEGMENT] = canonical_id(keys[SEGMENT])
    return pl.concat_str(*keys.values(), separator=_APART)


_LISTED = 3
"""Unknown names in a message."""

_SLACK = 0.1
"""Relative deviation of a sum from 100 or 1 that is allowed, as in responses."""


def contract_of(job: SurveyJob, predictions: Rows, value: str, truth: Truth | None) -> Contract:
    """The contract of a job's predictions, of which `value` is scored."""
    schema = predictions.schema
    # Prompts about several questions have scores, but no question.
    several = value == "score" and "prompt_id" in schema
    from_survey = () if truth is None else ANSWERS
    by = [name for name in job.by if name not in (*KEYS, *from_survey)]
    apart = [name for name in (*RUNS, *["question_id"] * several) if name in schema]
    contract = predictions_contract(
        round="round" if "round" in schema else None,
        question_id="prompt_id" if several else "question_id",
        response="response" if value == "response" else None,
        context_count="context_count" if "context_count" in schema else None,
        by=list(dict.fromkeys((*by, *apart))),
    )
    columns, rules = list(contract.columns), list(contract.rules)
    is_answer = pl.lit(value=True)
    if "status" in schema:
        status = pl.col("status").cast(pl.String)
        is_answer = status.fill_null("ok") == "ok"
        rules.append(
            Rule(
                f"status is one of {', '.join(STATUSES)}",
                status.is_in(STATUSES),
                ("status",),
                "correct 'status', or drop the column: it follows from the predictions",
            )
        )
    if value == "score":
        columns.append(Column("score", "number", nullable=True))
    if value == "predicted" and job.rules == "documented":
        rules += _of_distributions(is_answer)
    if truth is not None:
        rules += rules_of_names(predictions, truth)
        checked = value if value == "predicted" and job.rules == "documented" else None
        rules += _of_options(truth, checked, is_answer)
        if value == "predicted" and "options" in schema:
            rules.append(_of_labels(truth))
    key = contract.key if job.key is None else job.key
    return replace(contract, columns=tuple(columns), rules=tuple(rules), key=key)


_OR_UNREAD = "or set 'status' to 'unparsed', which scores 0"


def _of_distributions(is_answer: pl.Expr) -> Iterator[Rule]:
    """Rules of distributions; dtef-app accepts any numbers."""
    shares = pl.col("predicted")
    finite = shares.list.eval(pl.element().is_finite().fill_null(value=False)).list.all()
    negative = shares.list.min() < 0
    total = shares.list.sum()
    whole = [total.is_between(sum_ * (1 - _SLACK), sum_ * (1 + _SLACK)) for sum_ in (1, 100)]
    columns = ("predicted",)
    yield Rule(
        "predicted has numbers only",
        finite | ~is_answer,
        columns,
        f"replace null, NaN and infinity by shares, {_OR_UNREAD}",
    )
    yield Rule(
        "predicted is not negative",
        ~negative | ~is_answer,
        columns,
        f"correct the shares, {_OR_UNREAD}",
    )
    yield Rule(
        "predicted sums to about 1 or about 100",
        pl.any_horizontal(whole) | ~finite | negative | ~is_answer,
        columns,
        f"correct the shares; counts are to be divided by their sum; {_OR_UNREAD}",
    )


def _of_labels(truth: Truth) -> Rule:
    """Rule that labels of options are those of the survey, in any order."""
    labels = truth.distributions.select(
        named(truth.question).alias("question"),
        pl.col("options").list.sort().list.join(_APART).alias("labels"),
    ).unique("question")
    known = named(truth.question).replace_strict(
        labels["question"], labels["labels"], default=None, return_dtype=pl.String
    )
    return Rule(
        "options are those of the question in the survey, in any order",
        pl.col("options").list.sort().list.join(_APART) == known,
        (*truth.question, "options"),
        "correct the labels of the options, in the predictions or in the survey",
    )


def _of_options(truth: Truth, value: str | None, is_answer: pl.Expr) -> Iterator[Rule]:
    """Rules that numbers of options are those of the survey."""
    counts = truth.distributions.select(
        named(truth.question).alias("question"), "n_options"
    ).unique("question")
    known = named(truth.question).replace_strict(
        counts["question"], counts["n_options"], default=None, return_dtype=pl.Int64
    )
    yield Rule(
        "n_options is that of the question in the survey",
        pl.col("n_options") == known,
        (*truth.question, "n_options"),
        "correct 'n_options', or name the survey that was asked from",
    )
    if value is not None:
        yield Rule(
            f"{value} has a share for each option of the question",
            (pl.col(value).list.len() == known) | ~is_answer,
            (*truth.question, value),
            "correct the shares, or set 'status' to 'length_mismatch', which scores 0",
        )


class _Kind(NamedTuple):
    """One kind of name in predictions."""

    name: str
    keys: list[str]
    """Columns of the name."""
    after: tuple[str, ...]
    """Kinds that must match before this one is checked."""
    sentence: str
    remedy: str


_ASIDE = "or have these rows set aside (--on-invalid quarantine)"


def _kinds(truth: Truth) -> list[_Kind]:
    correct = f"correct {{}}, {_ASIDE}"
    add = f"add {{}} to the survey, {_ASIDE}"
    segment, question = [*truth.rounds, SEGMENT], truth.question
    kinds = [
        _Kind("round", truth.rounds, (), "round is one of the survey", correct),
        _Kind("segment", segment, ("round",), "segment_id is one of the survey", correct),
        _Kind("question", question, ("round",), "question_id is one of the survey", correct),
        _Kind(
            "answer",
            truth.keys,
            ("segment", "question"),
            "the survey has the answers of the segment to the question",
            add,
        ),
    ]
    return [kind for kind in kinds if kind.keys]


def rules_of_names(predictions: Rows, truth: Truth) -> list[Rule]:
    """Rules that rounds, segments and questions are those of the survey.

    The predictions are read once, since remedies list the unknown names.
    """
    if {*truth.keys} - {*predictions.schema}:
        return []  # the contract reports missing columns
    parts = predictions.collect(partial(_counted, truth.keys))
    names = parts.group_by(truth.keys).agg(pl.col("len").sum())
    matches: dict[str, pl.Expr] = {}
    rules = []
    for kind in _kinds(truth):
        values = truth.distributions.select(named(kind.keys)).to_series().unique()
        matches[kind.name] = named(kind.keys).is_in(values.implode())
        excused = (~matches[name] for name in kind.after if name in matches)
        holds = pl.any_horizontal(matches[kind.name], *excused)
        unknown = names.filter(~holds).group_by(kind.keys).agg(pl.col("len").sum())
        if len(unknown):
            remedy = kind.remedy.format(_listed(truth, kind, unknown.sort(kind.keys)))
            rules.append(Rule(kind.sentence, holds, tuple(kind.keys), remedy))
    return rules


def _counted(keys: Sequence[str], table: pl.LazyFrame) -> pl.LazyFrame:
    return table.group_by(pl.col(keys).cast(pl.String)).len()


def _listed(truth: Truth, kind: _Kind, unknown: pl.DataFrame) -> str:
    """The first unknown names, each with its rows and a suggestion."""
    first = unknown.head(_LISTED).iter_rows(named=True)
    more = len(unknown) - _LISTED
    names = ", ".join(_described(truth, kind, row) for row in first)
    return names + (f" and {more:,} more" if more > 0 else "")


def _described(truth: Truth, kind: _Kind, row: dict[str, Any]) -> str:
    rows = f"{row['len']:,} row{'s' * (row['len'] > 1)}"
    in_round = f" in {row['round']}" if truth.rounds and kind.name != "round" else ""
    if kind.name == "answer":
        return f"{row[SEGMENT]!r} to {row['question_id']!r}{in_round} ({rows})"
    column = kind.keys[-1]
    return f"{row[column]!r}{in_round} ({rows}{_suggestion(truth, column, row)})"


def _suggestion(truth: Truth, column: str, row: dict[str, Any]) -> str:
    """Other rounds of the survey with the name, or the most similar name in the round."""
    table, name = truth.distributions, row[column]
    elsewhere = table.filter(pl.col(column) == name)["round"].unique(maintain_order=True)
    if len(elsewhere):
        more = ", ..." * (len(elsewhere) > _LISTED)
        return f"; it is in {', '.join(elsewhere.head(_LISTED))}{more}"
    here = (
        table.filter(pl.col("round") == row["round"])
        if column != "round" and "round" in row
        else table
    )
    hint = did_you_mean(name, here[column].unique(maintain_order=True))
    return f"; d{hint.strip().removeprefix('D')}" if hint else ""
