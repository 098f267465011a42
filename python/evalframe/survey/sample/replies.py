"""What a simulated model writes, given the percentages that it has in mind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTERS = "abcdef"

N_INDIVIDUALS = 20
"""How many letters a reply of individuals has."""

FORMS = (
    "bracket",
    "reasoned",
    "line",
    "lettered",
    "keyed",
    "individuals",
    "named",
    "closed",
    "table",
    "quoted",
    "cited",
    "short",
    "refused",
    "error",
    "empty",
    "failed",
)
"""Ways to answer: six that the original parser reads, five that it does not, five failures."""


def reply(
    form: str, percents: Sequence[int], options: Sequence[str], question_id: str
) -> str | None:
    """The response in one of the forms; None for a request that failed."""
    listed = ", ".join(map(str, percents))
    quoted = ", ".join(f'"{percent}"' for percent in percents)
    letters = ", ".join(f'"{letter}"' for letter in _individuals(percents))
    texts = {
        "bracket": f"[{listed}]",
        "reasoned": f"This group leans a little to one side.\nDISTRIBUTION: [{listed}]",
        "line": "My estimate:\n" + ", ".join(f"{percent}%" for percent in percents),
        "lettered": _lines("{letter}. {option}: {percent}%", percents, options),
        "keyed": f'```json\n{{"{question_id}": [{listed}]}}\n```',
        "individuals": f"[{letters}]",
        "named": _lines("- {option}: {percent}%", percents, options),
        "closed": _lines("{letter}) {option} {percent}%", percents, options),
        "table": "| Option | Percent |\n|---|---|\n"
        + _lines("| {option} | {percent} |", percents, options),
        "quoted": f"[{quoted}]",
        "cited": f"From what is known [1], the answers were [{listed}].",
        "short": f"[{', '.join(map(str, percents[1:]))}]",
        "refused": "I cannot say how a group of people would answer this.",
        "error": "<<error>> the model did not respond",
        "empty": " ",
    }
    return texts.get(form)


def _lines(template: str, percents: Sequence[int], options: Sequence[str]) -> str:
    """A line for each option."""
    rows = zip(LETTERS, options, percents, strict=False)
    return "\n".join(
        template.format(letter=letter, option=option, percent=percent)
        for letter, option, percent in rows
    )


def _individuals(percents: Sequence[int]) -> list[str]:
    """Letters of individuals, as near to the percentages as so many of them can be."""
    ends = [sum(percents[: j + 1]) for j in range(len(percents))]
    places = [(2 * k + 1) * ends[-1] for k in range(N_INDIVIDUALS)]
    return [LETTERS[sum(place >= 2 * N_INDIVIDUALS * end for end in ends[:-1])] for place in places]
