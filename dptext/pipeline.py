"""The one-way path from records to records; the only module that knows all stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import mechanisms, registry, spaces
from dptext.mappings import Index
from dptext.mechanisms import Channel
from dptext.profile import Profile
from dptext.randomness import Noise, Randomness, RunKey
from dptext.tokens.joining import Joiner
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Eps, Ids, Lexicon, Record, Words

# A batch is full at this many characters, whatever the number of records.
_CHARACTERS = 2**19
# Noisy vectors that are held at once.
_POINTS = 4096
# Called with the words of a batch, what was drawn for them, their epsilons.
Observer = Callable[[Words, Ids, Eps], None]


@dataclass(frozen=True)
class Pipeline:
    """A profile made ready: all that is public is done, texts and a key are missing.

    profile has its epsilon (a risk has been turned into one).
    """

    profile: Profile
    lexicon: Lexicon
    channel: Channel
    tokenizer: Tokenizer
    joiner: Joiner
    budget: Any
    mapping: tuple[Any, Any, Index] | None

    def privatize(
        self,
        records: Sequence[Record],
        randomness: Randomness,
        observe: Observer | None = None,
    ) -> list[tuple[str, ...]]:
        """Return the texts of each record with their words replaced."""
        texts = [text for record in records for text in record.texts]
        counts = np.array([len(record.texts) for record in records])
        record_of_text = np.repeat(np.arange(len(records)), counts)
        words = self.tokenizer.words(texts)
        nonces = [randomness.nonce(record) for record in records]
        noise = randomness.of(nonces, record_of_text[words.texts])
        eps: Eps = self.budget.spread(self.profile.budget.params, words)
        drawn = self.draw(words.ids, eps, noise)
        self._redraw_digits(words, record_of_text, nonces, randomness)
        if observe is not None:
            observe(words, drawn, eps)
        joined = iter(self.joiner.join(words, drawn, noise))
        return [tuple(next(joined) for _ in record.texts) for record in records]

    def draw(self, ids: Ids, eps: Eps, noise: Noise) -> Ids:
        """Draw a word for each word: the mechanism, then the mapping if any."""
        channel = self.channel
        if not len(ids):
            return ids
        if self.mapping is None:
            chosen: Ids = channel.module.choose(channel.state, ids, eps, noise)
            return chosen
        module, params, index = self.mapping
        drawn = np.empty(len(ids), np.int32)
        # Vectors are large: a few thousand words at a time keep the memory bounded.
        for begin in range(0, len(ids), _POINTS):
            part = np.arange(begin, min(begin + _POINTS, len(ids)))
            own = noise.take(part)
            points = channel.module.perturb(channel.state, ids[part], eps[part], own)
            drawn[part] = module.find(params, index, points, own)
        return drawn

    def run(
        self,
        records: Iterable[Record],
        key: RunKey,
        *,
        batch_size: int = 4096,
        observe: Observer | None = None,
    ) -> Iterator[tuple[Record, tuple[str, ...]]]:
        """Privatize a stream of records in bounded memory, in order.

        The output does not depend on batch_size, the most records in a batch.
        """
        randomness = self.randomness(key)
        for batch in batches(records, batch_size):
            yield from zip(
                batch, self.privatize(batch, randomness, observe), strict=True
            )

    def randomness(self, key: RunKey) -> Randomness:
        """Return the streams of a run with this pipeline's settings and lexicon."""
        return Randomness(key, f"{self.profile.digest()}/{self.lexicon.digest}")

    def _redraw_digits(
        self,
        words: Words,
        record_of_text: NDArray[np.int64],
        nonces: Sequence[bytes],
        randomness: Randomness,
    ) -> None:
        places = self.joiner.digit_places(words)
        if len(places):
            text = np.searchsorted(words.ends, places, side="right")
            noise = randomness.of(nonces, record_of_text[text])
            self.joiner.redraw_digits(words, noise, places)


def batches(records: Iterable[Record], size: int) -> Iterator[list[Record]]:
    """Group records, at most size of them and about 2^19 characters at a time."""
    batch: list[Record] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += sum(map(len, record.texts))
        if len(batch) >= size or characters >= _CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def build(recipe: Profile, lexicon: Lexicon) -> Pipeline:
    """Make a profile ready for a lexicon.

    Turns a risk into an epsilon. Raises UsageError for settings that do not fit the
    lexicon, or an epsilon beyond any meaning.
    """
    space = spaces.prepare(
        lexicon,
        recipe.space.name,
        registry.find("spaces", recipe.space.name),
        recipe.space.params,
    )
    module = registry.find("mechanisms", recipe.mechanism.name)
    channel = mechanisms.ready(
        recipe.mechanism.name, module, recipe.mechanism.params, space
    )
    budget = registry.find("budgets", recipe.budget.name)
    if recipe.budget.params.epsilon is None:
        from dptext.adversaries import calibrate, prior

        epsilon = calibrate.epsilon_for(
            channel,
            recipe.budget.params.risk,
            prior.replaced(lexicon, recipe.tokens),
        )
        recipe = recipe.with_epsilon(epsilon)
    defined = getattr(module, "check", None)
    if defined is not None:
        defined(channel.state, recipe.budget.params.epsilon)
    mapping = None
    if recipe.mapping is not None:
        found = registry.find("mappings", recipe.mapping.name)
        places = getattr(module, "places", None)
        vectors = places(channel.state) if places else space.vectors
        index = Index(vectors, space.size)
        mapping = (found, recipe.mapping.params, index)
    return Pipeline(
        profile=recipe,
        lexicon=lexicon,
        channel=channel,
        tokenizer=Tokenizer(lexicon, recipe.tokens),
        joiner=Joiner(lexicon, recipe.tokens),
        budget=budget,
        mapping=mapping,
    )
