from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dptext import randomness
from dptext.errors import UsageError
from dptext.randomness import RandomBits, Randomness, RunKey
from dptext.types import Record
from tests import distributions
from tests.keys import put

pytestmark = pytest.mark.quick

KEY = RunKey.from_seed(1)
BASE = Record(0, ("a text",), None)


def streams(
    key: RunKey = KEY, settings: str = "settings", output: str | None = None
) -> Randomness:
    """Return the streams of a run, or of one of its outputs."""
    return Randomness(key, settings, output)


def of_words(*counts: int, key: RunKey = KEY) -> RandomBits:
    """Return the noise of records with so many words each."""
    run = streams(key)
    nonces = [run.nonce(Record(row, ("x",), None)) for row in range(len(counts))]
    return run.bits(nonces, np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize(
    ("key", "settings", "record"),
    [
        (RunKey.from_seed(2), "settings", BASE),
        (KEY, "other settings", BASE),
        (KEY, "settings", Record(1, ("a text",), None)),
        (KEY, "settings", Record(0, ("a texts",), None)),
        (KEY, "settings", Record(0, ("a", " text"), None)),
        (KEY, "settings", Record(0, ("a text", ""), None)),
        (KEY, "settings", Record(0, (), None)),
        (KEY, "settings", Record(0, ("a text",), None, "0")),
        (KEY, "settings", Record(0, ("a text",), None, "")),
    ],
)
def test_whatever_differs_gives_other_bits(
    key: RunKey, settings: str, record: Record
) -> None:
    """Key, settings, ordinal, texts and identity each change every block."""
    run, base = streams(key, settings), streams()
    positions = np.zeros(20, np.int64)
    integers = run.bits([run.nonce(record)], positions).integers(0, 4)
    same = base.bits([base.nonce(BASE)], positions).integers(0, 4)
    assert not set(integers.ravel().tolist()) & set(same.ravel().tolist())


def test_outputs_of_two_names_share_no_record() -> None:
    """The name counts, with an id and without; draws of a whole run are shared."""
    named = [streams(output=name) for name in (None, "", "a", "a/b", "\udcff")]
    for record in (BASE, Record(0, ("a text",), None, "id-7")):
        nonces = {each.nonce(record) for each in named}
        assert len(nonces) == len(named)
    assert len({each.run_nonce for each in named}) == 1
    assert named[0].run_nonce not in {each.nonce(BASE) for each in named}


def test_the_same_record_gets_the_same_bits() -> None:
    """Equal key, settings, record: equal bits, also in another object."""
    for record in (BASE, Record(3, ("\ud800", ""), None, "é")):
        again = Record(record.ordinal, record.texts, object(), record.identity)
        assert streams().nonce(record) == streams().nonce(again)
    np.testing.assert_array_equal(of_words(5).integers(0), of_words(5).integers(0))


def test_an_identity_stands_in_for_the_ordinal() -> None:
    """A record with an id draws the same wherever it stands in the input."""
    first, later = (Record(row, ("t",), None, "id-7") for row in (0, 99))
    assert streams().nonce(first) == streams().nonce(later)


@settings(max_examples=200, deadline=None)
@given(*[st.tuples(st.integers(0, 20), st.none() | st.text(), st.lists(st.text()))] * 2)
def test_different_records_have_different_nonces(
    one: tuple[int, str | None, list[str]], other: tuple[int, str | None, list[str]]
) -> None:
    """No two different records share a nonce, however their texts are cut."""

    def named(given: tuple[int, str | None, list[str]]) -> tuple[object, ...]:
        ordinal, identity, texts = given
        return (ordinal if identity is None else identity, tuple(texts))

    nonces = [
        streams().nonce(Record(row, tuple(texts), None, identity))
        for row, identity, texts in (one, other)
    ]
    assert (nonces[0] == nonces[1]) == (named(one) == named(other))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=8), st.data())
def test_bits_do_not_depend_on_the_batch(
    counts: list[int], data: st.DataObject
) -> None:
    """A record's bits are the same alone and in any batch."""
    run = streams()
    nonces = [run.nonce(Record(row, ("x",), None)) for row in range(len(counts))]
    whole = run.bits(nonces, np.repeat(np.arange(len(counts)), counts))
    row = data.draw(st.integers(0, len(counts) - 1))
    alone = run.bits(nonces[row : row + 1], np.zeros(counts[row], np.int64))
    begin = sum(counts[:row])
    part = slice(begin, begin + counts[row])
    np.testing.assert_array_equal(whole.integers(2, 3)[part], alone.integers(2, 3))
    np.testing.assert_array_equal(whole.uniform(1)[part], alone.uniform(1))


@pytest.mark.parametrize("width", [1, 2, 3, 50, 101])
def test_normals_do_not_depend_on_the_batch_to_the_last_bit(width: int) -> None:
    """A word's normals are bit for bit the same alone and among others."""
    whole = of_words(37)
    normals = whole.normal(0, width)
    for position in (0, 1, 17, 36):
        alone = whole.take(np.array([position])).normal(0, width)
        np.testing.assert_array_equal(normals[position : position + 1], alone)


def test_part_of_a_batch_has_the_bits_of_the_whole() -> None:
    """take() returns the same bits, in the order asked for."""
    whole = of_words(4, 0, 7)
    positions = np.array([9, 0, 4, 4])
    part = whole.take(positions)
    assert len(part) == 4
    np.testing.assert_array_equal(part.integers(3, 2), whole.integers(3, 2)[positions])
    assert len(whole.take(np.array([], np.int64)).integers(0)) == 0


def test_no_block_ever_repeats() -> None:
    """All lanes of all words of all records are different blocks."""
    blocks = of_words(*[50] * 40).integers(0, 64).reshape(-1, 2)
    assert len(np.unique(blocks, axis=0)) == len(blocks) == 40 * 50 * 64
    far = of_words(50)
    lanes = [far.integers(lane, 2) for lane in (0, 2, 1 << 29, 1 << 30, 1 << 31)]
    joined = np.concatenate([lane.reshape(-1, 2) for lane in lanes])
    assert len(np.unique(joined, axis=0)) == len(joined)


def test_lanes_overlap_exactly_where_their_numbers_do() -> None:
    """Lane 5 is lane 5, asked for alone or in a row."""
    bits = of_words(9)
    np.testing.assert_array_equal(bits.integers(3, 4)[:, 4:6], bits.integers(5))


def test_every_step_has_lanes_of_its_own() -> None:
    """Lane 0 of a mapping is no lane of the mechanism, for some of the words, too."""
    bits, rows = of_words(9), np.array([8, 2])
    starts = randomness.BUDGET_LANE, randomness.MAPPING_LANE
    for start in (*starts, randomness.JOINER_LANE, randomness.NUMBER_LANE):
        step = bits.since(start)
        np.testing.assert_array_equal(step.integers(3, 2), bits.integers(start + 3, 2))
        part = step.take(rows).uniform(1)
        np.testing.assert_array_equal(part, bits.take(rows).uniform(start + 1))


def test_uniforms_are_strictly_inside_and_uniform() -> None:
    """Uniforms are never 0 or 1 and pass Kolmogorov-Smirnov (alarm 1e-6)."""
    values = of_words(20_000).uniform(0, 5).ravel()
    assert values.min() > 0.0
    assert values.max() < 1.0
    assert stats.kstest(values, "uniform").pvalue > distributions.ALARM


def test_the_extreme_bits_stay_strictly_inside() -> None:
    """All zeros and all ones give the least and largest uniform, not 0 and 1."""

    class Fixed(RandomBits):
        def __init__(self, value: int) -> None:
            self._value = value

        def integers(self, lane: int, lanes: int = 1) -> np.ndarray:
            return np.full((1, 2), self._value, np.uint64)

    least, most = Fixed(0).uniform(0)[0, 0], Fixed(2**64 - 1).uniform(0)[0, 0]
    assert (least, most) == (2.0**-53, 1.0 - 2.0**-53)


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 1000])
def test_bounded_integers_are_uniform(bound: int) -> None:
    """below() stays in range and gives every value its share (alarm 1e-6)."""
    drawn = RandomBits.below(of_words(100_000).integers(0).ravel(), bound)
    assert drawn.dtype == np.int64
    distributions.assert_follows(drawn, np.full(bound, 1.0 / bound))


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**32 - 1))
def test_bounded_integers_are_the_high_part_of_the_product(
    integers: int, bound: int
) -> None:
    """below() is bits * bound / 2^64, rounded down, for every bound below 2^32."""
    assert (
        RandomBits.below(np.array([integers], np.uint64), bound)[0]
        == integers * bound >> 64
    )


def test_normals_are_standard_and_independent() -> None:
    """Normals pass Kolmogorov-Smirnov; pairs are uncorrelated (alarm 1e-6 in all)."""
    values = of_words(40_000).normal(0, 5)
    assert values.shape == (40_000, 5)
    assert stats.kstest(values.ravel(), "norm").pvalue > distributions.ALARM / 12
    limit = stats.norm.isf(distributions.ALARM / 24) / np.sqrt(len(values))
    assert np.abs(values.mean(axis=0)).max() < limit
    for moved in (values, values**2 - 1.0):
        scale = (moved**2).mean()
        products = moved.T @ moved / (len(values) * scale)
        products[np.diag_indices(5)] = 0.0
        # A heavier tail in products of squares: twice the limit is ample.
        assert np.abs(products).max() < 2.0 * limit


def test_words_are_uncorrelated_with_their_neighbours() -> None:
    """Uniforms of words side by side and of lanes side by side do not correlate."""
    values = of_words(50_000).uniform(0, 2) - 0.5
    limit = stats.norm.isf(distributions.ALARM / 20) / np.sqrt(len(values)) / 12.0
    assert abs((values[1:, 0] * values[:-1, 0]).mean()) < limit
    for one in range(4):
        for two in range(one):
            assert abs((values[:, one] * values[:, two]).mean()) < limit


def test_a_key_file_may_be_raw_or_hexadecimal(tmp_path: Path) -> None:
    """The same 32 bytes give the same key in either form, with or without newline."""
    raw = bytes(range(32))
    key = RunKey.from_file(put(tmp_path / "raw", raw))
    for form in (raw.hex(), raw.hex() + "\n", raw.hex().upper()):
        assert RunKey.from_file(put(tmp_path / "hex", form.encode())) == key
    assert key.origin == "key-file"
    other = RunKey.from_file(put(tmp_path / "other", bytes(range(1, 33))))
    assert other.secret != key.secret


@pytest.mark.parametrize(
    ("data", "mode", "reason"),
    [
        (bytes(range(31)), 0o600, "at least 32 random bytes"),
        (b"", 0o600, "at least 32 random bytes"),
        (b"a" * 64, 0o600, "at least 32 random bytes"),
        (b"0123456789abcdef" * 2, 0o600, "at least 32 random bytes"),
        (b"password" * 20, 0o600, "at least 32 random bytes"),
        (bytes(range(32)), 0o644, "chmod 600"),
        (bytes(range(32)), 0o640, "chmod 600"),
        (bytes(range(32)), 0o620, "chmod 600"),
    ],
)
def test_a_weak_key_file_is_refused(
    tmp_path: Path, data: bytes, mode: int, reason: str
) -> None:
    """Short, repetitive or readable by others: the message says what to do."""
    path = put(tmp_path / "key", data, mode)
    with pytest.raises(UsageError, match=reason) as caught:
        RunKey.from_file(path)
    assert str(path) in str(caught.value)


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    """A key file that is not there, or is a folder, is a usage error with its path."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match=str(path)):
            RunKey.from_file(path)


def test_a_key_is_never_waited_for(tmp_path: Path) -> None:
    """A named pipe is refused, which blocks until somebody writes; an open one is not.

    A link to a pipe is no other thing than the pipe.
    """
    pipe, link, socket_ = tmp_path / "pipe", tmp_path / "link", tmp_path / "socket"
    os.mkfifo(pipe, 0o600)
    link.symlink_to(pipe)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_))
        for path in (pipe, link, socket_):
            with pytest.raises(UsageError, match="not a regular file") as caught:
                RunKey.from_file(path)
            assert str(path) in str(caught.value)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_a_key_may_come_through_an_open_pipe(folder: str) -> None:
    """A pipe, as a shell gives for `<(...)`, holds a key as a file does."""
    if not os.path.exists(folder):
        pytest.skip(f"needs {folder}")
    reader, writer = os.pipe()
    os.write(writer, bytes(range(32)))
    os.close(writer)
    try:
        key = RunKey.from_file(f"{folder}/{reader}")
    finally:
        os.close(reader)
    assert key == RunKey.from_bytes(bytes(range(32)))


def test_keys_say_where_they_come_from_and_not_what_they_are() -> None:
    """A seeded key is marked as such; a secret is not in its repr."""
    assert RunKey.from_seed(0).origin == "seed"
    assert RunKey.fresh().origin == "system"
    assert streams(RunKey.from_seed(0)).origin == "seed"
    key = RunKey(secrets.token_bytes(32), "system")
    assert key.secret.hex() not in repr(key)
    assert repr(key.secret) not in repr(key)


def test_fresh_keys_differ() -> None:
    """Two runs without a key share nothing."""
    assert len({RunKey.fresh().secret for _ in range(100)}) == 100
    assert len(RunKey.fresh().secret) == 32


def test_negative_and_large_seeds_are_different_keys() -> None:
    """Every whole number is a different seed."""
    assert len({RunKey.from_seed(n).secret for n in (-1, 0, 1, 2**70)}) == 4


def test_the_bits_of_a_seed_never_change() -> None:
    """These bits are part of the format: change ALGORITHM if they must change."""
    bits = distributions.bits(2, seed=1)
    assert [hex(value) for value in bits.integers(0)[1].tolist()] == GOLDEN


GOLDEN = ["0xc12eed709ba8558f", "0xa24f9fb75f4f06bd"]


MOUNTS = """\
22 1 0:20 / / rw,relatime - overlay overlay rw
31 22 0:31 / /run rw,nosuid - tmpfs tmpfs rw
40 31 0:40 / /run/secrets ro,relatime - tmpfs tmpfs ro
41 22 8:1 /x /srv/run/secrets ro - ext4 /dev/sda1 ro
"""
ONE = "50 22 8:1 /k /run/secrets/the\\040key ro - ext4 /dev/sda1 ro\n"


@pytest.mark.parametrize(
    ("path", "mounts", "is_secret"),
    [
        ("/run/secrets/key", MOUNTS, True),
        ("/run/secrets/..data/key", MOUNTS, True),
        ("/run/secrets/key", MOUNTS.replace(" /run/secrets ", " /mnt "), False),
        ("/run/secretsx/key", MOUNTS, False),
        ("/srv/run/secrets/key", MOUNTS, False),
        ("/home/a/key", MOUNTS, False),
        ("/run/secrets/the key", ONE, True),
        ("/run/secrets/the keys", ONE, False),
        ("/run/secrets/key", "", False),
    ],
)
def test_a_secret_of_a_container_is_known_by_its_mount(
    path: str, mounts: str, is_secret: bool
) -> None:
    """A folder of this name on the disk of a machine is seen by all of its users."""
    assert randomness.is_mounted_secret(path, mounts) == is_secret


@pytest.mark.parametrize("mode", [0o440, 0o444, 0o644, 0o604])
def test_a_key_that_others_may_read_is_refused_or_trusted(
    mode: int, tmp_path: Path
) -> None:
    """The message says each way out; the key is the same by all of them."""
    path = put(tmp_path / "key", bytes(range(32)), mode)
    with pytest.raises(UsageError, match=r"chmod 600 .*/run/secrets.*--trust-key-file"):
        RunKey.from_file(path)
    trusted = RunKey.from_file(path, trusted=True)
    path.chmod(0o400)
    assert trusted == RunKey.from_file(path)
