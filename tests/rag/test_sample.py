"""The sample says what its docstrings say, has the troubles of real data, and is in `data/`."""

import re
import unicodedata
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import evalframe as ef
from evalframe.core.errors import ParameterError
from evalframe.core.samples import content_hash
from evalframe.rag.sample.questions import sample_instances, sample_instances_int
from evalframe.rag.sample.responses import MODELS, sample_files, sample_responses

DATA = Path(__file__).parents[2] / "data"
FILES = {file.name: file for file in sample_files()}
GENERATORS = (sample_instances, sample_instances_int, sample_responses)

label, response, dataset = pl.col("label"), pl.col("response"), pl.col("dataset")
good = label.list.contains(1) & ~label.list.contains(0)
rejected = label.list.contains(-1)
flagged = pl.col("factlabel") == 1
default = dataset.is_in(["en", "zh"])
counterfactual = dataset.str.ends_with("_fact") & (pl.col("passage_num") > 0)


@pytest.fixture(scope="module")
def instances():
    return pl.read_parquet(DATA / "rag_instances.parquet")


@pytest.fixture(scope="module")
def instances_int():
    return pl.read_parquet(DATA / "rag_instances_int.parquet")


@pytest.fixture(scope="module")
def responses():
    return ef.rag.label(pl.read_parquet(DATA / "rag_responses.parquet"))


@pytest.fixture(scope="module")
def many():
    return ef.rag.label(sample_responses(questions=150, seed=1))


def test_the_manifest_names_the_calls_that_make_the_files():
    for made, file in zip(GENERATORS, FILES.values(), strict=True):
        assert file.generator == f"{made.__module__.rpartition('.')[0]}.{made.__name__}" + (
            "(questions=30, seed=0)"
        )


def test_rows_and_columns(instances, instances_int, responses):
    counts = {"en": 30, "zh": 30, "en_fact": 20, "zh_fact": 20}
    assert dict(instances.group_by("dataset").len().rows()) == counts
    assert dict(instances_int.group_by("dataset").len().rows()) == {"en_int": 20, "zh_int": 20}
    assert instances.columns == instances_int.columns
    assert instances.schema["positive"] == pl.List(pl.String)
    assert instances_int.schema["positive"] == pl.List(pl.List(pl.String))
    assert len(responses) == len(MODELS) * (60 * 6 + 40 * 3 + 40 * 2)
    settings = ["noise_rate", "passage_num", "correct_passage_rate"]
    assert responses.select("model", "dataset", *settings, "id").is_unique().all()
    shared = ["dataset", "id", "query", "answers", "fake_answers"]
    asked = pl.concat([instances.select(shared), instances_int.select(shared)])
    assert_frame_equal(
        responses.select(shared).unique(), asked, check_row_order=False, check_exact=True
    )


def holds(text, aliases):
    return any(alias.lower() in text.lower() for alias in aliases)


@pytest.mark.parametrize("seed", range(3))
def test_passages_hold_the_answer_or_none_of_it(seed):
    single, several = sample_instances(seed=seed), sample_instances_int(seed=seed)
    rows = [row | {"positive": [row["positive"]]} for row in single.iter_rows(named=True)]
    rows += several.iter_rows(named=True)
    for row in rows:
        assert len(row["positive"]) == len(row["answers"]) in (1, 2, 3)
        for aliases, passages in zip(row["answers"], row["positive"], strict=True):
            assert 2 <= len(passages) == len(set(passages)) <= 8
            assert all(holds(passage, aliases) for passage in passages)
        every = [alias for group in row["answers"] for alias in group]
        assert 5 <= len(row["negative"]) == len(set(row["negative"])) <= 12
        assert not any(holds(passage, every) for passage in row["negative"])


@pytest.mark.parametrize("seed", range(3))
def test_wrong_passages_are_the_positive_ones_with_the_fake_answer(seed):
    rows = sample_instances(seed=seed)
    has = rows.select(pl.col("fake_answers", "positive_wrong").is_not_null())
    wanted = rows.select(dataset.str.contains("_fact")).to_series()
    assert all((column == wanted).all() for column in has)
    for row in rows.filter(wanted).iter_rows(named=True):
        (aliases,) = row["answers"]
        for right, wrong in zip(row["positive"], row["positive_wrong"], strict=True):
            swapped = {
                right.replace(alias, fake) for alias in aliases for fake in row["fake_answers"]
            }
            assert wrong in swapped
            assert wrong != right


def test_answers_have_the_quirks_of_real_ones(instances):
    aliases = instances.select("dataset", group=pl.col("answers").list.first())
    assert aliases["group"].list.len().unique().sort().to_list() == [1, 2]
    spaced = pl.col("group").list.eval(pl.element().str.contains(" ")).list.all()
    assert aliases.filter(dataset.str.starts_with("zh"), spaced).height
    fakes = instances.drop_nulls("fake_answers").select("answers", "fake_answers").rows()
    assert any(holds(fake, answers[0]) for answers, fakes in fakes for fake in fakes)


def accuracy(frame, *by):
    """The share of answers that the strict rules find good, of those that arrived."""
    rates = frame.group_by(*by).agg(rate=good.mean()).sort(*by)
    return rates.group_by(by[0], maintain_order=True).agg("rate").rows()


def test_accuracy_falls_with_noise(responses, many):
    rates = [0.0, 0.4, 0.8, 1.0]
    for frame in (responses.filter(pl.col("noise_rate").is_in(rates)), many):
        for _, falling in accuracy(frame.filter(default), "model", "noise_rate"):
            assert falling == sorted(falling, reverse=True)
            assert falling[0] > 0.8
            assert falling[-2] > 0.45
            assert falling[-1] < 0.15
    integration = many.filter(dataset.str.ends_with("_int"))
    for _, falling in accuracy(integration, "model", "noise_rate"):
        assert 0.7 > falling[0] > falling[-1] > 0


def test_models_differ(many):
    hard = many.filter(default, pl.col("noise_rate") == 0.8)
    rates = [rate for _, (rate,) in accuracy(hard, "model")]
    assert [*many["model"].unique(maintain_order=True)] == [*MODELS]
    assert rates == sorted(rates)


def test_wrong_documents_mislead(many):
    facts = many.filter(dataset.str.ends_with("_fact"))
    for _, (without, misled) in accuracy(facts, "model", "passage_num"):
        assert without > misled + 0.3


def test_questions_are_clusters(many):
    means = many.filter(default).group_by("dataset", "id").agg(good.mean(), n=good.count())
    independent = many.filter(default).select(good.cast(float).var()).item() / means["n"].mean()
    assert means["label"].var() > 1.5 * independent


def plain(text):
    """Without accents, curly quotes, wide letters, commas and spaces."""
    split = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    return re.sub(r"[\u0300-\u036f'\u2019\u201c\u201d·, ]", "", split).lower()


def test_every_trouble_occurs(responses):
    no_answer = ~good & ~rejected
    said = responses.filter(response.is_not_null())
    rows = said.filter(label == [0]).select("answers", "response").rows()
    unlike = [text for (group,), text in rows if holds(plain(text), map(plain, group))]
    glued = [
        text
        for (group,), text in said.filter(label == [1]).select("answers", "response").rows()
        if not any(re.search(rf"(?<![\d,]){re.escape(a)}", text, re.IGNORECASE) for a in group)
    ]
    troubles = {
        "failed": responses.filter(response.is_null()),
        "rejected in English": said.filter(rejected, response.str.contains("insufficient")),
        "rejected in Chinese": said.filter(rejected, response.str.contains("信息不足")),
        "rejected with a capital": said.filter(no_answer, response == "Insufficient information."),
        "nearly rejected": said.filter(no_answer, response.str.contains("not mention|没有提到")),
        "rejected, yet answered": said.filter(rejected, response.str.contains("would|会说")),
        "partly right": said.filter(label.list.contains(1), label.list.contains(0)),
        "with accents": [text for text in unlike if re.search("[éö]", text)],
        "with curly quotes": [text for text in unlike if re.search("[\u2019\u201c]", text)],
        "with wide digits": [text for text in unlike if re.search("[\uff10-\uff19]", text)],
        "in another order": said.filter(no_answer, response.str.contains(r"\d \w+, in \d")),
        "glued to a digit": glued,
        "flagged and corrected": said.filter(flagged, good),
        "flagged only": said.filter(flagged, no_answer),
        "flagged and rejected": said.filter(flagged, rejected),
        "flagged by denying": said.filter(flagged, response.str.contains("no factual|没有在")),
        "nearly flagged": said.filter(~flagged, response.str.contains("incorrect|信息有误|不符")),
    }
    assert [name for name, found in troubles.items() if not len(found)] == []
    assert responses["response"].null_count() < 0.04 * len(responses)


def test_judges_are_asked_where_the_abilities_need_them(responses):
    asked = (default & (pl.col("noise_rate") == 1)) | counterfactual
    wanted = responses.select((asked & response.is_not_null()).alias("evaluation"))
    assert_frame_equal(responses.select(pl.col("evaluation").is_not_null()), wanted)
    verdicts = {"not addressed": default, "has identified": counterfactual}
    for key, where in verdicts.items():
        told = pl.col("evaluation").str.contains(key, literal=True)
        assert 0 < responses.filter(where).select(told.mean()).item() < 0.5
        assert not responses.filter(~where).select(told.any()).item()
    assert not responses["evaluation"].str.contains("Yes").any()


def test_a_judge_agrees_mostly_with_the_phrase(many):
    told = pl.col("evaluation").str.contains("not addressed", literal=True)
    judged = many.filter(default, pl.col("noise_rate") == 1, response.is_not_null())
    assert 0.8 < judged.filter(rejected).select(told.mean()).item() < 1
    assert 0 < judged.filter(~rejected).select(told.mean()).item() < 0.4


@pytest.mark.parametrize("make", GENERATORS)
def test_seed_decides(make):
    tables = [make(questions=3, seed=seed) for seed in (7, 7, 8)]
    first, again, other = (content_hash(table) for table in tables)
    assert first == again != other


@pytest.mark.parametrize("make", GENERATORS)
def test_a_larger_sample_only_adds_rows(make):
    small, large = make(questions=3), make(questions=6)
    first = pl.col("id") < pl.when(default).then(3).otherwise(2)
    assert_frame_equal(small, large.filter(first))


@pytest.mark.parametrize("make", [*GENERATORS, sample_files])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"questions": 0}, "questions is 0; a sample needs at least one"),
        ({"seed": -1}, "seed is -1; choose an integer from 0"),
    ],
)
def test_arguments_out_of_range(make, arguments, message):
    with pytest.raises(ParameterError, match=message):
        make(**arguments)
