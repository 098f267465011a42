"""Options of a question in the order of its first segment, by their labels."""

import polars as pl
import pytest

from evalframe.core.errors import ContractError, ParameterError
from evalframe.survey.surveys.assembling import as_survey
from evalframe.survey.surveys.tables import as_distributions, as_long


def lists(*options):
    """A question and its segments, whose shares are the same by place."""
    size = max(len(each or ()) for each in options)
    rows = [
        ("q", f"gender:{name}", each, [size / (2 * size - 1)] + [1 / (2 * size - 1)] * (size - 1))
        for name, each in zip("abc", options, strict=False)
    ]
    schema = {"question_id": pl.String, "segment_id": pl.String, "options": pl.List(pl.String)}
    return pl.DataFrame(rows, schema={**schema, "actual": pl.List(pl.Float64)}, orient="row")


def test_shares_go_with_their_labels():
    table = pl.DataFrame(
        {
            "question_id": ["q"] * 3,
            "segment_id": ["gender:a", "gender:b", "gender:c"],
            "options": [["x", "y", "z"], ["z", "x", "y"], ["y", "z", "x"]],
            "actual": [[0.1, 0.2, 0.7], [0.7, 0.1, 0.2], [0.2, 0.7, 0.1]],
        }
    )
    found = as_distributions(table)
    assert found["actual"].to_list() == [[0.1, 0.2, 0.7]] * 3
    assert found["options"].to_list() == [["x", "y", "z"]] * 3
    assert found["segment_id"].to_list() == table["segment_id"].to_list()
    long = as_survey(table).responses.filter(option_label="z")
    assert long["share"].to_list() == [0.7] * 3


def test_long_tables_too():
    two = pl.DataFrame(
        {
            "question_id": ["q"] * 4,
            "segment_id": ["gender:a", "gender:a", "gender:b", "gender:b"],
            "option_index": [0, 1, 0, 1],
            "option_label": ["Yes", "No", "No", "Yes"],
            "share": [0.9, 0.1, 0.9, 0.1],
        }
    )
    found = as_long(two).select("segment_id", "option_index", "option_label", "share")
    assert found.rows() == [
        ("gender:a", 0, "Yes", 0.9),
        ("gender:a", 1, "No", 0.1),
        ("gender:b", 0, "Yes", 0.1),
        ("gender:b", 1, "No", 0.9),
    ]
    coded = two.with_columns(pl.col("option_label").cast(pl.Categorical))
    assert as_survey(coded).responses.equals(as_survey(two).responses)
    other = two.with_columns(option_label=pl.Series(["Yes", "No", "Yes", "zz"]))
    with pytest.raises(ContractError, match=r"'gender:b' .* has \['Yes', 'zz'\], but \['Yes'"):
        as_survey(other)


@pytest.mark.parametrize(
    "options", [["Yes", "zz"], ["Yes", "Yes"], ["Yes", None]], ids=["other", "twice", "partly"]
)
def test_other_labels_are_named(options):
    with pytest.raises(ContractError, match="differ between segments in 1 distributions: question"):
        as_distributions(lists(["Yes", "No"], options))


def test_lists_without_labels_are_in_the_order_of_the_others():
    found = as_survey(lists(None, ["Yes", "No"], ["No", "Yes"])).responses
    assert found["option_label"].to_list() == ["Yes", "No"] * 3
    assert found["option_index"].to_list() == [0, 1] * 3
    shares = found.filter(option_label="Yes")["share"].to_list()
    assert shares == pytest.approx([2 / 3, 2 / 3, 1 / 3])


def test_rounds_have_orders_of_their_own():
    both = pl.concat([lists(["Yes", "No"]).with_columns(round=pl.lit("1")),
                      lists(["No", "Yes"]).with_columns(round=pl.lit("2"))])  # fmt: skip
    found = as_distributions(both)
    assert found["options"].to_list() == [["Yes", "No"], ["No", "Yes"]]


def test_a_table_of_questions_in_another_order():
    table = lists(["Yes", "No"])
    moved = pl.DataFrame({"question_id": ["q"], "options": [["No", "Yes"]]})
    with pytest.raises(ContractError, match="another order than the distributions: q"):
        as_survey(table, questions=moved)
    longer = pl.DataFrame({"question_id": ["q"], "options": [["Yes, often", "No, never"]]})
    labels = as_survey(table, questions=longer).responses["option_label"].to_list()
    assert labels == ["Yes, often", "No, never"]


def test_options_may_be_arrays():
    table = lists(["Yes", "No"], ["No", "Yes"])
    arrays = table.with_columns(pl.col("options").cast(pl.Array(pl.String, 2)))
    assert as_distributions(arrays).equals(as_distributions(table))
    with pytest.raises(ParameterError, match="options must be lists of texts"):
        as_distributions(table.with_columns(options=pl.lit("Yes")))


@pytest.mark.parametrize("sizes", [[None, 50], [50, None], [50, 50], [50.0, 50.0]])
def test_a_distribution_has_one_sample_size(sizes):
    table = pl.DataFrame(
        {
            "question_id": ["q"] * 2,
            "segment_id": ["gender:a"] * 2,
            "option_index": [0, 1],
            "share": [0.5, 0.5],
            "sample_size": sizes,
        }
    )
    assert as_distributions(table)["sample_size"].to_list() == [50]
    assert as_survey(table).segments["sample_size"].to_list() == [50]
    two = table.with_columns(sample_size=pl.Series([50, 60]))
    with pytest.raises(ContractError, match="sample_size is one number for a question and segment"):
        as_distributions(two)
    with pytest.raises(ContractError, match="sample_size is a whole number: not so in 2 of 2 rows"):
        as_distributions(table.with_columns(sample_size=33.5))
