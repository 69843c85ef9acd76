"""Exponential distributions over distances: P(y|x) ~ exp(-rate(x) min(t, truncation)).

t is the distance of the space or its square; rate and truncation follow from epsilon
(`distribution`). What they have in common is here, each in a module of its own:
`lists` of nearest words, exact `sampling`, `sums` of weights, `best_guesses` (the Bayes
risk), an `estimate` of it to search by, `recalibration`. `mechanism` joins them to base
classes: santext, tem and custext are each a metric or a score, and a guarantee.
"""
