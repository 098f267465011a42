"""Realistic records from a seed: a language model fills in the PHQ-8 for interviewed participants.

Everything is made of uniform draws by sums, products, quotients, square roots and rounding, which
IEEE arithmetic defines to the last bit: the same seed gives the same table on every machine.
Nothing here is taken from real people.
"""

from evalframe.selective.sample.files import sample_files
from evalframe.selective.sample.items import MODES, sample_items, sample_participants
from evalframe.selective.sample.run import sample_document, sample_signals

__all__ = [
    "MODES",
    "sample_document",
    "sample_files",
    "sample_items",
    "sample_participants",
    "sample_signals",
]
