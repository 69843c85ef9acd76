"""Records of one output that have the same id and the same texts, counted exactly.

Equal draws would show that such records are equal, so each is drawn by its count, too
(dptext.randomness). Digests are kept in a temporary database, which lies in memory up
to a limit and then in a file without a name; their key is drawn for it and forgotten.
"""

from __future__ import annotations

import hashlib
import os

from dptext.errors import OutputError
from dptext.types import Record

_MEMORY = 64 * 2**10  # KiB of the database; the rest is written to a temporary file


class Repeats:
    """Counts records; repeated: those with the id and the texts of an earlier one."""

    def __init__(self) -> None:
        import sqlite3

        self.repeated = 0
        self._error = sqlite3.Error
        self._key = os.urandom(32)
        self._data = sqlite3.connect("", isolation_level=None)
        for setting in (f"cache_size = -{_MEMORY}", "journal_mode = OFF"):
            self._data.execute(f"PRAGMA {setting}")
        self._data.execute(
            "CREATE TABLE seen (digest BLOB PRIMARY KEY, times INTEGER) WITHOUT ROWID"
        )
        self._data.execute("BEGIN")

    def count(self, record: Record) -> int:
        """Return how many earlier records had the same id and the same texts.

        Raises OutputError where the disk for temporary files is full.
        """
        hashed = hashlib.blake2b(key=self._key, digest_size=16)
        for part in (record.identity or "", *record.texts):
            encoded = part.encode("utf-8", "surrogatepass")
            hashed.update(b"%d:" % len(encoded) + encoded)
        digest = hashed.digest()
        try:
            new = self._data.execute(
                "INSERT OR IGNORE INTO seen VALUES (?, 0)", (digest,)
            )
            if new.rowcount:
                return 0
            self._data.execute(
                "UPDATE seen SET times = times + 1 WHERE digest = ?", (digest,)
            )
            ((times,),) = self._data.execute(
                "SELECT times FROM seen WHERE digest = ?", (digest,)
            )
        except self._error as error:
            raise OutputError(
                f"ids cannot be compared in the folder of temporary files: {error}; "
                "free space, or set TMPDIR"
            ) from None
        self.repeated += 1
        return int(times)
