"""What pairs of texts keep: PP, LOW, CS and the share of known words.

By the metrics of a run (dptext.metrics), from the words that stand for one another;
only what no run measures is measured here. Memory does not grow with the number of
texts but by 8 bytes for each text where an encoder is given. Known words are the words
of texts that the lexicon holds; numbers and identifiers are no words here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dptext import metrics, models, registry
from dptext.errors import ComponentError, UsageError
from dptext.metrics import Batch, Figure, perturbation, rare_words, similarity
from dptext.metrics.similarity import Similarities
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.types import Ints, Lexicon, Words

if TYPE_CHECKING:
    from dptext.measures.attacks import Aligned

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
                raise UsageError(
                    f"metric {name!r}: another one has the heading {module.NAME!r} in "
                    "the report; remove the package that brings it"
                )
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
            for value in results[name].values():
                if type(value) not in (int, float, str, bool, type(None)):
                    raise ComponentError(
                        f"metric {name!r} has a figure of the type "
                        f"{type(value).__name__}, which reports cannot hold; report "
                        "this line to its authors"
                    )
        return results


_MEANING = ("mean_cosine", "unrelated_cosine", "share_kept")
_WORDS = (kinds.WORD, kinds.STOP_WORD, kinds.UNKNOWN)


def _counted(words: Words) -> Ints:
    """Count words, and those in the lexicon: (2,)."""
    counted = np.isin(words.flags[words.positions] & kinds.KIND, _WORDS)
    return np.array([counted.sum(), (words.ids[counted] >= 0).sum()])


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

    def by_chance(self, name: str) -> float | None:
        """Return what PP or LOW would be by chance, None where it is not known."""
        return _number(self.metrics.get(name, {}).get("by_chance"))

    def others(self) -> Iterator[tuple[str, Figure]]:
        """Yield the metrics that other packages bring, each with its first figure."""
        for name, figures in self.metrics.items():
            if name not in (perturbation.NAME, rare_words.NAME, similarity.NAME):
                yield name, next(iter(figures.values()), None)


class PairMeter:
    """Take pairs of texts in, batch by batch; policy is that of the run, if known."""

    def __init__(
        self, lexicon: Lexicon, encoder: str | None = None, policy: Policy | None = None
    ) -> None:
        from dptext.measures.attacks import Aligner

        self._aligner = Aligner(lexicon, policy)
        self._metrics = AllMetrics(lexicon)
        self._counted = self._metrics.observe(Batch.empty())
        # Words, and those that the lexicon holds, before and after.
        self._known = np.zeros((2, 2), np.int64)
        self._texts = self._compared = self._words = 0
        self._encoder = encoder
        self._similarities: Similarities | None = None

    def add(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Take a batch in and return its words in pairs."""
        aligned = self._aligner(before, after)
        counted = self._metrics.observe(aligned.batch(self._texts))
        self._counted = self._metrics.merge(self._counted, counted)
        self._texts += len(before)
        self._compared += aligned.compared
        self._words += len(aligned.rows_before)
        self._known += _counted(aligned.before), _counted(aligned.after)
        if self._encoder is not None:
            folder = models.need_sentence_model(self._encoder, "CS")
            encode = models.sentence_model(folder, "cpu").encode
            one, other = (
                np.asarray(encode(list(texts), show_progress_bar=False), np.float64)
                for texts in (before, after)
            )
            later = Similarities.of(one, other)
            held = self._similarities
            self._similarities = later if held is None else held.with_later(later)
        return aligned

    def result(self) -> Kept:
        """Return the figures so far."""
        metrics = self._metrics.results(self._counted)
        near = metrics[similarity.NAME]
        of_texts = [near[name] for name in _MEANING]
        if self._encoder is not None:
            total = self._similarities
            of_texts = [None] * len(_MEANING)
            if total is not None:
                of_texts = [total.mean, total.unrelated, total.share_kept]
        mean, unrelated, meaning = map(_number, of_texts)
        before, after = (
            held / words if words else None for words, held in self._known.tolist()
        )
        return Kept(
            texts=self._texts,
            compared=self._compared,
            words=self._words,
            perturbed=_number(metrics[perturbation.NAME]["share_changed"]),
            low=_number(metrics[rare_words.NAME]["share_present"]),
            similarity=mean,
            encoder=self._encoder or similarity.ENCODER,
            known_before=before,
            known=after,
            unrelated=unrelated,
            meaning=meaning,
            metrics=metrics,
        )


def _number(figure: Figure) -> float | None:
    assert not isinstance(figure, str)
    return figure
