"""Studies of people and of three models that play them, from a seed.

Everything is invented: the studies, their findings, the people and the models. Responses are made
of uniform draws by sums, products, quotients, square roots and comparisons, which IEEE arithmetic
defines to the last bit, and statistics are rounded as papers do: the same seed gives the same
tables on every machine.
"""
