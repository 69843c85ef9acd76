"""A masked language model from a folder, asked for the scores of masked words.

What is computed together is of one text: blocks of at most `batch` of its words, padded
to the longest of them, each on one thread, several blocks at a time. So the scores of a
text follow from it and from `batch`, to the last bit on one machine with the same
packages, whatever stands beside it and however many processors there are.

Nothing is downloaded: a model is a folder of this machine.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext import models
from dptext.errors import MissingExtra, UsageError
from dptext.mechanisms import _masked_text
from dptext.tokens import numbers
from dptext.types import Words

# Position tables of some families keep the first two places for themselves.
_RESERVED = 2
_SHORTEST = 16
_TOKENIZERS = (
    *("tokenizer.json", "vocab.txt", "vocab.json"),
    *("sentencepiece.bpe.model", "spiece.model", "tokenizer.model"),
)
Logits = NDArray[np.float32]


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
    """A model in memory: longest is how many tokens it reads, taken its place."""

    tokenizer: Any
    network: Any
    taken: Any
    longest: int


def need(folder: str, what: str) -> str:
    """Return the folder of a model, without loading it.

    Raises UsageError where it is none, MissingExtra without transformers and torch.
    """
    if not folder:
        msg = f"{what} needs a model: --set mechanism.model=DIR, a Hugging Face folder"
        raise UsageError(msg)
    for name in ("transformers", "torch"):
        if not models.has(name):
            raise MissingExtra.of(what, "semantic")
    path = Path(folder).expanduser()
    if not path.is_dir():
        msg = (
            f"mechanism.model: no folder {folder}; give that of a Hugging Face model "
            "on this machine (nothing is downloaded)"
        )
        raise UsageError(msg)
    if not (path / "config.json").is_file():
        msg = f"mechanism.model: {folder} has no config.json; give a model's folder"
        raise UsageError(msg)
    if not any((path / name).is_file() for name in _TOKENIZERS):
        msg = f"mechanism.model: {folder} has no tokenizer; save it beside the model"
        raise UsageError(msg)
    if not [*path.glob("*.safetensors"), *path.glob("pytorch_model*.bin")]:
        msg = (
            f"mechanism.model: {folder} has no weights; model.safetensors or "
            "pytorch_model.bin should lie there"
        )
        raise UsageError(msg)
    return str(path.resolve())


def describe(folder: str) -> str:
    """Name a model and the digest of its weights."""
    digest = models.weights_digest(folder)
    told = f" (weights sha256 {digest[:12]})" if digest else ""
    return f"{Path(folder).name}{told}"


@cache
def tokenizer(folder: str, digest: str = "") -> Any:
    """Load the tokenizer of a model.

    digest, that of the folder, tells a changed one from what was loaded before.
    """
    library = _library()
    made = _quietly(
        folder,
        lambda: library.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        ),
    )
    if made.mask_token_id is None or not made.is_fast:
        msg = f"mechanism.model: the tokenizer in {folder} has no mask token"
        if not made.is_fast:
            msg = f"mechanism.model: {folder} has no fast tokenizer (tokenizer.json)"
        raise UsageError(msg)
    return made


@cache
def load(folder: str, device: str, digest: str = "") -> Model:
    """Load a model with its masked-language-model head, for inference in float32.

    digest, that of the folder, tells a changed one from what was loaded before.
    """
    library = _library()
    network, told = _quietly(
        folder,
        lambda: library.AutoModelForMaskedLM.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        ),
    )
    missing = [key for key in told["missing_keys"] if not key.endswith("position_ids")]
    if missing:
        msg = (
            f"mechanism.model: the weights in {folder} lack {min(missing)}; take a "
            "model that was saved with its masked-language-model head"
        )
        raise UsageError(msg)
    network = _quietly(folder, lambda: network.float().eval().to(device))
    split = tokenizer(folder, digest)
    positions = getattr(network.config, "max_position_embeddings", None) or 2**30
    longest = min(int(split.model_max_length), positions - _RESERVED)
    return Model(split, network, _take_places(network), longest)


_OUTPUTS: dict[tuple[str, ...], tuple[NDArray[np.int32], NDArray[np.int64]]] = {}


def outputs(
    source: Source, digest: str, words: tuple[str, ...]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the words that are one token where a word begins: rows, tokens (m,).

    Of several words with one token the first, the most frequent; an element for numbers
    is tried as its first number. digest, the lexicon's.
    Raises UsageError where there is no such word.
    """
    key = (source.folder, source.digest, digest)
    if key not in _OUTPUTS:
        split = tokenizer(source.folder, source.digest)
        rows: dict[int, int] = {}
        special = set(split.all_special_ids)
        texts = [" " + numbers.example(word) for word in words]
        lists = _masked_text.tokenize(split, texts)
        for row, tokens in enumerate(lists):
            if len(tokens) == 1 and tokens[0] not in special:
                rows.setdefault(tokens[0], row)
        if not rows:
            msg = f"no word of the lexicon is a token of the model in {source.folder}"
            raise UsageError(msg)
        _OUTPUTS[key] = (
            np.array(list(rows.values()), np.int32),
            np.array(list(rows), np.int64),
        )
    return _OUTPUTS[key]


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
    frame = _masked_text.frame(model.tokenizer, source.pair)
    longest = min(source.max_length, model.longest)
    if longest < frame.room + _SHORTEST:
        msg = f"mechanism.model: {source.folder} reads {longest} tokens, too few"
        raise UsageError(msg)
    batch = _masked_text.tokens_of(model.tokenizer, words)
    mask = int(model.tokenizer.mask_token_id)
    wanted = torch.from_numpy(tokens).to(source.device)

    def one(block: NDArray[np.int64]) -> None:
        made = [
            _masked_text.sequence(
                batch,
                int(words.texts[n]),
                int(words.positions[n]),
                mask,
                frame,
                longest,
            )
            for n in block.tolist()
        ]
        use(block, _logits(torch, model, made, wanted, source.device))

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
    found: list[NDArray[np.int64]] = []
    ends = np.searchsorted(words.texts, np.arange(len(words.ends)), side="right")
    begin = 0
    for end in ends.tolist():
        found += [
            np.arange(first, min(first + most, end))
            for first in range(begin, end, most)
        ]
        begin = end
    return found


def _logits(
    torch: Any,
    model: Model,
    made: list[tuple[NDArray[np.int64], NDArray[np.int64], int]],
    wanted: Any,
    device: str,
) -> Logits:
    """Run a block of sequences, padded to the longest: (b, m) float32."""
    longest = max(len(tokens) for tokens, _, _ in made)
    pad = model.tokenizer.pad_token_id or 0
    ids = np.full((len(made), longest), pad, np.int64)
    types = np.zeros_like(ids)
    seen = np.zeros_like(ids)
    for row, (tokens, kinds, _) in enumerate(made):
        ids[row, : len(tokens)] = tokens
        types[row, : len(tokens)] = kinds
        seen[row, : len(tokens)] = 1
    given = {"input_ids": ids, "attention_mask": seen}
    if "token_type_ids" in model.tokenizer.model_input_names:
        given["token_type_ids"] = types
    rows = torch.arange(len(made), device=device)
    positions = torch.tensor([where for _, _, where in made], device=device)
    with torch.inference_mode():
        model.taken.positions = (rows, positions)
        try:
            scores = model.network(
                **{k: torch.from_numpy(v).to(device) for k, v in given.items()}
            ).logits
        finally:
            model.taken.positions = None
        if scores.dim() == 3:
            scores = scores[rows, positions]
        logits: Logits = scores[:, wanted].cpu().numpy()
    return logits


def _take_places(network: Any) -> Any:
    """Let the last layer, a row per token of the vocabulary, see only the masks."""
    taken = threading.local()
    last = network.get_output_embeddings()

    def only(_: Any, given: tuple[Any, ...]) -> tuple[Any, ...] | None:
        positions = getattr(taken, "positions", None)
        return None if positions is None else (given[0][positions], *given[1:])

    if last is not None:
        last.register_forward_pre_hook(only)
    return taken


def _library() -> Any:
    library = models.package("transformers", "mlm", "semantic")
    library.utils.logging.disable_progress_bar()
    library.utils.logging.set_verbosity_error()
    return library


def _quietly(folder: str, make: Callable[[], Any]) -> Any:
    """Call make without warnings; what goes wrong is one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make()
        except Exception as error:  # a broken file may raise anything
            reason = str(error).strip().partition("\n")[0]
            msg = f"mechanism.model: {folder} cannot be loaded: {reason}"
            raise UsageError(msg) from None
