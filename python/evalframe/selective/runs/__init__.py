"""Run documents of the original system: read into item tables, and written from them.

`rules="reference"` differs from `rules="documented"` in these points only:

| in the document | documented | reference, as the original |
|---|---|---|
| a prediction or label that is true or false | an error | 1 or 0 |
| a label that is no number where the prediction is null | an error | null: nobody reads it |
| a signal that is written as NaN | an error | as if the item had no such key |
| an experiment without `results` | an error | nobody was attempted |
| a second experiment of the same mode | the first is taken, with a warning | silently |
| a participant with several successful entries | all are kept, `read_run` warns | silently |

Alike in both, where the original looks only at what it needs: without `signals=` every known signal
that occurs must be a number or null, predictions of participants who are not evaluated must be
numbers, too, and ids must fit into 64 bits.
"""

from evalframe.selective.runs.reader import Run, RunWarning, open_run, read_run
from evalframe.selective.runs.table import run_of_items
from evalframe.selective.runs.writer import encode_run, write_run

__all__ = [
    "Run",
    "RunWarning",
    "encode_run",
    "open_run",
    "read_run",
    "run_of_items",
    "write_run",
]
