"""The lenient rules, one text after the other, in plain Python."""

import re
import unicodedata
from collections import Counter

from evalframe.rag.languages import Phrases

REJECTION_TIERS, (FACTUAL_ERRORS, ERRORS) = Phrases.of().rejections, Phrases.of().errors

STOP = set(
    [
        "a",
        "an",
        "the",
        "of",
        "and",
        "in",
        "on",
        "at",
        "to",
        "is",
        "was",
        "were",
        "are",
        "for",
        "by",
        "with",
        "from",
    ]
)
EASTERN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]")


def plain(text):
    return unicodedata.normalize("NFKC", text).lower()


def normal(text):
    text = unicodedata.normalize("NFD", plain(text))
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", text)
    text = re.sub("['\u2018\u2019`\u00b4]", "", text)
    text = "".join(c if c.isalnum() or c in ".%+#" else " " for c in text)
    text = re.sub(r"(?<![0-9])\.|\.(?![0-9])", " ", text)
    return " ".join(text.split())


def glued(text, start, end):
    def digit(k):
        return 0 <= k < len(text) and text[k] in "0123456789"

    def letter(k):
        return 0 <= k < len(text) and text[k] in "abcdefghijklmnopqrstuvwxyz"

    def tied(here, step):
        near = here + step
        across = 0 <= near < len(text) and text[near] in ".," and digit(near + step)
        return (digit(here) and (digit(near) or across)) or (letter(here) and letter(near))

    return end > start and (tied(start, -1) or tied(end - 1, 1))


def occurs(part, text, guard):
    places = [k for k in range(len(text) - len(part) + 1) if text.startswith(part, k)]
    return any(not (guard and glued(text, k, k + len(part))) for k in places)


def overlaps(alias, text, threshold, slack):
    alias, text = ([t for t in s.split(" ") if t and t not in STOP] for s in (alias, text))
    if len(alias) < 2:
        return False
    digits = Counter(t for t in alias if re.search("[0-9]", t))
    for start in range(len(text)):
        window = Counter(text[start : start + len(alias) + slack])
        matched = sum((Counter(alias) & window).values())
        if matched >= threshold * len(alias) - 1e-9 and digits <= window:
            return True
    return False


def rule(alias, strict, response, rules, threshold=0.8, slack=2, guard=False):
    """The first rule that finds the alias."""
    asked, said = normal(alias), normal(response)
    eastern = EASTERN.search(asked)
    if "substring" in rules and occurs(alias.lower(), strict.lower(), guard):
        return "substring"
    if eastern:
        found = occurs(asked.replace(" ", ""), said.replace(" ", ""), guard)
    else:
        found = asked != "" and f" {asked} " in f" {said} "
    if "normalized" in rules and found:
        return "normalized"
    if "token_overlap" in rules and not eastern and overlaps(asked, said, threshold, slack):
        return "token_overlap"
    return None


def first(phrases, *texts):
    return next((p for p in phrases if any(p in text for text in texts)), None)


def stands(phrase, text):
    """Whether an occurrence is not directly negated."""
    for found in re.finditer(f"(?={re.escape(phrase)})", text):
        before = text[: found.start()]
        near = any(negation in before[-12:] for negation in ("no ", "没有", "不存在"))
        if not near and "not contain any " not in before[-25:]:
            return True
    return False


def decide(dataset, answers, response, rules, *, guard=False, max_tier=3):
    """All columns of a response, in their order."""
    chinese = "zh" in dataset
    strict = response.replace(" ", "") if chinese else response
    text = re.sub(r"\s+", " ", re.sub("[\u2018\u2019]", "'", plain(response)))
    texts = (text, re.sub(r"\s+", "", text)) if chinese else (text,)
    one = first(REJECTION_TIERS[0], *texts) or first(REJECTION_TIERS[0], strict)
    fired = None
    if first(REJECTION_TIERS[0], strict) is None:
        order = ("substring", "normalized", "token_overlap", None)
        fired = [
            min(
                [rule(a, strict, response, rules, guard=guard) for a in g] + [None], key=order.index
            )
            for g in answers
        ]
    good = bool(fired) and None not in fired
    tier, phrase = (1, one) if one and not good else (0, None)
    for number, phrases in enumerate(REJECTION_TIERS[1:max_tier], 2):
        if not tier and not good and first(phrases, *texts):
            tier, phrase = number, first(phrases, *texts)
    flag = first(FACTUAL_ERRORS, *texts) or first(FACTUAL_ERRORS, strict)
    other = next((p for p in ERRORS if any(stands(p, t) for t in texts)), None)
    error, error_rule = (1, flag) if flag else (2, other) if other else (0, None)
    label = [-1] if tier else [int(name is not None) for name in fired]
    return label, int(error > 0), fired, tier, phrase, error, error_rule
