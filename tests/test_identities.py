"""Random names and keyed hashes are long enough that no two are ever the same.

Of n values of b bits two are equal with a chance of about n^2 / 2^(b + 1): of 2^40
records, with 128 bits, less than one in 10^14.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import dptext
from dptext import ledger as totals
from dptext.engine.release_audit import binary_rank
from dptext.ledger import keys, open_ledger
from dptext.randomness import Randomness, RunKey
from dptext.types import Record
from tests.ledger.charges import begun

ROOT = Path(dptext.__file__).parent


def nonces(folder: Path, count: int) -> list[bytes]:
    """Return nonces of records."""
    streams = Randomness(RunKey.from_seed(1), "tests")
    return [streams.nonce(Record(n, (f"text {n}",), None)) for n in range(count)]


def run_keys(folder: Path, count: int) -> list[bytes]:
    """Return the secrets of runs without a key."""
    return [RunKey.fresh().secret for _ in range(count)]


def secrets_from_files(folder: Path, count: int) -> list[bytes]:
    """Return what secrets follow from key files."""
    rng = np.random.default_rng(2)
    return [RunKey.from_bytes(rng.bytes(64)).secret for _ in range(count)]


def seeded(folder: Path, count: int) -> list[bytes]:
    """Return what secrets follow from seeds."""
    return [RunKey.from_seed(n).secret for n in range(count)]


def of_ledgers(folder: Path, count: int) -> list[bytes]:
    """Return the ids of ledgers."""
    names = []
    for number in range(count):
        with open_ledger(folder / f"{number}.db", create=True) as ledger:
            names.append(bytes.fromhex(ledger.id))
    return names


def of_releases(folder: Path, count: int) -> list[bytes]:
    """Return the tokens of the releases of a ledger."""
    with open_ledger(folder / "spent.db", create=True) as ledger:
        for _ in range(count):
            with begun(ledger):
                pass
        return [bytes.fromhex(row["entry"]) for row in totals.entries(ledger)]


def of_ledger_keys(folder: Path, count: int) -> list[bytes]:
    """Return the secrets of ledgers."""
    secrets = []
    for number in range(count):
        keys.create_key(folder / f"{number}.key", "ledger")
        secrets.append((folder / f"{number}.key.new").read_bytes()[:32])
    return secrets


def subjects(folder: Path, count: int) -> list[bytes]:
    """Return the hashes of subjects."""
    key = keys.create_key(folder / "one.key", "ledger")
    return [key.subject(f"person {n}") for n in range(count)]


def charged(folder: Path, count: int) -> list[bytes]:
    """Return the hashes of records that were charged."""
    key = keys.create_key(folder / "one.key", "ledger")
    return [key.draws(b"s" * 16, n.to_bytes(16)) for n in range(count)]


#: How many bits each has at least, and how many are made.
IDENTITIES: dict[Callable[[Path, int], list[bytes]], tuple[int, int]] = {
    nonces: (128, 2**14),
    run_keys: (256, 2**14),
    secrets_from_files: (256, 2**9),
    seeded: (256, 2**14),
    of_ledgers: (64, 10),
    of_releases: (128, 50),
    of_ledger_keys: (256, 50),
    subjects: (128, 2**14),
    charged: (128, 2**14),
}


@pytest.mark.parametrize("made", IDENTITIES, ids=lambda made: made.__name__)
def test_every_bit_of_an_identity_counts(
    made: Callable[[Path, int], list[bytes]], tmp_path: Path
) -> None:
    """All differ, and none of their bits follows from the others.

    Random bits have a full rank except with a chance of 2^-63 at most; fewer values
    than bits are all independent except with a chance of 2^-50. By the birthday bound
    2^14 values find identities of up to 24 bits, however they are stretched.
    """
    bits, count = IDENTITIES[made]
    values = made(tmp_path, count)
    assert len(set(values)) == len(values) == count
    assert min(map(len, values)) * 8 >= bits
    assert binary_rank(values[: 2 * bits + 64]) >= min(bits + 1, count)


# Calls that make random bytes or hashes, by file and how they are written, with the
# least bits they have and why these are enough.
RANDOM = {"token_hex", "token_bytes", "token_urlsafe", "urandom", "randbits", "uuid4"}
KNOWN = {
    ("randomness.py", "os.urandom(KEY_BYTES)"): "256 bits: a secret",
    ("ledger/keys.py", "os.urandom(_SECRET_BYTES)"): "256 bits: a secret",
    ("ledger/keys.py", "os.urandom(_NONCE_BYTES)"): "96 bits: of AES-GCM",
    ("ledger/__init__.py", "secrets.token_hex(16)"): "128 bits: one for each release",
    ("ledger/store.py", "secrets.token_hex(8)"): "64 bits: one for each ledger",
    ("frames/__init__.py", "secrets.token_hex(8)"): "64 bits: a cache of datasets",
    ("streams/outputs.py", "secrets.token_hex(4)"): "a hidden file, never overwritten",
    ("attackers/ngrams.py", "os.urandom(4 * _ROWS_CHECKED)"): "rows to look at",
    ("randomness.py", "digest_size=32"): "256 bits: secrets",
    ("randomness.py", "digest_size=16"): "128 bits: a nonce",
    ("engine/earlier.py", "digest_size=32"): "256 bits: a secret",
    ("evaluation/comparison.py", "secrets.randbits(31)"): "a seed that is shown",
    ("engine/tally.py", "os.urandom(32)"): "256 bits: the key of a run's records",
    ("engine/tally.py", "digest_size=16"): "128 bits: records of a run",
    ("pseudonyms.py", "digest_size=32"): "256 bits: a secret",
    ("lexicons/public_rows.py", "digest_size=_ROW_BYTES"): "48 bits: public texts",
    ("vectors/run.py", "digest_size=16"): "128 bits: subjects of a run",
    ("evaluation/attackers.py", "digest_size=8"): "64 bits: texts of a public file",
    (
        "ledger/keys.py",
        "hmac.digest(self._keys[purpose], data, 'sha256')[:HASH_BYTES]",
    ): "128 bits: subjects and draws",
    (
        "pseudonyms.py",
        "hmac.digest(self._key, data, 'sha256')[:_BYTES]",
    ): "80 bits: tokens of values",
    ("cache.py", "hashlib.sha256(text.encode()).hexdigest()[:32]"): "128 bits: keys",
    (
        "signatures.py",
        "hashlib.sha256(public.public_bytes_raw()).digest()[:8]",
    ): ("64 bits: the name of a public key"),
}


def made_in(path: Path) -> Iterator[str]:
    """Yield where a module makes random bytes, short hashes or parts of a hash."""
    text = path.read_text(encoding="utf-8")
    if not any(name in text for name in (*RANDOM, "digest")):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in RANDOM:
                yield ast.unparse(node)
            for keyword in node.keywords:
                if keyword.arg == "digest_size":
                    yield f"digest_size={ast.unparse(keyword.value)}"
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            part = ast.unparse(node)
            if "digest(" in part:
                yield part


def test_no_identity_is_made_in_passing() -> None:
    """Each call has its length and its reason in the table above."""
    made = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in ROOT.rglob("*.py")
        for text in made_in(path)
    }
    assert made == set(KNOWN)
