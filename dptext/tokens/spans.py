"""Which parts of a text lists and forms name, before it is divided into words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, repeat

from dptext.tokens import forms, kinds
from dptext.tokens.lists import Finder
from dptext.tokens.policy import Policy
from dptext.tokens.regex import split

Span = tuple[int, int, int]


class Spans:
    """Finds what lists and forms of a policy name.

    Where two overlap, the mask list goes before forms, and these before the keep list;
    of one of them what begins first goes before others, and then what is longest.
    """

    def __init__(self, policy: Policy) -> None:
        self._mask, self._keep = Finder(policy.mask), Finder(policy.keep)
        self._forms = policy.forms
        self._any = policy.listed

    def divide(self, text: str) -> tuple[list[str], dict[int, int]]:
        """Return the pieces of a text, and the kinds of those that are named.

        The pieces joined are the text.
        """
        if not self._any:
            return split(text), {}
        pieces: list[str] = []
        named: dict[int, int] = {}
        end = 0
        for begin, after, kind in self._apart(text):
            # A piece carries the single space before it.
            lead = begin > end and text[begin - 1] == " "
            lead = lead and (begin - 1 == end or not text[begin - 2].isspace())
            pieces += split(text[end : begin - lead])
            named[len(pieces)] = kind
            pieces.append(text[begin - lead : after])
            end = after
        return pieces + split(text[end:]), named

    def keeps_or_masks(self, word: str) -> bool:
        """Tell whether a list names a word as it stands by itself."""
        return self._mask.names(word) or self._keep.names(word)

    def _apart(self, text: str) -> list[Span]:
        """Return the parts that are named, in order, none of which overlap."""
        taken: list[Span] = []
        used = bytearray(len(text))
        for begin, end, kind in self._by_rank(text):
            if not any(used[begin:end]):
                used[begin:end] = b"\1" * (end - begin)
                taken.append((begin, end, kind))
        return sorted(taken)

    def _by_rank(self, text: str) -> Iterator[Span]:
        of_forms = chain.from_iterable(forms.spans(form, text) for form in self._forms)
        for kind, spans in (
            (kinds.MASKED, self._mask.spans(text)),
            (kinds.FORMED, of_forms),
            (kinds.KEPT, self._keep.spans(text)),
        ):
            bare = (_bare(text, *span) for span in spans)
            ranked = sorted(set(bare), key=lambda span: (span[0], -span[1]))
            for (begin, end), each in zip(ranked, repeat(kind)):
                if begin < end:
                    yield begin, end, each


def _bare(text: str, begin: int, end: int) -> tuple[int, int]:
    """Leave spaces around a part out."""
    inside = text[begin:end]
    return (
        begin + len(inside) - len(inside.lstrip()),
        end - len(inside) + len(inside.rstrip()),
    )
