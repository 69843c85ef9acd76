"""Whether a lexicon knows the words of the first records.

One that does not is of another language: all unknown words are one input of a
mechanism, so that the output is private and means nothing. Warnings hold no word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

import numpy as np

from dptext.engine.fields import CHARACTERS, SAMPLE
from dptext.errors import UsageError
from dptext.lexicons.public_rows import PublicRows
from dptext.tokens import kinds
from dptext.tokens.tokenizer import Tokenizer
from dptext.tokens.whole_texts import WholeTexts
from dptext.types import Record

_UNKNOWN = 1 / 3  # of the words make a warning
_FEWEST = 6  # unknown words below which nothing is said
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese syllables, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af]"
)
_LETTER = re.compile(r"[^\W\d_]")


class Language:
    """Warns once if the first records are in a language unknown to the lexicon.

    tokenizer finds words by the lexicon of that name; without one only `public` looks
    at texts, for those that topics were made of.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | None = None,
        lexicon: str = "",
        warn: Callable[[str], None] = lambda line: None,
        public: PublicRows | None = None,
    ) -> None:
        # Where whole texts are drawn, the words that their topic follows from.
        self._is_whole = isinstance(tokenizer, WholeTexts)
        if isinstance(tokenizer, WholeTexts):
            tokenizer = tokenizer.inner
        self._tokenizer, self._lexicon, self._warn = tokenizer, lexicon, warn
        self._public = public
        self._records = self._letters = self._unspaced = 0
        self._pieces = np.zeros(kinds.COUNT, np.int64)

    def look(self, records: Iterable[Record]) -> None:
        """Look at the next records, before they are written.

        Raises UsageError for texts in a script without spaces between words, in which
        a whole sentence counts as one word, and for those that topics were made of.
        """
        if self._public is not None:
            records = list(records)
            self._public.look(records)
        if self._tokenizer is None or self._records >= SAMPLE:
            return
        real = (record for record in records if record.texts)
        first = list(islice(real, SAMPLE - self._records))
        texts = [text[:CHARACTERS] for record in first for text in record.texts]
        flags = self._tokenizer.words(texts).flags
        self._pieces += np.bincount(flags & kinds.KIND, minlength=kinds.COUNT)
        self._letters += sum(len(_LETTER.findall(text)) for text in texts)
        self._unspaced += sum(len(_UNSPACED.findall(text)) for text in texts)
        self._records += len(first)
        is_unspaced = self._unspaced > _UNKNOWN * self._letters and self._are_unknown
        if is_unspaced and not self._is_whole:
            raise UsageError(
                "the first records are in a script without spaces between words "
                f"(Chinese, Japanese, Thai, ...), and lexicon {self._lexicon} does "
                "not know their words; put spaces between words and give a lexicon "
                "of the language (--lexicon), or choose what happens to unknown "
                "words: --set tokens.unknown=mask (or drop, perturb, keep)"
            )
        if self._records == SAMPLE:
            self._say()

    def close(self) -> None:
        """Warn now if there were fewer records than the sample."""
        if self._records < SAMPLE:
            self._say()
        if self._public is not None and self._public.warning:
            self._warn(self._public.warning)

    @property
    def _are_unknown(self) -> bool:
        known = [kinds.WORD, kinds.STOP_WORD, kinds.COMMON]
        words = self._pieces[[*known, kinds.UNKNOWN]].sum()
        return bool(self._pieces[kinds.UNKNOWN] > _UNKNOWN * words)

    def _say(self) -> None:
        if self._pieces[kinds.UNKNOWN] < _FEWEST or not self._are_unknown:
            return
        if self._is_whole:
            self._warn(
                f"{self._lexicon} were made with a lexicon that lacks over a third of "
                "the first words, so that topics say little of these texts: another "
                "language? Then make topics with a lexicon of it (dptext topics build)"
            )
        else:
            self._warn(
                f"over a third of the first words are not in lexicon {self._lexicon}: "
                "another language? Then make a lexicon for it: dptext lexicon adapt "
                "(private)"
            )


def is_asked_for(overrides: Mapping[str, object]) -> bool:
    """Tell whether settings over a profile choose the treatment of unknown words."""
    tokens = overrides.get("tokens")
    return isinstance(tokens, Mapping) and "unknown" in tokens
