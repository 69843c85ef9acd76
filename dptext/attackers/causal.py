"""The attacker with a causal language model: beams over the candidates of drawn words.

One search for two uses: the decoder writes by it, and the attack guesses by it.

score = weight * ln L(x_1 ... x_i with the known pieces) + the evidence of each word. A
beam's word of several tokens is first weighed by what its later tokens are worth on
average, then by what the model says of them. The posterior of each word is that of the
tree that was searched: its sums run over all beams and over all candidates that each
beam was followed by, forward as they were weighed, backward by what became of them;
those that were not followed count as much less or more as all others did. With beams
for all texts both are exact.

A piece has the same tokens wherever it stands, so that those of all candidates are
known beforehand. Most tokenizers divide running text in this way, at spaces and marks.

The network: each token is read once, since the cache of transformers keeps what follows
from earlier ones. Some texts are read together, a few tokens of each line at a time,
because a pass costs almost as much for few lines as for many. Where the tokens of a
text lie in the cache depends on that text alone, so what the model says of it does not
depend on the others (tests hold it to that); a model that rounds otherwise in company
reads text by text.
"""

from __future__ import annotations

import inspect
from collections.abc import Generator, Sequence
from functools import cache, cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from dptext import models, progress
from dptext.attackers.channel import Channel, ChannelAttacker
from dptext.attackers.layout import Piece, shown_words, texts_of
from dptext.attackers.pairs import PairAttacker
from dptext.models import Library, language
from dptext.types import Floats, Ids, Ints, Lexicon, Mask, Released

SETTING = "decoder.model"
# Columns of the cache at most; then the last tokens of each line are read again.
_MOST, _KEPT = 512, 128
# Texts that are read together, and tokens of a line in a pass.
_TOGETHER, _AT_ONCE = 4, 2
# Lines of a pass, or a multiple: the sums of other rows are made in another order.
_LINES = 4
# Log-probabilities of a line that is read in two ways may differ so much.
_SLACK = 0.02

Tokens = tuple[int, ...]
T = TypeVar("T")


class Known(NamedTuple):
    """Tokens that stand in a text; whether their ln p counts."""

    tokens: Tokens
    counts: bool = True


class Branches(NamedTuple):
    """The next lines of a text: k copies of `parents`, each with its own new tokens.

    wanted (c,), tokens of which one may come next.
    """

    parents: Sequence[int]
    added: Sequence[Sequence[Known]]
    wanted: Ints


# The search of a text begins with one empty line. It yields branches, and is sent ln p
# of the added tokens that count, without the first one, in all (k,), and of each wanted
# token as the next one: (k, c).
Search = Generator[Branches, tuple[Floats, Floats], T]


class CausalModel(NamedTuple):
    """Where a model is: its path, the digest of its content, the device it runs on."""

    path: str
    digest: str
    device: str = "cpu"


@cache
def load(model: CausalModel) -> Network:
    """Load a model, once for a digest."""
    path, _, device = model
    return Network(language.load_network(path, SETTING, device, language.CAUSAL))


class Network:
    """A model; cached, whether it reads right with a cache of keys and values.

    One that does not (Mamba) reads the last tokens of each line again at every step.
    together, how many texts it reads at once.
    """

    def __init__(self, model: Library) -> None:
        self.model, self.cached, self.together = model, True, 1
        self.accepts = frozenset(inspect.signature(model.forward).parameters)
        self.cached = self._reads_branches()
        if self.cached:
            (alone,) = self.read([_trial()])
            self.together = _TOGETHER
            trials = self.read([_trial() for _ in range(_TOGETHER)])
            if not all(np.array_equal(each, alone) for each in trials):
                self.together = 1

    def _reads_branches(self) -> bool:
        """Tell whether a branch is read in parts as its tokens are read at once."""
        torch = models.package("torch", "causal-lm", "semantic")
        try:
            (branch,) = self.read([_trial()])
        except Exception:  # a model may raise anything at a cache that it does not know
            return False
        tokens = torch.tensor([[1, 2, 3, 4, 5]], device=self.model.device)
        with torch.inference_mode():
            logits = self.model(input_ids=tokens).logits[0, -1].float()
            at_once = logits.log_softmax(-1).cpu().numpy()[: len(branch)]
        return bool(np.abs(branch - at_once).max() < _SLACK)

    def read(self, searches: Sequence[Search[T]]) -> list[T]:
        """Return what each search finds; similar ones should stand side by side."""
        together = self.together
        begins = range(0, len(searches), together)
        groups = [searches[begin : begin + together] for begin in begins]
        results = models.on_one_thread(lambda each: _Lines(self).read(each), groups)
        return [result for group in results for result in group]


def _trial() -> Search[Floats]:
    wanted = np.arange(8)
    yield Branches([0], [[Known((1, 2))]], wanted)
    yield Branches([0, 0], [[Known((7,))], [Known((3, 4))]], wanted)
    _, (after,) = yield Branches([1], [[Known((5,))]], wanted)
    return np.asarray(after)


class _Line:
    """Tokens of a text, of which `read` are read and those from `added` on are new.

    counts, whether ln p of each new token counts; end, how many are to be read.
    """

    def __init__(
        self, parent: _Line | None = None, known: Sequence[Known] = (), spare: int = 0
    ) -> None:
        before: Tokens = parent.tokens if parent else ()
        self.tokens: Tokens = sum((each.tokens for each in known), before)
        self.read: int = parent.read if parent else 0
        self.added = len(before)
        self.counts = [each.counts for each in known for _ in each.tokens]
        self.end = len(self.tokens) - spare

    def takes(self, token: int) -> bool:
        """Tell whether ln p of a token, by its number in the line, counts: once."""
        at = token - self.added
        if not 0 < at < len(self.counts) or not self.counts[at]:
            return False
        self.counts[at] = False
        return True

    def shorten(self) -> None:
        """Begin anew with the first token and the last ones of those that are read."""
        before = self.tokens[: self.read]
        kept = (*before[:1], *before[1:][-_KEPT:])
        self.tokens = (*kept, *self.tokens[self.read :])
        self.added -= self.read - len(kept)
        self.end -= self.read - len(kept)
        self.read = 0


class _Text:
    """A text on its way: its search, the lines that it waits for, what it is sent."""

    def __init__(self, search: Search[Any]) -> None:
        self._search, self.lines = search, [_Line()]
        self.sums = self.after = np.empty(0)
        self.wanted = np.empty(0, np.int64)
        self.result: Any = None

    def go_on(self) -> list[int]:
        """Continue the search as far as it can; return the old number of each line."""
        numbers = [*range(len(self.lines))]
        while all(line.read == line.end for line in self.lines):
            # A search that begins is sent nothing.
            answer: Any = (self.sums, self.after) if len(self.sums) else None
            try:
                branches = self._search.send(answer)
            except StopIteration as end:
                self.result, self.lines = end.value, []
                return []
            numbers = [numbers[parent] for parent in branches.parents]
            # Where nothing comes next, the last token need not be read.
            spare = int(not len(branches.wanted))
            self.lines = [
                _Line(self.lines[parent], known, spare)
                for parent, known in zip(branches.parents, branches.added, strict=True)
            ]
            self.wanted, self.sums = branches.wanted, np.zeros(len(self.lines))
            self.after = np.zeros((len(self.lines), len(self.wanted)))
        return numbers

    def hear(self, read: Ints, sums: Floats, after: Floats) -> None:
        """Take how many tokens of each line were read, and what comes of them."""
        self.sums += sums
        for number, line in enumerate(self.lines):
            line.read += int(read[number])
            if read[number] and line.read == line.end:
                self.after[number] = after[number]


class _Lines:
    """The lines of some texts in one cache, row by row."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._torch = models.package("torch", "causal-lm", "semantic")
        self._cache: Library = None
        # Which columns of the cache are tokens of each line, and no padding.
        self._mask = np.empty((0, 0), bool)

    def read(self, searches: Sequence[Search[T]]) -> list[T]:
        """Return what each search finds."""
        texts = [_Text(search) for search in searches]
        self._mask = np.empty((len(texts), 0), bool)
        waiting = texts
        while waiting:
            rows, begin = [], 0
            for text in waiting:
                end = begin + len(text.lines)
                rows += [begin + number for number in text.go_on()]
                begin = end
            waiting = [text for text in waiting if text.lines]
            if waiting:
                self._pass(rows, waiting)
        return [text.result for text in texts]

    def _pass(self, rows: list[int], texts: list[_Text]) -> None:
        """Read the next tokens of each line; rows, where its parent lies."""
        lines = [line for text in texts for line in text.lines]
        spare = -len(lines) % _LINES
        rows += rows[-1:] * spare
        self._mask = self._mask[rows]
        most = columns = _AT_ONCE
        if self._cache is None or self._mask.shape[1] + most > _MOST:
            library = models.package("transformers", "causal-lm", "semantic")
            self._cache = library.DynamicCache() if self._network.cached else None
            self._mask = self._mask[:, :0]
            for line in lines:
                line.shorten()
            # A mask without any padding would be left out, and sums made otherwise.
            columns = most + 1
        else:
            self._cache.batch_select_indices(self._on_device(np.array(rows)))
        lines += lines[-1:] * spare
        if not self._network.cached:
            most = columns = max(line.end for line in lines)
        ids, following = np.zeros((2, len(lines), columns), np.int64)
        read, counts = np.zeros((2, len(lines), columns), bool)
        # Lines end together; padding before them is masked.
        for row, line in enumerate(lines):
            end = min(line.end, line.read + most)
            for column, token in enumerate(range(line.read, end), line.read - end):
                ids[row, column], read[row, column] = line.tokens[token], True
                if line.takes(token + 1):
                    following[row, column] = line.tokens[token + 1]
                    counts[row, column] = True
        with self._torch.inference_mode():
            logs = self._logits(ids, read).float().log_softmax(-1)
            inside = logs.gather(-1, self._on_device(following)[..., None])[..., 0]
            sums = np.where(counts, inside.cpu().numpy().astype(np.float64), 0.0)
            begin = 0
            for text in texts:
                end = begin + len(text.lines)
                after = logs[begin:end, -1][:, self._on_device(text.wanted)]
                each = read[begin:end].sum(axis=1), sums[begin:end].sum(axis=1)
                text.hear(*each, after.cpu().numpy())
                begin = end

    def _logits(self, ids: Ints, read: Mask) -> Library:
        """Read tokens, no padding (k, count) where read; return the logits after."""
        network, count = self._network, ids.shape[1]
        before = self._mask.sum(axis=1, keepdims=True)
        positions = np.maximum(before + read.cumsum(axis=1) - 1, 0)
        self._mask = np.concatenate([self._mask, read], axis=1)
        options = {
            "position_ids": self._on_device(positions),
            "cache": self._cache,
            "past_key_values": self._cache,  # its name before transformers 5.24
            "logits_to_keep": count,
        }
        logits = network.model(
            input_ids=self._on_device(ids),
            attention_mask=self._on_device(self._mask.astype(np.int64)),
            use_cache=network.cached,
            **{name: options[name] for name in network.accepts & options.keys()},
        ).logits
        return logits[:, -count:]

    def _on_device(self, array: NDArray[np.generic]) -> Library:
        return self._torch.from_numpy(array).to(self._network.model.device)


# A text is read as a line of its own. Before a piece it shows where a word begins.
_ANCHOR = "\n"
# Distinct pieces remembered; then the memory starts anew, so that it stays bounded.
_REMEMBERED = 1_000_000
# Known tokens between two drawn words, of which the last are read.
_KNOWN = 64

_log_sum = np.logaddexp.reduce


class Speller:
    """Divides words of a lexicon and pieces of texts into tokens."""

    def __init__(self, split: Library, lexicon: Lexicon) -> None:
        """Take a tokenizer of Hugging Face's kind."""
        self._split = split
        self.words = shown_words(lexicon)
        # By which beginnings of several tokens weigh.
        self._prior = np.maximum(lexicon.prior, 1e-9)
        self._anchor = self._encode([_ANCHOR])[0]
        special = (split.bos_token_id, split.eos_token_id, 0)
        first = next(token for token in special if token is not None)
        self.start: Tokens = self._anchor or (first,)
        self._known: dict[str, Tokens] = {}
        self.ahead = cache(self._ahead)

    def of(self, piece: str) -> Tokens:
        """Return the tokens of a piece of a text, which may begin with a space."""
        if piece not in self._known:
            self._learn([piece])
        return self._known[piece]

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

    def _ahead(self, spaced: bool, capital: bool) -> Floats:
        """Return about ln p of the rest of each word given its first token: (V,).

        By the public frequencies of words that begin with the same token: what a word
        of several tokens is worth before the model has seen the first.
        """
        piece = Piece(0, spaced=spaced, capital=capital)
        shown = [piece.written(word) for word in self.words]
        self._learn(shown)
        spelled = [self._known[word] for word in shown]
        first = np.array([tokens[0] for tokens in spelled])
        several = np.array([len(tokens) > 1 for tokens in spelled])
        together = np.bincount(first, self._prior)[first]
        return np.where(several, np.log(self._prior / together), 0.0)


class Step(NamedTuple):
    """A drawn word by its number in the batch, and what is known after it.

    possible (c,) its candidates among those of the batch; spelled, their tokens;
    evidence (c,), ln P(y|x) or a posterior of another attacker; ahead (c,), ln p of
    later tokens as far as known without the model.
    """

    drawn: int
    possible: Ints
    spelled: Sequence[Tokens]
    evidence: Floats
    ahead: Floats
    after: list[Known]

    @property
    def firsts(self) -> Ints:
        """Return the first token of each candidate: (c,)."""
        return np.array([tokens[0] for tokens in self.spelled], np.int64)


class _Beams(NamedTuple):
    """What was weighed for one word: (b, c) scores of beams followed by candidates.

    entered (b,) scores of the beams; chosen (k,) index of the pairs that were followed,
    scores (k,) theirs after all of their tokens.
    """

    entered: Floats
    weighed: Floats
    chosen: Ints
    scores: Floats


def search(
    before: Known, steps: Sequence[Step], width: int, weight: float
) -> Search[tuple[list[int], list[Floats]]]:
    """Search one text with width beams, after what is known before its first word.

    Returns the candidates (n,) of the likeliest text, and the posterior of those of
    each word.
    """
    scores = np.zeros(1)
    _, firsts = yield Branches([0], [[before]], steps[0].firsts)
    passed: list[_Beams] = []
    for step, following in zip_longest(steps, steps[1:]):
        weighed = scores[:, None] + step.evidence + weight * (firsts + step.ahead)
        order = np.argsort(-weighed.ravel(), kind="stable")[:width]
        chosen = order[np.isfinite(weighed.ravel()[order])]
        beams, words = np.divmod(chosen, len(step.spelled))
        known = _last(step.after)
        sums, after = yield Branches(
            beams.tolist(),
            [[Known(step.spelled[word]), *known] for word in words.tolist()],
            following.firsts if following else np.empty(0, np.int64),
        )
        entered, read = scores, firsts[beams, words] + sums
        scores = entered[beams] + step.evidence[words] + weight * read
        passed.append(_Beams(entered, weighed, chosen, scores))
        firsts = after
    return _best(passed), _posterior(passed)


def _last(known: list[Known]) -> list[Known]:
    """Return the last known pieces, of about _KNOWN tokens."""
    kept: list[Known] = []
    for part in reversed(known):
        if kept and sum(len(each.tokens) for each in kept) + len(part.tokens) > _KNOWN:
            break
        kept.append(Known(part.tokens[-_KNOWN:], part.counts))
    return kept[::-1]


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
        total += _log_sum(followed, 0) - _log_sum(total[step.chosen], 0)
        total[step.chosen] = followed
        table: Floats = total.reshape(step.weighed.shape)
        words = _log_sum(table, 0)
        posteriors.append(np.exp(words - _log_sum(words, 0)))
        later = _log_sum(table, 1) - step.entered
    return posteriors[::-1]


class CausalReading(NamedTuple):
    """The candidates of n drawn words: rows (c, n), likely (c, n) columns sum to 1.

    writable (c, n), which may be written; best (n,), those of the likeliest text.
    """

    rows: Ids
    likely: Floats
    writable: Mask
    best: Ids


class CausalAttacker:
    """Reads what is released through a channel; with pairs, by both models.

    What a model of pairs finds by all around a word then is the evidence for each of
    its candidates, in place of the channel alone. beam, texts that are followed;
    candidates of each word; weight, the power of the language model; writable, whether
    only words that may be written are candidates. The defaults are those of an
    attacker, who has time.
    """

    name = "causal-lm"
    assumes = (
        "knows mechanism and epsilon; reads all that is released of a text with a "
        "public causal language model"
    )

    def __init__(
        self,
        channel: Channel,
        model: CausalModel,
        pairs: PairAttacker | None = None,
        beam: int = 8,
        candidates: int = 40,
        weight: float = 1.0,
        writable: bool = False,
    ) -> None:
        channel.check()
        self.channel, self._model, self.pairs = channel, model, pairs
        self._beam, self._candidates, self._weight = beam, candidates, weight
        self._writable = writable
        self.inputs = pairs or ChannelAttacker(channel, candidates)

    def at_full_strength(self) -> CausalAttacker:
        """Return the attacker with the same models who guesses as well as it can."""
        return CausalAttacker(self.channel, self._model, self.pairs)

    @cached_property
    def speller(self) -> Speller:
        """Return the tokens of words; loads a tokenizer."""
        split = language.load_tokenizer(self._model.path, SETTING, language.CAUSAL)
        return Speller(split, self.channel.lexicon)

    def guess(self, released: Released) -> Ids:
        """Return the most probable word of each drawn one, unknown ones left out."""
        reading = self.read(released)
        best = reading.likely.argmax(axis=0)
        return np.asarray(reading.rows[best, np.arange(len(best))])

    def read(self, released: Released) -> CausalReading:
        """Return what is found for each drawn word of a batch."""
        rows, evidence, writable = self._evidence(released)
        # A word without any candidate stays as it was drawn.
        none = ~np.isfinite(evidence).any(axis=0)
        rows[0, none], evidence[0, none] = released.drawn[none], 0.0
        best, likely = np.array(released.drawn), np.zeros(rows.shape)
        name = Path(self._model.path).name
        with progress.step(f"reading {len(best):,} words with {name}"):
            # Before threads begin: they cannot share a tokenizer.
            texts = [self._text(each, rows, evidence) for each in texts_of(released)]
            texts.sort(key=lambda text: len(text[1]))
            how = self._beam, self._weight
            results = load(self._model).read([search(*text, *how) for text in texts])
        for (_, steps), (words, posteriors) in zip(texts, results, strict=True):
            for step, word, posterior in zip(steps, words, posteriors, strict=True):
                best[step.drawn] = rows[step.possible[word], step.drawn]
                likely[step.possible, step.drawn] = posterior
        return CausalReading(rows, likely, writable, best)

    def _text(
        self, pieces: Sequence[Piece], rows: Ids, evidence: Floats
    ) -> tuple[Known, list[Step]]:
        """Return what is known before the first drawn word of a text, and its words."""
        known: list[Known] = []
        steps: list[Step] = []
        after, speller = known, self.speller
        for piece in pieces:
            if piece.drawn < 0:
                after.append(Known(speller.of(piece.text), piece.shown))
                continue
            possible = np.flatnonzero(np.isfinite(evidence[:, piece.drawn]))
            words = rows[possible, piece.drawn]
            shown = (piece.written(speller.words[row]) for row in words.tolist())
            spelled = [speller.of(word) for word in shown]
            ahead = speller.ahead(piece.spaced, piece.capital)[words]
            weights, after = evidence[possible, piece.drawn], []
            steps.append(Step(piece.drawn, possible, spelled, weights, ahead, after))
        before = sum((each.tokens for each in _last(known)), speller.start)
        return Known(before, counts=False), steps

    def _evidence(self, released: Released) -> tuple[Ids, Floats, Mask]:
        """Return candidates, the evidence for each, -inf for none, and which to write.

        Of each word (c, n) the likely inputs and the logarithms of their weights.
        """
        rows, evidence, writable = self.inputs.evidence(released)
        evidence[rows == len(self.channel.prior)] = -np.inf
        if self._writable:
            evidence[~writable] = -np.inf
        order = np.argsort(-evidence, axis=0, kind="stable")[: self._candidates]
        return (
            np.take_along_axis(rows, order, axis=0),
            np.take_along_axis(evidence, order, axis=0),
            np.take_along_axis(writable, order, axis=0),
        )
