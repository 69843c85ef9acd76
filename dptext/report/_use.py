"""What a risk is good for, in three sentences that are true of every risk."""

from __future__ import annotations

from dptext.measures.bayes_risk import Risk
from dptext.report.figures import share


def good_for(risk: Risk) -> tuple[str, str, str]:
    """Return the sentences: one word, a person's whole file, health data."""
    success = share(risk.success)
    if risk.low is not None and risk.confidence is not None:
        success = f"at most {success} (with {share(risk.confidence)} confidence)"
    return (
        "Good for one word: of replaced words as frequent as in public text, the best "
        f"possible guess that looks at the output of one word alone is right for "
        f"{success}, without any output for {share(risk.baseline)}; the lower the "
        "first figure, the better what stood in one place can be denied.",
        "Not for a person's whole file: many words of it tell of each other, so that "
        "whoever looks at several at once may be right more often than this risk says, "
        "and a few right guesses may be enough to know the person.",
        "Not alone for health data or other data that can do harm: there, also take "
        "names and identifiers out, limit who gets the output, and let somebody who "
        "is responsible for privacy decide.",
    )
