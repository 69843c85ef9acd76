"""DP-MLM: each word is drawn by a masked language model that reads the whole text.

Each word is masked in turn and P(y|text) ~ exp(eps s(y) / 2) with s(y) in [0, 1] the
model's logit of y at the mask, cut to [c_min, c_max] and divided by c_max - c_min. The
outputs y are a fixed public set: the words of the lexicon that begin a word with
exactly one token of the model. The model reads the original text and the masked one
(context pair, as published) or the masked text alone (context masked).

Guarantee: epsilon-LDP of each output word for any two texts with equally many replaced
words, n epsilon for a text of n: the scores keep their range whatever the text and the
model are. It is n epsilon as well when one word changes, since every word is drawn
by a look at the whole text.
Source: Meisenbacher, Chevli, Vladika and Matthes 2024, Findings of ACL,
arXiv:2407.00637; c_min and c_max are those of their code, for RoBERTa-base.
Known gaps: as published, outputs are all tokens of the model, stop words stay and
capital letters are copied; here outputs are words of the lexicon, never a number, and
the rest is the policy for tokens. What the policy masks or drops is still read by the
model, as part of the text. What the model learnt from its own texts is not counted.
With one key the output is the same on one machine whatever the batches, jobs and
processors; other hardware or packages, or another mechanism.batch, round the model's
sums in another way and may now and then give another word, by the same guarantee.
Example: dptext sanitize reviews.jsonl --profile dp-mlm --set mechanism.model=DIR
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import masked_models, mechanisms
from dptext.content import of_path
from dptext.errors import UsageError
from dptext.mechanisms import Aim, Family, TextMechanism
from dptext.mechanisms.mlm import _model
from dptext.mechanisms.mlm._model import Logits, Source
from dptext.randomness import RandomBits
from dptext.spaces import Space
from dptext.tokens import kinds
from dptext.types import Eps, Guarantee, Ids, VaryingEpsilon, Words

# exp(epsilon / 2) must leave room in a float64; far above any meaning.
_LARGEST_EPSILON = 1000.0
# Public texts for audits, each with its third word drawn.
EXAMPLES = (
    "the film was good",
    "we never saw him again",
    "my new phone does not work",
    "please call the doctor tomorrow morning",
    "prices in london rose last year",
    "it is a",
)
_DRAWN = 2


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """model: folder of a masked language model with its tokenizer, as Hugging Face's.

    batch: words of a text in one pass of the model; max_length: tokens that it reads
    at most, a window around the mask where a text has more; device: torch's name of it.
    """

    family: ClassVar[Family] = Family.TEXTS
    model: str = ""
    c_min: Annotated[float, Meta(ge=-10000, le=10000)] = -3.2093127
    c_max: Annotated[float, Meta(ge=-10000, le=10000)] = 16.3047979
    context: Literal["pair", "masked"] = "pair"
    batch: Annotated[int, Meta(ge=1, le=4096)] = 16
    max_length: Annotated[int, Meta(ge=32, le=8192)] = 512
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse an empty range."""
        if not self.c_min < self.c_max:
            raise UsageError("mechanism.c_max: must be larger than mechanism.c_min")

    def prepare(self, space: Space, aim: Aim) -> Mlm:
        """Look for the model, which is loaded when the first text comes."""
        what = "the mechanism mlm"
        if not self.model:
            raise UsageError(
                f"{what} needs a model: --set mechanism.model=DIR, a Hugging Face "
                "folder"
            )
        folder = masked_models.need(self.model, _model.SETTING, what)
        source = Source(
            folder=folder,
            digest=of_path(folder),
            device=self.device,
            pair=self.context == "pair",
            batch=self.batch,
            max_length=self.max_length,
        )
        return Mlm(self, space, source)

    def scores(self, logits: Logits) -> NDArray[np.float64]:
        """Cut logits to their range and move it to [0, 1]; no number is its foot."""
        scores = np.nan_to_num(logits.astype(np.float64), nan=self.c_min)
        np.clip(scores, self.c_min, self.c_max, out=scores)
        scores -= self.c_min
        scores /= self.c_max - self.c_min
        return scores


@dataclass(frozen=True, eq=False)
class Mlm(TextMechanism):
    """source: where the model is."""

    params: Params
    source: Source

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of the model's folder, of all that lies there."""
        return {"model": self.source.digest}

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return epsilon-LDP of each word for any two texts; no model is loaded."""
        model = masked_models.describe(self.source.folder)
        return Guarantee.ldp(
            f"Meisenbacher et al. 2024, arXiv:2407.00637; model {model}",
            gaps=(
                "What the language model learnt from its own texts is not counted.",
                "Other hardware or packages may draw another word by the same key.",
            ),
            context=True,
            # Two scores of one word in two texts are any two numbers of the range.
            varying_epsilon=VaryingEpsilon(word=1.0, total=1.0, drift=float("inf")),
        )

    def supports(self, epsilon: float) -> None:
        """Refuse an epsilon beyond 1000."""
        if epsilon > _LARGEST_EPSILON:
            raise UsageError(
                f"epsilon: {epsilon:g} is beyond any meaning; mlm takes up to 1000"
            )

    @cached_property
    def _outputs(self) -> tuple[Ids, NDArray[np.int64]]:
        return _model.outputs(self.source, self.space.lexicon.words)

    @property
    def outputs(self) -> Ids:
        """Return the rows of the words that can be written, (m,); loads a tokenizer."""
        return self._outputs[0]

    def scores(self, words: Words) -> NDArray[np.float64]:
        """Return s of every output for each word, all in memory: (n, m) in [0, 1]."""
        rows, tokens = self._outputs
        scores = np.empty((len(words.positions), len(rows)))

        def keep(block: NDArray[np.int64], logits: Logits) -> None:
            scores[block] = self.params.scores(logits)

        _model.ask(self.source, words, tokens, keep)
        return scores

    def sample(self, words: Words, eps: Eps, bits: RandomBits) -> Ids:
        """Draw a word for each word: eps (n,) nats -> (n,) ids, by one uniform each."""
        drawn = np.empty(len(words.positions), np.int32)
        if not len(drawn):
            return drawn
        rows, tokens = self._outputs
        uniform = bits.uniform(0)[:, 0]

        def draw(block: NDArray[np.int64], logits: Logits) -> None:
            scores = self.params.scores(logits)
            drawn[block] = rows[pick(scores, eps[block], uniform[block])]

        _model.ask(self.source, words, tokens, draw)
        return drawn

    def example_log_probs(self, epsilon: float) -> NDArray[np.float64]:
        """Return ln P(y|text) of one word in each of EXAMPLES, (m, V)."""
        log_weights = epsilon * self.scores(_examples()) / 2.0
        log_probs = np.full((len(EXAMPLES), self.space.size), -np.inf)
        log_probs[:, self.outputs] = mechanisms.log_normalised(log_weights)
        return log_probs

    def numerical_slack(self, epsilon: float) -> float:
        """Return how far 52-bit uniforms may take the loss above epsilon, in nats.

        A border between outputs is exact to 2^-52 of the sum, the sum itself to V 2^-53
        of it, and the rarest output has at least e^(-epsilon / 2) / V of it.
        """
        size = self.space.size
        rarest = np.exp(-min(epsilon, _LARGEST_EPSILON) / 2.0) / size
        return float(2.0**-49 / rarest + (size + epsilon) * 2.0**-50)


def pick(
    scores: NDArray[np.float64], eps: Eps, uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw a column of each row by exp(eps s / 2): scores (n, m), uniform (n,) -> (n,).

    The inverse transform, one uniform a row.
    """
    weights = scores * (eps / 2.0)[:, None]
    weights -= weights.max(axis=1, keepdims=True)
    np.exp(weights, out=weights)
    # Sums one after another: each adds its weight but for one rounding.
    sums = np.cumsum(weights, axis=1, out=weights)
    target = uniform * sums[:, -1]
    # A target that is rounded up to the whole sum is the last column's.
    return np.asarray((sums[:, :-1] <= target[:, None]).sum(axis=1))


def _examples() -> Words:
    """Divide EXAMPLES into words."""
    texts = [text.split(" ") for text in EXAMPLES]
    sizes = np.array([len(text) for text in texts])
    ends = np.cumsum(sizes)
    return Words(
        pieces=[" " * (n > 0) + word for text in texts for n, word in enumerate(text)],
        flags=np.array(
            [kinds.WORD | kinds.LEAD * (n > 0) for size in sizes for n in range(size)],
            np.uint8,
        ),
        ends=ends.astype(np.int64),
        positions=(ends - sizes + _DRAWN).astype(np.int64),
        texts=np.arange(len(texts)),
        ids=np.full(len(texts), -1, np.int32),
    )
