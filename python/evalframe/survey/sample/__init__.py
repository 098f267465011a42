"""A small survey and the responses of three models from a seed.

Everything is invented: a town that does not exist, its people, and three models that were never
trained. Numbers are made of uniform draws by sums, products, quotients and comparisons, which IEEE
arithmetic defines to the last bit: the same seed gives the same tables on every machine.
"""

from evalframe.survey.sample.files import sample_files
from evalframe.survey.sample.responses import MODELS, sample_responses
from evalframe.survey.sample.survey import sample_survey

__all__ = ["MODELS", "sample_files", "sample_responses", "sample_survey"]
