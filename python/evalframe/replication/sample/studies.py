"""The invented studies: their tests, and the effects among people."""

from __future__ import annotations

from typing import NamedTuple

_TWO, _THREE = ("lit", "dim"), ("high", "middle", "low")
_SHOWN, _ASKED = ("shown", "hidden"), ("asked", "not asked")


class Test(NamedTuple):
    """A test of an invented finding."""

    sub_study_id: str
    finding_id: str
    test_id: str
    test_type: str
    effect: float
    """Among people, in standard deviations; r for correlations; 0 for findings of no effect."""
    conditions: tuple[str, ...] = ()
    samples: str | None = None
    categories: tuple[float, ...] = ()


class Study(NamedTuple):
    """An invented study."""

    study_id: str
    domain: str
    tests: tuple[Test, ...]


STUDIES = (
    Study(
        "lantern-queue",
        "Judgement",
        (
            Test("waiting", "F1", "patience", "t-test", 0.7, _TWO),
            Test("waiting", "F1", "mood", "t-test", 0.4, _TWO),
            Test("guessing", "F1", "length", "f-test", 0.8, _TWO),
            Test("guessing", "F2", "length-by-mood", "correlation", 0.35),
        ),
    ),
    Study(
        "two-maps",
        "Judgement",
        (
            Test("main", "F1", "first-map", "binomial", 0.5),
            Test("main", "F2", "map-by-hint", "chi-square", 0.7, _SHOWN),
            Test("main", "F3", "certainty", "mannwhitneyu", 0.6, _SHOWN),
            Test("main", "F4", "recall", "t-test", 0.0, _SHOWN),
        ),
    ),
    Study(
        "jar-of-buttons",
        "Judgement",
        (
            Test("main", "F1", "anchor", "anova", 0.9, _THREE),
            Test("main", "F1", "anchor-ranks", "mannwhitneyu", 0.9, ("high", "low")),
            Test("main", "F2", "before-after", "t-test", 0.5, (), "paired"),
        ),
    ),
    Study(
        "orchard-split",
        "Bargaining",
        (
            Test("offers", "F1", "above-nothing", "t-test", 1.2, (), "one"),
            Test("offers", "F2", "offer-by-label", "t-test", 0.45, ("friend", "stranger")),
            Test("refusals", "F1", "refused", "chi-square", 0.6, ("low", "fair")),
            Test("refusals", "F2", "offer-and-trust", "spearman", 0.4),
        ),
    ),
    Study(
        "ferry-tickets",
        "Bargaining",
        (
            Test("main", "F1", "price", "anova", 0.6, _THREE),
            Test("main", "F2", "choice", "chi-square", 0.8, _THREE, None, (2.0, 1.0, 0.0)),
            Test("main", "F3", "regret", "t-test", 0.35, (), "paired"),
            Test("main", "F4", "haggling", "correlation", 0.0),
        ),
    ),
    Study(
        "well-and-rope",
        "Bargaining",
        (
            Test("round-1", "F1", "gives", "binomial", 0.35),
            Test("round-1", "F2", "gives-if-asked", "chi-square", 0.5, _ASKED),
            Test("round-2", "F1", "gives-more", "sign_test", 0.4),
            Test("round-2", "F2", "amount", "t-test", 0.55, _ASKED),
        ),
    ),
    Study(
        "new-neighbours",
        "Belonging",
        (
            Test("main", "F1", "warmth", "t-test", 0.65, ("same street", "other street")),
            Test("main", "F1", "help", "t-test", 0.5, ("same street", "other street")),
            Test("main", "F2", "distance", "pearson", -0.3),
            Test("main", "F3", "names", "chi-square", 0.0, ("same street", "other street")),
        ),
    ),
    Study(
        "choir-practice",
        "Belonging",
        (
            Test("main", "F1", "closeness", "f-test", 0.7, ("together", "alone")),
            Test("main", "F2", "volume", "mannwhitneyu", 0.4, ("together", "alone")),
            Test("main", "F3", "closeness-and-volume", "spearman", 0.45),
        ),
    ),
)
"""All studies, with every type of test and three findings of no effect."""
