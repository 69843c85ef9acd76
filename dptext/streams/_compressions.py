"""Which compression data have: known by a name's suffix or by their first bytes."""

from __future__ import annotations

from pathlib import Path

# Each with the bytes that its data begin with; the fourth of bz2 is its level.
_MAGIC = {
    ".gz": (b"\x1f\x8b\x08",),
    ".bz2": tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),
    ".xz": (b"\xfd7zXZ\x00",),
    ".zst": (b"\x28\xb5\x2f\xfd",),
}
COMPRESSIONS = tuple(_MAGIC)
HEAD = max(len(magic) for each in _MAGIC.values() for magic in each)


def compression(name: str) -> str:
    """Return the suffix of a name that tells its compression, or an empty string."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in COMPRESSIONS else ""


def plain_name(name: str) -> str:
    """Return a name without the suffix of its compression."""
    return name[: len(name) - len(compression(name))]


def recognised(head: bytes) -> str:
    """Return the suffix of the compression that data begin with, or an empty string."""
    for suffix, each in _MAGIC.items():
        if head.startswith(each):
            return suffix
    return ""


def undecided(head: bytes) -> bool:
    """Tell whether more bytes are needed to recognise a compression."""
    return any(
        len(head) < len(magic) and magic.startswith(head)
        for each in _MAGIC.values()
        for magic in each
    )
