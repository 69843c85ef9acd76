"""Evaluation on private texts: utility, and success of attacks.

All figures are computed from private text and are for its owner only. Figures
about the mechanism alone are in dptext.measures.
"""

OWNER = "computed from private text: for the owner of the text only"
