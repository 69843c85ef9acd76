"""Words to what a masked language model reads: tokens, one mask, a window around it.

Each piece is turned into tokens by itself, with a space in front where it begins the
text or stands after a space, so that the tokens of a word never reach into another
piece. Spaces themselves are left out. A masked word is one mask token, however many
tokens it had. A text that is longer than the model reads is cut to a window with the
mask in its middle, or as near to the middle as the ends of the text allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dptext.tokens import kinds
from dptext.types import Words

Tokens = NDArray[np.int64]
Tokenizer = Any  # Hugging Face's, which has no types
# Tokens and their types (2, n), and where the mask is.
Sequence = tuple[Tokens, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """What a model wants around its texts: tokens and types (2, n) of each part.

    between is None where the model reads one text; first and second are the types of
    the texts' own tokens.
    """

    before: Tokens
    between: Tokens | None
    after: Tokens
    first: int
    second: int

    @property
    def room(self) -> int:
        """Return how many tokens the frame itself takes."""
        parts = (self.before, self.between, self.after)
        return sum(len(part[0]) for part in parts if part is not None)


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts as tokens: those of piece p are tokens[starts[p] : starts[p + 1]].

    begins (r,) and ends (r,): where the pieces of each text begin and end.
    """

    tokens: Tokens
    starts: Tokens
    begins: Tokens
    ends: Tokens


def frame(tokenizer: Tokenizer, pair: bool) -> Frame:
    """Take the frame from how the tokenizer puts two short public texts together."""
    encoded = tokenizer("a", "b") if pair else tokenizer("a")
    text = np.array([-1 if each is None else each for each in encoded.sequence_ids()])
    ids = np.array(encoded["input_ids"], np.int64)
    types = np.array(encoded.get("token_type_ids", np.zeros(len(ids))), np.int64)
    both = np.stack((ids, types))
    one, two = np.flatnonzero(text == 0), np.flatnonzero(text == int(pair))
    return Frame(
        before=both[:, : one[0]],
        between=both[:, one[-1] + 1 : two[0]] if pair else None,
        after=both[:, two[-1] + 1 :],
        first=int(types[one[0]]),
        second=int(types[two[0]]),
    )


def tokens_of(tokenizer: Tokenizer, words: Words) -> Batch:
    """Turn the pieces of a batch into tokens, each distinct one once."""
    kind = words.flags & kinds.KIND
    space = kind == kinds.SPACE
    begins = np.concatenate(([0], words.ends[:-1])).astype(np.int64)
    led = (words.flags & kinds.LEAD) != 0
    led[1:] |= space[:-1]
    led[begins[begins < len(led)]] = True
    # A piece with a lead has its space already.
    shown = [
        "" if blank else " " + piece.removeprefix(" ") if lead else piece
        for piece, lead, blank in zip(
            words.pieces, led.tolist(), space.tolist(), strict=True
        )
    ]
    distinct = list(dict.fromkeys(shown))
    known = dict(zip(distinct, tokenize(tokenizer, distinct), strict=True))
    lists = [known[each] for each in shown]
    starts = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(each) for each in lists], out=starts[1:])
    flat = [token for each in lists for token in each]
    return Batch(np.array(flat, np.int64), starts, begins, words.ends)


def tokenize(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """Return the tokens of each text; "[MASK]" in a text is only its characters."""
    if not texts:
        return []
    lists: list[list[int]] = tokenizer(
        texts, add_special_tokens=False, split_special_tokens=True, verbose=False
    )["input_ids"]
    return lists


def sequence(
    batch: Batch, text: int, position: int, mask: int, frame: Frame, longest: int
) -> Sequence:
    """Return a text with the piece at a position masked.

    longest is how many tokens the model reads, those of the frame among them.
    """
    begin = batch.starts[batch.begins[text]]
    original = batch.tokens[begin : batch.starts[batch.ends[text]]]
    at, after = (batch.starts[position : position + 2] - begin).tolist()
    masked = np.concatenate((original[:at], [mask], original[after:]))
    room = longest - frame.room
    parts = [frame.before]
    if frame.between is not None:
        room //= 2
        start = _start(at, len(original), room)
        parts += [_typed(original[start : start + room], frame.first), frame.between]
    start = _start(at, len(masked), room)
    where = sum(len(part[0]) for part in parts) + at - start
    parts += [_typed(masked[start : start + room], frame.second), frame.after]
    return np.concatenate(parts, axis=1), where


def _typed(tokens: Tokens, kind: int) -> Tokens:
    return np.stack((tokens, np.full(len(tokens), kind)))


def _start(middle: int, length: int, room: int) -> int:
    return max(0, min(middle - room // 2, length - room))
