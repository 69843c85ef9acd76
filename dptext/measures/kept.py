"""What pairs of texts keep: PP, LOW, CS and the share of known words.

By the metrics of a run (dptext.metrics), from the words that stand for one another;
only what no run measures is measured here. Words are replaced one for one, so they are
paired in order, in texts with equally many words before and after. Where other words
came out (two output words that read as one), or another tool wrote the file, the counts
differ: such texts are left out.

Memory does not grow with the number of texts but by 8 bytes for each text where an
encoder is given. Known words are the words of texts that the lexicon holds; numbers and
identifiers are no words here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dptext import metrics, models, registry
from dptext.errors import ComponentError, UsageError
from dptext.metrics import Batch, Figure, Figures, perturbation, rare_words, similarity
from dptext.metrics.similarity import Similarities
from dptext.tokens import kinds
from dptext.tokens.policy import DROP, PERTURB, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Ids, Ints, Lexicon, Words

# What each meter counts, in the order of the meters; only the meter knows its type.
Partials = tuple[object, ...]


class AllMetrics:
    """A meter of each metric; made once in each process, from public data.

    Raises UsageError where two have one heading.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._meters: dict[str, metrics.Meter[object]] = {}
        for name in registry.names("metrics"):
            module = registry.find("metrics", name)
            if module.NAME in self._meters:
                advice = "in the report; remove the package that brings it"
                msg = f"another one has the heading {module.NAME!r} {advice}"
                raise UsageError(f"metric {name!r}: {msg}")
            self._meters[module.NAME] = module.Meter(lexicon)

    def observe(self, batch: Batch) -> Partials:
        """Count a batch."""
        return tuple(meter.observe(batch) for meter in self._meters.values())

    def merge(self, one: Partials, other: Partials) -> Partials:
        """Count the texts of both; those of one come first."""
        pairs = zip(self._meters.values(), one, other, strict=True)
        return tuple(meter.merge(mine, more) for meter, mine, more in pairs)

    def results(self, total: Partials) -> dict[str, dict[str, Figure]]:
        """Return the figures of each metric by its heading.

        Raises ComponentError for what a report cannot hold.
        """
        results = {}
        for (name, meter), partial in zip(self._meters.items(), total, strict=True):
            results[name] = dict(meter.result(partial))
            types = {type(value) for value in results[name].values()}
            for odd in types - {int, float, str, bool, type(None)}:
                raise ComponentError(
                    f"metric {name!r} has a figure of the type {odd.__name__}, which "
                    "reports cannot hold; report this line to its authors"
                )
        return results


_WORDS = (kinds.WORD, kinds.STOP_WORD, kinds.UNKNOWN)
_DEFAULT = Policy()


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of texts before and after, with all of their words.

    rows_before and rows_after (m,) pair the words that the policy replaces, of texts
    with equally many words.
    """

    before: Words
    after: Words
    rows_before: Ints
    rows_after: Ints

    @property
    def ids(self) -> tuple[Ids, Ids]:
        """Return the paired words before and after, (m,) each, -1 an unknown one."""
        return self.before.ids[self.rows_before], self.after.ids[self.rows_after]


@dataclass(frozen=True, slots=True)
class Kept:
    """Figures of pairs of texts.

    compared counts the texts with equally many words before and after; of these are
    metrics, the figures of each metric by its heading, as in the report of a run.
    perturbed is PP, low LOW, words how many words these are of. similarity is the mean
    cosine of CS by encoder: that of metrics, or by a sentence encoder over all texts;
    unrelated, that of an original and the private text of another row; meaning, the
    share of the way from there to equal texts. known is the share of words that the
    lexicon holds, before and after. null: no word, or one text where two are needed.
    """

    texts: int
    compared: int
    words: int
    perturbed: float | None
    low: float | None
    similarity: float | None
    encoder: str
    known_before: float | None
    known: float | None
    unrelated: float | None = None
    meaning: float | None = None
    metrics: dict[str, dict[str, Figure]] = field(default_factory=dict)


class PairMeter:
    """Take pairs of texts in, batch by batch.

    policy is that of the run, if known: words that it leaves out have no partner, and
    of the others only those that it replaces are among the pairs.
    """

    def __init__(
        self, lexicon: Lexicon, encoder: str | None = None, policy: Policy = _DEFAULT
    ) -> None:
        # Every kind of word counts here, whatever the policy did with it.
        listed = Policy(keep=policy.keep, mask=policy.mask, forms=policy.forms)
        self._tokenizer = Tokenizer(lexicon, listed, every_word=True)
        self._dropped = policy.treatments == DROP
        self._replaced = policy.treatments == PERTURB
        self._metrics = AllMetrics(lexicon)
        self._counted = self._metrics.observe(Batch.empty())
        # Words, and those that the lexicon holds, before and after.
        self._known = np.zeros((2, 2), np.int64)
        self._texts = self._compared = self._words = 0
        self._encoder = encoder
        self._similarities: Similarities | None = None

    def add(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Take a batch in and return its words in pairs."""
        one, two = self._tokenizer.words(before), self._tokenizer.words(after)
        kind = one.flags[one.positions] & np.uint8(kinds.KIND)
        left = ~self._dropped[kind]
        counts = np.bincount(one.texts[left], minlength=len(before))
        same = counts == np.bincount(two.texts, minlength=len(after))
        rows = np.flatnonzero(left & same[one.texts])
        use = self._replaced[kind[rows]]
        rows, rows_after = rows[use], np.flatnonzero(same[two.texts])[use]
        aligned = Aligned(one, two, rows, rows_after)
        pieces = np.array([*two.pieces, ""], dtype=object)
        paired = one.positions[rows], one.texts[rows], one.ids[rows]
        batch = Batch(
            Words(one.pieces, one.flags, one.ends, *paired),
            written=two.ids[rows_after],
            spelled=pieces[two.positions[rows_after]],
            eps=np.full(len(rows), np.nan),
            first_text=self._texts,
        )
        self._counted = self._metrics.merge(self._counted, self._metrics.observe(batch))
        self._texts += len(before)
        self._compared += int(same.sum())
        self._words += len(rows)
        for known, words in zip(self._known, (one, two), strict=True):
            counted = np.isin(words.flags[words.positions] & kinds.KIND, _WORDS)
            known += counted.sum(), (words.ids[counted] >= 0).sum()
        if self._encoder is not None:
            folder = models.need_sentence_model(self._encoder, "CS")
            encode = models.sentence_model(folder, "cpu").encode
            vectors = (
                np.asarray(encode(list(texts), show_progress_bar=False), np.float64)
                for texts in (before, after)
            )
            later, held = Similarities.of(*vectors), self._similarities
            self._similarities = held.with_later(later) if held else later
        return aligned

    def result(self) -> Kept:
        """Return the figures so far."""
        metrics = self._metrics.results(self._counted)
        near: Figures = metrics[similarity.NAME]
        if self._encoder is not None:
            near = self._similarities.figures() if self._similarities else {}
        counts = self._known.tolist()
        before, after = (held / words if words else None for words, held in counts)
        return Kept(
            texts=self._texts,
            compared=self._compared,
            words=self._words,
            perturbed=_number(metrics[perturbation.NAME]["share_changed"]),
            low=_number(metrics[rare_words.NAME]["share_present"]),
            similarity=_number(near.get("mean_cosine")),
            encoder=self._encoder or similarity.ENCODER,
            known_before=before,
            known=after,
            unrelated=_number(near.get("unrelated_cosine")),
            meaning=_number(near.get("share_kept")),
            metrics=metrics,
        )


def _number(figure: Figure) -> float | None:
    assert not isinstance(figure, str)
    return figure
