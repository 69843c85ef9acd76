"""Attention for passes that read tokens of several texts as one line.

All but attention treats each token by itself, so tokens of many texts can stand side by
side without padding. Attention is done text by text, each with the keys of its own.
Only models that take their attention from Hugging Face's register can read so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from dptext import models
from dptext.models import Library

_NAME = "dptext_packed"
# What attention may be told that is not done here.
_MORE = ("softcap", "position_bias", "s_aux", "head_mask")
# The line that each thread reads.
_thread = threading.local()


class Part(NamedTuple):
    """The tokens begin to end of a line: those of one text, whose keys lie in a row.

    seen (1, 1, end - begin, capacity) 0 for what each may attend to, else a large
    negative number.
    """

    begin: int
    end: int
    row: int
    seen: Library


class Line(NamedTuple):
    """A line of tokens; what comes after its parts is padded."""

    parts: Sequence[Part]

    @contextmanager
    def read(self) -> Iterator[None]:
        """Have the passes of this thread meanwhile read this line."""
        _thread.line = self
        try:
            yield
        finally:
            _thread.line = None


def accept(model: Library) -> bool:
    """Have a model read packed lines; other passes of it stay as they were.

    False for one that brings attention of its own, which is left as it is.
    """
    try:
        _register()
        model.set_attn_implementation(_NAME)
    except (AttributeError, ValueError, ImportError):
        return False
    return bool(model.config._attn_implementation == _NAME)


@cache
def _register() -> None:
    package = models.package("transformers", "", "semantic")
    masks = models.package("transformers.masking_utils", "", "semantic")
    package.AttentionInterface.register(_NAME, _attention())
    package.AttentionMaskInterface.register(_NAME, masks.sdpa_mask)


def _attention() -> Library:
    """Return the attention of packed lines, and of other passes."""
    package = models.package("transformers", "", "semantic")
    usual = package.AttentionInterface().get_interface("sdpa", None)
    functional = models.package("torch.nn.functional", "", "semantic")

    def attend(
        module: Library,
        query: Library,
        key: Library,
        value: Library,
        mask: Library,
        *,
        scaling: float | None = None,
        **more: Library,
    ) -> tuple[Library, None]:
        """Attend; query (1, heads, slots, d), keys (rows, groups, capacity, d)."""
        line: Line | None = getattr(_thread, "line", None)
        if line is None:
            attended: tuple[Library, None] = usual(
                module, query, key, value, mask, scaling=scaling, **more
            )
            return attended
        if any(more.get(name) is not None for name in _MORE):
            raise TypeError(type(module))
        heads, groups = query.shape[1], key.shape[1]
        answers = query.new_zeros((*query.shape[:3], value.shape[3]))
        for begin, end, row, seen in line.parts:
            # All heads that share a key stand beside each other.
            shape = (1, groups, heads // groups * (end - begin), -1)
            answer = functional.scaled_dot_product_attention(
                query[:, :, begin:end].reshape(shape),
                key[row : row + 1, :, : seen.shape[3]],
                value[row : row + 1, :, : seen.shape[3]],
                attn_mask=seen.repeat(1, 1, heads // groups, 1),
                scale=scaling,
            )
            answers[:, :, begin:end] = answer.view(1, heads, end - begin, -1)
        return answers.transpose(1, 2), None

    return attend
