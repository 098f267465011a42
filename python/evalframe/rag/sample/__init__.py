"""Questions, documents and responses from a seed, for the four abilities.

Everything is invented: bridges, companies, towns, prizes, and three models. Choices are computed
from uniform draws by sums, products and comparisons, which IEEE arithmetic defines to the last bit:
a seed gives the same tables on every machine.
"""

from evalframe.rag.sample.questions import sample_instances, sample_instances_int
from evalframe.rag.sample.responses import MODELS, sample_files, sample_responses

__all__ = [
    "MODELS",
    "sample_files",
    "sample_instances",
    "sample_instances_int",
    "sample_responses",
]
