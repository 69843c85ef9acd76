"""Whether a lexicon knows the words of the first records of a run.

In a text of another language nearly every word is unknown, and all unknown words are
one input of a mechanism: the output is private, and means nothing. Scripts without
spaces between words are worse, since a whole sentence counts as one word. What is said
is a function of the private text: for the terminal of its owner alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from dptext.errors import UsageError
from dptext.tokens import kinds
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Record

RECORDS = 200  # that are looked at
_CHARACTERS = 20_000  # of each text
_UNKNOWN = 1 / 3  # of the words make a warning
_FEWEST = 6  # unknown words below which nothing is said
# Thai, Lao, Tibetan, Burmese, Khmer, Japanese syllables, Han.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U000323af]"
)
_LETTER = re.compile(r"[^\W\d_]")


class Language:
    """Looks at the first records of a job, and says once what is wrong with them.

    tokenizer finds words by the lexicon of that name; without one nothing is looked at.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | None = None,
        lexicon: str = "",
        warn: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._tokenizer, self._lexicon, self._warn = tokenizer, lexicon, warn
        self._records = self._letters = self._unspaced = 0
        self._pieces = np.zeros(kinds.COUNT, np.int64)

    def look(self, records: Iterable[Record]) -> None:
        """Take in records that come next, before anything of them is written.

        Raises UsageError for texts without spaces between words.
        """
        if self._tokenizer is None or self._records >= RECORDS:
            return
        real = [record for record in records if record.texts]
        first = real[: RECORDS - self._records]
        texts = [text[:_CHARACTERS] for record in first for text in record.texts]
        flags = self._tokenizer.words(texts).flags
        self._pieces += np.bincount(flags & kinds.KIND, minlength=kinds.COUNT)
        self._letters += sum(len(_LETTER.findall(text)) for text in texts)
        self._unspaced += sum(len(_UNSPACED.findall(text)) for text in texts)
        self._records += len(first)
        if self._unspaced > _UNKNOWN * self._letters and self._share > _UNKNOWN:
            raise UsageError(
                "the first records are in a script without spaces between words "
                f"(Chinese, Japanese, Thai, ...), and lexicon {self._lexicon} does "
                "not know their words; put spaces between words and give a lexicon "
                "of the language (--lexicon), or choose what happens to unknown "
                "words: --set tokens.unknown=mask (or drop, perturb, keep)"
            )
        if self._records == RECORDS:
            self._say()

    def close(self) -> None:
        """Say what there is to say where there were fewer records."""
        if self._records < RECORDS:
            self._say()

    @property
    def _share(self) -> float:
        words = self._pieces[[kinds.WORD, kinds.STOP_WORD, kinds.UNKNOWN]].sum()
        return float(self._pieces[kinds.UNKNOWN] / words) if words else 0.0

    def _say(self) -> None:
        if self._pieces[kinds.UNKNOWN] < _FEWEST or self._share <= _UNKNOWN:
            return
        self._warn(
            f"over a third of the first words are not in lexicon {self._lexicon}: "
            "another language? Then make a lexicon for it: dptext lexicon adapt "
            "(private)"
        )


def is_asked_for(overrides: Mapping[str, object]) -> bool:
    """Tell whether settings beside a profile say what becomes of unknown words."""
    tokens = overrides.get("tokens")
    return isinstance(tokens, Mapping) and "unknown" in tokens
