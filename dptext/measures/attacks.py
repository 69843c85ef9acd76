"""Attacks on single words of a released text, and how often they are right.

nearest guess: the original is the word that was written. Bayes: the likeliest original
under the public word frequencies and the mechanism's exact output distribution, the
attacker of the Bayes risk. Both take words to be replaced one by one, in order; neither
uses context. Words outside the vocabulary are not attacked, and all numbers of an
element are one word.

masked words: a language model sees the released text with one word masked, and its
guesses are compared with the original word there. It assumes that words are replaced
one by one, and a public masked language model; it does not know the mechanism, and does
not look at the released word: a lower limit of what context gives away.

Words are replaced one for one, so they are paired in order, in texts with equally many
words before and after. Where other words came out (two output words that read as one),
or another tool wrote the file, the counts differ: such texts are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dptext.measures import bayes_risk
from dptext.measures.public import risk_of
from dptext.mechanisms import Mechanism
from dptext.metrics import Batch
from dptext.models import package
from dptext.models.masked import load_network, load_tokenizer, need
from dptext.tokens import kinds
from dptext.tokens.policy import DROP, PERTURB, Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetKind, Floats, Ids, Ints, Lexicon, Words

if TYPE_CHECKING:
    from dptext.pipeline import Pipeline

NEAREST = "guesses that a word was not changed; knows nothing"
BAYES = (
    "knows mechanism, epsilon and public word frequencies; sees one word, no context"
)


@dataclass(frozen=True, slots=True)
class Attack:
    """success is the share of words guessed right; assumes, what the attacker has."""

    name: str
    success: float
    words: int
    assumes: str
    predicted: float | None = None


def nearest(same: int, words: int) -> Attack:
    """Guess the written word: right where the word is the same, in so many of words."""
    return Attack("nearest guess", same / words if words else 0.0, words, NEAREST)


def bayes(
    mechanism: Mechanism,
    epsilon: float,
    prior: Floats,
    before: Ids,
    after: Ids,
    predicted: float | None = None,
) -> Attack:
    """Guess argmax over x of prior(x) P(y|x), from exact log-probabilities."""
    outputs, which = np.unique(after, return_inverse=True)
    guesses = best(mechanism, epsilon, prior, outputs)
    right = float((guesses[which] == before).mean()) if len(before) else 0.0
    return Attack("Bayes", right, len(before), BAYES, predicted)


def best(mechanism: Mechanism, epsilon: float, prior: Floats, outputs: Ids) -> Ids:
    """Return the likeliest original of each output: (m,) int32, in O(V^2)."""
    size = len(prior)
    top = np.full(len(outputs), -np.inf)
    guess = np.zeros(len(outputs), np.int32)
    block = max(1, 2**21 // size)
    with np.errstate(divide="ignore"):
        weight = np.log(prior)
    for begin in range(0, size, block):
        ids = np.arange(begin, min(begin + block, size), dtype=np.int32)
        ids = ids[np.isfinite(weight[ids])]
        if not len(ids):
            continue
        log_probs = mechanism.log_probs(ids, np.full(len(ids), epsilon))
        score = log_probs[:, outputs] + weight[ids][:, None]
        row = score.argmax(axis=0)
        highest = score[row, np.arange(len(outputs))]
        better = highest > top
        top[better], guess[better] = highest[better], ids[row[better]]
    return guess


ASSUMES = (
    "sees the released text and has a masked language model; does not know the "
    "mechanism, ignores the released word itself"
)
_SETTING = "--masked-model"
_BATCH = 32
_WINDOW = 64  # pieces on both sides together
_TOKENS = 256
_GUESSES = 5


@dataclass(frozen=True, slots=True)
class Hidden:
    """A released text in pieces, the positions of words in it, and the words before."""

    pieces: Sequence[str]
    positions: Sequence[int]
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Guessed:
    """Shares of words that the model's first guess, or one of its first five, hits.

    words are those asked for, evenly chosen from all; a word that is several tokens to
    the model counts as missed.
    """

    model: str
    first: float
    first_five: float
    words: int
    assumes: str = ASSUMES


def attack(folder: str, texts: Sequence[Hidden], most: int = 2000) -> Guessed | None:
    """Attack at most `most` words of texts; None where there is no word.

    folder is that of a local Hugging Face model; nothing is fetched. Raises UsageError
    where there is no model, MissingExtra without the library.
    """
    torch = package("torch", "the masked-word attack", "semantic")
    folder = need_model(folder)
    tokenizer = load_tokenizer(folder, _SETTING)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = load_network(folder, _SETTING, device)
    asked = list(_questions(tokenizer.mask_token, texts, most))
    asked.sort(key=lambda item: len(item[0]))
    first = five = 0
    with torch.inference_mode():
        for begin in range(0, len(asked), _BATCH):
            part = asked[begin : begin + _BATCH]
            answers = _answers(torch, tokenizer, model, [text for text, _ in part])
            for guesses, (_, word) in zip(answers, part, strict=True):
                first += guesses[:1] == [word]
                five += word in guesses
    if not asked:
        return None
    return Guessed(Path(folder).name, first / len(asked), five / len(asked), len(asked))


def need_model(folder: str) -> str:
    """Return the folder of a model; UsageError where none could be."""
    return need(folder, _SETTING, "the masked-word attack")


def _questions(
    mask: str, texts: Sequence[Hidden], most: int
) -> Iterator[tuple[str, str]]:
    """Yield texts with one word masked, and the original word in lower case."""
    total = sum(len(text.positions) for text in texts)
    chosen = set(np.linspace(0, total - 1, min(most, total)).astype(int).tolist())
    number = 0
    for text in texts:
        for position, word in zip(text.positions, text.words, strict=True):
            if number in chosen:
                yield _masked(mask, text.pieces, position), word.lower()
            number += 1


def _masked(mask: str, pieces: Sequence[str], position: int) -> str:
    begin = max(0, min(position - _WINDOW // 2, len(pieces) - _WINDOW))
    shown = list(pieces[begin : begin + _WINDOW])
    # A piece holds the space in front of it.
    space = " " if shown[position - begin].startswith(" ") else ""
    shown[position - begin] = space + mask
    return "".join(shown)


def _answers(
    torch: Any, tokenizer: Any, model: Any, texts: Sequence[str]
) -> Iterator[list[str]]:
    """Yield the model's guesses for each text, none where its mask is cut off."""
    encoded = tokenizer(
        list(texts),
        padding=True,
        truncation=True,
        max_length=_TOKENS,
        return_tensors="pt",
    ).to(model.device)
    logits = model(**encoded).logits
    masks = (encoded["input_ids"] == tokenizer.mask_token_id).int()
    rows = torch.arange(len(texts), device=model.device)
    best = logits[rows, masks.argmax(dim=1)].topk(_GUESSES, dim=1).indices.tolist()
    for guesses, masked in zip(best, masks.sum(1).tolist(), strict=True):
        decoded = [tokenizer.decode([each]).strip().lower() for each in guesses]
        yield decoded if masked else []


@dataclass(frozen=True, slots=True)
class Aligned:
    """A batch of texts before and after, with all of their words.

    rows_before and rows_after (m,) pair the words that the policy replaces, of texts
    with equally many words; compared counts those texts.
    """

    before: Words
    after: Words
    rows_before: Ints
    rows_after: Ints
    compared: int

    def batch(self, first_text: int) -> Batch:
        """Return the pairs as a run would count them; their epsilons are not known."""
        rows = self.rows_before
        words = replace(
            self.before,
            positions=self.before.positions[rows],
            texts=self.before.texts[rows],
            ids=self.before.ids[rows],
        )
        pieces = np.array([*self.after.pieces, ""], dtype=object)
        return Batch(
            words,
            written=self.after.ids[self.rows_after],
            spelled=pieces[self.after.positions[self.rows_after]],
            eps=np.full(len(rows), np.nan),
            first_text=first_text,
        )


class Aligner:
    """Split texts before and after, and pair their words.

    policy is that of the run: words that it leaves out have no partner, and of the
    others only those that it replaces are among the pairs.
    """

    def __init__(self, lexicon: Lexicon, policy: Policy | None = None) -> None:
        # Every kind of word counts here, whatever the policy did with it.
        policy = policy or Policy()
        listed = Policy(keep=policy.keep, mask=policy.mask, forms=policy.forms)
        self._tokenizer = Tokenizer(lexicon, listed, every_word=True)
        treatments = [policy.treatment(kind) for kind in range(kinds.COUNT)]
        self._dropped = np.array([each == DROP for each in treatments])
        self._replaced = np.array([each == PERTURB for each in treatments])

    def __call__(self, before: Sequence[str], after: Sequence[str]) -> Aligned:
        """Split and pair a batch."""
        one, two = self._tokenizer.words(before), self._tokenizer.words(after)
        kind = kinds_of(one)
        left = ~self._dropped[kind]
        counts = np.bincount(one.texts[left], minlength=len(before))
        same = counts == np.bincount(two.texts, minlength=len(after))
        rows_before = np.flatnonzero(left & same[one.texts])
        rows_after = np.flatnonzero(same[two.texts])
        use = self._replaced[kind[rows_before]]
        return Aligned(one, two, rows_before[use], rows_after[use], int(same.sum()))


def kinds_of(words: Words) -> NDArray[np.uint8]:
    """Return the kind of each word: (n,)."""
    return words.flags[words.positions] & np.uint8(kinds.KIND)


def spelled(words: Words, rows: Ints) -> Iterator[str]:
    """Yield words as they stand in their texts, in lower case."""
    for position in words.positions[rows].tolist():
        yield words.pieces[position].strip(" ").lower()


class Guesses:
    """Take aligned words in.

    The nearest guess is counted on the way. The Bayes attack, for a known pipeline with
    exact log-probabilities and one epsilon that writes what is drawn, keeps 8 bytes a
    word; the masked-word attack keeps the private texts.
    """

    def __init__(
        self,
        pipeline: Pipeline | None,
        *,
        bayes: bool = True,
        masked_model: str | None = None,
        masked_words: int = 2000,
    ) -> None:
        self._attacked = pipeline if bayes and _is_exact(pipeline) else None
        self._model, self._most = masked_model, masked_words
        self._same = self._words = 0
        self._before: list[Ids] = []
        self._after: list[Ids] = []
        self._hidden: list[Hidden] = []

    def add(self, aligned: Aligned) -> None:
        """Take in a batch."""
        before: Ids = aligned.before.ids[aligned.rows_before]
        after: Ids = aligned.after.ids[aligned.rows_after]
        known = (before >= 0) & (after >= 0)
        before, after = before[known], after[known]
        self._words += len(before)
        self._same += int(np.count_nonzero(before == after))
        if self._attacked is not None:
            self._before.append(before)
            self._after.append(after)
        if self._model is not None:
            self._hidden += _hidden(aligned)

    def attacks(self) -> tuple[Attack, ...]:
        """Return how often the attacks are right; none without words."""
        if not self._words:
            return ()
        results = [nearest(self._same, self._words)]
        pipeline = self._attacked
        if pipeline is not None:
            public = bayes_risk.replaced(pipeline.lexicon, pipeline.profile.tokens)
            risk, _ = risk_of(pipeline)
            results.append(
                bayes(
                    pipeline.mechanism,
                    pipeline.budget.description.high,
                    public,
                    np.concatenate(self._before),
                    np.concatenate(self._after),
                    None if risk is None else risk.success,
                )
            )
        return tuple(results)

    def masked(self) -> Guessed | None:
        """Return what a masked language model finds, None where none is given."""
        if self._model is None:
            return None
        return attack(self._model, self._hidden, self._most)


def _is_exact(pipeline: Pipeline | None) -> bool:
    if pipeline is None or not pipeline.mechanism.has_log_probs:
        return False
    if pipeline.profile.decoder.params.reads:
        return False
    return pipeline.budget.description.kind is BudgetKind.WORD


def _hidden(aligned: Aligned) -> list[Hidden]:
    """Return each private text with the words to guess."""
    texts = aligned.after.texts[aligned.rows_after]
    positions = aligned.after.positions[aligned.rows_after]
    originals = list(spelled(aligned.before, aligned.rows_before))
    hidden = []
    starts = np.flatnonzero(np.diff(texts, prepend=-1)).tolist()
    for begin, end in zip(starts, [*starts[1:], len(texts)], strict=True):
        text = int(texts[begin])
        first = int(aligned.after.ends[text - 1]) if text else 0
        pieces = aligned.after.pieces[first : int(aligned.after.ends[text])]
        at = (positions[begin:end] - first).tolist()
        hidden.append(Hidden(pieces, at, originals[begin:end]))
    return hidden
