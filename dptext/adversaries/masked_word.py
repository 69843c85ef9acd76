"""Masked-word inference: a language model guesses each original word from its context.

The model sees the released text with one word masked, and its guesses are compared with
the original word in that place. It assumes words replaced in their places, and a public
masked language model; it does not know the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dptext.errors import UsageError
from dptext.models import package

ASSUMES = "sees the released text, has a masked language model, knows no mechanism"
_BATCH = 32
_WINDOW = 64  # words on both sides together


@dataclass(frozen=True, slots=True)
class Guessed:
    """Shares of words that the model's first guess, or one of its first five, hits.

    words are those asked for; a word that is several pieces to the model counts as
    missed.
    """

    model: str
    first: float
    first_five: float
    words: int
    assumes: str = ASSUMES


def attack(
    folder: str,
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    most: int = 20_000,
) -> Guessed:
    """Attack texts, each as its words before and after; at most `most` words in all.

    folder is that of a local Hugging Face model; nothing is fetched. Raises UsageError
    where there is no model, MissingExtra without the library.
    """
    torch = package("torch", "the masked-word attack", "semantic")
    library = package("transformers", "the masked-word attack", "semantic")
    library.utils.logging.set_verbosity_error()
    if not (Path(folder) / "config.json").is_file():
        msg = f"--masked-model {folder}: no model there (a folder with config.json)"
        raise UsageError(msg)
    try:
        tokenizer = library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = library.AutoModelForMaskedLM.from_pretrained(
            folder, local_files_only=True
        ).eval()
    except (OSError, ValueError):
        msg = f"--masked-model {folder}: not a masked language model that can be loaded"
        raise UsageError(msg) from None
    asked = _questions(tokenizer, pairs, most)
    asked.sort(key=lambda item: len(item[0]))
    hits = [0, 0]
    with torch.inference_mode():
        for begin in range(0, len(asked), _BATCH):
            for place, found in enumerate(
                _answers(torch, tokenizer, model, asked[begin : begin + _BATCH])
            ):
                hits[place] += found
    count = max(len(asked), 1)
    return Guessed(Path(folder).name, hits[0] / count, hits[1] / count, len(asked))


def _questions(
    tokenizer: Any, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], most: int
) -> list[tuple[str, str]]:
    """Return texts with one word masked, and the original word."""
    asked: list[tuple[str, str]] = []
    for before, after in pairs:
        if len(before) != len(after):
            continue
        for place, word in enumerate(before):
            if len(asked) >= most:
                return asked
            begin = max(0, min(place - _WINDOW // 2, len(after) - _WINDOW))
            words = list(after)
            words[place] = tokenizer.mask_token
            asked.append((" ".join(words[begin : begin + _WINDOW]), word))
    return asked


def _answers(
    torch: Any, tokenizer: Any, model: Any, asked: Sequence[tuple[str, str]]
) -> tuple[int, int]:
    """Return how many first guesses, and how many first fives, are right."""
    texts = [text for text, _ in asked]
    given = tokenizer(
        texts, padding=True, truncation=True, max_length=256, return_tensors="pt"
    )
    logits = model(**given).logits
    places = (given["input_ids"] == tokenizer.mask_token_id).int()
    rows = torch.arange(len(texts))
    best = logits[rows, places.argmax(dim=1)].topk(5, dim=1).indices.tolist()
    first = five = 0
    for guesses, shown, (_, word) in zip(
        best, places.sum(1).tolist(), asked, strict=True
    ):
        named = [tokenizer.decode([each]).strip().lower() for each in guesses]
        if shown:  # the mask has not been cut off
            first += named[0] == word.lower()
            five += word.lower() in named
    return first, five
