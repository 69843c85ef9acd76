"""The store: a saved lexicon is loaded unchanged, and a changed file is refused."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext.errors import LexiconError, OutputError
from dptext.lexicons import store
from dptext.types import NUMBER, Lexicon


def _lexicon(size: int = 6, d: int = 3, k: int = 2, **changes: object) -> Lexicon:
    rng = np.random.default_rng(1)
    words = ("déjà vu\u2028x", NUMBER, *(f"w{i}" for i in range(size - 2)))
    orders = np.add.outer(np.arange(size + 1), np.arange(k)).astype(np.uint16) % size
    plain = Lexicon(
        name="tiny",
        words=words,
        vectors=rng.normal(size=(size + 1, d)).astype(np.float16),
        counts=np.arange(size, 0, -1, dtype=np.float64),
        orders=orders,
        far=np.ones(size + 1, np.float32),
        digest="",
        meta={"prior": "made up", "geometry": {"nearest": np.float32(0.25)}},
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def _with_extras() -> Lexicon:
    return _lexicon(
        synonym_ends=np.array([1, 1, 2, 2, 2, 2], np.int32),
        synonyms=np.array([2, 0], np.int32),
        information_content=np.linspace(0, 1, 6, dtype=np.float32),
    )


@pytest.mark.parametrize("lexicon", [_lexicon(), _with_extras()])
def test_round_trip(tmp_path: Path, lexicon: Lexicon) -> None:
    """Every array, word and fact comes back as it was saved."""
    digest = store.save(lexicon, tmp_path / "a")
    back = store.load(tmp_path / "a")
    assert (back.name, back.words, back.digest) == ("tiny", lexicon.words, digest)
    assert back.meta == {"prior": "made up", "geometry": {"nearest": 0.25}}
    for name in ("vectors", "counts", "orders", "far", *store._OPTIONAL):
        want, have = getattr(lexicon, name), getattr(back, name)
        assert (want is None) == (have is None)
        if want is not None:
            assert have.dtype == want.dtype
            np.testing.assert_array_equal(have, want)


def test_digest_is_of_the_content_alone(tmp_path: Path) -> None:
    """The same content has one digest, under any name and from any file name."""
    first = store.save(_lexicon(), tmp_path / "a")
    other = _lexicon(name="other", digest="x")
    renamed = replace(other, meta={**other.meta, "file": "vectors.txt"})
    assert store.save(renamed, tmp_path / "b") == first
    assert store.digest_in_memory(_lexicon()) == first


def test_digest_sees_every_part(tmp_path: Path) -> None:
    """A change of words, of any array or of meta changes the digest."""
    base = _with_extras()
    changed = [
        base,
        replace(base, words=(*base.words[:-1], "other")),
        replace(base, meta={"prior": "another"}),
        replace(base, synonyms=base.synonyms[::-1]),  # type: ignore[index]
        replace(base, information_content=None),
        *(
            replace(base, **{name: getattr(base, name) * np.float16(0.5)})
            for name in ("vectors", "counts")
        ),
        replace(base, far=base.far * np.float32(2)),
    ]
    assert len({store.digest_in_memory(one) for one in changed}) == len(changed)


def test_arrays_stay_on_disk(tmp_path: Path) -> None:
    """Loaded arrays are views of mapped files and cannot be written to."""
    store.save(_lexicon(), tmp_path / "a")
    vectors = store.load(tmp_path / "a").vectors
    assert type(vectors) is np.ndarray
    assert isinstance(vectors.base, np.memmap)
    assert not vectors.flags.writeable


@pytest.mark.parametrize("file", ["words.txt", "vectors.npy", "far.npy", "meta.json"])
def test_a_changed_file_is_noticed(tmp_path: Path, file: str) -> None:
    """A flipped byte of content, or changed meta, does not match the digest."""
    store.save(_lexicon(), tmp_path / "a")
    path = tmp_path / "a" / file
    if file == "meta.json":
        path.write_text(path.read_text().replace("made up", "made op"))
    else:
        content = bytearray(path.read_bytes())
        content[-2] ^= 1
        path.write_bytes(content)
    with pytest.raises(LexiconError, match="does not match its digest; import it ag"):
        store.load(tmp_path / "a")
    store.load(tmp_path / "a", verify=False)


@pytest.mark.parametrize("file", ["meta.json", "words.txt", "orders.npy", "counts.npy"])
def test_a_missing_file_is_named(tmp_path: Path, file: str) -> None:
    """The error names the file that is missing."""
    store.save(_lexicon(), tmp_path / "a")
    (tmp_path / "a" / file).unlink()
    with pytest.raises(LexiconError, match=file):
        store.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("vectors", np.zeros((6, 3), np.float32), "expected 7 x d of float16 or fl"),
        ("vectors", np.zeros((7, 3)), "found 7 x 3 of float64"),
        ("counts", np.ones(5), "expected 6 of float64, found 5 of float64"),
        ("orders", np.zeros((7, 2), np.int64), "of uint16 or uint32"),
        ("far", np.zeros((7, 1), np.float32), "found 7 x 1"),
    ],
)
def test_wrong_shapes_are_refused(
    tmp_path: Path, name: str, array: np.ndarray[Any, Any], reason: str
) -> None:
    """An array of another shape or type is refused, on disk and before saving."""
    store.save(_lexicon(), tmp_path / "a")
    np.save(tmp_path / "a" / f"{name}.npy", array)
    with pytest.raises(LexiconError, match=f"{name}.*{reason}"):
        store.load(tmp_path / "a", verify=False)
    changes: dict[str, Any] = {name: array}
    with pytest.raises(LexiconError, match=f"{name}.*{reason}"):
        store.save(_lexicon(**changes), tmp_path / "b")
    assert not (tmp_path / "b").exists()


# A header that is cut inside its braces, which NumPy reads with an error of tokenize.
DAMAGED = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f4', ".ljust(117) + b"\n"


@pytest.mark.parametrize("content", [b"", b"junk", b"\x93NUMPY\x01\x00", DAMAGED])
def test_a_broken_array_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that is not a whole array is an error with its name, no traceback."""
    store.save(_lexicon(), tmp_path / "a")
    (tmp_path / "a" / "far.npy").write_bytes(content)
    with pytest.raises(LexiconError, match=r"far\.npy: not a complete"):
        store.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"[]", "lexicon format None"),
        (b'{"format": 1}', "format 1, this version reads 2; import the lexicon again"),
        (b'{"format": 2, "name": "x"}', "is missing"),
    ],
)
def test_other_formats_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """A folder of another format number, or with no valid meta.json, is refused."""
    store.save(_lexicon(), tmp_path / "a")
    (tmp_path / "a" / "meta.json").write_bytes(content)
    with pytest.raises(LexiconError, match=reason):
        store.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"words": ("a", "A", "b", "c", "d", NUMBER)}, "same in lower case"),
        ({"words": tuple("abcdef")}, "<number> is missing"),
        ({"words": ("a\nb", *"bcde", NUMBER)}, "line break"),
        ({"words": ()}, "no words"),
        ({"counts": np.array([3.0, 2, 1, 1, 1, 0])}, "above 0"),
        ({"counts": np.array([1.0, 2, 1, 1, 1, 1])}, "descending count"),
        ({"orders": np.full((7, 2), 6, np.uint16)}, "a word that does not exist"),
        ({"orders": np.zeros((7, 2), np.uint16)}, "lists a word twice"),
        ({"meta": {"outputs": 5}}, "that is not an output"),
        ({"vectors": np.full((7, 3), np.nan, np.float32)}, "must be finite"),
        ({"meta": {"x": {1, 2}}}, "JSON cannot represent"),
    ],
)
def test_wrong_content_is_not_saved(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    """Content that types.Lexicon forbids is refused before anything is written."""
    with pytest.raises(LexiconError, match=reason):
        store.save(_lexicon(**changes), tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_saving_again_replaces(tmp_path: Path) -> None:
    """The new lexicon replaces the old whole; files of others stay; maps live on."""
    store.save(_with_extras(), tmp_path / "a")
    (tmp_path / "a" / "LICENSE").write_text("free")
    before = store.load(tmp_path / "a")
    assert before.synonyms is not None
    store.save(_lexicon(8), tmp_path / "a")
    after = store.load(tmp_path / "a")
    assert len(after.words) == 8
    assert after.synonyms is None
    assert (tmp_path / "a" / "LICENSE").read_text() == "free"
    assert before.synonyms.tolist() == [2, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder below a file is an OutputError that names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        store.save(_lexicon(), tmp_path / "file" / "a")


def test_meta_is_as_documented(tmp_path: Path) -> None:
    """meta.json holds format, name, digest and meta, as other programs may read."""
    digest = store.save(_lexicon(), tmp_path / "a")
    document = json.loads((tmp_path / "a" / "meta.json").read_text())
    assert sorted(document) == ["digest", "format", "meta", "name"]
    assert (document["format"], document["digest"]) == (2, digest)


def test_loading_is_fast(tmp_path: Path) -> None:
    """A lexicon of 65,500 words opens, checked, in a small part of a second."""
    size = 45_000
    store.save(_lexicon(size, 100), tmp_path / "a")
    start = time.perf_counter()
    store.load(tmp_path / "a")
    # Measured 0.013 s; the bound only notices code that is ten times as slow.
    assert time.perf_counter() - start < 0.2
