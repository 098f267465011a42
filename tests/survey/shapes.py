"""One small survey in each of the shapes that tables of surveys have."""

import polars as pl

QUESTIONS = ("hot", "trust")
OPTIONS = {"hot": ["No", "Yes"], "trust": ["1 none", "2 some", "10 all"]}
KEYS = ["question_id", "segment_id"]

PEOPLE = pl.DataFrame(
    {
        "gender": ["f"] * 20 + ["m"] * 20,
        "age": (["18-25"] * 10 + ["65+"] * 10) * 2,
        "hot": (["Yes"] * 7 + ["No"] * 3) * 3 + ["No"] * 10,
        "trust": (["10 all"] * 2 + ["1 none"] * 5 + ["2 some"] * 3) * 2
        + (["1 none"] * 4 + ["2 some"] * 6) * 2,
    }
)
"""40 respondents, whose percentages have no more than one decimal. No man is of `10 all`."""


def counts():
    """A row per option that was chosen: `segment_id`, `question_id`, `option_label`, `count`."""
    return (
        PEOPLE.unpivot(
            QUESTIONS,
            index=["gender", "age"],
            variable_name="question_id",
            value_name="option_label",
        )
        .unpivot(["gender", "age"], index=["question_id", "option_label"], value_name="value")
        .with_columns(
            segment_id=pl.format("{}:{}", "variable", pl.col("value").str.strip_chars("+"))
        )
        .group_by(*KEYS, "option_label", maintain_order=True)
        .agg(count=pl.len().cast(pl.Int64))
    )


def shapes():
    """Each with the columns that hold answers. Only counts and respondents have sizes by nature."""
    labels = pl.DataFrame(
        [(question, label, place) for question, all_ in OPTIONS.items()
         for place, label in enumerate(all_)],
        schema=["question_id", "option_label", "option_index"],
        orient="row",
    )  # fmt: skip
    full = (
        counts()
        .select(KEYS)
        .unique(maintain_order=True)
        .join(labels, on="question_id", maintain_order="left")
        .join(counts(), on=[*KEYS, "option_label"], how="left", maintain_order="left")
        .with_columns(pl.col("count").fill_null(0))
        .with_columns(sample_size=pl.col("count").sum().over(KEYS))
        .with_columns(share=pl.col("count") / pl.col("sample_size"))
    )
    text = pl.format("{}%", (pl.col("share") * 100).round(2))
    lists = full.group_by(*KEYS, "sample_size", maintain_order=True).agg(
        options=pl.col("option_label"), actual=pl.col("share")
    )
    wide = full.with_columns(text=text).pivot(
        "option_label", index=[*KEYS, "sample_size"], values="text"
    )
    columns = tuple(label for all_ in OPTIONS.values() for label in all_)
    long_people = PEOPLE.with_row_index("respondent_id").unpivot(
        QUESTIONS,
        index=["respondent_id", "gender", "age"],
        variable_name="question_id",
        value_name="option_label",
    )
    described = [*KEYS, "option_label", "sample_size"]
    return {
        "lists": (lists, ()),
        "numbered shares": (full.drop("count"), ()),
        "percent texts": (full.select(*described, percent=text), ()),
        "percent signs in shares": (full.select(*described, share=text), ()),
        "percentages called shares": (full.select(*described, share=pl.col("share") * 100), ()),
        "counts of chosen options": (counts(), ()),
        "actual counts": (full.select(*described, actual="count"), ()),
        "a column per option": (wide, columns),
        "counts per option": (
            full.pivot("option_label", index=KEYS, values="count"),
            columns,
        ),
        "a row per respondent": (PEOPLE, QUESTIONS),
        "a row per answer": (long_people, ()),
    }
