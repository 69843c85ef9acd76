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


@dataclass(frozen=True, slots=True)
class Frame:
    """What a model wants around its texts: (tokens, types) before, between and after.

    between is None where the model reads one text; types are None where it has none.
    first and second are the types of the texts' own tokens.
    """

    before: Tokens
    between: Tokens | None
    after: Tokens
    before_types: Tokens
    between_types: Tokens
    after_types: Tokens
    first: int
    second: int

    @property
    def room(self) -> int:
        """Return how many tokens the frame itself takes."""
        between = 0 if self.between is None else len(self.between)
        return len(self.before) + between + len(self.after)


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts as tokens: those of piece p are tokens[starts[p] : starts[p + 1]].

    begins (r,) and ends (r,): where the pieces of each text begin and end.
    """

    tokens: Tokens
    starts: Tokens
    begins: Tokens
    ends: Tokens


def frame(tokenizer: Any, pair: bool) -> Frame:
    """Take the frame from how the tokenizer puts two short public texts together."""
    made = tokenizer("a", "b") if pair else tokenizer("a")
    of = np.array([-1 if each is None else each for each in made.sequence_ids()])
    tokens = np.array(made["input_ids"], np.int64)
    types = np.array(made.get("token_type_ids", np.zeros(len(tokens))), np.int64)
    one = np.flatnonzero(of == 0)
    two = np.flatnonzero(of == int(pair))
    middle = slice(one[-1] + 1, two[0])
    return Frame(
        before=tokens[: one[0]],
        between=tokens[middle] if pair else None,
        after=tokens[two[-1] + 1 :],
        before_types=types[: one[0]],
        between_types=types[middle],
        after_types=types[two[-1] + 1 :],
        first=int(types[one[0]]),
        second=int(types[two[0]]),
    )


def tokens_of(tokenizer: Any, words: Words) -> Batch:
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


def tokenize(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    """Return the tokens of each text; "[MASK]" in a text is only its characters."""
    if not texts:
        return []
    lists: list[list[int]] = tokenizer(
        texts, add_special_tokens=False, split_special_tokens=True, verbose=False
    )["input_ids"]
    return lists


def sequence(
    batch: Batch, text: int, position: int, mask: int, frame: Frame, longest: int
) -> tuple[Tokens, Tokens, int]:
    """Return tokens and types of a text with the piece at place masked; where.

    longest is how many tokens the model reads, those of the frame among them.
    """
    begin = batch.starts[batch.begins[text]]
    own = batch.tokens[begin : batch.starts[batch.ends[text]]]
    at = int(batch.starts[position] - begin)
    masked = np.concatenate(
        (own[:at], [mask], own[batch.starts[position + 1] - begin :])
    )
    room = longest - frame.room
    parts, types = [frame.before], [frame.before_types]
    if frame.between is not None:
        room //= 2
        start = _start(at, len(own), room)
        parts += [own[start : start + room], frame.between]
        types += [np.full(len(parts[1]), frame.first), frame.between_types]
    start = _start(at, len(masked), room)
    where = sum(map(len, parts)) + at - start
    parts += [masked[start : start + room], frame.after]
    types += [np.full(len(parts[-2]), frame.second), frame.after_types]
    return np.concatenate(parts), np.concatenate(types), where


def _start(middle: int, length: int, room: int) -> int:
    return max(0, min(middle - room // 2, length - room))
