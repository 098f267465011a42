"""A third language: its phrases in labels of either mode, and its words in prompts."""

import polars as pl
import pytest

import evalframe as ef
from evalframe.core.errors import ParameterError

GERMAN = ef.rag.Language(
    rejections=["unzureichende Informationen"],
    errors=["sachliche Fehler"],
    inability=["kann die Frage nicht beantworten"],
    absence=["Geht daraus nicht hervor"],
    other_errors=["sachlich falsch"],
    negations=["nicht "],
)
FRENCH = ef.rag.Language(
    rejections=["informations insuffisantes"],
    errors=["erreurs factuelles"],
    absence=["n'est pas indiqu\u00e9"],
)


def labels(language, *responses, mode="strict"):
    frame = pl.DataFrame({"dataset": "x", "answers": "gold", "response": responses})
    return ef.rag.label(frame, language=language, mode=mode)


def test_strict_labels_know_the_phrases_as_they_are_written():
    said = ["Es gibt unzureichende Informationen.", "Unzureichende informationen", "Gold!"]
    assert labels(None, *said)["label"].to_list() == [[0], [0], [1]]
    assert labels(GERMAN, *said)["label"].to_list() == [[-1], [0], [1]]
    flags = labels(GERMAN, "Es sind sachliche Fehler: gold", "Sachliche Fehler", "sachlich falsch")
    assert flags["factlabel"].to_list() == [1, 0, 0]
    # English and Chinese are known still.
    known = labels(GERMAN, "insufficient information", "\u4fe1\u606f\u4e0d\u8db3")
    assert known["label"].to_list() == [[-1], [-1]]


@pytest.mark.parametrize(
    ("language", "response", "tier", "rule"),
    [
        (GERMAN, "UNZUREICHENDE\n Informationen", 1, "unzureichende Informationen"),
        (GERMAN, "Ich kann die Frage nicht beantworten.", 2, "kann die Frage nicht beantworten"),
        (GERMAN, "Es geht daraus  nicht hervor.", 3, "Geht daraus nicht hervor"),
        (FRENCH, "Cela n\u2019est pas indique\u0301 ici", 3, "n'est pas indiqu\u00e9"),
        (FRENCH, "I cannot answer", 2, "cannot answer"),
        (GERMAN, "Bonn", 0, None),
    ],
)
def test_lenient_labels_know_all_phrases_however_they_are_written(language, response, tier, rule):
    row = labels(language, response, mode="lenient").row(0, named=True)
    assert (row["rejection_tier"], row["rejection_rule"]) == (tier, rule)
    assert row["label"] == [-1 if tier else 0]


@pytest.mark.parametrize(
    ("response", "tier", "rule"),
    [
        ("Das enth\u00e4lt Sachliche Fehler", 1, "sachliche Fehler"),
        ("Das ist SACHLICH falsch", 2, "sachlich falsch"),
        ("Das ist nicht sachlich falsch", 0, None),
        ("factually incorrect", 2, "factually incorrect"),
    ],
)
def test_lenient_errors(response, tier, rule):
    row = labels(GERMAN, response, mode="lenient").row(0, named=True)
    assert (row["error_tier"], row["error_rule"]) == (tier, rule)


def test_prompts_ask_in_the_language():
    instance = {"dataset": ["de", "zh"], "id": [0, 1], "query": ["Wer?"] * 2}
    lists = {"positive": [["Ann."]] * 2, "negative": [[]] * 2}
    shown = ef.rag.select_documents(pl.DataFrame(instance | lists))
    made = ef.rag.prompts(shown, language=GERMAN)
    assert made["prompt"].to_list() == ["Passages:\nAnn.\n\nQuestion: Wer?"] * 2
    for words in ("unzureichende Informationen", "sachliche Fehler"):
        assert made["system"].str.contains(words, literal=True).all()
    assert not made["system"].str.contains("insufficient information", literal=True).any()
    own = ef.rag.Language(
        rejections=["nein"],
        errors=["falsch"],
        template="{documents} Frage: {query}",
        system="Sonst: {rejection}, {error}",
    )
    first = ef.rag.prompts(shown, language=own).select("prompt", "system").row(0)
    assert first == ("Ann. Frage: Wer?", "Sonst: nein, falsch")
    assert ef.rag.prompts(shown, language=own, system="S")["system"][0] == "S"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"rejections": []}, "rejections of a language must be a list of at least one phrase"),
        ({"rejections": "nein"}, "none of them blank; got 'nein'"),
        ({"errors": [" "]}, "errors of a language must be a list of at least one phrase"),
        ({"absence": [1]}, "absence of a language must be a list of phrases"),
        ({"system": None}, "system of a language must be text"),
    ],
)
def test_what_is_no_language(entries, message):
    with pytest.raises(ParameterError, match=message):
        ef.rag.Language(**{"rejections": ["nein"], "errors": ["falsch"], **entries})
