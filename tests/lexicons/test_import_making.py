"""From raw vectors to a lexicon: words are folded, dropped, counted and added."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from dptext.errors import LexiconError, UsageError
from dptext.lexicons import importing, store
from dptext.lexicons.importing import Settings, make, zipf
from dptext.tokens.numbers import NAMES
from dptext.types import NUMBER, Lexicon
from tests.lexicons import files


def _make(tmp_path: Path, content: bytes, name: str = "v.txt", k: int = 2) -> Lexicon:
    return make(files.put(tmp_path / name, content), "mine", Settings(listed=k))


def _row(lexicon: Lexicon, word: str) -> list[float]:
    row: list[float] = lexicon.vectors[lexicon.words.index(word)].tolist()
    return row


def test_entries_that_fold_together_keep_the_first(tmp_path: Path) -> None:
    """The first of several spellings stays, with the count of all; the rest is counted.

    So the lower-cased form of each word leads to one row, as a text is looked up.
    """
    imported = _make(tmp_path, "the 1 1\nThe 2 2\nd’or 3 3\nD'OR 4 4\n".encode())
    assert set(imported.words) == {"the", "d’or", NUMBER}
    assert _row(imported, "the") == [1, 1]
    assert imported.meta["dropped"] == {"not_words": 0, "numbers": 0, "merged": 2}
    counts = zipf(4)
    assert imported.counts[imported.words.index("the")] == counts[0] + counts[1]


@pytest.mark.parametrize(
    "word",
    [",", "...", "<unk>", "</s>", "New York", "a@b.com", "x.y", "#tag", "😀", "’"],
)
def test_what_is_no_word_is_dropped(tmp_path: Path, word: str) -> None:
    """Entries that the splitter never yields as one word are dropped and counted."""
    imported = _make(tmp_path, f"a 1 1\n{word} 2 2\nb 3 3\n".encode())
    assert set(imported.words) == {"a", "b", NUMBER}
    assert imported.meta["dropped"]["not_words"] == 1


@pytest.mark.parametrize(
    "word", ["n't", "'s", "U.S.", "well-known", "naïve", "中", "x2"]
)
def test_what_is_a_word_stays(tmp_path: Path, word: str) -> None:
    """Clitics, abbreviations, hyphens, accents and CJK characters are words."""
    assert word in _make(tmp_path, f"a 1 1\n{word} 2 2\n".encode()).words


def test_numbers_become_one_element(tmp_path: Path) -> None:
    """Their mean is the vector of NUMBER, the sum of their counts its count."""
    imported = _make(tmp_path, b"a 8 8\n1999 1 2\nb 9 9\n3.5 3 4\none 7 7\n")
    assert set(imported.words) == {"a", "b", "one", NUMBER}
    assert _row(imported, NUMBER) == [2, 3]
    assert imported.meta["dropped"]["numbers"] == 2
    counts = zipf(5)
    assert imported.counts[imported.words.index(NUMBER)] == counts[1] + counts[3]


def test_without_numbers_number_words_stand_in(tmp_path: Path) -> None:
    """NUMBER is the mean of one to ten where there are some, else of everything."""
    imported = _make(tmp_path, b"a 8 8\nTwo 1 1\nten 3 5\n")
    assert _row(imported, NUMBER) == [2, 3]
    assert imported.counts[imported.words.index(NUMBER)] == pytest.approx(
        0.01 * zipf(3).sum()
    )
    imported = _make(tmp_path, b"a 8 8\nb 0 2\n")
    assert _row(imported, NUMBER) == [4, 5]


def test_unknown_words_get_the_mean(tmp_path: Path) -> None:
    """The last row is the mean over the words, NUMBER among them."""
    imported = _make(tmp_path, b"a 8 8\n7 2 5\nb 2 2\n")
    assert imported.vectors.shape == (4, 2)
    assert imported.vectors[-1].tolist() == [4, 5]


def test_file_order_is_the_prior_without_counts(tmp_path: Path) -> None:
    """Counts follow Zipf-Mandelbrot's law by file order, and meta says so."""
    imported = _make(tmp_path, b"a 1 1\nb 2 2\nc 3 3\n")
    assert imported.words == ("a", "b", "c", NUMBER)
    expected = (5.73 / (np.arange(1, 4) + 2.73)) ** 1.13
    np.testing.assert_allclose(imported.counts[:3], expected)
    shares = zipf(50_000) / zipf(50_000).sum()
    assert 0.04 < shares[0] < 0.06
    assert imported.meta["prior"] == importing.ZIPF


def test_given_counts_sort_the_words(tmp_path: Path) -> None:
    """Rows stand by descending count, equal ones in file order, with their vectors."""
    content = files.npz(
        words=np.array(["a", "b", "B", "7", "c", "d"]),
        vectors=np.arange(12, dtype=np.float16).reshape(6, 2),
        counts=np.array([5, 1, 8, 3, 5, 20]),
    )
    imported = _make(tmp_path, content, "v.npz")
    assert imported.words == ("d", "B", "a", "c", NUMBER)
    assert imported.counts.tolist() == [20, 9, 5, 5, 3]
    assert imported.vectors.dtype == np.float16
    assert imported.vectors[:, 0].tolist() == [10, 4, 0, 8, 6, np.float16(28 / 5)]
    assert imported.meta["prior"] == "counts of the source"


def test_provenance(tmp_path: Path) -> None:
    """Meta tells source, digest, format, sizes and settings, and no folder."""
    content = files.text()
    path = files.put(tmp_path / "v.txt", content)
    meta = make(path, "mine", Settings(max_words=4, listed=100)).meta
    assert meta["file"] == "v.txt"
    assert meta["sha256"] == hashlib.sha256(content).hexdigest()
    assert (meta["format"], meta["words"], meta["dimensions"]) == ("glove", 5, 3)
    assert (meta["listed"], meta["max_words"], meta["language"]) == (5, 4, "unknown")
    assert meta["geometry"]
    assert str(tmp_path) not in str(meta)


def test_what_is_made_can_be_stored(tmp_path: Path) -> None:
    """Every import satisfies dptext.types.Lexicon and has the same digest again."""
    path = files.put(tmp_path / "v.txt", files.text())
    digests = {
        store.save(make(path, "mine", Settings()), tmp_path / name) for name in "ab"
    }
    assert digests == {store.load(tmp_path / "a").digest}


def test_nothing_but_marks_is_an_error(tmp_path: Path) -> None:
    """A file without one word is refused."""
    with pytest.raises(LexiconError, match=r"v\.txt: the file contains no words"):
        _make(tmp_path, b", 1 2\n. 3 4\n7 1 1\n")


@pytest.mark.parametrize("settings", [{"max_words": 0}, {"listed": 0}])
def test_settings_are_checked(settings: dict[str, int]) -> None:
    """Sizes below 1 are refused before anything is read."""
    with pytest.raises(UsageError, match="must be 1 or more"):
        Settings(**settings)  # type: ignore[arg-type]


def test_real_file() -> None:
    """Five thousand real entries become a lexicon of the size that is expected."""
    path = files.real("embeddings/glove-wiki-imdb-50d/top5k.txt.gz")
    imported = make(path, "glove", Settings(listed=10))
    store.check(imported)
    dropped = imported.meta["dropped"]
    assert len(imported.words) == 5000 - sum(dropped.values()) + len(NAMES)
    assert 100 < dropped["numbers"] < 500
    assert imported.orders.shape == (len(imported.words) + 1, 10)
