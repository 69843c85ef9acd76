"""Pseudonyms: keyed tokens that stand for the values of a field.

A token is HMAC-SHA256 of a value, cut to 80 bits, under a key that is derived from a
key file for this purpose alone, so that tokens say nothing of the draws of words and
the other way round. The field, the file and the settings have no part in it: equal
values have equal tokens in all fields, files, formats and runs with one key file, and
another key file breaks all these links.

Two different values have the same token by chance: for n different values with a
probability of at most n^2 / 2^81, which is 5e-13 for a million of them and 5e-7 for a
billion.

Tokens are no differential privacy. Equal values stay equal, so that frequencies and
links between records remain; whoever has the key can test guesses of a value.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from dptext.errors import UsageError
from dptext.randomness import KEY_BYTES, RunKey

_PREFIX = "p_"
_BYTES = 10  # 16 characters of base32
_TOKEN = re.compile(f"{_PREFIX}[a-z2-7]{{16}}")
_PURPOSE = b"dptext/pseudonym/"
_NEEDS_KEY = (
    "needs a key file, so that equal values have equal tokens in every run: make one "
    f"with (umask 077; openssl rand -out pseudonyms.key {KEY_BYTES}), and give it with"
)


class Pseudonyms:
    """Writes the tokens of values under the key of a run."""

    def __init__(self, key: RunKey) -> None:
        """Derive the key of tokens. Raises UsageError for a key that is in no file."""
        check(key)
        self._key = hashlib.blake2b(_PURPOSE, key=key.secret, digest_size=32).digest()

    def __repr__(self) -> str:
        """Show nothing of the key."""
        return "Pseudonyms()"

    def token(self, value: str) -> str:
        """Return the token of a value, which is spelled as `_fields` spells it."""
        data = value.encode("utf-8", "surrogatepass")
        digest = hmac.digest(self._key, data, "sha256")[:_BYTES]
        return _PREFIX + base64.b32encode(digest).decode("ascii").lower()


def check(key: RunKey, option: str = "--key-file FILE") -> None:
    """Refuse a key that another run would not have, or that anyone may know.

    option names the key in the message. Raises UsageError.
    """
    if key.origin == "seed":
        raise UsageError(
            "pseudonyms: anyone who knows or guesses the seed can test values; give "
            f"{option} in the place of the seed"
        )
    if key.origin != "key-file":
        raise UsageError(f"a pseudonym {_NEEDS_KEY} {option}")


def is_token(text: str) -> bool:
    """Tell whether a text has the layout of a token."""
    return _TOKEN.fullmatch(text) is not None
