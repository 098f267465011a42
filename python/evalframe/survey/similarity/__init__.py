"""Similarity of two distributions over the same options: one number for each pair of lists.

Every measure is an elementwise expression over two columns of lists, or of arrays of one size, and
gives one Float64 for each row. It is null if the lengths differ, or if a list is null, contains a
null, NaN, negative or infinite number, or only zeros. Numbers are normalised first; numbers whose
sum is too large for a float are scaled.
"""
