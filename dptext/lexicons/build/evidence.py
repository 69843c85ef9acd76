"""What the database says of words: how often glosses use them, how they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from dptext.lexicons.build.wordnet import Synset, WordNet
from dptext.tokens import kinds
from dptext.tokens.regex import key_of, kind_of, split

# An example is running English, a definition is not.
EXAMPLE_WEIGHT = 2.0
DEFINITION_WEIGHT = 1.0
# A lemma of several words ("New York") speaks for its parts.
PART_WEIGHT = 0.5


@dataclass(slots=True)
class Evidence:
    """Weighted counts by key, and of each key its written forms.

    used: gloss tokens; part_of: lemmas of several words that hold the word;
    written: (key, form) -> weight, sentence beginnings left out.
    """

    used: Counter[str] = field(default_factory=Counter)
    part_of: Counter[str] = field(default_factory=Counter)
    written: dict[str, Counter[str]] = field(default_factory=dict)

    def write(self, form: str, weight: float) -> None:
        """Count one written form."""
        self.written.setdefault(key_of(form), Counter())[form] += weight  # type: ignore[assignment]

    def display(self, key: str) -> str:
        """Return the commonest written form; of equals the first in the alphabet."""
        forms = self.written.get(key)
        if not forms:
            return key
        return min(forms, key=lambda form: (-forms[form], form))


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text as the splitter of dptext sees them."""
    for piece in split(text):
        if kind_of(piece) == kinds.WORD:
            yield piece.strip().replace("’", "'")


def divided(gloss: str) -> tuple[list[str], list[str]]:
    """Divide a gloss into definitions and quoted examples."""
    parts = gloss.split('"')
    return parts[::2], parts[1::2]


def gather(wordnet: WordNet) -> Evidence:
    """Count the words of all glosses and lemmas."""
    evidence = Evidence()
    for synset in wordnet.synsets:
        _gather_gloss(synset.gloss, evidence)
        _gather_lemmas(synset, evidence)
    for (lemma, _), senses in wordnet.senses.items():
        tagged = sum(count for _, count in senses)
        if tagged and " " not in lemma:
            for position, (synset_number, count) in enumerate(senses):
                weight = 3.0 * count + (position == 0)
                form = _as_in(wordnet.synsets[synset_number], lemma)
                evidence.write(form, weight)
    return evidence


def _as_in(synset: Synset, lemma: str) -> str:
    return next((form for form in synset.lemmas if form.lower() == lemma), lemma)


def _gather_gloss(gloss: str, evidence: Evidence) -> None:
    definitions, examples = divided(gloss)
    for text in definitions:
        for word in words_of(text):
            evidence.used[key_of(word)] += DEFINITION_WEIGHT  # type: ignore[assignment]
            evidence.write(word, DEFINITION_WEIGHT)
    for text in examples:
        for position, word in enumerate(words_of(text)):
            evidence.used[key_of(word)] += EXAMPLE_WEIGHT  # type: ignore[assignment]
            if position:
                evidence.write(word, EXAMPLE_WEIGHT)


def _gather_lemmas(synset: Synset, evidence: Evidence) -> None:
    for lemma in synset.lemmas:
        words = list(words_of(lemma))
        for word in words:
            evidence.write(word, 1.0)
            if words != [lemma]:
                evidence.part_of[key_of(word)] += PART_WEIGHT  # type: ignore[assignment]
