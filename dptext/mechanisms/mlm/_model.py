"""A masked language model from a folder, asked for the scores of masked words.

What is computed together is of one text: blocks of at most `batch` of its words, padded
to the longest of them, each on one thread, several blocks at a time. So the scores of a
text follow from it and from `batch`, to the last bit on one machine with the same
packages, whatever stands beside it and however many processors there are.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import masked_models, models
from dptext.errors import UsageError
from dptext.mechanisms.mlm import _text
from dptext.mechanisms.mlm._text import Sequence, Tokenizer
from dptext.tokens import numbers
from dptext.types import Words

SETTING = "mechanism.model"
# Position tables of some families keep the first two positions for themselves.
_RESERVED = 2
_SHORTEST = 16
Logits = NDArray[np.float32]
Untyped = Any  # of torch and of Hugging Face


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model is and how it is asked: plain data; digest, of its content."""

    folder: str
    digest: str
    device: str
    pair: bool
    batch: int
    max_length: int


@dataclass(frozen=True, slots=True)
class Model:
    """A model in memory: longest is how many tokens it reads.

    masks.positions, in each thread: rows and positions that its last layer looks at.
    """

    tokenizer: Tokenizer
    network: Untyped
    masks: threading.local
    longest: int


@cache
def tokenizer(folder: str, digest: str = "") -> Tokenizer:
    """Load the tokenizer of a model, once for a digest of its folder."""
    loaded = masked_models.tokenizer(folder, SETTING)
    if not loaded.is_fast:
        raise UsageError(f"{SETTING}: {folder} has no fast tokenizer (tokenizer.json)")
    return loaded


@cache
def load(folder: str, device: str, digest: str = "") -> Model:
    """Load a model, once for a digest of its folder."""
    network = masked_models.network(folder, SETTING, device)
    split = tokenizer(folder, digest)
    positions = getattr(network.config, "max_position_embeddings", None) or 2**30
    longest = min(int(split.model_max_length), positions - _RESERVED)
    return Model(split, network, _only_masks(network), longest)


def _only_masks(network: Untyped) -> threading.local:
    """Let the last layer, a row per token of the vocabulary, see only the masks."""
    masks = threading.local()
    last = network.get_output_embeddings()

    def only(_: Untyped, inputs: tuple[Untyped, ...]) -> tuple[Untyped, ...] | None:
        positions = getattr(masks, "positions", None)
        return None if positions is None else (inputs[0][positions], *inputs[1:])

    if last is not None:
        last.register_forward_pre_hook(only)
    return masks


def outputs(
    source: Source, words: tuple[str, ...]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the words that are one token where a word begins: rows, tokens (m,).

    Of several words with one token the first, the most frequent; an element for numbers
    is tried as its first number. Raises UsageError where there is no such word.
    """
    split = tokenizer(source.folder, source.digest)
    special = set(split.all_special_ids)
    texts = [" " + numbers.example(word) for word in words]
    rows: dict[int, int] = {}
    for row, tokens in enumerate(_text.tokenize(split, texts)):
        if len(tokens) == 1 and tokens[0] not in special:
            rows.setdefault(tokens[0], row)
    if not rows:
        raise UsageError(
            f"no word of the lexicon is a token of the model in {source.folder}"
        )
    return np.array(list(rows.values()), np.int32), np.array(list(rows), np.int64)


def ask(
    source: Source,
    words: Words,
    tokens: NDArray[np.int64],
    use: Callable[[NDArray[np.int64], Logits], None],
) -> None:
    """Mask each word in turn and call use with the scores of the tokens (m,).

    use gets, block by block and from several threads, which of the words (b,) a block
    holds and their logits (b, m) float32.
    """
    model = load(source.folder, source.device, source.digest)
    torch = models.package("torch", "mlm", "semantic")
    frame = _text.frame(model.tokenizer, source.pair)
    longest = min(source.max_length, model.longest)
    if longest < frame.room + _SHORTEST:
        raise UsageError(f"{SETTING}: {source.folder} reads {longest} tokens, too few")
    batch = _text.tokens_of(model.tokenizer, words)
    mask = int(model.tokenizer.mask_token_id)
    wanted = torch.from_numpy(tokens).to(source.device)

    def one(block: NDArray[np.int64]) -> None:
        texts, positions = words.texts[block].tolist(), words.positions[block].tolist()
        sequences = [
            _text.sequence(batch, text, position, mask, frame, longest)
            for text, position in zip(texts, positions, strict=True)
        ]
        use(block, _logits(torch, model, sequences, wanted, source.device))

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(one, _blocks(words, source.batch)):
                pass
    finally:
        torch.set_num_threads(threads)


def _blocks(words: Words, most: int) -> list[NDArray[np.int64]]:
    """Return the words of each block: neighbours in one text, at most so many."""
    blocks: list[NDArray[np.int64]] = []
    begin = 0
    ends = np.searchsorted(words.texts, np.arange(len(words.ends)), side="right")
    for end in ends.tolist():
        firsts = range(begin, end, most)
        blocks += [np.arange(first, min(first + most, end)) for first in firsts]
        begin = end
    return blocks


def _logits(
    torch: Untyped,
    model: Model,
    sequences: list[Sequence],
    wanted: Untyped,
    device: str,
) -> Logits:
    """Run a block of sequences, padded to the longest: (b, m) float32."""
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
