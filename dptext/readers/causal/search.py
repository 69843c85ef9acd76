"""Beam search over the candidates of drawn words, many texts side by side.

score = weight * ln L(x_1 ... x_i with the known pieces) + the evidence of each word. A
beam's word of several tokens is first weighed by what its later tokens are worth on
average, then by what the model says of them. The posterior of each word is that of the
tree that was searched: its sums run over all beams and over all candidates that each
beam was followed by, forward as they were weighed, backward by what became of them;
those that were not followed count as much less or more as all others did. With beams
for all texts both are exact.

How drawn words and what is known stand in a text: dptext.readers.layout.

A piece has the same tokens wherever it stands, so that those of all candidates are
known beforehand. Most tokenizers divide running text in this way, at spaces and marks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.readers import layout
from dptext.readers.causal.network import (
    CachedTexts,
    CacheEntries,
    Lines,
    Network,
    Parts,
    PassShape,
    TokenNode,
    room,
    unread,
)
from dptext.readers.layout import ANY_NUMBER
from dptext.tokens import numbers
from dptext.types import NUMBER, Released

Tokens = tuple[int, ...]
# A text is read as a line of its own. Before a piece it shows where a word begins.
_ANCHOR = "\n"
# Distinct pieces remembered; then the memory starts anew, so that it stays bounded.
_REMEMBERED = 1_000_000


class SubwordTokenizer(Protocol):
    """What is used of a tokenizer of Hugging Face's kind."""

    bos_token_id: int | None
    eos_token_id: int | None

    def __call__(self, text: list[str]) -> Mapping[str, list[list[int]]]:
        """Return the tokens of texts, "input_ids", with special ones as is usual."""


class Speller:
    """Divide words of a lexicon and pieces of texts into tokens."""

    def __init__(
        self, split: SubwordTokenizer, words: Sequence[str], prior: NDArray[np.float64]
    ) -> None:
        """Remember words; prior (V,), by which beginnings of several tokens weigh."""
        self._split = split
        shown = (numbers.example(word) for word in words)
        self._words = [ANY_NUMBER if word == NUMBER else word for word in shown]
        self._prior = np.maximum(prior, 1e-9)
        anchor = self._encode([_ANCHOR])[0]
        self._anchor = anchor
        special = (split.bos_token_id, split.eos_token_id, 0)
        self.start: Tokens = anchor or (next(t for t in special if t is not None),)
        self._known: dict[str, Tokens] = {}
        self.ahead = cache(self._ahead)

    def of(self, piece: str) -> Tokens:
        """Return the tokens of a piece of a text, which may begin with a space."""
        if piece not in self._known:
            self._learn([piece])
        return self._known[piece]

    def word(self, row: int, spaced: bool, capital: bool) -> Tokens:
        """Return the tokens of a word of the lexicon as it stands in a text."""
        return self.of(self._shown(row, spaced, capital))

    def _shown(self, row: int, spaced: bool, capital: bool) -> str:
        word = self._words[row]
        shown = word[:1].upper() + word[1:] if capital else word
        return " " + shown if spaced else shown

    def _encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts, without a special one that closes them."""
        last = self._split.eos_token_id
        return [
            tuple(ids[:-1] if ids[-1:] == [last] else ids)
            for ids in self._split(list(texts))["input_ids"]
        ]

    def _learn(self, pieces: Sequence[str]) -> None:
        """Divide pieces, each after the end of a line."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        length = len(self._anchor)
        encoded = self._encode([_ANCHOR + piece for piece in pieces])
        for piece, tokens in zip(pieces, encoded, strict=True):
            if tokens[:length] == self._anchor:
                spelled = tokens[length:]
            else:  # the piece melts with the end of a line
                alone, both = self._encode(["x", "x" + piece])
                spelled = both[len(alone) :]
            self._known[piece] = spelled or self.start[-1:]

    def _ahead(self, spaced: bool, capital: bool) -> NDArray[np.float64]:
        """Return about ln p of the rest of each word given its first token: (V,).

        By the public frequencies of words that begin with the same token: what a word
        of several tokens is worth before the model has seen the first.
        """
        shown = [self._shown(row, spaced, capital) for row in range(len(self._words))]
        self._learn(shown)
        spelled = [self._known[piece] for piece in shown]
        first = np.array([tokens[0] for tokens in spelled])
        several = np.array([len(tokens) > 1 for tokens in spelled])
        together = np.bincount(first, self._prior)[first]
        return np.where(several, np.log(self._prior / together), 0.0)


@dataclass(frozen=True, slots=True)
class Known:
    """Tokens that stand in a text; whether their ln p counts."""

    tokens: Tokens
    counts: bool = True


@dataclass(frozen=True, slots=True)
class DrawnWord:
    """A drawn word, number index of its batch, and what is known after it.

    spaced, capital: how a word is written here.
    """

    index: int
    spaced: bool
    capital: bool
    after: list[Known]


@dataclass(frozen=True, slots=True)
class Text:
    """What stands before the first drawn word of a text, and its drawn words."""

    before: list[Known]
    drawn: list[DrawnWord]


def texts_of(released: Released, speller: Speller) -> Iterator[Text]:
    """Yield the texts of a batch that have drawn words."""
    for pieces in layout.texts_of(released):
        text = Text([], [])
        known = text.before
        for piece in pieces:
            if piece.drawn < 0:
                known.append(Known(speller.of(piece.text), piece.shown))
                continue
            drawn = DrawnWord(piece.drawn, piece.spaced, piece.capital, [])
            text.drawn.append(drawn)
            known = drawn.after
        yield text


Floats = NDArray[np.float64]


class Step(NamedTuple):
    """A drawn word: c candidates, their tokens, and what is known after it.

    evidence (c,), ln P(y|x) or a posterior of another reader; ahead (c,), ln p of later
    tokens as far as known without the model.
    """

    spelled: Sequence[tuple[int, ...]]
    evidence: Floats
    ahead: Floats
    after: Sequence[Known]

    @property
    def firsts(self) -> NDArray[np.int64]:
        """Return the first token of each candidate: (c,)."""
        return np.array([tokens[0] for tokens in self.spelled], np.int64)


class SearchResult(NamedTuple):
    """The candidates (n,) of the likeliest text, and the posterior of each word."""

    best: list[int]
    posterior: list[Floats]


class _Beams(NamedTuple):
    """What was weighed for one word: (b, c) scores of beams followed by candidates.

    entered (b,) scores of the beams; chosen (k,) index of the pairs that were followed,
    scores (k,) theirs after all of their tokens.
    """

    entered: Floats
    weighed: Floats
    chosen: NDArray[np.int64]
    scores: Floats


# A search yields leaves that are to be read with all before them, and goes on once
# their log_probs are there.
Search = Generator[list[TokenNode], None, SearchResult]


def search(
    start: Sequence[Known],
    steps: Sequence[Step],
    width: int,
    weight: float,
    capacity: int,
) -> Search:
    """Search one text with width beams; capacity, entries of the cache."""
    root = _chain(None, start, steps[0].firsts)
    yield [root[-1]]
    leaves, scores = [root[-1]], np.zeros(1)
    passed: list[_Beams] = []
    for number, step in enumerate(steps):
        last = number + 1 == len(steps)
        weighed = scores[:, None] + step.evidence
        firsts = np.stack([leaf.log_probs for leaf in leaves])
        weighed = weighed + weight * (firsts + step.ahead)
        order = np.argsort(-weighed.ravel(), kind="stable")[:width]
        chosen = order[np.isfinite(weighed.ravel()[order])]
        beams, candidates = np.divmod(chosen, len(step.spelled))
        wanted = None if last else steps[number + 1].firsts
        chains = [
            _chain(leaves[beam], [Known(step.spelled[word]), *step.after], wanted)
            for beam, word in zip(beams.tolist(), candidates.tolist(), strict=True)
        ]
        # The last token of a text is not read: nothing comes after it.
        ends = [chain[-1].parent if last else chain[-1] for chain in chains]
        yield [end for end in ends if end is not None]
        known = scores[beams] + step.evidence[candidates]
        known += weight * (firsts[beams, candidates] + np.array([*map(_sum, chains)]))
        entered, scores = scores, known
        leaves = [chain[-1] for chain in chains]
        if not last and _full(leaves, steps[number + 1], width, capacity):
            best = int(scores.argmax())
            chosen, scores = chosen[best : best + 1], scores[best : best + 1]
            leaves = [_again(leaves[best], steps[number + 1].firsts, capacity)]
            yield leaves
        passed.append(_Beams(entered, weighed, chosen, scores))
    return SearchResult(_best(passed), _posterior(passed))


def _chain(
    parent: TokenNode | None, known: Sequence[Known], wanted: NDArray[np.int64] | None
) -> list[TokenNode]:
    """Return nodes of tokens one after another; each asks for the next that counts."""
    nodes: list[TokenNode] = []
    for part in known:
        for token in part.tokens:
            if nodes and part.counts:
                nodes[-1].wanted = np.array([token])
            parent = TokenNode(token, parent)
            nodes.append(parent)
    if wanted is not None:
        nodes[-1].wanted = wanted
    return nodes


def _sum(chain: list[TokenNode]) -> float:
    """Return ln p of the tokens of a chain but the first."""
    return float(sum(node.log_probs[0] for node in chain[:-1] if len(node.wanted)))


def _full(leaves: list[TokenNode], step: Step, width: int, capacity: int) -> bool:
    """Tell whether the next tokens might not find a free entry."""
    after = sum(len(known.tokens) for known in step.after)
    longest = max(map(len, step.spelled)) + after
    return room(leaves) + width * longest >= capacity - 1


def _again(leaf: TokenNode, wanted: NDArray[np.int64], capacity: int) -> TokenNode:
    """Return a leaf that begins anew with the last tokens before it."""
    tokens = [node.token for node in leaf.path()]
    kept = tokens[:1] + tokens[1:][-(capacity // 4) :]
    return _chain(None, [Known(tuple(kept), counts=False)], wanted)[-1]


def _best(passed: list[_Beams]) -> list[int]:
    """Return the candidates on the way to the beam with the best score."""
    words: list[int] = []
    beam = int(passed[-1].scores.argmax())
    for step in reversed(passed):
        beam, word = divmod(int(step.chosen[beam]), step.weighed.shape[1])
        words.append(word)
    return words[::-1]


def _posterior(passed: list[_Beams]) -> list[Floats]:
    """Return the posterior of the candidates of each word: (c,) each, sums to 1."""
    posteriors: list[Floats] = []
    later: Floats | None = None
    for step in reversed(passed):
        followed = step.scores if later is None else step.scores + later
        total = step.weighed.ravel().copy()
        gone = _log_sum(followed, 0) - _log_sum(total[step.chosen], 0)
        total += gone
        total[step.chosen] = followed
        table: Floats = total.reshape(step.weighed.shape)
        words = _log_sum(table, 0)
        posteriors.append(np.exp(words - _log_sum(words, 0)))
        later = _log_sum(table, 1) - step.entered
    return posteriors[::-1]


def _log_sum(logs: Floats, axis: int) -> Floats:
    """Return ln of the sum of exp along an axis."""
    top = logs.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums = np.log(np.exp(logs - top).sum(axis=axis))
    return np.asarray(sums + np.squeeze(top, axis))


class SearchJob(NamedTuple):
    """A text's search over so many words, and the entries that it may take.

    wanted as in `Group`.
    """

    search: Search
    words: int
    capacity: int
    wanted: int


class _Row:
    """A search on its way: what it waits for, its entries, and the words left."""

    def __init__(self, number: int, job: SearchJob) -> None:
        self.number, self._search, self.left = number, job.search, job.words
        self.entries = CacheEntries(job.capacity)
        self._waiting: deque[TokenNode] = deque()
        self.result: SearchResult | None = None
        self._ask(next(self._search))

    def take(self, tokens: int, slots: int) -> list[TokenNode]:
        """Return the nodes to read in the next pass, with their entries.

        As many as there are, at most `tokens`; none where they do not fit in `slots`,
        so that a text is read in the same parts whatever stands beside it.
        """
        count = min(tokens, len(self._waiting))
        nodes = [self._waiting.popleft() for _ in range(count if count <= slots else 0)]
        for node in nodes:
            self.entries.place(node)
        return nodes

    def go_on(self) -> None:
        """Continue the search as far as it can without reading."""
        while not self._waiting and self.result is None:
            try:
                self._ask(next(self._search))
            except StopIteration as end:
                self.result = end.value

    def _ask(self, leaves: list[TokenNode]) -> None:
        self.left -= 1
        self.entries.keep(leaves)
        self._waiting.extend(unread(leaves))


class _Queue:
    """Searches that wait for a row, taken by several threads."""

    def __init__(self, jobs: Iterable[tuple[int, SearchJob]]) -> None:
        self._waiting, self._lock = deque(jobs), threading.Lock()

    def next(self) -> _Row | None:
        """Return the next search, None after the last."""
        with self._lock:
            return _Row(*self._waiting.popleft()) if self._waiting else None


def _parts(rows: dict[int, _Row], shape: PassShape) -> Parts:
    """Return what the next pass reads: as much as there are slots for.

    The longest texts go first: the last ones would have passes to themselves.
    """
    parts: Parts = {}
    free = shape.slots
    for number, row in sorted(rows.items(), key=lambda each: -each[1].left):
        nodes = row.take(shape.tokens, free)
        if nodes:
            free -= len(nodes)
            parts[number] = (row.entries, nodes)
    return parts


def _run(
    group: CachedTexts | Lines,
    texts: int,
    queue: _Queue,
    results: dict[int, SearchResult],
) -> None:
    """Run searches of one size, at most `texts` at a time.

    Whichever ends makes room for the next.
    """
    rows: dict[int, _Row] = {}
    while True:
        for number in set(range(texts)) - rows.keys():
            row = queue.next()
            if row is not None:
                rows[number] = row
        if not rows:
            return
        parts = _parts(rows, group.shape)
        group.read(parts)
        for number in parts:
            row = rows[number]
            row.go_on()
            if row.result is not None:
                results[row.number] = row.result
                del rows[number]


def read_texts(network: Network, jobs: Sequence[SearchJob]) -> list[SearchResult]:
    """Return what each search finds; several groups at a time, each on one thread."""
    by_size: dict[tuple[int, int], list[tuple[int, SearchJob]]] = {}
    # A packed text is read by its own capacity, in a row of any.
    largest = max((job.capacity for job in jobs), default=0)
    # Long texts first, so that the last passes are not theirs alone.
    for number, job in sorted(enumerate(jobs), key=lambda each: -each[1].words):
        capacity = largest if network.way.packed else job.capacity
        by_size.setdefault((capacity, job.wanted), []).append((number, job))
    results: dict[int, SearchResult] = {}
    torch = models.package("torch", "causal-lm", "semantic")
    set_threads, threads = torch.set_num_threads, torch.get_num_threads()
    set_threads(1)
    try:
        with ThreadPoolExecutor(threads, "", set_threads, (1,)) as pool:
            running = []
            for size, same in sorted(by_size.items(), reverse=True):
                queue, most = _Queue(same), network.way.shape.texts
                # Half of them fill most of a pass: what is more goes to other threads.
                groups = min(threads, -(-len(same) // max(1, most // 2)))
                texts = min(most, -(-len(same) // groups))
                for _ in range(groups):
                    group = network.group(*size)
                    running.append(pool.submit(_run, group, texts, queue, results))
            for each in running:
                each.result()
    finally:
        set_threads(threads)
    return [results[number] for number in range(len(jobs))]
