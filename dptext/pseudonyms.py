"""Pseudonyms: keyed tokens that replace the values of a field.

A token is HMAC-SHA256 of a value, truncated to 80 bits. Its key is derived from a key
file for this purpose only, so tokens and draws of words reveal nothing about each
other. Field, file and settings do not matter: equal values have equal tokens in all
fields, files, formats and runs with one key file, and another key file breaks all these
links.

Among n different values two have the same token with a probability of at most
n^2 / 2^81: 5e-13 for a million, 5e-7 for a billion.

Tokens are not differentially private. Equal values stay equal, so that frequencies and
links between records remain. Anyone with the key can test guesses of a value.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from dptext.errors import UsageError
from dptext.randomness import KEY_BYTES, RunKey
from dptext.run.interface import option

_PREFIX = "p_"
# Bytes of a token: 16 characters of base32.
_BYTES = 10
_TOKEN = re.compile(f"{_PREFIX}[a-z2-7]{{16}}")
_PURPOSE = b"dptext/pseudonym/"
_NEEDS_KEY = (
    "needs a key file, so that equal values have equal tokens in every run: make one "
    f"with (umask 077; openssl rand -out pseudonyms.key {KEY_BYTES}), and give it with"
)


class Pseudonyms:
    """Computes the tokens of values under a run's key."""

    def __init__(self, key: RunKey) -> None:
        """Derive the token key. Raises UsageError unless the run key is from a file."""
        check(key)
        self._key = hashlib.blake2b(_PURPOSE, key=key.secret, digest_size=32).digest()

    def __repr__(self) -> str:
        """Return a representation without the key."""
        return "Pseudonyms()"

    def token(self, value: str) -> str:
        """Return the token of a value spelled as in dptext.formats._fields."""
        data = value.encode("utf-8", "surrogatepass")
        digest = hmac.digest(self._key, data, "sha256")[:_BYTES]
        return _PREFIX + base64.b32encode(digest).decode("ascii").lower()


def check(key: RunKey) -> None:
    """Raise UsageError for a public key, or a key that other runs do not have."""
    if key.origin == "seed":
        raise UsageError(
            "pseudonyms: anyone who knows or guesses the seed can test values; give "
            f"{option('key-file', 'FILE')} instead of the seed"
        )
    if key.origin != "key-file":
        raise UsageError(f"a pseudonym {_NEEDS_KEY} {option('key-file', 'FILE')}")


def is_token(text: str) -> bool:
    """Return whether a text has the form of a token."""
    return _TOKEN.fullmatch(text) is not None
