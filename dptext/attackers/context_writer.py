"""Writes words that fit the copied words around them, weighted by their draw.

For texts in which most words are copied: there a draw reveals almost nothing, and the
words around it almost everything. The score of a candidate x of a drawn word y between
the words l and r is

    ln P(y|x) / least + ln g(l, x) + ln g(x, r) + topic(x) + ln p(x) + variety * G(y, x)

with the gains g of pairs of words (dptext.attackers.ngrams), the topic of
dptext.attackers.pairs and a Gumbel variable G of the draw: among close candidates the
draw decides, so that no few words are written everywhere. Candidates have the form that
is shown and are words that may have been replaced, or common but not among the
commonest: those that pairs with l and with r make likely, and the likely inputs of y. A
delicate word is written only where it was drawn. Words that a text has already are
written again only where they fit far better. A noun of which copied words tell that it
is an illness ("suffer from", "breast") is written as a word for any, and a word with a
capital before a name of a person as an office.

This is a function of the release and of public files. Scores are whole numbers, so all
machines write the same. Source: sampling by maxima of Gumbel variables (Gumbel 1954).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import cache
from dptext.attackers import kernel, ngrams, posterior
from dptext.attackers.channel import TABLES, Channel, Observation
from dptext.attackers.ngrams import Ngrams
from dptext.attackers.pairs import STEPS, TopicSums, find_topic, no_topic
from dptext.attackers.posterior import NAT, Chains
from dptext.lexicons import word_classes
from dptext.tokens import grammar, kinds, language_data, people
from dptext.tokens.common import common_words
from dptext.tokens.policy import WordClass
from dptext.types import ENGLISH, PARTS, Ids, Ints, Lexicon, Released

Scores = NDArray[np.int32]

# Words of a form that are listed beside a context, those that fit best; most candidates
# of a draw; with fewer candidates the commonest words of the form are candidates, too.
_LISTED, _DRAWN, _FEW = 64, 12, 4
# Nats of the gain of a pair from which on it is a fixed phrase, often a name: a word
# that may have been replaced is not written there; in gaps without and with a capital.
_FIXED = 7.0, 4.5
# What a word costs that the text has already, in nats.
_REPEATED = 4
# Least letters of a written word: fewer are fragments.
_LEAST_LETTERS = 3
# Least length of the polarity of a word with an opinion.
_POLAR = 0.03
# So many commonest words of a lexicon are not made up in a gap without a capital.
_COMMONEST = 3000
# Lists of words that are not written, and parts of speech that are.
_UNFIT = ("names", "months", "fragments", "organisations", "cities", "unwritten")
_WRITTEN = ("noun", "verb", "adjective", "adverb")
# Settings of tokens that decide which words may be written.
_DECISIVE = ("common", "opinion", "classes", "grammar", "unknown")
# Participles that are written behind these words, by the copied words behind them: "was
# left with", "was given a".
_BEFORE_PARTICIPLES = frozenset("was were been be is are am being".split())
_NOUNS = (grammar.NOUN, grammar.PLURAL)
_BETWEEN = frozenset(("and", "or", ","))
_PARTICIPLES = (
    (("with",), ("left", "faced")),
    (("a", "an", "my", "his", "her", "our", "some"), ("given", "offered")),
)
# Gumbel variables, and the steps of a nat that they are rounded to.
_VARIABLES, _ROUNDED = 4096, 256


class Fitting(NamedTuple):
    """Words by context and kind of gap, concatenated; `ends` holds each list's end."""

    ends: Scores
    rows: Scores
    #: Codes of the gains of the pairs.
    codes: NDArray[np.int8]


class LawCandidates(NamedTuple):
    """Candidates of each output by the draw's probabilities: (O, c)."""

    #: -1 for none.
    rows: Scores
    #: ln P(y|x) less the least of the output, as scores.
    scores: Scores


class Illnesses(NamedTuple):
    """Copied words that indicate an illness, and general words that replace one."""

    parts: frozenset[str]
    phrases: frozenset[str]
    #: Last words of phrases, "#" for a number.
    ends: frozenset[str]
    words: Mapping[int, tuple[int, ...]]
    #: Rows of words before a noun of illness, and these nouns.
    organs: tuple[int, ...]
    heads: frozenset[str]

    @classmethod
    def of_lexicon(cls, lexicon: Lexicon) -> Illnesses:
        """Read the lists of the lexicon's language; empty for other languages."""
        lists = language_data.illness_cues(lexicon.language)

        def rows_of(name: str) -> tuple[int, ...]:
            listed = sorted(lists.get(name, ()))
            return tuple(lexicon.row_of[w] for w in listed if w in lexicon.row_of)

        rows = {grammar.NOUN: rows_of("noun"), grammar.PLURAL: rows_of("plural")}
        phrases = frozenset(lists.get("phrases", ()))
        return cls(
            parts=frozenset(lists.get("parts", ())),
            phrases=phrases,
            ends=frozenset(phrase.rpartition("_")[2] for phrase in phrases),
            words={form: each for form, each in rows.items() if each},
            organs=rows_of("organs"),
            heads=lists.get("heads", frozenset()),
        )

    def are_told(self, released: Released, position: int) -> bool:
        """Return whether the copied words before a piece indicate an illness."""
        if not position:
            return False
        last = released.pieces[position - 1].strip(" ").lower()
        if int(released.flags[position - 1]) & kinds.KIND == kinds.NUMBER:
            last = "#"
        if last not in self.parts and last not in self.ends:
            return False
        text = int(np.searchsorted(released.ends, position, side="right"))
        begin = int(released.ends[text - 1]) if text else 0
        if position - 1 < begin or last in self.parts:
            return position - 1 >= begin
        if position - 2 < begin:
            return False
        first = released.pieces[position - 2].strip(" ").lower()
        return f"{first}_{last}" in self.phrases


class ContextWriter:
    """Chooses words that fit the copied words around them.

    `topic` is the exponent of the topic factor, 0 for none; `variety` is the scale of
    the Gumbel noise.
    """

    def __init__(
        self, channel: Channel, model: Ngrams, *, topic: float, variety: float
    ) -> None:
        self._channel, self._model, self.variety = channel, model, variety
        lexicon = channel.lexicon
        self._forms = np.zeros(model.size, np.uint8)
        if channel.policy.grammar == "show":
            self._forms = grammar.forms_of_rows(lexicon)
        # A kind of gap is a form, without and with a capital.
        self._width = 2 * len(grammar.FORMS)
        self._may_write, self._next, self._last = self._listed()
        gains = ngrams.decode_gains(np.arange(256).astype(np.uint8).view(np.int8))
        self._logs = posterior.to_scores(np.log(gains.astype(np.float64)))
        self._alone = posterior.to_scores(model.alone.astype(np.float64))
        self._backoff = posterior.to_scores(model.backoff.astype(np.float64))
        self._topic = find_topic(lexicon, topic) if topic else None
        quantiles = (np.arange(_VARIABLES) + 0.5) / _VARIABLES
        variables = -np.log(-np.log(quantiles)) * variety * _ROUNDED
        self._noise = (np.rint(variables) * (NAT // _ROUNDED)).astype(np.int32)
        self._drawn = lru_cache(maxsize=TABLES)(self._drawn_by)
        self._illnesses = Illnesses.of_lexicon(lexicon)
        opinions = _opinions(lexicon.language)
        self._opinions = np.zeros(model.size + 2, bool)
        self._opinions[: len(lexicon.words)] = [
            key in opinions for key in lexicon.row_of
        ]
        self._participles: dict[str, tuple[int, ...]] = {}
        for behind, participles in _PARTICIPLES if lexicon.language == ENGLISH else ():
            rows = (lexicon.row_of.get(word, -1) for word in participles)
            of_all = tuple(row for row in rows if row >= 0)
            self._participles |= dict.fromkeys(behind, of_all)
        self._offices: list[int] = []
        if lexicon.language == ENGLISH and WordClass.PERSON in channel.policy.classes:
            names = dict(language_data.sections("name_cues"))["written_offices"]
            offices = (lexicon.row_of.get(word, -1) for word in names)
            self._offices = [row for row in offices if row >= 0]
        self._form_of = grammar.forms_of_rows(lexicon)

    def write(self, released: Released) -> Ids:
        """Return the words to write: (n,)."""
        count, size = len(released.drawn), self._model.size
        chains = posterior.find_chains(released, self._channel.lexicon)
        forms = np.zeros(count, np.uint8)
        if released.grammar is not None:
            forms += released.grammar
        capital = (released.flags[released.positions] & kinds.TITLE) != 0
        forms[capital] += len(grammar.FORMS)
        by_draw = self._by_draw(released)
        sums = None if self._topic is None else self._topic.sums(released)
        if kernel.library is None:
            written = self._fill(
                released, chains, forms=forms, by_draw=by_draw, sums=sums
            )
            return self._by_rules(released, written)
        written = np.empty(count, np.int32)
        topic = no_topic()
        if self._topic is not None and sums is not None:
            topic = self._topic.kernel_arguments(sums)
        before, after = (
            each.astype(np.int32) for each in (chains.before, chains.after)
        )
        words = count, before, after, released.drawn, released.texts, forms
        lists = self._width, size + 2, _FEW, *self._next, *self._last
        model = self._logs, self._alone, self._backoff
        draws = by_draw.rows.shape[1], *by_draw
        weights = NAT // STEPS, -_REPEATED * NAT, self._noise
        scratch = np.zeros(size + 2, np.int32), np.zeros(size + 2, np.uint8)
        seen = np.full(size + 2, -1, np.int64)
        kernel.library.fill(
            *words, *lists, *model, *draws, *topic, *weights, *scratch, seen, written
        )
        return self._by_rules(released, written)

    def _by_rules(self, released: Released, written: Ids) -> Ids:
        """Replace illnesses and offices by general words, in place.

        A noun replaces a drawn opinion that no list has replaced. An office is
        recognised by a capital inside a sentence before a person's name, a participle
        by "was" before it and "with" or an article after it.
        """
        nouns = self._any_nouns
        for i in np.flatnonzero(self._opinions[written]).tolist() if len(nouns) else ():
            # A drawn opinion in a gap for which no list has words.
            written[i] = nouns[int(released.drawn[i]) % len(nouns)]
        after = released.positions + 1
        is_end = np.zeros(len(released.pieces) + 1, bool)
        is_end[released.ends] = True
        is_last = is_end[after]
        capital = (released.flags[released.positions] & kinds.TITLE) != 0
        for i in np.flatnonzero(capital & ~is_last).tolist() if self._offices else ():
            at = int(released.positions[i])
            if released.pieces[at + 1] not in _written_names():
                continue
            if not at or released.pieces[at - 1] not in _written_names():
                written[i] = self._offices[int(released.drawn[i]) % len(self._offices)]
        past, told = np.full(len(written), False), list[int]()
        if released.grammar is not None:
            past = np.isin(released.grammar, (grammar.PAST, grammar.ADJECTIVE))
        for i in np.flatnonzero(past & ~is_last).tolist():
            at = int(released.positions[i])
            behind = released.pieces[at + 1].strip(" ")
            if not behind and self._is_noun(released, i + 1, at + 1):
                behind = "a"  # "prescribed antibiotics"
            rows = self._participles.get(behind)
            before = {each.strip(" ") for each in released.pieces[max(at - 2, 0) : at]}
            if rows and not _BEFORE_PARTICIPLES.isdisjoint(before):
                written[i] = rows[int(released.drawn[i]) % len(rows)]
                told += [at + 2] if behind == "with" else []
        return self._without_illnesses(released, written, told)

    @property
    def _any_nouns(self) -> Scores:
        """Return the rows of nouns that fit any gap."""
        number = (self._model.size + 2) * self._width + grammar.NOUN
        ends = self._next.ends
        return self._next.rows[int(ends[number - 1]) : int(ends[number])]

    @staticmethod
    def _is_noun(released: Released, i: int, at: int) -> bool:
        """Return whether a piece is the i-th drawn word, and a noun."""
        if released.grammar is None or i >= len(released.positions):
            return False
        form = int(released.grammar[i])
        return int(released.positions[i]) == at and form in _NOUNS

    def _without_illnesses(
        self, released: Released, written: Ids, told: Collection[int]
    ) -> Ids:
        """Write a word for any illness where copied words tell one; in place.

        They tell more behind "and", "or" and a comma. told: places where others do.
        """
        if released.grammar is None or not self._illnesses.words:
            return written
        positions = released.positions
        is_next = np.append(False, np.diff(positions) == 1)
        is_next &= np.append(False, np.diff(released.texts) == 0)
        # The first of the drawn words side by side that each is one of.
        first = np.maximum.accumulate(np.where(is_next, 0, np.arange(len(positions))))
        last, before = ~np.append(is_next[1:], False), self._before_nouns(released)
        begins = self._before_adjectives(released, positions[first])
        stops, ends, latest = {*released.ends.tolist()}, {*told}, -1
        forms = np.where(last, released.grammar, np.uint8(grammar.OTHER))
        for i in np.flatnonzero(np.isin(forms, [*self._illnesses.words])).tolist():
            at, after = int(begins[i]), int(positions[i]) + 1
            named = self._illnesses.words[int(forms[i])]
            rows = self._organs(released, i) if before[i] else named
            follows = at in ends and at not in stops
            if not rows or not (follows or self._illnesses.are_told(released, at)):
                continue
            number = int(released.drawn[i]) % len(rows)
            number += follows and latest == rows[number]
            latest = written[i] = rows[number % len(rows)]
            if after not in stops and released.pieces[after].strip(" ") in _BETWEEN:
                ends.add(after + 1)
        return written

    def _organs(self, released: Released, i: int) -> tuple[int, ...]:
        """Return the rows of organs if a noun for an illness follows a drawn word."""
        behind = released.pieces[int(released.positions[i]) + 1].strip(" ").lower()
        return self._illnesses.organs if behind in self._illnesses.heads else ()

    def _before_adjectives(self, released: Released, positions: Ints) -> Ints:
        """Move each position to the first of the copied adjectives before it."""
        copied = released.copied
        if copied is None:
            return positions
        is_other = (copied < 0) | (self._form_of[copied] != grammar.ADJECTIVE)
        behind = np.where(is_other, np.arange(1, len(copied) + 1), 0)
        return np.asarray(np.append(0, np.maximum.accumulate(behind))[positions])

    def _before_nouns(self, released: Released) -> NDArray[np.bool_]:
        """Return a mask of drawn words before a copied noun (kidney failure): (n,)."""
        if released.copied is None:
            return np.zeros(len(released.positions), bool)
        behind = np.append(released.copied, np.int32(-1))
        behind[released.ends] = -1  # of the next text
        row = behind[released.positions + 1]
        form = self._form_of[row]
        is_noun = (form == grammar.NOUN) | (form == grammar.PLURAL)
        return np.asarray(is_noun & (row >= 0))

    def _fill(
        self,
        released: Released,
        chains: Chains,
        forms: NDArray[np.uint8],
        by_draw: LawCandidates,
        sums: TopicSums | None,
    ) -> Ids:
        """Choose words in numpy, where the compiled kernel is missing."""
        size, written = self._model.size, released.drawn.astype(np.int32)
        means = (
            None
            if sums is None or self._topic is None
            else self._topic.means(released, sums)
        )
        seen: dict[int, int] = {}
        before, after = chains.before.tolist(), chains.after.tolist()
        for i, (drawn, text) in enumerate(
            zip(released.drawn.tolist(), released.texts.tolist(), strict=True)
        ):
            left = before[i] if before[i] >= 0 else int(written[i - 1])
            lists = [(self._next, left)]
            if after[i] >= 0:
                lists.append((self._last, after[i]))
            scores: dict[int, int] = {}
            for fitting, context in lists:
                self._add(scores, fitting, context, int(forms[i]))
            for row, score in zip(
                by_draw.rows[i].tolist(), by_draw.scores[i].tolist(), strict=True
            ):
                if row >= 0:
                    scores[row] = scores.get(row, 0) + score
            if len(scores) < _FEW:
                self._add(scores, self._next, size + 2, int(forms[i]))
            if not scores:
                seen[drawn] = text
                continue
            rows = np.array([*scores], np.int64)
            total = np.array([*scores.values()], np.int64)
            total += self._alone[rows].astype(np.int64) + self._noise_of(drawn, rows)
            if after[i] >= 0:
                total += self._backoff[rows]
            again = [seen.get(row) == text for row in rows.tolist()]
            total -= np.array(again) * (_REPEATED * NAT)
            if means is not None and self._topic is not None:
                total += self._topic.steps_by(rows[None], means[i : i + 1])[0] * (
                    NAT // STEPS
                )
            best = rows[total == total.max()].min()
            written[i] = best
            seen[int(best)] = text
        return written

    def _add(
        self, scores: dict[int, int], fitting: Fitting, context: int, form: int
    ) -> None:
        """Add the scores of a context's listed words to the candidates."""
        number = context * self._width + form
        part = slice(
            int(fitting.ends[number - 1]) if number else 0, int(fitting.ends[number])
        )
        logs = self._logs[fitting.codes[part].view(np.uint8)]
        for row, score in zip(fitting.rows[part].tolist(), logs.tolist(), strict=True):
            scores[row] = scores.get(row, 0) + score

    def _noise_of(self, drawn: int, rows: Ints) -> Ints:
        """Return the Gumbel noise of a draw's candidates, equal to the kernel's."""
        first = np.uint32(drawn * 2654435761 & 0xFFFFFFFF)
        bits = rows.astype(np.uint32) * np.uint32(2246822519) + np.uint32(374761393)
        bits ^= first
        bits = (bits ^ bits >> np.uint32(15)) * np.uint32(2246822507)
        bits = (bits ^ bits >> np.uint32(13)) * np.uint32(3266489909)
        at = (bits ^ bits >> np.uint32(16)) >> np.uint32(20)
        return np.asarray(self._noise[at], np.int64)

    def _by_draw(self, released: Released) -> LawCandidates:
        """Return the candidates of each drawn word given its draw: (n, c)."""
        shape = len(released.drawn), _DRAWN
        rows, scores = np.full(shape, -1, np.int32), np.zeros(shape, np.int32)
        for shown, positions in self._channel.groups(released):
            table, drawn = self._drawn(shown), released.drawn[positions]
            rows[positions], scores[positions] = table.rows[drawn], table.scores[drawn]
        return LawCandidates(rows, scores)

    def _drawn_by(self, shown: Observation) -> LawCandidates:
        channel = self._channel
        prior = channel.restrict_prior(shown, channel.inputs)
        if not prior.any():
            prior = channel.inputs
        law = channel.law(shown.epsilon, _DRAWN, prior)
        # The lists of words (`_listed`) decide which candidates may be written.
        key = cache.key_of("context draws", 4, self._key, shown.capital, *law)

        def compute() -> cache.Arrays:
            rows, logs, writable = channel.compute_candidates(
                shown.epsilon, _DRAWN, prior
            )
            # An opinion is not written where it was drawn either.
            itself = rows == np.arange(len(rows))[:, None]
            itself &= ~self._opinions[rows]
            may_write = self._may_write[int(shown.capital)][rows]
            writable = writable & (itself | may_write)
            least = np.where(np.isfinite(logs), logs, np.inf).min(axis=1, keepdims=True)
            scores = posterior.to_scores(np.where(writable, logs - least, 0.0))
            return {"rows": np.where(writable, rows, np.int32(-1)), "scores": scores}

        def is_sound(cached: cache.Arrays) -> bool:
            rows, size = cached["rows"], len(channel.prior)
            fits = rows.shape == cached["scores"].shape and 0 < len(rows) <= size
            return fits and bool(rows.min() >= -1 and rows.max() <= size)

        about = "finding likely originals of each word"
        table = cache.arrays(key, compute, is_sound, about)
        return LawCandidates(table["rows"], table["scores"])

    def _listed(self) -> tuple[NDArray[np.bool_], Fitting, Fitting]:
        """Return writable words, and words listed after and before each context."""
        model, channel = self._model, self._channel
        policy, lists = channel.policy, (model.size + 3) * self._width
        arrays = (model.ends, model.following, model.gains, model.alone, model.backoff)
        content = [cache.digest(np.asarray(each)) for each in arrays]
        # All that decides which words may be written, and their forms.
        settings = {name: str(getattr(policy, name)) for name in _DECISIVE}
        words = channel.lexicon.digest, cache.digest(channel.prior), settings
        public = language_data.digest()
        key = cache.key_of("context", 7, *content, *words, public, _LISTED)
        self._key = key

        def compute() -> cache.Arrays:
            may_write = writable_words(channel)
            parts: dict[str, NDArray[np.generic]] = {"may_write": may_write}
            names = ("next", "last")
            for name, fitting in zip(names, self._lists(may_write), strict=True):
                # Small numbers, for a quick start: a list has at most _LISTED words.
                sizes = np.diff(fitting.ends, prepend=np.int32(0))
                parts[f"{name}_sizes"] = sizes.astype(np.uint8)
                narrow = model.size <= 1 << 16
                rows = np.uint16 if narrow else np.uint32
                parts[f"{name}_rows"] = fitting.rows.astype(rows)
                parts[f"{name}_codes"] = fitting.codes
            return parts

        def is_sound(cached: cache.Arrays) -> bool:
            return cached["may_write"].shape == (2, model.size + 2) and all(
                cached[f"{name}_sizes"].shape == (lists,)
                and int(cached[f"{name}_sizes"].sum()) == len(cached[f"{name}_rows"])
                and len(cached[f"{name}_codes"]) == len(cached[f"{name}_rows"])
                and int(cached[f"{name}_rows"].max(initial=0)) < model.size
                for name in ("next", "last")
            )

        cached = cache.arrays(key, compute, is_sound, "listing words by their context")
        following, before = (
            Fitting(
                np.cumsum(cached[f"{name}_sizes"], dtype=np.int32),
                cached[f"{name}_rows"].astype(np.int32),
                np.ascontiguousarray(cached[f"{name}_codes"]),
            )
            for name in ("next", "last")
        )
        return np.asarray(cached["may_write"], bool), following, before

    def _lists(self, may_write: NDArray[np.bool_]) -> tuple[Fitting, Fitting]:
        model, words = self._model, np.arange(self._model.size)
        first, second = model.contexts, np.asarray(model.following, np.int64)
        codes = np.asarray(model.gains)
        logs = np.log(ngrams.decode_gains(codes).astype(np.float64))
        # Words for a gap of which nothing else is known stand beside the last context.
        alone = np.zeros(len(words), np.int8)
        following = self._sorted(
            may_write,
            np.append(first, np.full(len(words), model.size + 2)),
            rows=np.append(second, words),
            codes=np.append(codes, alone),
            worth=np.append(logs, alone),
        )
        worth = logs + model.backoff[first].astype(np.float64)
        before = self._sorted(may_write, second, rows=first, codes=codes, worth=worth)
        return following, before

    def _sorted(
        self,
        may_write: NDArray[np.bool_],
        contexts: Ints,
        *,
        rows: Ints,
        codes: NDArray[np.int8],
        worth: NDArray[np.float64],
    ) -> Fitting:
        """Return the highest-scoring words for each context, as lists."""
        parts = []
        common = np.append(self._channel.common[:-1], np.zeros(2, bool))
        gains = np.log(ngrams.decode_gains(codes))
        for capital, writable in enumerate(may_write):
            # "club penguin": in a gap without a capital a common word was not replaced.
            hidden = np.ones(len(rows), bool) if capital else ~common[rows]
            here = np.flatnonzero(
                writable[rows] & ~(hidden & (gains >= _FIXED[capital]))
            )
            shown = self._forms[rows[here]] + capital * len(grammar.FORMS)
            parts.append((contexts[here] * self._width + shown, here))
        numbers, at = (np.concatenate(each) for each in zip(*parts, strict=True))
        likely = worth[at] + self._model.alone[rows[at]]
        order = np.lexsort((rows[at], -likely, numbers))
        numbers, at = numbers[order], at[order]
        lists = (self._model.size + 3) * self._width
        begins = np.searchsorted(numbers, np.arange(lists))
        kept = np.arange(len(at)) - begins[numbers] < _LISTED
        numbers, at = numbers[kept], at[kept]
        ends = np.searchsorted(numbers, np.arange(lists), side="right")
        return Fitting(ends.astype(np.int32), rows[at].astype(np.int32), codes[at])


@lru_cache(maxsize=1)
def _written_names() -> frozenset[str]:
    """Return the English person names that may be written."""
    return frozenset(chain.from_iterable(people.lists().values()))


def _opinions(language: str) -> frozenset[str]:
    opinions = language_data.opinion_words(language)
    return opinions | language_data.opinion_nouns(language)


def writable_words(channel: Channel) -> NDArray[np.bool_]:
    """Return a mask of words that may be written where not drawn: (2, V + 2).

    Row 0, without a capital: words that may have been replaced, and common ones except
    the commonest, which would stand everywhere; rare ones alone read badly. Row 1, with
    a capital, adds all common words. Excluded are delicate words, names, fragments, and
    all but nouns, verbs, adjectives and adverbs.
    """
    lexicon = channel.lexicon
    size, lists = len(lexicon.words), language_data.common_lists(lexicon.language)
    unfit = frozenset(chain.from_iterable(lists.get(name, ()) for name in _UNFIT))
    # An opinion is copied where the text has it, and never made up.
    unfit |= _opinions(lexicon.language)
    words = zip(lexicon.row_of, lexicon.words, strict=True)
    fits = np.array(
        [
            word.isalpha()
            and word.islower()
            and len(word) >= _LEAST_LETTERS
            and key not in unfit
            for key, word in words
        ]
    )
    if "glove_sha256" in lexicon.meta:
        # The last number of the vectors that dptext builds is the polarity of a word.
        fits &= abs(lexicon.vectors[:size, -1]) < _POLAR
    fits &= ~channel.never_replaced[:-1] & ~word_classes.vulgar_rows(lexicon)[:-1]
    fits &= ~word_classes.classes_of_lexicon(lexicon).delicate
    fits &= ~word_classes.written_as_drawn(lexicon)
    if lexicon.parts is not None:
        fits &= np.isin(lexicon.parts, [PARTS.index(part) for part in _WRITTEN])
    may_write = np.zeros((2, size + 2), bool)
    may_write[:, :size] = fits & (channel.inputs[:-1] > 0.0)
    may_write[1, :size] |= fits & channel.common[:-1]
    if channel.policy.common:
        may_write[0, common_words(lexicon, *channel.policy.copied_words).rows] = False
        order = np.argsort(-lexicon.counts, kind="stable")
        commonest = np.isin(np.arange(size), order[:_COMMONEST])
        may_write[0, :size] |= fits & channel.common[:-1] & ~commonest
    return may_write
