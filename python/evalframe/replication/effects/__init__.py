"""Effect sizes of tests, their standard errors and sample sizes, and equivalents on one scale.

Elementwise expressions with one convention each: d is positive if the first group is higher, a log
odds ratio if the first group has the first outcome more often, a rank-biserial correlation if the
first group is ahead; chances of binomial tests are proportions. Impossible input (sizes of 0 or
less, |r| > 1, k > n, negative cells, infinite statistics) gives null.
"""
