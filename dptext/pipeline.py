"""The path from records to private texts; the only module that knows all stages.

`build` prepares a profile; `Pipeline.privatize` draws, decodes and writes the words of
a batch of records and returns everything needed to write, measure or charge it.

Two runs share random bits only if all that determines the output is equal
(`output_identity`): the settings, with the content of named files; the lexicon's
content; OUTPUT_LAWS, ALGORITHM, and the code of components of other packages. Versions
of dptext with equal laws write the same under the same key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from dptext import mappings, progress, registry, spaces, views
from dptext.attackers.channel import Channel
from dptext.budgets import AnyBudget, Budget, SequentialBudget, uniform
from dptext.decoders import Decoder, none
from dptext.errors import LexiconError, UsageError
from dptext.guarantees import statement
from dptext.lexicons import topics
from dptext.lexicons.word_classes import (
    SpecialRecords,
    has_special_words,
    special_records,
)
from dptext.mappings import Index
from dptext.measures import bayes_risk
from dptext.mechanisms import (
    Aim,
    Family,
    Mechanism,
    NoiseMechanism,
    SetMechanism,
    TextMechanism,
    WordMechanism,
)
from dptext.metrics import Batch
from dptext.profile import STAGES, Part, Profile, check_compatibility, in_language
from dptext.randomness import (
    ALGORITHM,
    BUDGET_LANE,
    MAPPING_LANE,
    RandomBits,
    Randomness,
    RunKey,
)
from dptext.settings import digest_of_data
from dptext.shared_draws import RunTable, draw_by_record
from dptext.tokens import kinds, lists
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import (
    BudgetDescription,
    BudgetKind,
    Eps,
    Ids,
    Ints,
    JsonObject,
    Lexicon,
    Notion,
    Points,
    Record,
    Released,
    Strategy,
    Words,
    records_of_texts,
)
from dptext.writing import joining
from dptext.writing.joining import Joined, Joiner
from dptext.writing.whole_texts import TopicJoiner, WholeTexts

# The first version of dptext that turns random bits, settings and texts into words as
# this one does. Raise it to the coming version, once between two releases, when the
# same key, input and settings would write other bytes: otherwise two outputs of a text
# would share random bits under different laws, and tell more than either alone.
OUTPUT_LAWS = "2.0.0"
# A batch is full at this many characters and texts, whatever the number of records, and
# at so many characters that records keep beside their texts.
_CHARACTERS, _REST = 2**17, 2**23
# Noisy vectors in memory at once, which bounds it, and vectors drawn at once: few
# enough to stay in the cache of the processor.
_POINTS, _DRAWN = 2048, 256


def output_identity(
    recipe: Profile,
    lexicon: str,
    contents: Mapping[str, Mapping[str, str]],
    used: tuple[str, ...],
) -> str:
    """Return the sha256 of everything that determines the output.

    lexicon: digest of its content; contents: by part, the digests of files and models
    that it names; used: sources of the budget, for one of another package.
    """
    settings = recipe.settings()
    named: dict[str, JsonObject] = {}
    for key, part in recipe.parts().items():
        code = registry.code(STAGES[key], part.name)
        digests = dict(contents.get(key, {}))
        unkeyed = recipe.decoder.params.unkeyed if key == "decoder" else ()
        for path in (*digests, *unkeyed):
            *parents, last = path.split(".")
            inside: Any = settings[key]
            for name in parents:
                inside = inside.get(name) if isinstance(inside, dict) else None
            if isinstance(inside, dict):
                inside.pop(last, None)
        named[key] = {"content": digests, "code": code, "used": used if code else ()}
    # Files of lists count by their content, not by their paths.
    settings["tokens"] = lists.settings_by_content(recipe.tokens)
    return digest_of_data(
        {
            "algorithm": ALGORITHM.decode(),
            "version": OUTPUT_LAWS,
            "lexicon": lexicon,
            "settings": settings,
            "named": named,
        }
    )


def build_channel(recipe: Profile, mechanism: Mechanism, budget: AnyBudget) -> Channel:
    """Return the channel of the draws, as known to attackers."""
    lexicon = mechanism.space.lexicon
    description = budget.description
    row_eps = None
    if description.kind is BudgetKind.TYPE and isinstance(budget, Budget):
        row_eps = _epsilons_of_rows(budget, len(lexicon.words))
    prior = bayes_risk.prior_of_replaced(lexicon, recipe.tokens)
    return Channel(
        lexicon=lexicon,
        policy=recipe.tokens,
        mechanism=mechanism,
        budget=description,
        prior=prior,
        row_eps=row_eps,
    )


def _epsilons_of_rows(budget: Budget, size: int) -> Eps:
    """Return the epsilon of each vocabulary word and the unknown word: (V + 1,).

    Only for budgets that depend on the word alone: each word is a separate text here.
    """
    positions = np.arange(size + 1)
    ids = np.append(positions[:-1], -1).astype(np.int32)
    flags = np.full(size + 1, kinds.WORD, np.uint8)
    words = Words(
        pieces=[""] * (size + 1),
        flags=flags,
        ends=positions + 1,
        positions=positions,
        texts=positions,
        ids=ids,
    )
    bits = Randomness(RunKey.from_seed(0), "").bits([bytes(16)], positions * 0)
    return budget.spread(words, bits)


class Draws(NamedTuple):
    """The draws of a batch with n replaced words."""

    words: Words
    #: (n,) rows of the vocabulary.
    drawn: Ids
    #: (n,) nats.
    eps: Eps
    bits: RandomBits


class Privatized(NamedTuple):
    """The sanitized version of a batch of records, with n replaced words."""

    #: New texts of each record.
    texts: list[tuple[str, ...]]
    #: Words of the original texts.
    words: Words
    #: (n,) rows of the vocabulary, as drawn.
    drawn: Ids
    #: The new texts, with the written words.
    joined: Joined
    #: (n,) nats.
    eps: Eps
    #: Number of texts that are the same before and after, of those with a letter or
    #: digit.
    unchanged: int = 0
    #: Number of the others with a letter or digit.
    changed: int = 0
    special: SpecialRecords = SpecialRecords()

    @property
    def replaced(self) -> list[int]:
        """Return the number of replaced words in each text."""
        return self.words.by_text()

    def batch(self, first_text: int) -> Batch:
        """Return the batch for meters; first_text: number of earlier texts."""
        written, spelled = self.joined.written, self.joined.spelled
        return Batch(
            words=self.words,
            written=written,
            spelled=spelled,
            eps=self.eps,
            first_text=first_text,
        )


@dataclass(frozen=True)
class Pipeline:
    """A prepared profile: ready to process texts with a key."""

    #: With an epsilon, never a risk.
    profile: Profile
    lexicon: Lexicon
    mechanism: Mechanism
    tokenizer: Tokenizer
    joiner: Joiner
    budget: AnyBudget
    mapping: mappings.Mapping | None
    channel: Channel
    decoder: Decoder
    #: Digest of everything that decides the output besides key and input.
    identity: str
    #: Whether equal texts have equal inputs of the mechanism; views of topics may not.
    is_repeatable: bool = True

    def privatize(
        self, records: Sequence[Record], randomness: Randomness, *, special: bool = True
    ) -> Privatized:
        """Replace the words of records; special: also find special-category records."""
        words, drawn, eps, bits = self.draws(records, randomness, special=special)
        written = self.decode(words, drawn, eps)
        if isinstance(self.mechanism, SetMechanism) and self.writes_sets:
            written = self.mechanism.sets(words.inputs, eps, bits)
        joined = self.joiner.join(words, written, bits)
        if self.rewrites and len(drawn):
            released, spelled = self.released(words, drawn, eps), [*joined.spelled]
            anew = self.decoder.rewrite(joined.texts, spelled, released)
            joined = replace(joined, texts=anew)
        left = iter(joined.texts)
        texts = [tuple(islice(left, len(record.texts))) for record in records]
        before = (text for record in records for text in record.texts)
        pairs = zip(before, joined.texts, strict=True)
        same = [old == new for old, new in pairs if any(map(str.isalnum, old))]
        return Privatized(
            texts=texts,
            words=words,
            drawn=drawn,
            joined=joined,
            eps=eps,
            unchanged=sum(same),
            changed=len(same) - sum(same),
            special=special_records(words, records),
        )

    @property
    def writes_sets(self) -> bool:
        """Return whether each text is written as a set of topics."""
        of_topics = isinstance(self.joiner, TopicJoiner)
        return of_topics and isinstance(self.mechanism, SetMechanism)

    @property
    def rewrites(self) -> bool:
        """Return whether texts are rewritten freely, without word correspondence."""
        party = self.profile.decoder.params.third_party
        return party is not None and party.rewrites

    @property
    def offline(self) -> Pipeline:
        """Return a copy for measurements that never contacts a server."""
        return replace(self, decoder=self.decoder.offline)

    def replaced(self, records: Sequence[Record]) -> list[int]:
        """Count the words to replace in each text, without drawing."""
        return self._words(records)[0].by_text()

    def in_other_languages(self, records: Sequence[Record]) -> list[bool]:
        """Return which records with text are in none of the run's languages."""
        words, record_of_text = self._words(records)
        others = np.zeros(len(records), bool)
        if words.languages is not None:
            is_other = [not code for code in words.languages]
            others[record_of_text[is_other]] = True
        return list(map(bool, others))

    def _words(self, records: Sequence[Record]) -> tuple[Words, Ints]:
        """Tokenize records; also return the record of each text."""
        texts = [text for record in records for text in record.texts]
        record_of_text = records_of_texts(records)
        declared = [record.language for record in records]
        return self.tokenizer.words(texts, record_of_text, declared), record_of_text

    def draws(
        self, records: Sequence[Record], randomness: Randomness, *, special: bool = True
    ) -> Draws:
        """Draw a word for each word of records, and new digits for forms."""
        words, record_of_text = self._words(records)
        nonces = [randomness.nonce(record) for record in records]
        # First, so that no draw of a word depends on the original forms and digits.
        positions = self.joiner.positions_to_redraw(words)
        if special and not isinstance(self.joiner, TopicJoiner):
            texts = has_special_words(words, positions, self.lexicon)
            words = replace(words, special=texts)
        if len(positions):
            of_pieces = record_of_text[np.searchsorted(words.ends, positions, "right")]
            digits = randomness.bits(nonces, of_pieces)
            self.joiner.redraw(words, digits, positions, of_pieces)
        records_of_words = record_of_text[words.texts]
        bits = randomness.bits(nonces, records_of_words)
        if not len(words.ids):
            drawn, eps = words.ids, np.empty(0)
        elif isinstance(self.budget, SequentialBudget):
            drawn, eps = self.release(self.budget, words, bits)
        else:
            eps = self.budget.spread(words, bits.since(BUDGET_LANE))
            if isinstance(self.mechanism, TextMechanism):
                drawn = self.mechanism.sample(words, eps, bits)
            else:
                inputs = words.inputs
                drawn = self.replace(
                    ids=inputs,
                    eps=eps,
                    bits=bits,
                    records=records_of_words,
                    randomness=randomness,
                )
        return Draws(words, drawn, eps, bits)

    def released(self, words: Words, drawn: Ids, eps: Eps) -> Released:
        """Return an attacker's view of drawn words (n,), with public epsilons."""
        public = self.channel.public_epsilons(eps, words.texts)
        return joining.release(self.profile.tokens, words, drawn, public)

    def decode(self, words: Words, drawn: Ids, eps: Eps) -> Ids:
        """Return the words to write for drawn words, using only the release."""
        if not self.profile.decoder.params.reads or not len(drawn):
            return drawn
        return self.decoder.decode(self.released(words, drawn, eps))

    def release(
        self, budget: SequentialBudget, words: Words, bits: RandomBits
    ) -> tuple[Ids, Eps]:
        """Draw words and their epsilons, which depend on earlier drawn words."""

        def draw(positions: Ints, eps: Eps) -> Ids:
            return self.draw(words.inputs[positions], eps, bits.take(positions))

        return budget.release(words, bits.since(BUDGET_LANE), draw)

    def replace(
        self,
        ids: Ids,
        eps: Eps,
        bits: RandomBits,
        records: Ints,
        randomness: Randomness,
    ) -> Ids:
        """Draw a word for each word, or for equal words once, as the strategy says.

        records (n,): the record of each word, non-decreasing.
        """
        if self.profile.strategy is Strategy.RECORD:
            return draw_by_record(
                ids=ids, eps=eps, bits=bits, records=records, draw=self.draw
            )
        if self.profile.strategy is Strategy.DATA_SET:
            size = len(self.lexicon.words)
            table = randomness.once("table", lambda: RunTable(size, randomness))
            return table.draw(ids, eps, self.draw)
        return self.draw(ids, eps, bits)

    def draw(self, ids: Ids, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: by the mechanism, then by any mapping."""
        if not len(ids):
            return ids
        if isinstance(self.mechanism, WordMechanism):
            drawn = self.mechanism.sample(ids, eps, bits)
        else:
            assert self.mapping is not None
            drawn = np.empty(len(ids), np.int32)
            for part, noisy in self.points(ids, eps, bits):
                drawn[part] = self.mapping.find(
                    noisy, bits.take(part).since(MAPPING_LANE)
                )
        if drawn.min() < 0 or drawn.max() >= len(self.lexicon.words):
            raise UsageError(
                f"mechanism {self.mechanism.name} drew no word; please "
                "report this to its authors"
            )
        return drawn

    def points(
        self, ids: Ids, eps: Eps, bits: RandomBits
    ) -> Iterator[tuple[Ints, Points]]:
        """Yield the noisy vectors of a noise mechanism, with their words.

        They come a few thousand words at a time, to bound memory.
        """
        assert isinstance(self.mechanism, NoiseMechanism)
        for begin in range(0, len(ids), _POINTS):
            part = np.arange(begin, min(begin + _POINTS, len(ids)))
            points = [
                self.mechanism.sample(ids[few], eps[few], bits.take(few))
                for few in np.split(part, range(_DRAWN, len(part), _DRAWN))
            ]
            yield part, self.mechanism.finite(np.concatenate(points))

    def run(
        self, records: Iterable[Record], key: RunKey, *, batch_size: int = 4096
    ) -> Iterator[tuple[Record, tuple[str, ...]]]:
        """Sanitize a stream of records in order, in bounded memory.

        The output does not depend on batch_size, the maximum records per batch.
        """
        randomness = self.randomness(key)
        for batch in batches(records, batch_size):
            texts = self.privatize(batch, randomness, special=False).texts
            yield from zip(batch, texts, strict=True)

    def randomness(self, key: RunKey, output: str | None = None) -> Randomness:
        """Return the random streams of a run; output: as in Randomness.

        Any change that affects draws, such as an edited file, gives independent noise,
        even with the same key. Raises UsageError for a key if equal texts may get
        different topics.
        """
        if key.origin != "system" and not self.is_repeatable:
            raise UsageError(
                "these topics may assign equal texts differently, so a key or seed "
                "would not repeat draws: leave the key or seed out"
            )
        return Randomness(key, self.identity, output)


def batches(records: Iterable[Record], size: int = 4096) -> Iterator[list[Record]]:
    """Group up to `size` records, with about 2^17 characters and texts per group.

    Groups have about 8 MiB besides the texts. A single record may exceed any limit.
    """
    batch: list[Record] = []
    characters = rest = 0
    for record in records:
        batch.append(record)
        characters += sum(map(len, record.texts)) + len(record.texts)
        rest += record.size
        if len(batch) >= size or characters >= _CHARACTERS or rest >= _REST:
            yield batch
            batch, characters, rest = [], 0, 0
    if batch:
        yield batch


def build(
    recipe: Profile, lexicon: Lexicon, mechanism: Mechanism | None = None
) -> Pipeline:
    """Prepare a profile for a lexicon.

    recipe has an epsilon instead of a risk (dptext.calibration). mechanism: that
    of the profile, if already prepared for this lexicon. Raises UsageError for
    settings that do not fit the lexicon, or an epsilon too large to mean anything.
    """
    recipe = in_language(recipe, lexicon)
    decoding = recipe.decoder.params.for_lexicon(lexicon)
    recipe = replace(recipe, decoder=Part(recipe.decoder.name, decoding))
    budget = recipe.budget.params.prepare(lexicon)
    check_compatibility(recipe, budget)
    if mechanism is None:
        space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
        mechanism = recipe.mechanism.params.prepare(space, _aim(budget.description))
    recipe = replace(recipe, mechanism=Part(recipe.mechanism.name, mechanism.params))
    if topics.topic_meta(lexicon) is not None:
        _check_topics(recipe, mechanism, budget)
    statement.check(mechanism, budget.description)
    mapping = None
    if recipe.mapping is not None:
        assert isinstance(mechanism, NoiseMechanism)
        index = Index(mechanism.output_vectors, mechanism.space.size)
        mapping = recipe.mapping.params.prepare(index)
    channel = build_channel(recipe, mechanism, budget)
    if not recipe.decoder.params.fits(channel):
        progress.say(
            f"no model to decode with ({recipe.decoder.name}): the drawn words are "
            "written"
        )
        recipe = replace(recipe, decoder=Part("none", none.Params()))
    if recipe.decoder.params.reads:
        channel.check()
    decoder = recipe.decoder.params.prepare(channel)
    tokenizer, joiner, is_repeatable = _texts_to_words(recipe, lexicon)
    contents = {
        "mechanism": mechanism.content,
        "budget": budget.content,
        "mapping": mapping.content if mapping else {},
        "decoder": decoder.content,
    }
    return Pipeline(
        profile=recipe,
        lexicon=lexicon,
        mechanism=mechanism,
        tokenizer=tokenizer,
        joiner=joiner,
        budget=budget,
        mapping=mapping,
        channel=channel,
        decoder=decoder,
        identity=output_identity(
            recipe,
            _digest_with_view(lexicon),
            contents,
            budget.description.used,
        ),
        is_repeatable=is_repeatable,
    )


def _aim(budget: BudgetDescription) -> Aim:
    """Return the epsilon per word for which a mechanism chooses its settings.

    It is the largest of several epsilons, and None if words share a total.
    """
    if budget.rate is not None:
        return Aim(epsilon=budget.rate)
    return Aim(epsilon=budget.high if budget.total is None else None)


def check(recipe: Profile, lexicon: Lexicon) -> None:
    """Raise UsageError for settings that `build` rejects before its slow work."""
    params = recipe.budget.params
    by_risk = isinstance(params, uniform.Params) and params.epsilon is None
    check_compatibility(recipe, None if by_risk else params.prepare(lexicon))
    recipe.mechanism.params.check()


def _digest_with_view(lexicon: Lexicon) -> str:
    """Return the digest of a lexicon and of another package's view code."""
    meta = topics.topic_meta(lexicon)
    code = "" if meta is None else registry.code("views", str(meta["view"]["name"]))
    return digest_of_data([lexicon.digest, code]) if code else lexicon.digest


def _texts_to_words(
    recipe: Profile, lexicon: Lexicon
) -> tuple[Tokenizer, Joiner, bool]:
    """Return tokenizer, joiner, and whether equal texts have equal inputs.

    For topics, the tokenizer takes whole texts. Raises LexiconError if the view of
    texts has changed since topics were built.
    """
    meta = topics.topic_meta(lexicon)
    if meta is None:
        tokens = recipe.tokens
        return Tokenizer(lexicon, tokens), Joiner(lexicon, tokens), True
    view = views.prepare(meta["view"])
    if dict(view.content) != meta["view_content"]:
        raise LexiconError(
            f"topics {meta['name']}: built with another lexicon or model than the "
            "installed one; build them again"
        )
    nearest = topics.nearest(lexicon)
    written = recipe.tokens.topic
    joiner = TopicJoiner(lexicon, ids=written != "words", words=written != "id")
    whole = WholeTexts(lambda texts: nearest.find(view.vectors(texts)), view.words)
    return whole, joiner, view.is_repeatable


def _check_topics(recipe: Profile, mechanism: Mechanism, budget: AnyBudget) -> None:
    """Raise UsageError for settings that reveal more of a text than its topic."""
    description = budget.description
    notion = mechanism.guarantee(description.high).notion
    words = mechanism.params.family is Family.WORDS
    refusals = {
        "mechanism: topics need one with a guarantee for any two words, such as rank": (
            not words or notion is not Notion.LDP
        ),
        "budget: all texts have one epsilon; use the budget uniform": (
            description.kind is not BudgetKind.WORD
        ),
        "strategy: topics are drawn separately for each text; use token": (
            recipe.strategy is not Strategy.TOKEN
        ),
        "decoder: topics are written as drawn; use none": (
            recipe.decoder.name != "none"
        ),
        "tokens: a topic replaces the whole text; set punctuation to drop, and leave "
        "lists, forms and the treatment of words out": (
            replace(recipe.tokens, topic="words", agreement="inflect")
            != Policy(punctuation="drop")
        ),
    }
    for message, is_refused in refusals.items():
        if is_refused:
            raise UsageError(message)
