"""Masked words: a language model guesses a word from the released text around it.

It sees the released text with one word masked, and its guesses are compared with the
original word there. It assumes that words are replaced one by one, and a public masked
language model; it does not know the mechanism, and does not look at the released word:
a lower limit of what context gives away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dptext.measures.kept import Aligned
from dptext.models import package
from dptext.models.language import MASKED, load_network, load_tokenizer, need

ASSUMES = (
    "sees the released text and has a masked language model; does not know the "
    "mechanism, ignores the released word itself"
)
_SETTING = "--masked-model"
_BATCH = 32
_WINDOW = 64  # pieces on both sides together
_TOKENS = 256
_GUESSES = 5


# A word to guess: the pieces of its released text, its position among them, and the
# word before in lower case.
Hidden = tuple[Sequence[str], int, str]


@dataclass(frozen=True, slots=True)
class Guessed:
    """Shares of words that the model's first guess, or one of its first five, hits.

    words are those asked for; a word that is several tokens to the model counts as
    missed.
    """

    model: str
    first: float
    first_five: float
    words: int
    assumes: str = ASSUMES


def hidden(aligned: Aligned) -> list[Hidden]:
    """Return the words to guess."""
    before, after = aligned.before, aligned.after
    starts = [0, *after.ends.tolist()]
    pieces = [after.pieces[begin:end] for begin, end in pairwise(starts)]
    places = zip(
        before.positions[aligned.rows_before].tolist(),
        after.positions[aligned.rows_after].tolist(),
        after.texts[aligned.rows_after].tolist(),
        strict=True,
    )
    return [
        (pieces[text], new - starts[text], before.pieces[old].strip(" ").lower())
        for old, new, text in places
    ]


def attack(folder: str, words: Sequence[Hidden], most: int = 2000) -> Guessed | None:
    """Attack at most `most` words, evenly chosen; None where there is no word.

    folder is that of a local Hugging Face model; nothing is fetched. Raises UsageError
    where there is no model, MissingExtra without the library.
    """
    torch = package("torch", "the masked-word attack", "semantic")
    folder = need_model(folder)
    tokenizer = load_tokenizer(folder, _SETTING, MASKED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = load_network(folder, _SETTING, device, MASKED)
    chosen = np.linspace(0, len(words) - 1, min(most, len(words))).astype(int)
    asked = [
        (_masked(tokenizer.mask_token, pieces, position), word)
        for pieces, position, word in (words[n] for n in np.unique(chosen))
    ]
    asked.sort(key=lambda item: len(item[0]))
    first = five = 0
    with torch.inference_mode():
        for begin in range(0, len(asked), _BATCH):
            part = asked[begin : begin + _BATCH]
            answers = _answers(torch, tokenizer, model, [text for text, _ in part])
            for guesses, (_, word) in zip(answers, part, strict=True):
                first += guesses[:1] == [word]
                five += word in guesses
    if not asked:
        return None
    return Guessed(Path(folder).name, first / len(asked), five / len(asked), len(asked))


def need_model(folder: str) -> str:
    """Return the folder of a model; UsageError where none could be."""
    return need(folder, _SETTING, "the masked-word attack", MASKED)


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
    encoded = tokenizer(
        list(texts),
        padding=True,
        truncation=True,
        max_length=_TOKENS,
        return_tensors="pt",
    ).to(model.device)
    logits = model(**encoded).logits
    masks = (encoded["input_ids"] == tokenizer.mask_token_id).int()
    rows = torch.arange(len(texts), device=model.device)
    best = logits[rows, masks.argmax(dim=1)].topk(_GUESSES, dim=1).indices.tolist()
    for guesses, masked in zip(best, masks.sum(1).tolist(), strict=True):
        decoded = [tokenizer.decode([each]).strip().lower() for each in guesses]
        yield decoded if masked else []
