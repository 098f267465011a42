"""The English of the sample. Every name, date and number is invented."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalframe.rag.sample.language import Attribute, Language, Phrases, Subject, Value

if TYPE_CHECKING:
    from evalframe.rag.sample.choices import Choices

_NAMES = tuple(
    start + end
    for start in ("Velm", "Tarr", "Oskel", "Brynd", "Quess", "Lyth", "Morvel", "Drav", "Istel")
    for end in ("ora", "inholt", "arren", "emoor", "aville", "ondale", "ystone")
)
_GIVEN = ("Iven", "Maelis", "Torben", "Sanneke", "Joren", "Tamsel", "Lioren", "Rovi")
_FAMILY = ("Torresk", "Vellane", "Ambroke", "Dessoway", "Mirrowen", "Kestavin", "Wexmoor")
_PLACES = ("Ferry", "Landing", "Cross", "Hollow", "Mere", "Weir")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ACCENTS = str.maketrans("eo", "éö")


def _person(choices: Choices) -> Value:
    given, family = choices.one(_GIVEN), choices.one(_FAMILY)
    name = f"{given} {family}"
    return Value((name,), rewritten=(name.translate(_ACCENTS), f"{family}, {given}"))


def _date(choices: Choices) -> Value:
    day, month, year = choices.whole(1, 28), choices.one(_MONTHS), choices.whole(1921, 2019)
    return Value(
        (f"{month} {day}, {year}", f"{day} {month} {year}"),
        rewritten=(f"{day} {month}, in {year}",),
        glued=f"1{day} {month} {year}" if day < 9 else None,
    )


def _number(low: int, high: int, choices: Choices) -> Value:
    number = choices.whole(low, high)
    plain, written = str(number), f"{number:,}"
    if plain == written:
        return Value((plain,), glued=f"1{plain}")
    if choices.chance(0.5):
        return Value((written, plain), glued=f"1{written}")
    return Value((written,), rewritten=(plain,), glued=f"1{written}")


def _money(choices: Choices) -> Value:
    millions = choices.whole(12, 980)
    return Value(
        (f"{millions} million dollars", f"${millions} million"),
        rewritten=(f"{millions} million US dollars",),
        glued=f"1,{millions} million dollars" if millions > 99 else f"1{millions} million dollars",
    )


def _town(choices: Choices) -> Value:
    name = f"{choices.one(_GIVEN)}'s {choices.one(_PLACES)}"
    return Value((name,), rewritten=(name.replace("'", "\u2019"),))


_few, _many = partial(_number, 21, 98), partial(_number, 1_200, 96_000)

_LANDMARK = Subject(
    names=("the {name} Bridge", "the {name} Observatory", "the {name} Opera House"),
    attributes=(
        Attribute(
            _person,
            "who designed {subject}",
            (
                "{subject} was designed by {value}.",
                "{value} is the architect of {subject}.",
                "the plans for {subject} were drawn by {value}.",
            ),
        ),
        Attribute(
            _date,
            "when did {subject} open",
            (
                "{subject} opened on {value}.",
                "the opening of {subject} took place on {value}.",
                "{subject} has received visitors since {value}.",
            ),
        ),
        Attribute(
            _money,
            "how much did {subject} cost",
            (
                "{subject} cost {value}.",
                "it took {value} to build {subject}.",
                "the bill for {subject} came to {value}.",
            ),
        ),
        Attribute(
            _few,
            "how many stairs does {subject} have",
            (
                "{subject} has {value} stairs.",
                "whoever climbs {subject} counts {value} stairs.",
                "there are {value} stairs in {subject}.",
            ),
        ),
    ),
    asides=(
        "{subject} is lit at night.",
        "painters like to draw {subject}.",
        "schools visit {subject} in spring.",
        "a leaflet about {subject} is sold at the gate.",
    ),
)
_COMPANY = Subject(
    names=("{name} Optics", "{name} Freight", "{name} Robotics"),
    attributes=(
        Attribute(
            _person,
            "who leads {subject}",
            (
                "{subject} is led by {value}.",
                "{value} is the chief executive of {subject}.",
                "the board of {subject} has put {value} in charge.",
            ),
        ),
        Attribute(
            _town,
            "where does {subject} have its headquarters",
            (
                "{subject} has its headquarters in {value}.",
                "the head office of {subject} stands in {value}.",
                "{subject} is run from {value}.",
            ),
        ),
        Attribute(
            _many,
            "how many people does {subject} employ",
            (
                "{subject} employs {value} people.",
                "{value} people work for {subject}.",
                "the staff of {subject} numbers {value}.",
            ),
        ),
        Attribute(
            _date,
            "when was {subject} founded",
            (
                "{subject} was founded on {value}.",
                "the founders of {subject} signed its charter on {value}.",
                "{subject} has been in business since {value}.",
            ),
        ),
    ),
    asides=(
        "{subject} trains apprentices.",
        "analysts expect {subject} to grow.",
        "{subject} sponsors a rowing club.",
        "customers of {subject} praise its patience.",
    ),
)
_TOWN = Subject(
    names=("{name}", "New {name}", "{name} Bay"),
    attributes=(
        Attribute(
            _person,
            "who governs {subject}",
            (
                "the mayor of {subject} is {value}.",
                "{value} was elected mayor of {subject}.",
                "{subject} is governed by mayor {value}.",
            ),
        ),
        Attribute(
            _many,
            "how many inhabitants does {subject} have",
            (
                "{subject} has {value} inhabitants.",
                "{value} people live in {subject}.",
                "the census found {value} residents in {subject}.",
            ),
        ),
        Attribute(
            _few,
            "how many seats does {subject} have in its council",
            (
                "the council of {subject} has {value} seats.",
                "{value} seats make up the council of {subject}.",
                "in the council of {subject} there are {value} seats.",
            ),
        ),
    ),
    asides=(
        "{subject} is known for its pears.",
        "a slow train stops in {subject}.",
        "the market of {subject} is held on the quay.",
        "{subject} has a small museum of clocks.",
    ),
)
_PRIZE = Subject(
    names=("the {name} Prize for Glass Art", "the {name} Medal", "the {name} Poetry Prize"),
    attributes=(
        Attribute(
            _person,
            "who won {subject}",
            (
                "{subject} went to {value}.",
                "{value} won {subject}.",
                "the jury of {subject} chose {value}.",
            ),
        ),
        Attribute(
            _date,
            "when was {subject} awarded",
            (
                "{subject} was awarded on {value}.",
                "the ceremony of {subject} was held on {value}.",
                "{value} was the evening of {subject}.",
            ),
        ),
        Attribute(
            _town,
            "where was {subject} handed over",
            (
                "the ceremony of {subject} was in {value}.",
                "{value} hosted the ceremony of {subject}.",
                "guests of {subject} met in {value}.",
            ),
        ),
    ),
    asides=(
        "{subject} is given in alternate years.",
        "the jury of {subject} meets in private.",
        "{subject} comes with a bronze lamp.",
        "a short film about {subject} was shown on television.",
    ),
)
ENGLISH = Language(
    names=_NAMES,
    subjects=(_LANDMARK, _COMPANY, _TOWN, _PRIZE),
    phrases=Phrases(
        preface="going by the passages:",
        rejections=(
            "there is insufficient information in the passages to say.",
            "I have insufficient information about {subject}.",
        ),
        doubts=("I have insufficient information to be sure, but I would say:",),
        near_rejections=(
            "the passages do not mention this about {subject}.",
            "Insufficient information.",
            "there is no information on this in the passages.",
            "I am unable to answer this question about {subject}.",
        ),
        errors=(
            "the passages contain factual errors.",
            "beware, I see factual errors in what the passages say about {subject}.",
        ),
        near_errors=(
            "the passages give incorrect information about {subject}.",
            "what the passages say is factually incorrect.",
        ),
        denials=("I found no factual errors in the passages.",),
        correction="it should read:",
    ),
    pronoun="it",
    between=", ",
    before_last=", and ",
    question_mark="?",
    space=" ",
)
