"""A causal language model chooses the words that fit the draws best.

Modes: mbr writes the likely input of a drawn word with the largest
expected closeness (cosine) to the input; posterior the most probable one; beam the word
in the most likely text. Beam search ignores words that no beam reaches. With
a model of pairs of words, its posterior is the evidence for each candidate instead of
the channel.
Source: beam search over candidates of each place; decoding by least expected loss
(Kumar and Byrne 2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from dptext import decoders
from dptext.attackers.causal import SETTING, CausalAttacker, CausalModel, CausalReading
from dptext.attackers.channel import Channel
from dptext.attackers.ngrams import find_model
from dptext.attackers.pairs import FLUENCY, POWER, PairAttacker
from dptext.errors import UsageError
from dptext.models import language
from dptext.noise import unit
from dptext.run.interface import option
from dptext.settings import digest_of_path
from dptext.types import Floats, Ids, Released

WHAT = "the decoder causal-lm"


@dataclass(frozen=True, slots=True)
class Params(decoders.Params):
    """Settings of the decoder."""

    mode: Literal["mbr", "posterior", "beam"] = "mbr"
    #: A Hugging Face folder or a GGUF file on this machine.
    model: str = ""
    #: Name or folder of a model of pairs that is used as well, "" for none.
    ngrams: str = ""
    #: Inputs that are weighed for each drawn word.
    candidates: Annotated[int, Meta(ge=2, le=256)] = 24
    #: Texts that the search follows.
    beam: Annotated[int, Meta(ge=1, le=1024)] = 4
    #: Power of the language model.
    weight: Annotated[float, Meta(gt=0, le=10)] = 1.0
    #: Power of the model of pairs.
    ngram_weight: Annotated[float, Meta(gt=0, le=10)] = 0.5
    #: What a nat of the model of pairs counts against a closeness of 1 in texts of mbr.
    #: With 0, or without that model, each word is chosen alone.
    fluency: Annotated[float, Meta(ge=0, le=10)] = FLUENCY
    #: Torch's name of the device of the language model.
    device: str = "cpu"

    def prepare(self, channel: Channel) -> CausalLm:
        """Find the models; the language model is loaded at the first text.

        Raises UsageError, LexiconError and MissingExtra.
        """
        if not self.model:
            raise UsageError(
                f"{WHAT} needs a model: give {option('set', 'decoder.model=PATH')}, a "
                "Hugging Face folder or a GGUF file of a causal language model"
            )
        path = language.need(self.model, SETTING, WHAT, language.CAUSAL)
        causal = CausalModel(path, digest_of_path(path), self.device)
        pairs, digests = None, {"model": causal.digest}
        if self.ngrams:
            model = find_model(self.ngrams, channel)
            pairs = PairAttacker(channel, model, weight=self.ngram_weight, topic=POWER)
            digests["ngrams"] = model.digest
        attacker = CausalAttacker(
            channel,
            causal,
            pairs,
            beam=self.beam,
            candidates=self.candidates,
            weight=self.weight,
            writable=self.mode == "beam",
        )
        return CausalLm(self, attacker, digests)


class CausalLm(decoders.Decoder):
    """Chooses words by the posterior of a language-model attacker."""

    def __init__(
        self, params: Params, attacker: CausalAttacker, digests: Mapping[str, str]
    ) -> None:
        self._params, self._attacker, self._digests = params, attacker, digests
        vectors = np.asarray(attacker.channel.lexicon.vectors, np.float64)
        self._directions = unit(vectors)

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digests of the models and the lists of sensitive words."""
        return {**self._digests, **self._attacker.channel.lists}

    @property
    def note(self) -> str:
        """Note that other machines may round differently."""
        return (
            "On another machine, on a GPU or with other versions of torch and "
            "transformers, the language model may round its sums differently and "
            "decode some words differently from the same draws."
        )

    @property
    def attacker(self) -> CausalAttacker:
        """Return the strongest attacker with the same models."""
        return self._attacker.at_full_strength()

    def decode(self, released: Released) -> Ids:
        """Return the words to write: (n,)."""
        reading = self._attacker.read(released)
        if self._params.mode == "beam":
            return reading.best
        values = reading.likely
        if self._params.mode == "mbr":
            values = self._closeness(reading)
        writable = reading.writable & (reading.likely > 0)
        values = np.where(writable, values, -np.inf)
        rows, fluency, pairs = reading.rows, self._params.fluency, self._attacker.pairs
        if self._params.mode == "mbr" and pairs is not None and fluency:
            words = pairs.closest_text(released, rows, values, fluency)
        else:
            words = rows[values.argmax(axis=0), np.arange(len(released.drawn))]
        return np.where(writable.any(axis=0), words, released.drawn)

    def _closeness(self, reading: CausalReading) -> Floats:
        """Return the expected closeness of each candidate to the input: (c, n)."""
        rows, likely = reading.rows.T, reading.likely.T
        columns = [
            self._directions[near] @ (self._directions[near].T @ values)
            for near, values in zip(rows, likely, strict=True)
        ]
        return np.array(columns).T
