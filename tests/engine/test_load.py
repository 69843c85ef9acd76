"""Records of any kind take bounded memory and a bounded number of steps."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from dptext import api, formats, pipeline
from dptext.engine.tally import Meters
from dptext.formats import Input
from dptext.randomness import RandomBits, RunKey
from dptext.run.selection import Selection
from dptext.tokens.policy import Policy
from dptext.tokens.tokenizer import Tokenizer
from dptext.types import Fault, Lexicon, Record, Verbatim
from dptext.writing.joining import Joiner
from tests import distributions
from tests.formats.pipe import find

EMPTY = b"\n" * 400_000 + b"\r\n" * 100_000
RECORDS = {
    "text": (b"", b"a b", b"c\0", b"d"),
    "jsonl": (b"", b'{"text": "a b"}', b"{", b'{"text": "d"}'),
    "csv": (b"text,n\n", b"a b,1", b"only one", b"d,2"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_empty_lines_are_read_together(name: str) -> None:
    """Half a million empty lines are a few items, and come back byte for byte.

    The records between them keep their numbers, and faults their lines.
    """
    head, first, faulty, last = RECORDS[name]
    data = head + first + b"\n" + EMPTY + faulty + b"\n" + EMPTY + last + b"\n"
    module, out = find(None, name), io.BytesIO()
    writer = module.writer(out, Selection())
    stream = io.BufferedReader(io.BytesIO(data), 2**16)
    items = list(module.read(Input(stream, Selection(), "in")))
    for item in items:
        if isinstance(item, Record):
            writer.write(item, item.texts)
        elif isinstance(item, Verbatim):
            writer.verbatim(item)
    assert len(items) < 60
    assert out.getvalue() == data.replace(faulty + b"\n", b"")
    records = [item for item in items if isinstance(item, Record)]
    assert [record.ordinal for record in records] == [0, 2]
    (fault,) = (item for item in items if isinstance(item, Fault))
    line = 2 + head.count(b"\n") + EMPTY.count(b"\n")
    assert fault.location == f"in:{line}"


def many(record: Record, count: int) -> Iterator[Record]:
    """Give a record many times."""
    for number in range(count):
        yield Record(number, record.texts, None, size=record.size)


@pytest.mark.parametrize(
    ("record", "most"),
    [
        (Record(0, ("a" * 1000,), None), 131),
        (Record(0, ("a" * 10**6,), None), 1),
        (Record(0, ("",) * 1000, None), 132),
        (Record(0, (), None, size=2**20), 8),
        (Record(0, ("ok",), None), 4096),
    ],
    ids=["texts", "long texts", "many texts", "other fields", "tiny records"],
)
def test_batches_are_bounded_by_all_that_records_hold(
    record: Record, most: int
) -> None:
    """Characters, texts and other fields fill a batch, not the number of records."""
    sizes = [len(batch) for batch in pipeline.batches(many(record, 5000))]
    assert sum(sizes) == 5000
    assert max(sizes) == most


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("jsonl", b'{"text": "a", "image": "%b"}\n'),
        ("jsonl", b'{"image": {"data": "%b"}, "text": "a"}\n'),
        ("csv", b"text,image\na,%b\n"),
        ("json", b'[{"text": "a", "image": "%b"}]'),
    ],
)
def test_records_know_the_size_of_their_other_fields(name: str, data: bytes) -> None:
    """A record with a long field that is copied says so, whatever its text is."""
    stream = io.BytesIO(data % (b"x" * 10**5))
    items = find(None, name).read(formats.Input(stream, Selection(), "in"))
    (record,) = (item for item in items if isinstance(item, Record))
    assert record.size > 10**5


def test_a_long_text_takes_little_memory_for_each_piece(builtin: Lexicon) -> None:
    """Equal pieces of a long text share their memory: about 40 bytes are left of each.

    Alone, a piece takes 54 bytes more.
    """
    tokenizer, count = Tokenizer(builtin, Policy()), 200_000
    text = "zebra " * count
    tokenizer.words([text[:60]])
    tracemalloc.start()
    words = tokenizer.words([text])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(words.pieces) == count + 1
    assert len(set(map(id, words.pieces))) < 10
    assert kept < 50 * count


def test_digits_of_many_pieces_are_drawn_at_once(
    builtin: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers with up to 18 digits are drawn in one step, longer ones in few more.

    Each has the digits that it gets alone, by its own bits.
    """
    policy = Policy(number="digits")
    words = Tokenizer(builtin, policy).words(["7 1999 " * 3000 + "5" * 40 + " 3"])
    joiner = Joiner(builtin, policy)
    places = joiner.positions_to_redraw(words)
    assert len(places) == 6002
    bits, steps = distributions.bits(len(places), 1), list[int]()
    integers = RandomBits.integers

    def counted(self: RandomBits, lane: int, lanes: int = 1) -> NDArray[np.uint64]:
        steps.append(len(self))
        return integers(self, lane, lanes)

    original = list(words.pieces)
    monkeypatch.setattr(RandomBits, "integers", counted)
    joiner.redraw(words, bits, places)
    assert sorted(steps) == [1, 6001]
    together = list(words.pieces)
    for number in (0, 1, 5999, 6000, 6001):
        words.pieces[:] = original
        few = np.array([number])
        joiner.redraw(words, bits.take(few), places[few])
        assert words.pieces[places[number]] == together[places[number]]


@pytest.mark.slow
def test_one_long_text_is_decoded_and_measured_in_bounded_memory() -> None:
    """Candidates and vectors of a text of 200,000 words are never all in memory.

    All of them take 600 bytes a word and more. The words alone, for which random bits
    are drawn and which are joined, take about 200.
    """
    prepared = api.open_pipeline("balanced")
    randomness, meters = (
        prepared.randomness(RunKey.from_seed(1)),
        Meters(prepared.lexicon),
    )
    few, count = Record(0, ("the zebra ran " * 50,), None), 200_000
    long = Record(0, ("the zebra ran home " * (count // 4),), None)
    meters.count(prepared.privatize([few], randomness), 0)  # tables of these words
    tracemalloc.start()
    private = prepared.privatize([long], randomness)
    meters.count(private, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert private.replaced[0] > count * 0.9
    assert peak < 400 * count
