"""Masked-word inference: a language model guesses each original word from its context.

The model sees the released text with one word masked, and its guesses are compared with
the original word in that place. It assumes words replaced in their places, and a public
masked language model; it does not know the mechanism, and does not look at the released
word: a lower limit of what context gives away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dptext.errors import UsageError
from dptext.models import package

ASSUMES = (
    "sees the released text and has a masked language model; does not know the "
    "mechanism, ignores the released word itself"
)
_BATCH = 32
_WINDOW = 64  # pieces on both sides together
_TOKENS = 256
_GUESSES = 5


@dataclass(frozen=True, slots=True)
class Hidden:
    """A released text in pieces, the places of words in it, and the words before."""

    pieces: Sequence[str]
    positions: Sequence[int]
    words: Sequence[str]


@dataclass(frozen=True, slots=True)
class Guessed:
    """Shares of words that the model's first guess, or one of its first five, hits.

    words are those asked for, evenly chosen from all; a word that is several tokens to
    the model counts as missed.
    """

    model: str
    first: float
    first_five: float
    words: int
    assumes: str = ASSUMES


def attack(folder: str, texts: Sequence[Hidden], most: int = 2000) -> Guessed | None:
    """Attack at most `most` words of texts; None where there is no word.

    folder is that of a local Hugging Face model; nothing is fetched. Raises UsageError
    where there is no model, MissingExtra without the library.
    """
    torch = package("torch", "the masked-word attack", "semantic")
    tokenizer, model = _loaded(folder)
    asked = list(_questions(tokenizer.mask_token, texts, most))
    asked.sort(key=lambda item: len(item[0]))
    first = five = 0
    with torch.inference_mode():
        for begin in range(0, len(asked), _BATCH):
            part = asked[begin : begin + _BATCH]
            found = _answers(torch, tokenizer, model, [text for text, _ in part])
            for guesses, (_, word) in zip(found, part, strict=True):
                first += guesses[:1] == [word]
                five += word in guesses
    if not asked:
        return None
    name = Path(folder).resolve().name
    return Guessed(name, first / len(asked), five / len(asked), len(asked))


def need_model(folder: str) -> None:
    """Raise UsageError unless a folder could hold a model."""
    package("transformers", "the masked-word attack", "semantic")
    if not (Path(folder) / "config.json").is_file():
        msg = f"--masked-model {folder}: no model there (a folder with config.json)"
        raise UsageError(msg)


def _loaded(folder: str) -> tuple[Any, Any]:
    need_model(folder)
    library = package("transformers", "the masked-word attack", "semantic")
    library.utils.logging.set_verbosity_error()
    library.utils.logging.disable_progress_bar()
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = library.AutoModelForMaskedLM.from_pretrained(
            folder, local_files_only=True
        ).eval()
    except (OSError, ValueError):
        tokenizer = model = None
    if tokenizer is None or tokenizer.mask_token is None:
        msg = f"--masked-model {folder}: not a masked language model that can be loaded"
        raise UsageError(msg)
    torch = package("torch", "the masked-word attack", "semantic")
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu")


def _questions(
    mask: str, texts: Sequence[Hidden], most: int
) -> Iterator[tuple[str, str]]:
    """Yield texts with one word masked, and the original word in lower case."""
    total = sum(len(text.positions) for text in texts)
    chosen = set(np.linspace(0, total - 1, min(most, total)).astype(int).tolist())
    number = 0
    for text in texts:
        for position, word in zip(text.positions, text.words, strict=True):
            if number in chosen:
                yield _masked(mask, text.pieces, position), word.lower()
            number += 1


def _masked(mask: str, pieces: Sequence[str], position: int) -> str:
    begin = max(0, min(position - _WINDOW // 2, len(pieces) - _WINDOW))
    shown = list(pieces[begin : begin + _WINDOW])
    # A piece holds the space in front of it.
    space = " " if shown[position - begin].startswith(" ") else ""
    shown[position - begin] = space + mask
    return "".join(shown)


def _answers(
    torch: Any, tokenizer: Any, model: Any, texts: Sequence[str]
) -> Iterator[list[str]]:
    """Yield the model's guesses for each text, none where its mask is cut off."""
    given = tokenizer(
        list(texts),
        padding=True,
        truncation=True,
        max_length=_TOKENS,
        return_tensors="pt",
    )
    given = given.to(model.device)
    logits = model(**given).logits
    masks = (given["input_ids"] == tokenizer.mask_token_id).int()
    rows = torch.arange(len(texts), device=model.device)
    best = logits[rows, masks.argmax(dim=1)].topk(_GUESSES, dim=1).indices.tolist()
    for guesses, shown in zip(best, masks.sum(1).tolist(), strict=True):
        decoded = [tokenizer.decode([each]).strip().lower() for each in guesses]
        yield decoded if shown else []
