"""Public texts that topics were built from: detects them among private texts.

The words of topics reveal parts of the texts they were built from, so a private text
must not be one of these. A topics file holds a 48-bit digest of each public
text. Among a million public and a million private texts, two different ones have the
same digest by chance in one case of 300, so a few equal digests are equal texts.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from dptext import settings, streams
from dptext.errors import UsageError
from dptext.lexicons import topics
from dptext.types import Lexicon, Record

_ROW_BYTES = 6  # of a digest
_MOST = 5_000  # records that are looked at
# Texts of so many words are hardly equal by chance; shorter ones may well be.
_LONG = 5
# Equal texts that are refused: two, and this share of the long ones, or of all.
_FEWEST, _SHARE_OF_LONG, _SHARE_OF_ALL = 2, 0.01, 0.5


def row_digests(texts: Iterable[str]) -> str:
    """Return short digests of texts, sorted, as base64.

    Case and spacing are ignored, so that copies with small layout changes are found.
    """
    return base64.b64encode(b"".join(sorted({_row(text) for text in texts}))).decode()


class PublicRows:
    """Detects public texts among the first private ones, and stops the run."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Prepare for a lexicon of topics; does nothing for any other lexicon."""
        meta = topics.topic_meta(lexicon)
        self._name = "" if meta is None else str(meta["name"])
        self._sources: Sequence[dict[str, Any]] = () if meta is None else meta["public"]
        self._rows = _unpack("" if meta is None else topics.topic_file(lexicon).rows)
        self._records = 0
        # Digests of the texts so far, and of those of five words or more.
        self._seen: set[bytes] = set()
        self._long: set[bytes] = set()

    def look(self, records: Iterable[Record]) -> None:
        """Check the next records before anything of them is written.

        Raises UsageError if they are the texts that topics were built from.
        """
        if not self._rows or self._records >= _MOST:
            return
        for record in records:
            self._records += 1
            # Topics may be made of several fields of a record as one text.
            for text in {*record.texts, "\n".join(record.texts)}:
                words = len(text.split())
                if words:
                    digest = _row(text)
                    self._seen.add(digest)
                    if words >= _LONG:
                        self._long.add(digest)
        long, every = self._long & self._rows, self._seen & self._rows
        is_copy = (
            len(long) >= _FEWEST and len(long) >= _SHARE_OF_LONG * len(self._long)
        ) or (len(every) >= _FEWEST and len(every) >= _SHARE_OF_ALL * len(self._seen))
        if is_copy:
            raise self._refusal("private texts are among the public ones")

    @property
    def warning(self) -> str | None:
        """Return a line about a few private texts that are public, or None."""
        public = len(self._long & self._rows)
        if not public:
            return None
        return (
            f"topics {self._name}: {public:,} of the first texts also occur in the "
            "public text that topics were built from; unless that is a coincidence, "
            "build topics without them"
        )

    def check_file(self, path: str) -> None:
        """Raise UsageError for a file that topics were built from."""
        if not self._sources or streams.is_stream(path):
            return
        digest = settings.digest_of_path(path)
        if any(source["sha256"] == digest for source in self._sources):
            raise self._refusal(f"{path} is the public text")

    def _refusal(self, problem: str) -> UsageError:
        return UsageError(
            f"topics {self._name}: {problem} that topics were built from, so topic "
            "words would reveal parts of them; build topics from other, public text"
        )


def _unpack(rows: str) -> frozenset[bytes]:
    data = base64.b64decode(rows)
    return frozenset(
        data[begin : begin + _ROW_BYTES] for begin in range(0, len(data), _ROW_BYTES)
    )


def _row(text: str) -> bytes:
    plain = " ".join(text.lower().split()).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(plain, digest_size=_ROW_BYTES).digest()
