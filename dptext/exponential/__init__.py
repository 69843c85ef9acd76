"""Exponential distributions over distances: P(y|x) ~ exp(-rate(x) min(t, truncation)).

t is the distance of the space or its square; rate and truncation follow from epsilon.
Here is what santext, tem and custext have in common: `distribution`, with the lists of
nearest words and exact draws; `losses` of all pairs, by which a scale is raised; and
`mechanism`, the base classes with the Bayes risk and an estimate of it to search by.
"""
