"""Releases of vectors: settings, preparation, and vectors of records.

`prepare_mechanism` prepares a mechanism for arbitrary vectors, without texts or words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import cache, lexicons, models, pipeline, profile, registry, spaces
from dptext.budgets import uniform
from dptext.errors import UsageError
from dptext.guarantees import statement
from dptext.lexicons.weighting import means, weigh, with_vectors
from dptext.measures import bayes_risk, calibrate
from dptext.mechanisms import Aim, NoiseMechanism, gaussian, privunit
from dptext.mechanisms import Params as MechanismParams
from dptext.mechanisms.gaussian import clip
from dptext.mechanisms.mahalanobis import Mahalanobis
from dptext.noise import gaussian_epsilon, largest_mu
from dptext.overrides import merged
from dptext.profile import Part, Profile
from dptext.randomness import Randomness, RunKey
from dptext.run.interface import noun, option
from dptext.settings import convert, digest_of_data, digest_of_path
from dptext.spaces.identity import Params as Identity
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import (
    NUMBER,
    BudgetDescription,
    BudgetKind,
    Floats,
    Inputs,
    JsonObject,
    Lexicon,
    Record,
    blocks,
    records_of_texts,
)
from dptext.vectors import Pool

DEFAULT: JsonObject = {
    "name": "embed",
    "mechanism": {"name": "discrete-gaussian"},  # of words; `_default` for texts
    "budget": {"name": "uniform", "epsilon": 8.0},
    "tokens": {"punctuation": "drop"},
}
# Keys of a profile without a meaning here.
_UNUSED_KEYS = ("mapping", "strategy")
# An epsilon from a mu is rounded down by this factor, so that its mu is not larger.
_ROUND_DOWN = 1.0 - 1e-9
# Vectors that are released at once.
_ROWS = 4096
# Number of frequent words that replace public texts, and most public texts.
_WORDS, _TEXTS = 1000, 20_000
Warn = Callable[[str], None]
# Returns a slice of the vectors of a batch before noise: (m, d).
_Before = Callable[[slice], NDArray[np.floating]]


@dataclass(frozen=True, slots=True)
class VectorOptions:
    """Settings that profiles do not have."""

    pool: Pool = Pool.MEAN
    #: A sentence model.
    model: str | None = None
    #: Length to which sentence vectors are shortened.
    longest: Annotated[float, Meta(ge=1e-6, le=1e6)] = 1.0
    #: a in the weight a / (a + frequency) of sif.
    sif: Annotated[float, Meta(gt=0, le=1)] = 1e-3
    #: A file of public texts, one a line: privunit uses their principal directions,
    #: and sentence vectors are measured with them.
    public: str | None = None
    #: The field with the subject of a record.
    subject: str | None = None
    #: Number of vectors of a subject that share epsilon; 1: each has all of it.
    most: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """A profile without mapping and strategy, plus vector options."""

    recipe: Profile
    options: VectorOptions

    def plain(self) -> JsonObject:
        """Return all settings that affect the vectors as plain data."""
        settings = self.recipe.settings()
        for key in _UNUSED_KEYS:
            settings.pop(key, None)
        return {**settings, "embed": asdict(self.options)}


def parse(
    overrides: Mapping[str, object],
    options: Mapping[str, object],
    *,
    clip: float | None = None,
    mu: float | None = None,
) -> VectorSettings:
    """Validate settings: profile keys, and VectorOptions keys.

    - clip: maximum length of sentence vectors, and of inputs of mechanisms that clip.
    - mu: replaces an epsilon.

    Raises UsageError if settings contradict each other.
    """
    for key in _UNUSED_KEYS:
        if overrides.get(key) is not None:
            raise UsageError(f"{key}: this does not apply to vectors; leave it out")
    data = merged(_default(overrides, options, mu), overrides)
    if clip is not None:
        options = {**options, "longest": clip}
        part: Any = data["mechanism"] or DEFAULT["mechanism"]
        named = {"name": part} if isinstance(part, str) else part
        params = registry.find("mechanisms", str(named.get("name"))).Params
        if "clip" in {each.name for each in fields(params)}:
            data["mechanism"] = {**named, "clip": clip}
    recipe = profile.parse(data, "settings")
    if mu is not None:
        normal = recipe.mechanism.params
        if not isinstance(normal, gaussian.Params):
            name = recipe.mechanism.name
            raise UsageError(
                f"{noun('mu')} is only for Gaussian noise, but {name} adds other "
                "noise; give an epsilon"
            )
        if "budget" in overrides:
            raise UsageError(f"give {option('mu')} or an epsilon or risk, not both")
        epsilon = gaussian_epsilon(mu, normal.delta) * _ROUND_DOWN
        if not epsilon:
            raise UsageError(
                f"{noun('mu')} {mu:g} gives epsilon 0; give a smaller delta"
            )
        recipe = recipe.with_epsilon(epsilon)
    return _settings(recipe, options)


def _default(
    overrides: Mapping[str, object], options: Mapping[str, object], mu: float | None
) -> JsonObject:
    """Return default settings: noise for words, directions for whole texts.

    At a protective epsilon, noise destroys the content of a text (docs/embed.md). A mu,
    or a parameter that directions lack, selects noise.
    """
    mechanism = overrides.get("mechanism")
    known = {each.name for each in fields(privunit.Params)}
    names = set(mechanism) - {"name"} if isinstance(mechanism, Mapping) else set()
    is_word = options.get("pool", Pool.MEAN) == Pool.WORD
    if is_word or mu is not None or not names <= known:
        return DEFAULT
    return {**DEFAULT, "mechanism": {"name": "privunit"}}


def from_plain(plain: Mapping[str, object], name: str, lexicon: str) -> VectorSettings:
    """Return the settings in a report (VectorSettings.plain). Raises UsageError."""
    rest = {key: value for key, value in plain.items() if key != "embed"}
    return _settings(profile.resolved(rest, name, lexicon), plain.get("embed"))


def check_text(name: str, value: object) -> None:
    """Raise UsageError unless a UTF-8 report could contain a value."""
    try:
        str(value).encode()
    except UnicodeEncodeError:
        shown = str(value).encode("utf-8", "backslashreplace").decode()
        raise UsageError(f"{name} {shown[:40]}: not UTF-8 text") from None


def _settings(recipe: Profile, chosen: object) -> VectorSettings:
    """Build settings. Raises UsageError if they contradict each other."""
    options = convert(chosen, VectorOptions, "settings")
    for name, value in asdict(options).items():
        check_text(noun(name), value)
    budget, tokens = recipe.budget.params, recipe.tokens
    if not isinstance(budget, uniform.Params):
        raise UsageError(
            f"budget {recipe.budget.name}: all vectors have the same epsilon; use the "
            "budget uniform"
        )
    sentence = options.pool is Pool.SENTENCE
    treated = {
        name: getattr(tokens, name) for name in ("unknown", "number", "stop_word")
    }
    refusals = {
        f"mechanism {recipe.mechanism.name} draws words, not vectors; use one of the "
        "family noise (see `dptext list mechanisms`)": (
            recipe.mechanism.params.family != "noise"
        ),
        (
            "a risk refers to a single word: combine it with "
            f"{option('pool', 'word')}, or give an epsilon"
        ): (options.pool is not Pool.WORD and budget.risk is not None),
        "budget.attacker_risk: attackers read words; give an epsilon or a risk": (
            budget.attacker_risk is not None
        ),
        f"{option('pool', 'sentence')} and {option('model')} go together: give both": (
            sentence != (options.model is not None)
        ),
        f"{noun('public')}: public texts are only for {option('pool', 'sentence')} "
        "and for the mechanism privunit of texts; leave it out": (
            options.public is not None
            and not sentence
            and (recipe.mechanism.name != "privunit" or options.pool is Pool.WORD)
        ),
        f"space {recipe.space.name}: spaces apply only to vectors of a lexicon; "
        "leave it out": (sentence and recipe.space.name != "identity"),
        (
            f"{noun('most')} is the number of vectors per subject: also give "
            f"{option('subject')}"
        ): (options.most > 1 and options.subject is None),
        "tokens: vectors contain no copied text; leave lists and forms out": (
            tokens.has_lists
        ),
        **{
            f"tokens.{name}: {value}: vectors contain no copied text; use perturb": (
                value not in ("perturb", "drop")
            )
            for name, value in treated.items()
        },
    }
    for message, refused in refusals.items():
        if refused:
            raise UsageError(message)
    return VectorSettings(replace(recipe, mapping=None), options)


def sentence_vectors(folder: str, digest: str, texts: Sequence[str]) -> Floats:
    """Return a model's vectors, reading each text separately."""
    blocks = models.embed(folder, "cpu", [[text] for text in texts], digest)
    if not blocks:
        return np.empty((0, 0))
    return np.concatenate(blocks).astype(np.float64)


def _public_texts(path: str) -> tuple[str, ...]:
    """Read distinct non-empty public texts, one per line. Raises UsageError."""
    try:
        lines: Sequence[str] = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{noun('public')} {path}: {reason}") from None
    texts = tuple(dict.fromkeys(line for line in lines if line.strip()))[:_TEXTS]
    if len(texts) < 2:
        raise UsageError(
            f"{noun('public')} {path}: give at least two different texts, one per line"
        )
    return texts


def _table_of_texts(
    folder: str, digest: str, longest: float, public: str | None
) -> Lexicon:
    """Return public texts with their sentence-model vectors, as a lexicon."""
    builtin = lexicons.find("builtin")
    words = (word for word in builtin.words if word != NUMBER and word.isalpha())
    texts = tuple(islice(words, _WORDS)) if public is None else _public_texts(public)
    key = cache.key_of("sentences", digest, digest_of_data(texts))

    def compute() -> cache.Arrays:
        return {"vectors": sentence_vectors(folder, digest, texts)}

    kept = cache.arrays(key, compute, work="encoding public texts")
    vectors = clip(np.asarray(kept["vectors"], np.float64), longest)
    rows = np.vstack((vectors, vectors.mean(axis=0))).astype(np.float32)
    named = digest_of_data([digest, digest_of_data(texts), longest])
    base = replace(
        builtin,
        words=texts,
        counts=np.ones(len(texts)),
        meta={"prior": "none: public texts count alike"},
    )
    return with_vectors(base, rows, named)


def _axes(width: int, longest: float) -> Lexicon:
    """Return a lexicon of two opposite vectors, for inputs without public vectors."""
    ends = np.zeros((3, width), np.float32)
    ends[:2, 0] = longest, -longest
    base = replace(
        lexicons.find("builtin"), name="axes", words=("+", "-"), counts=np.ones(2)
    )
    return with_vectors(base, ends, digest_of_data(["axes", width, longest]))


class Rows(NamedTuple):
    """Released vectors and their positions."""

    #: (n, m)
    vectors: NDArray[np.float32]
    #: (n,) ordinals of records.
    records: NDArray[np.int64]
    #: (n,) index of the text in its record.
    texts: NDArray[np.int32]
    #: (n,) index of the word in its text, None for vectors of texts.
    words: NDArray[np.int32] | None
    #: Number of words in all texts.
    encoded: int


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorRelease:
    """A prepared release of vectors."""

    #: With an epsilon, also if a risk was given.
    settings: VectorSettings
    #: Public words or texts with their vectors.
    lexicon: Lexicon
    mechanism: NoiseMechanism
    #: Of one vector.
    epsilon: float
    #: Digest of the lexicon before weighting, "" for a sentence model.
    base_digest: str
    #: Finds words in texts, None for a sentence model.
    tokenizer: Tokenizer | None = None
    #: Folder of the sentence model, "" without one.
    model: str = ""
    model_digest: str = ""

    @property
    def pool(self) -> Pool:
        """Return what a vector represents."""
        return self.settings.options.pool

    @property
    def dimensions(self) -> int:
        """Return the dimensions of released vectors."""
        return int(self.mechanism.output_vectors.shape[1])

    @cached_property
    def identity(self) -> str:
        """Return the digest of everything that affects vectors except key and input."""
        recipe, options = self.settings.recipe, asdict(self.settings.options)
        contents = {"mechanism": self.mechanism.content}
        base = pipeline.output_identity(recipe, self.lexicon.digest, contents, ())
        # The digest of the lexicon stands for the contents of these files.
        options.update(model=self.model_digest, public=None)
        return digest_of_data({"embed": options, "base": base})

    def randomness(self, key: RunKey) -> Randomness:
        """Return the random streams of a run."""
        return Randomness(key, self.identity)

    def rows(self, records: Sequence[Record], randomness: Randomness) -> Rows:
        """Release the vectors of a batch of records."""
        texts = [text for record in records for text in record.texts]
        text_records = records_of_texts(records)
        vector_texts, encoded, before = self.encode(texts)
        vector_records = text_records[vector_texts]
        count = len(vector_records)
        vectors = np.empty((count, self.dimensions), np.float32)
        if count:
            nonces = [randomness.nonce(record) for record in records]
            bits = randomness.bits(nonces, vector_records)
            for part in blocks(count, _ROWS):
                chosen = bits.take(np.arange(part.start, part.stop))
                released = self.mechanism.release(before(part), self.epsilon, chosen)
                vectors[part] = self.mechanism.finite(released)
        ordinals = np.array([record.ordinal for record in records], np.int64)
        is_word = self.pool is Pool.WORD
        return Rows(
            vectors=vectors,
            records=ordinals[vector_records],
            texts=_index_in_group(text_records)[vector_texts],
            words=_index_in_group(vector_texts) if is_word else None,
            encoded=encoded,
        )

    def encode(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], int, _Before]:
        """Return a batch's vectors before noise.

        Returns the text of each vector (n,), non-decreasing; the number of
        words; and a function that returns a slice of the vectors (m, d), to which the
        mechanism adds noise.
        """
        mechanism, every = self.mechanism, np.arange(len(texts))
        if self.tokenizer is None:
            vectors = sentence_vectors(self.model, self.model_digest, texts)
            vectors = clip(vectors, self.settings.options.longest)
            return every, 0, lambda part: mechanism.position(vectors[part])
        words = self.tokenizer.words(texts)
        ids, rows = words.ids, mechanism.output_vectors
        if self.pool is Pool.WORD:
            return words.texts, len(ids), lambda part: rows[ids[part]]
        counts = np.bincount(words.texts, minlength=len(texts))
        pooled = partial(means, mechanism.inputs, ids, counts)
        return every, len(ids), lambda part: mechanism.position(pooled(part))


def _index_in_group(groups: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return each member's index in its group, groups non-decreasing: (n,)."""
    firsts = np.searchsorted(groups, groups, side="left")
    return (np.arange(len(groups)) - firsts).astype(np.int32)


def prepare(
    settings: VectorSettings,
    warn: Warn = lambda line: None,
    lexicon: Lexicon | None = None,
) -> VectorRelease:
    """Prepare a release for settings; open the lexicon unless it is given.

    Raises UsageError and LexiconError.
    """
    recipe, options = settings.recipe, settings.options
    folder = digest = base = ""
    if options.pool is Pool.SENTENCE:
        assert options.model is not None
        folder = models.need_sentence_model(options.model, option("pool", "sentence"))
        digest = digest_of_path(folder)
        lexicon = _table_of_texts(folder, digest, options.longest, options.public)
        lexicon = replace(lexicon, name=Path(options.model).name)
    else:
        lexicon = lexicon or lexicons.find(recipe.lexicon, warn=warn)
        base = lexicon.digest
        if options.pool is Pool.SIF:
            lexicon = weigh(lexicon, options.sif)
    space = spaces.prepare(lexicon, recipe.space.name, recipe.space.params)
    mechanism = for_inputs(recipe.mechanism.params, options).prepare(space, Aim())
    if not isinstance(mechanism, NoiseMechanism) or not mechanism.has_noise:
        name = recipe.mechanism.name
        raise UsageError(f"mechanism {name} cannot release vectors; use another one")
    recipe = replace(recipe, mechanism=Part(recipe.mechanism.name, mechanism.params))
    budget = recipe.budget.params
    assert isinstance(budget, uniform.Params)
    total = budget.epsilon
    if total is None:
        assert budget.risk is not None
        prior = bayes_risk.prior_of_replaced(lexicon, recipe.tokens)
        total = calibrate.epsilon_for(mechanism, budget.risk, prior)
        recipe = recipe.with_epsilon(total)
    epsilon = share_epsilon(mechanism, total, options.most)
    check(mechanism, epsilon, options.pool.inputs)
    tokenizer = None if folder else Tokenizer(lexicon, recipe.tokens)
    if options.public is not None and tokenizer is not None:
        mechanism = _along_texts(mechanism, tokenizer, options.public)
    return VectorRelease(
        settings=replace(settings, recipe=recipe),
        lexicon=lexicon,
        mechanism=mechanism,
        epsilon=epsilon,
        base_digest=base,
        tokenizer=tokenizer,
        model=folder,
        model_digest=digest,
    )


def _along_texts(
    mechanism: NoiseMechanism, tokenizer: Tokenizer, public: str
) -> NoiseMechanism:
    """Return the mechanism with principal directions of public texts.

    Raises UsageError.
    """
    assert isinstance(mechanism, privunit.PrivUnit)
    texts = _public_texts(public)
    words = tokenizer.words(texts)
    counts = np.bincount(words.texts, minlength=len(texts)).astype(np.int64)
    pooled = means(mechanism.inputs, words.ids, counts)
    return mechanism.along(pooled, digest_of_data(texts))


def for_inputs(params: MechanismParams, options: VectorOptions) -> MechanismParams:
    """Return parameters valid for all inputs of a pool, not only for words.

    Means of words lie between words, but differences of means are not multiples of
    differences of words. Sentence vectors may be any vectors up to their length.
    """
    plain = asdict(params)
    changes: dict[str, object] = {}
    if options.pool is not Pool.WORD and plain.get("constant") == "vocabulary":
        changes["constant"] = "worst"
    if options.pool is Pool.SENTENCE and "sensitivity" in plain:
        longest = min(options.longest, float(plain["clip"]))
        changes.update(sensitivity="worst", clip=longest)
    return replace(params, **changes)


def share_epsilon(mechanism: NoiseMechanism, epsilon: float, most: int) -> float:
    """Return the epsilon of each of `most` vectors that share a total.

    Each gets an equal part. For Gaussian noise mu is shared, as mu / sqrt(most).
    """
    if most == 1 or not isinstance(mechanism, gaussian.Gaussian):
        return epsilon / most
    delta = mechanism.params.delta
    shared = (
        gaussian_epsilon(largest_mu(epsilon, delta) / math.sqrt(most), delta)
        * _ROUND_DOWN
    )
    if not shared:
        raise UsageError(
            f"{noun('most')} {most}: too many vectors for this epsilon and delta; "
            "give fewer"
        )
    return shared


def check(mechanism: NoiseMechanism, epsilon: float, inputs: Inputs) -> None:
    """Raise UsageError if vectors cannot be drawn or have no guarantee."""
    statement.check(mechanism, BudgetDescription(BudgetKind.WORD, epsilon, epsilon))
    mechanism.guarantee_over(inputs, epsilon)


def prepare_mechanism(
    name: str,
    *,
    width: int,
    longest: float,
    epsilon: float,
    optional: Mapping[str, object],
) -> NoiseMechanism:
    """Prepare a mechanism for arbitrary vectors of a width, up to a length.

    Optional parameters are used if the mechanism has them and they are not None. Raises
    UsageError.
    """
    module = registry.find("mechanisms", name)
    known = {each.name for each in fields(module.Params)}
    settings = {k: v for k, v in optional.items() if k in known and v is not None}
    if "clip" in known:
        settings["clip"] = longest
    params = convert(settings, module.Params, "mechanism")
    options = VectorOptions(pool=Pool.SENTENCE, longest=longest)
    space = spaces.prepare(_axes(width, longest), "identity", Identity())
    mechanism = for_inputs(params, options).prepare(space, Aim())
    needs_public = isinstance(mechanism, Mahalanobis | privunit.PrivUnit)
    if needs_public or not isinstance(mechanism, NoiseMechanism):
        raise UsageError(
            f"mechanism {name} needs public vectors, or cannot release "
            "vectors; use another one"
        )
    check(mechanism, epsilon, Inputs.VECTORS)
    return mechanism
