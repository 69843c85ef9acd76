"""Measures of private texts: utility, and success of attacks.

All of it is computed from private text and is for the owner of the text only. Figures
about the mechanism alone are in dptext.measures.
"""

OWNER = "computed from private text: for the owner of the text only"
