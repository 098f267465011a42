"""Questions, documents and responses from a seed, for the four abilities.

Everything is invented: bridges, companies, towns, prizes, and three models. Choices are computed
from uniform draws by sums, products and comparisons, which IEEE arithmetic defines to the last bit:
a seed gives the same tables on every machine.
"""
