"""What the invented survey asks, and whom."""

from __future__ import annotations

from typing import NamedTuple

_HOW_OFTEN = ("Never", "Rarely", "Sometimes", "Often", "Daily")
_AGREE = ("Strongly disagree", "Disagree", "Neither", "Agree", "Strongly agree")
_TRUST = ("No trust at all", "Little trust", "Some trust", "Full trust")
_SAFE = ("Not at all safe", "Rather unsafe", "Rather safe", "Very safe")


class Question(NamedTuple):
    """A question, and what people think of it."""

    text: str
    options: tuple[str, ...]
    level: float
    """Where the answers of all lie among the options, from 0 to 1."""
    tilt: float
    """How far segments at the ends of opinion are from that."""


QUESTIONS = (
    Question("How often do you take the tram in Marrowby?", _HOW_OFTEN, 0.55, 0.5),
    Question("Marrowby needs a second bridge over the Elm.", _AGREE, 0.6, 0.3),
    Question("Do you trust the town council to mend the roads?", _TRUST, 0.35, -0.4),
    Question("Should the market close to cars?", ("Yes", "No", "I don't know"), 0.3, 0.5),
    Question("Have you ever been to the repair café?", ("Yes", "No"), 0.45, -0.4),
    Question(
        "Which of these should the town pay for first?",
        ("A library", "A swimming pool", "A music school", "Trees", "Lighting", "A dog park"),
        0.4,
        0.4,
    ),
    Question("How safe do you feel in Marrowby at night?", _SAFE, 0.5, 0.3),
    Question("The new bins are an improvement.", _AGREE, 0.5, -0.5),
    Question("How often do you read the Marrowby Courier?", _HOW_OFTEN, 0.4, -0.6),
    Question("Would you welcome a night bus?", ("Yes", "Perhaps", "No"), 0.3, 0.45),
    Question("Do you trust the Courier to report fairly?", _TRUST, 0.55, 0.3),
    Question("Would you move away if you could?", ("Yes", "No", "I don't know"), 0.6, 0.35),
)

ROUNDS = {"MB1": (0, 1, 2, 3, 4, 5, 6, 7), "MB2": (0, 3, 7, 8, 9, 10, 11)}
"""The questions of each round; three are asked twice."""


class Segment(NamedTuple):
    """A group: its category, its value, its opinion from -1 to 1, and its size in each round."""

    attribute: str
    value: str
    opinion: float
    sizes: tuple[int, ...]


SEGMENTS = (
    Segment("ageGroup", "18-34", 0.7, (180, 165)),
    Segment("ageGroup", "35-59", 0.1, (260, 290)),
    Segment("ageGroup", "60+", -0.7, (95, 120)),
    Segment("gender", "Female", 0.15, (270, 300)),
    Segment("gender", "Male", -0.15, (250, 265)),
    Segment("country", "Arlen", 0.4, (400, 380)),
    Segment("country", "Brevia", -0.3, (64, 81)),
    Segment("country", "Costrana", -0.6, (31, 40)),
    Segment("country", "Dunmere", 0.9, (18, 27)),
    Segment("country", "Eastmark", -0.9, (12, 14)),
)
