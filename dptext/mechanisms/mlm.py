"""DP-MLM: each word is drawn by a masked language model that reads the whole text.

Each word is masked in turn and P(y|text) ~ exp(eps s(y) / 2) with s(y) in [0, 1] the
model's logit of y at the mask, cut to [c_min, c_max] and divided by c_max - c_min. The
outputs y are a fixed public set: the words of the lexicon that begin a word with
exactly one token of the model. The model reads the original text and the masked one
(context pair, as published) or the masked text alone (context masked).

Each piece is turned into tokens by itself, with a space in front where it begins the
text or stands after a space, so that the tokens of a word never reach into another
piece. Spaces themselves are left out. A masked word is one mask token, however many
tokens it had. A text that is longer than the model reads is cut to a window with the
mask in its middle, or as near to the middle as the ends of the text allow.

Only words of one text are computed together: in blocks of at most `batch`, padded
to the longest of them, each on one thread, several blocks at a time. So the scores of a
text follow from it and from `batch`, to the last bit on one machine with the same
packages, whatever stands beside it and however many processors there are.

Guarantee: epsilon-LDP of each output word for any two texts with equally many replaced
words, n epsilon for a text of n: the scores keep their range whatever the text and the
model are. It is n epsilon as well when one word changes, since every word is drawn
by a look at the whole text.
Known as: DP-MLM.
Source: Meisenbacher, Chevli, Vladika and Matthes 2024, Findings of ACL,
arXiv:2407.00637; c_min and c_max are those of their code, for RoBERTa-base.
Known gaps: as published, outputs are all tokens of the model, stop words stay and
capital letters are copied; here outputs are words of the lexicon, never a number, and
the rest is the policy for tokens. What the policy masks or drops is still read by the
model, as part of the text. What the model learnt from its own texts is not counted.
With one key the output is the same on one machine whatever the batches, jobs and
processors; other hardware or packages, or another mechanism.batch, round the model's
sums in another way and may now and then give another word, by the same guarantee.
Example: dptext sanitize reviews.jsonl -f text -p dp-mlm --set mechanism.model=DIR
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from dptext import mechanisms, models
from dptext.arrays import draw_columns, log_normalised
from dptext.errors import UsageError
from dptext.mechanisms import Aim, Family, TextMechanism
from dptext.models import language
from dptext.randomness import RandomBits
from dptext.run.interface import option
from dptext.settings import digest_of_path
from dptext.spaces import Space
from dptext.tokens import kinds, numbers
from dptext.types import Eps, Floats, Guarantee, Ids, Ints, VaryingEpsilon, Words

SETTING = "mechanism.model"
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
# Position tables of some model families reserve their first two positions.
_RESERVED = 2
# The least room for tokens of a text beside those of the frame.
_SHORTEST = 16
Untyped = Any  # of torch and of Hugging Face
T = TypeVar("T")
Logits = NDArray[np.float32]
# Tokens and their types (2, n), and the place of the mask.
Sequence = tuple[Ints, int]


@dataclass(frozen=True, slots=True)
class ModelFrame:
    """The special tokens that a model expects around its texts."""

    #: Tokens and their types, (2, n), as the two below.
    before: Ints
    #: None if the model reads one text.
    between: Ints | None
    after: Ints
    #: The types of the tokens of the two texts.
    first: int
    second: int

    @property
    def room(self) -> int:
        """Return the number of tokens in the frame itself."""
        parts = (self.before, self.between, self.after)
        return sum(len(part[0]) for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Texts as tokens: piece p has tokens[starts[p] : starts[p + 1]]."""

    tokens: Ints
    starts: Ints
    #: The first piece of each text: (r,).
    begins: Ints
    #: The piece after its last: (r,).
    ends: Ints


def masked_frame(tokenizer: Untyped, pair: bool) -> ModelFrame:
    """Derive the frame from the tokens of short public texts."""
    encoded = tokenizer("a", "b") if pair else tokenizer("a")
    text = np.array([-1 if each is None else each for each in encoded.sequence_ids()])
    ids = np.array(encoded["input_ids"], np.int64)
    types = np.array(encoded.get("token_type_ids", np.zeros(len(ids))), np.int64)
    both = np.stack((ids, types))
    one, two = np.flatnonzero(text == 0), np.flatnonzero(text == int(pair))
    return ModelFrame(
        before=both[:, : one[0]],
        between=both[:, one[-1] + 1 : two[0]] if pair else None,
        after=both[:, two[-1] + 1 :],
        first=int(types[one[0]]),
        second=int(types[two[0]]),
    )


def make_tokens(tokenizer: Untyped, words: Words) -> TokenBatch:
    """Tokenize the pieces of a batch, each distinct piece once."""
    space = (words.flags & kinds.KIND) == kinds.SPACE
    begins = np.concatenate(([0], words.ends[:-1])).astype(np.int64)
    led = (words.flags & kinds.LEAD) != 0
    led[1:] |= space[:-1]
    led[begins[begins < len(led)]] = True
    # Each piece has one space in front, or none; spaces themselves have no tokens.
    parts = zip(words.pieces, led.tolist(), space.tolist(), strict=True)
    shown = [
        "" if blank else " " + piece.removeprefix(" ") if lead else piece
        for piece, lead, blank in parts
    ]
    distinct = list(dict.fromkeys(shown))
    known = dict(zip(distinct, tokenize(tokenizer, distinct), strict=True))
    lists = [known[each] for each in shown]
    starts = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(each) for each in lists], out=starts[1:])
    flat = [token for each in lists for token in each]
    return TokenBatch(np.array(flat, np.int64), starts, begins, words.ends)


def tokenize(tokenizer: Untyped, texts: list[str]) -> list[list[int]]:
    """Return the tokens of each text; "[MASK]" in a text is not the special token."""
    if not texts:
        return []
    lists: list[list[int]] = tokenizer(
        texts, add_special_tokens=False, split_special_tokens=True, verbose=False
    )["input_ids"]
    return lists


def sequence(
    batch: TokenBatch,
    text: int,
    position: int,
    *,
    mask: int,
    frame: ModelFrame,
    longest: int,
) -> Sequence:
    """Return the model input for a text whose piece at a position is masked.

    mask: the mask token; longest: the maximum number of tokens, including
    the frame.
    """
    begin = batch.starts[batch.begins[text]]
    original = batch.tokens[begin : batch.starts[batch.ends[text]]]
    at, after = (batch.starts[position : position + 2] - begin).tolist()
    masked = np.concatenate((original[:at], [mask], original[after:]))
    room = longest - frame.room
    room //= 2 if frame.between is not None else 1

    def window(tokens: Ints, kind: int) -> tuple[int, Ints]:
        start = max(0, min(at - room // 2, len(tokens) - room))
        part = tokens[start : start + room]
        return start, np.stack((part, np.full(len(part), kind)))

    parts = [frame.before]
    if frame.between is not None:
        parts += [window(original, frame.first)[1], frame.between]
    start, around = window(masked, frame.second)
    where = sum(len(part[0]) for part in parts) + at - start
    return np.concatenate((*parts, around, frame.after), axis=1), where


@dataclass(frozen=True, slots=True)
class Model:
    """A masked language model in memory."""

    tokenizer: Untyped
    network: Untyped
    #: positions, in each thread: rows and positions that the last layer computes.
    masks: threading.local
    #: The number of tokens that it reads.
    longest: int


@cache
def tokenizer(folder: str, digest: str = "") -> Untyped:
    """Load a model's tokenizer, once per digest of its folder."""
    loaded = language.load_tokenizer(folder, SETTING, language.MASKED)
    if not loaded.is_fast:
        raise UsageError(f"{SETTING}: {folder} has no fast tokenizer (tokenizer.json)")
    return loaded


@cache
def load(folder: str, device: str, digest: str = "") -> Model:
    """Load a model, once per digest of its folder.

    Its last layer is computed only for the masks: it has a row for each token of the
    vocabulary, and would take most of the time.
    """
    network = language.load_network(folder, SETTING, device, language.MASKED)
    split = tokenizer(folder, digest)
    limit = getattr(network.config, "max_position_embeddings", None) or 2**30
    longest = min(int(split.model_max_length), limit - _RESERVED)
    masks = threading.local()

    def only(_: Untyped, inputs: tuple[Untyped, ...]) -> tuple[Untyped, ...] | None:
        positions = getattr(masks, "positions", None)
        return None if positions is None else (inputs[0][positions], *inputs[1:])

    if (last := network.get_output_embeddings()) is not None:
        last.register_forward_pre_hook(only)
    return Model(split, network, masks, longest)


def _blocks(words: Words, most: int) -> list[Ints]:
    """Split words into blocks of up to `most` neighbours in one text."""
    ends = np.searchsorted(words.texts, np.arange(len(words.ends)), side="right")
    return [
        np.arange(first, min(first + most, end))
        for begin, end in pairwise([0, *ends.tolist()])
        for first in range(begin, end, most)
    ]


def _logits(model: Model, sequences: list[Sequence], wanted: Untyped) -> Logits:
    """Run a block of sequences, padded to the longest: (b, m) float32."""
    torch, device = models.package("torch", "mlm", "semantic"), wanted.device
    longest = max(tokens.shape[1] for tokens, _ in sequences)
    pad = model.tokenizer.pad_token_id or 0
    ids = np.full((len(sequences), longest), pad, np.int64)
    types, attended = np.zeros_like(ids), np.zeros_like(ids)
    for row, (tokens, _) in enumerate(sequences):
        part = slice(0, tokens.shape[1])
        ids[row, part], types[row, part] = tokens
        attended[row, part] = 1
    inputs = {"input_ids": ids, "attention_mask": attended}
    if "token_type_ids" in model.tokenizer.model_input_names:
        inputs["token_type_ids"] = types
    rows = torch.arange(len(sequences), device=device)
    positions = torch.tensor([mask for _, mask in sequences], device=device)
    with torch.inference_mode():
        model.masks.positions = (rows, positions)
        try:
            scores = model.network(
                **{key: torch.from_numpy(v).to(device) for key, v in inputs.items()}
            ).logits
        finally:
            model.masks.positions = None
        if scores.dim() == 3:
            scores = scores[rows, positions]
        logits: Logits = scores[:, wanted].cpu().numpy()
    return logits


@dataclass(frozen=True, slots=True)
class Params(mechanisms.Params):
    """Settings of DP-MLM."""

    family: ClassVar[Family] = Family.TEXTS
    #: Folder of a masked language model with its tokenizer, in Hugging Face's format.
    model: str = ""
    #: The range to which logits are clipped.
    c_min: Annotated[float, Meta(ge=-10000, le=10000)] = -3.2093127
    c_max: Annotated[float, Meta(ge=-10000, le=10000)] = 16.3047979
    context: Literal["pair", "masked"] = "pair"
    #: Words of a text in one pass of the model.
    batch: Annotated[int, Meta(ge=1, le=4096)] = 16
    #: Tokens in one pass; of a longer text a window around the mask.
    max_length: Annotated[int, Meta(ge=32, le=8192)] = 512
    #: By torch's name.
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Reject an empty range of logits."""
        if not self.c_min < self.c_max:
            raise UsageError("mechanism.c_max: must be larger than mechanism.c_min")

    def check(self) -> None:
        """Raise UsageError if there is no model."""
        self._find()

    def prepare(self, space: Space, aim: Aim) -> Mlm:
        """Find the model; it is loaded at the first text."""
        folder = self._find()
        return Mlm(self, space, folder, digest_of_path(folder))

    def _find(self) -> str:
        feature = "the mechanism mlm"
        if not self.model:
            raise UsageError(
                f"{feature} needs a model: {option('set', 'mechanism.model=DIR')} "
                "(dptext compare: "
                "-m mlm:model=DIR), a Hugging Face folder"
            )
        return language.need(self.model, SETTING, feature, language.MASKED)

    def scores(self, logits: Logits) -> Floats:
        """Clip logits to the range and scale them to [0, 1]; NaN counts as c_min."""
        scores = np.nan_to_num(logits.astype(np.float64), nan=self.c_min)
        np.clip(scores, self.c_min, self.c_max, out=scores)
        scores -= self.c_min
        scores /= self.c_max - self.c_min
        return scores


@dataclass(frozen=True, eq=False)
class Mlm(TextMechanism):
    """The DP-MLM mechanism with its model."""

    # exp(epsilon / 2) must leave room in a float64.
    largest_epsilon = 1000.0

    params: Params
    #: The folder of the model.
    folder: str
    #: The digest of its content.
    digest: str

    @property
    def content(self) -> Mapping[str, str]:
        """Return the digest of all files in the folder of the model."""
        return {"model": self.digest}

    def guarantee(self, epsilon: float) -> Guarantee:
        """Return the guarantee: epsilon-LDP per word for any two texts."""
        model = language.describe(self.folder)
        return Guarantee.ldp(
            f"Meisenbacher et al. 2024, arXiv:2407.00637; model {model}",
            gaps=(
                "What the language model learnt from its own texts is not counted.",
                "Other hardware or packages may draw another word by the same key.",
            ),
            context=True,
            # The scores of a word in two texts may be any two numbers of the range.
            varying_epsilon=VaryingEpsilon(word=1.0, total=1.0, drift=float("inf")),
        )

    @cached_property
    def _outputs(self) -> tuple[Ids, Ints]:
        """Return the words that are one token after a space: rows and tokens (m,).

        If several words share a token, the most frequent one is used; a class of
        numbers is tried by its first number. Raises UsageError if there is no such
        word.
        """
        split = tokenizer(self.folder, self.digest)
        special = set(split.all_special_ids)
        texts = [" " + numbers.example(word) for word in self.space.lexicon.words]
        rows: dict[int, int] = {}
        for row, tokens in enumerate(tokenize(split, texts)):
            if len(tokens) == 1 and tokens[0] not in special:
                rows.setdefault(tokens[0], row)
        if not rows:
            raise UsageError(
                "no word of the lexicon is a single token of the model in "
                f"{self.folder}; use another model or lexicon"
            )
        return np.array(list(rows.values()), np.int32), np.array(list(rows), np.int64)

    def _ask(self, words: Words, use: Callable[[Ints, Logits], T]) -> list[T]:
        """Mask each word in turn, and return `use`'s result for each block.

        use is called from several threads, with the words of a block (b,) and the
        logits of the outputs (b, m) float32.
        """
        params = self.params
        model = load(self.folder, params.device, self.digest)
        torch = models.package("torch", "mlm", "semantic")
        frame = masked_frame(model.tokenizer, params.context == "pair")
        longest = min(params.max_length, model.longest)
        if longest < frame.room + _SHORTEST:
            raise UsageError(
                f"{SETTING}: {self.folder} reads {longest} tokens, too few"
            )
        batch = make_tokens(model.tokenizer, words)
        mask = int(model.tokenizer.mask_token_id)
        wanted = torch.from_numpy(self._outputs[1]).to(params.device)

        def one(block: Ints) -> T:
            texts, positions = words.texts[block].tolist(), words.positions[block]
            sequences = [
                sequence(batch, text, position, mask=mask, frame=frame, longest=longest)
                for text, position in zip(texts, positions.tolist(), strict=True)
            ]
            return use(block, _logits(model, sequences, wanted))

        return models.on_one_thread(one, _blocks(words, params.batch))

    @property
    def outputs(self) -> Ids:
        """Return the rows of the outputs: (m,). Loads the tokenizer."""
        return self._outputs[0]

    def scores(self, words: Words) -> Floats:
        """Return s of every output for each word: (n, m) in [0, 1], all in memory."""
        rows = self._ask(words, lambda block, logits: self.params.scores(logits))
        return np.concatenate([np.empty((0, len(self.outputs))), *rows])

    def sample(self, words: Words, eps: Eps, bits: RandomBits) -> Ids:
        """Draw an output for each word with one uniform: eps (n,) nats -> (n,) ids."""
        if not len(words.positions):
            return np.empty(0, np.int32)
        uniform = bits.uniform(0)[:, 0]

        def draw(block: Ints, logits: Logits) -> Ids:
            scores = self.params.scores(logits)
            return self.outputs[pick(scores, eps[block], uniform[block])]

        return np.concatenate(self._ask(words, draw))

    def example_log_probs(self, epsilon: float) -> Floats:
        """Return ln P(y|text) of a word in each of EXAMPLES: (m, V)."""
        log_weights = epsilon * self.scores(_examples()) / 2.0
        log_probs = np.full((len(EXAMPLES), self.space.size), -np.inf)
        log_probs[:, self.outputs] = log_normalised(log_weights)
        return log_probs

    def numerical_slack(self, epsilon: float) -> float:
        """Bound the nats that 52-bit uniforms may add to the loss.

        A border between outputs is exact to 2^-52 of the sum of weights, the sum to
        V 2^-53 of it; the rarest output has at least e^(-epsilon / 2) / V of it.
        """
        size = self.space.size
        rarest = np.exp(-min(epsilon, self.largest_epsilon) / 2.0) / size
        return float(2.0**-49 / rarest + (size + epsilon) * 2.0**-50)


def pick(scores: Floats, eps: Eps, uniform: Floats) -> Ints:
    """Draw a column of each row by exp(eps s / 2): scores (n, m), uniform (n,)."""
    weights = scores * (eps / 2.0)[:, None]
    weights -= weights.max(axis=1, keepdims=True)
    return draw_columns(np.exp(weights, out=weights), uniform)


def _examples() -> Words:
    texts = [text.replace(" ", "\n ").split("\n") for text in EXAMPLES]
    pieces = [piece for text in texts for piece in text]
    leads = [kinds.LEAD * (piece[0] == " ") for piece in pieces]
    sizes = np.array([len(text) for text in texts])
    ends = np.cumsum(sizes)
    return Words(
        pieces=pieces,
        flags=np.array(leads, np.uint8) | np.uint8(kinds.WORD),
        ends=ends,
        positions=ends - sizes + _DRAWN,
        texts=np.arange(len(texts)),
        ids=np.full(len(texts), -1, np.int32),
    )
