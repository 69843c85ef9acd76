"""How good is a private text: what it keeps, and what it gives away.

All of it is computed from private text and is for the owner of the text only. Figures
about the mechanism alone are in dptext.measures.
"""

OWNER = "computed from private text: for the owner of the text only"
