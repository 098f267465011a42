"""Questions, documents and responses from a seed, for the four abilities.

Everything is invented: bridges, companies, towns and prizes that do not exist, and three models
that were never trained. Choices are made of uniform draws by sums, products and comparisons, which
IEEE arithmetic defines to the last bit: the same seed gives the same tables on every machine.
"""

from evalframe.rag.sample.files import sample_files
from evalframe.rag.sample.instances import sample_instances, sample_instances_int
from evalframe.rag.sample.responses import MODELS, sample_responses

__all__ = [
    "MODELS",
    "sample_files",
    "sample_instances",
    "sample_instances_int",
    "sample_responses",
]
