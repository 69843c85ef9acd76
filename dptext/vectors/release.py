"""All public work for a release of vectors, and the vectors of records.

`ready` makes a mechanism ready for any vectors, without texts or public words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dptext import lexicons, models, pipeline, registry, spaces
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.guarantees import statement
from dptext.measures import bayes_risk, calibrate
from dptext.mechanisms import Aim, NoiseMechanism
from dptext.mechanisms import Params as MechanismParams
from dptext.mechanisms.gaussian import Gaussian
from dptext.mechanisms.mahalanobis import Mahalanobis
from dptext.noise import epsilon_of, mu_of
from dptext.profile import Part
from dptext.randomness import Randomness, RunKey
from dptext.settings import convert, digest_of_data, digest_of_path
from dptext.spaces import Space
from dptext.spaces.identity import Params as Identity
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import BudgetDescription, BudgetKind, Inputs, Lexicon, Record
from dptext.vectors import encoders
from dptext.vectors.encoders import Encoder
from dptext.vectors.settings import Options, Pool, VectorSettings

# Vectors that are made at once.
_ROWS = 4096
Warn = Callable[[str], None]


class Rows(NamedTuple):
    """Released vectors (n, m) float32, and what each is of.

    records (n,) ordinals of records; texts (n,) index of the text in its record; words
    (n,) index of the word in its text, None for vectors of texts; subjects, the id or
    subject of each record in the batch, by ordinals; encoded, how many words there
    were.
    """

    vectors: NDArray[np.float32]
    records: NDArray[np.int64]
    texts: NDArray[np.int32]
    words: NDArray[np.int32] | None
    encoded: int


@dataclass(frozen=True, eq=False)
class VectorRelease:
    """Settings made ready; epsilon is that of one vector.

    settings have their epsilon (a risk has been turned into one); lexicon is the public
    table; base_digest that of the lexicon as it is, "" for a sentence model's;
    tokenizer what finds words in texts, None where a sentence model reads them.
    """

    settings: VectorSettings
    lexicon: Lexicon
    mechanism: NoiseMechanism
    epsilon: float
    encode: Encoder
    base_digest: str
    model_digest: str = ""
    tokenizer: Tokenizer | None = None

    @property
    def pool(self) -> Pool:
        """Return what a vector is of."""
        return self.settings.options.pool

    @property
    def dimensions(self) -> int:
        """Return how many numbers a released vector has."""
        return int(self.mechanism.output_vectors.shape[1])

    @cached_property
    def identity(self) -> str:
        """Return the digest of all that decides the vectors besides key and input."""
        recipe, options = self.settings.recipe, asdict(self.settings.options)
        contents = {"mechanism": self.mechanism.content}
        base = pipeline.identity_of(recipe, self.lexicon.digest, contents, ())
        # Contents are in the table's digest: paths decide nothing.
        options.update(model=self.model_digest, public=None)
        return digest_of_data({"embed": options, "base": base})

    def randomness(self, key: RunKey) -> Randomness:
        """Return the streams of a run."""
        return Randomness(key, self.identity)

    def rows(self, records: Sequence[Record], randomness: Randomness) -> Rows:
        """Release the vectors of a batch of records."""
        texts = [text for record in records for text in record.texts]
        counts = [len(record.texts) for record in records]
        record_of_text = np.repeat(np.arange(len(records)), counts)
        encoded = self.encode(texts)
        of_vector = record_of_text[encoded.texts]
        count = len(of_vector)
        vectors = np.empty((count, self.dimensions), np.float32)
        if count:
            nonces = [randomness.nonce(record) for record in records]
            bits = randomness.of(nonces, of_vector)
            for begin in range(0, count, _ROWS):
                part = slice(begin, min(begin + _ROWS, count))
                chosen = bits.take(np.arange(part.start, part.stop))
                positions = encoded.at(part)
                vectors[part] = self.mechanism.finite(
                    self.mechanism.release(positions, self.epsilon, chosen)
                )
        ordinals = np.array([record.ordinal for record in records], np.int64)
        text_numbers = _within(record_of_text)[encoded.texts]
        words = _within(encoded.texts) if self.pool is Pool.WORD else None
        return Rows(vectors, ordinals[of_vector], text_numbers, words, encoded.words)


def _within(groups: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the index of each member in its group, groups non-decreasing: (n,)."""
    firsts = np.searchsorted(groups, groups, side="left")
    return (np.arange(len(groups)) - firsts).astype(np.int32)


def of(
    settings: VectorSettings,
    warn: Warn = lambda line: None,
    lexicon: Lexicon | None = None,
) -> VectorRelease:
    """Make settings ready; lexicon, where it is open already.

    Raises UsageError and LexiconError.
    """
    recipe, options = settings.recipe, settings.options
    folder = digest = base = ""
    if options.pool is Pool.SENTENCE:
        assert options.model is not None
        folder = models.need_sentence_model(options.model, "--pool sentence")
        digest = digest_of_path(folder)
        lexicon = encoders.of_texts(folder, digest, options.longest, options.public)
        lexicon = replace(lexicon, name=Path(options.model).name)
    else:
        lexicon = lexicon or lexicons.find(recipe.lexicon, warn=warn)
        base = lexicon.digest
        if options.pool is Pool.SIF:
            lexicon = encoders.weighted(lexicon, options.sif)
    space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
    settings, mechanism = _with_mechanism(settings, space)
    tokenizer = None
    budget = settings.recipe.budget.params
    assert isinstance(budget, uniform.Params)
    assert budget.epsilon is not None
    epsilon = of_one_vector(mechanism, budget.epsilon, options.most)
    check(mechanism, epsilon, options.pool.inputs)
    if options.pool is Pool.SENTENCE:
        encode = encoders.of_sentences(folder, digest, options.longest, mechanism)
    else:
        tokenizer = Tokenizer(lexicon, recipe.tokens)
        make = encoders.of_words if options.pool is Pool.WORD else encoders.of_means
        encode = make(tokenizer, mechanism)
    return VectorRelease(
        *(settings, lexicon, mechanism, epsilon, encode, base, digest, tokenizer)
    )


def _with_mechanism(
    settings: VectorSettings, space: Space
) -> tuple[VectorSettings, NoiseMechanism]:
    """Make the mechanism ready, and turn a risk into an epsilon."""
    recipe = settings.recipe
    params = for_inputs(recipe.mechanism.params, settings.options)
    mechanism = params.prepare(space, Aim())
    if not isinstance(mechanism, NoiseMechanism) or not mechanism.has_noise:
        msg = f"mechanism {recipe.mechanism.name} releases no vectors of its own"
        raise UsageError(msg)
    recipe = replace(recipe, mechanism=Part(recipe.mechanism.name, mechanism.params))
    budget = recipe.budget.params
    assert isinstance(budget, uniform.Params)
    if budget.epsilon is None and budget.risk is not None:
        words = bayes_risk.replaced(space.lexicon, recipe.tokens)
        epsilon = calibrate.epsilon_for(mechanism, budget.risk, words)
        recipe = recipe.with_epsilon(epsilon)
    return replace(settings, recipe=recipe), mechanism


def for_inputs(params: MechanismParams, options: Options) -> MechanismParams:
    """Return parameters that hold for all that may come in, not for words alone.

    Means of words lie between them, but differences of means are no multiples of
    differences of words; sentence vectors may lie anywhere within their length.
    """
    plain = asdict(params)
    changes: dict[str, object] = {}
    if options.pool is not Pool.WORD and plain.get("constant") == "vocabulary":
        changes["constant"] = "worst"
    if options.pool is Pool.SENTENCE and "sensitivity" in plain:
        longest = min(options.longest, float(plain["clip"]))
        changes.update(sensitivity="worst", clip=longest)
    return replace(params, **changes)


def of_one_vector(mechanism: NoiseMechanism, epsilon: float, most: int) -> float:
    """Return the epsilon of each of so many vectors that share one.

    In equal parts; of normal noise mu is shared, in parts mu / sqrt(most).
    """
    if most == 1 or not isinstance(mechanism, Gaussian):
        return epsilon / most
    delta = mechanism.params.delta
    shared = epsilon_of(mu_of(epsilon, delta) / math.sqrt(most), delta)
    if not shared:
        msg = f"--most {most}: too many vectors for this epsilon and delta; give fewer"
        raise UsageError(msg)
    # Rounded down, so that the mu of all together is not above the one to be shared.
    return shared * (1.0 - 1e-9)


def check(mechanism: NoiseMechanism, epsilon: float, inputs: Inputs) -> None:
    """Raise UsageError where vectors cannot be drawn, or nothing is known of inputs."""
    statement.check(mechanism, BudgetDescription(BudgetKind.WORD, epsilon, epsilon))
    mechanism.guarantee_over(inputs, epsilon)


def ready(
    name: str, width: int, longest: float, epsilon: float, chosen: Mapping[str, object]
) -> NoiseMechanism:
    """Make a mechanism ready for any vectors of a width, up to a length.

    chosen are parameters that count where it has them and they are not None. Raises
    UsageError.
    """
    module = registry.find("mechanisms", name)
    known = {each.name for each in fields(module.Params)}
    settings = {k: v for k, v in chosen.items() if k in known and v is not None}
    if "clip" in known:
        settings["clip"] = longest
    params = convert(settings, module.Params, "mechanism")
    options = Options(pool=Pool.SENTENCE, longest=longest)
    space = spaces.prepare(encoders.axes(width, longest), "identity", Identity())
    mechanism = for_inputs(params, options).prepare(space, Aim())
    if isinstance(mechanism, Mahalanobis) or not isinstance(mechanism, NoiseMechanism):
        raise UsageError(f"mechanism {name} needs public vectors, or releases none")
    check(mechanism, epsilon, Inputs.VECTORS)
    return mechanism
