"""The epsilon at which a reader of whole texts finds so many words of public ones."""

from __future__ import annotations

from dataclasses import replace

from dptext import pipeline
from dptext.budgets import uniform
from dptext.errors import InputError
from dptext.evaluation.rows import texts_of
from dptext.measures import calibrate, context_risk
from dptext.measures.calibrate import Crossing
from dptext.measures.context_risk import Reading
from dptext.profile import Part, Profile
from dptext.randomness import RunKey
from dptext.types import Lexicon

# Words of the corpus that are read at each epsilon, about.
_WORDS = 50_000


def calibrated(
    recipe: Profile,
    lexicon: Lexicon,
    target: float,
    reader: str,
    text: str,
    fields: tuple[str, ...],
) -> Crossing:
    """Return the epsilon of a profile at which a reader finds target of a public text.

    Of a large corpus the first 50,000 words are read. Raises UsageError and InputError.
    """
    texts: list[str] = []
    for batch in texts_of([text], fields, None):
        texts += batch
        if sum(map(len, texts)) > 6 * _WORDS:
            break

    def read(epsilon: float) -> Reading:
        params = uniform.Params(epsilon=epsilon)
        ready = pipeline.build(replace(recipe, budget=Part("uniform", params)), lexicon)
        # Public texts: a fixed seed, so that the search can be repeated.
        randomness = ready.randomness(RunKey.from_seed(0))
        results = context_risk.measure(
            ready, [context_risk.named(ready, reader)], [texts], randomness
        )
        if not results:
            raise InputError(f"{text}: no words of the lexicon to read")
        return results[0]

    ready = pipeline.build(recipe, lexicon)
    return calibrate.search_by_reader(read, target, ready.budget.description.high)
