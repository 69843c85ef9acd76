"""Elements for numbers in lexicons: counts, vectors, orders, in all imports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dptext.lexicons import importing, store
from dptext.lexicons.importing import Settings, make
from dptext.tokens import numbers
from dptext.tokens.numbers import ELEMENTS, NAMES
from dptext.types import NUMBER, Lexicon
from tests.lexicons import files


def content(size: int = 2_500, width: int = 8) -> bytes:
    """Return vectors of words without meaning, and of two numbers."""
    rng = np.random.default_rng(5)
    names = [
        f"w{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}"
        for n in range(size)
    ]
    rows = rng.standard_normal((size + 2, width)).round(3)
    return files.npz(
        words=np.array([*names, "7", "1999"]),
        vectors=rows.astype(np.float32),
        counts=np.array([*np.arange(size, 0, -1.0) ** 2, 9e4, 1e4]),
    )


@pytest.mark.parametrize("outputs", [None, 2_100])
def test_an_import_has_all_elements(tmp_path: Path, outputs: int | None) -> None:
    """Counts by public shares, among the outputs; vectors close to each other."""
    path = files.put(tmp_path / "v.npz", content())
    imported = make(path, "mine", Settings(listed=100, outputs=outputs, language="en"))
    store.check(imported)
    rows = np.array([imported.words.index(name) for name in NAMES])
    shares = [element.share for element in ELEMENTS]
    if outputs is None:
        np.testing.assert_allclose(imported.counts[rows], 1e5 * np.array(shares))
    else:
        assert rows.max() < outputs
    vectors = imported.vectors[rows].astype(np.float64)
    gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    length = np.linalg.norm(vectors[0])
    assert gaps[np.triu_indices(len(rows), 1)].min() > 0.01 * length
    assert gaps.max() < 0.6 * length
    _assert_orders(imported)
    _assert_far(imported, tight=outputs is None)


def test_a_small_file_has_one_element(tmp_path: Path) -> None:
    """Fewer than 2,000 words: NUMBER alone, or a floor would mostly write numbers."""
    imported = make(
        files.put(tmp_path / "v.npz", content(1_999)), "x", Settings(listed=9)
    )
    assert [name for name in NAMES if name in imported.words] == [NUMBER]


def test_many_words_of_one_count(tmp_path: Path) -> None:
    """Numbers are among the outputs even if all words are equally frequent."""
    path = files.put(
        tmp_path / "v.npz",
        files.npz(
            words=np.array([f"w{chr(97 + n % 26)}{n}" for n in range(3_000)]),
            vectors=np.random.default_rng(1).normal(size=(3_000, 4)).astype(np.float32),
            counts=np.ones(3_000),
        ),
    )
    imported = make(path, "mine", Settings(listed=10, outputs=2_000, language="en"))
    assert max(imported.words.index(name) for name in NAMES) < 2_000


def test_the_built_in_lexicon_has_all_elements(builtin: Lexicon) -> None:
    """All are outputs, lists of numbers hold numbers alone, no vector is doubled."""
    rows = np.array([builtin.words.index(name) for name in NAMES])
    assert rows.max() < builtin.meta["outputs"]
    np.testing.assert_allclose(builtin.counts[rows].sum(), 12_000.0)
    assert set(builtin.orders[rows].ravel().tolist()) == set(rows.tolist())
    vectors = builtin.vectors[rows].astype(np.float64)
    gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    assert gaps[np.triu_indices(len(rows), 1)].min() > 0.1
    _assert_orders(builtin)


def test_mechanisms_that_go_by_distance_write_numbers_too(builtin: Lexicon) -> None:
    """SanText, P ~ e^(-epsilon d / 2), at 30: 47 becomes a number most of the time."""
    rows = [builtin.words.index(name) for name in NAMES]
    vectors = builtin.vectors[:-1].astype(np.float64)
    middle = vectors[builtin.words.index("<number 40-49>")]
    weights = np.exp(-15.0 * np.linalg.norm(vectors - middle, axis=1))
    assert weights[rows].sum() / weights.sum() > 0.5


def test_near_numbers_come_first() -> None:
    """The order of 40-49 begins with the tens around it; of 1990-1999, with decades."""
    order = {NAMES[row[0]]: [NAMES[y] for y in row] for row in numbers.orders()}
    assert order["<number 40-49>"][:4] == [
        f"<number {name}>" for name in ("40-49", "50-59", "30-39", "60-69")
    ]
    assert all(
        len(name) == len("<number 40-49>") for name in order["<number 40-49>"][:9]
    )
    assert set(order["<number 1990-1999>"][1:3]) == {
        "<number 1980-1989>",
        "<number 2000-2009>",
    }
    assert all(sorted(row) == sorted(NAMES) for row in order.values())


def _assert_orders(lexicon: Lexicon) -> None:
    """Hold that numbers list numbers first, and that other words list NUMBER alone."""
    row_of = {name: lexicon.words.index(name) for name in NAMES}
    elements = np.array(list(row_of.values()))
    listed = min(len(NAMES), lexicon.orders.shape[1])
    first = lexicon.orders[elements][:, :listed]
    assert np.isin(first, elements).all()
    assert (np.diff(np.sort(lexicon.orders, axis=1).astype(int), axis=1) > 0).all()
    others = np.delete(np.asarray(lexicon.orders), elements, axis=0)
    assert not np.isin(others, [r for n, r in row_of.items() if n != NUMBER]).any()


def _assert_far(lexicon: Lexicon, tight: bool) -> None:
    """Hold that no word outside an order is nearer than far says."""
    vectors = lexicon.vectors.astype(np.float64)
    for row in (0, 1, lexicon.words.index("<number 7>"), len(lexicon.words)):
        gaps = np.linalg.norm(vectors[:-1] - vectors[row], axis=1)
        gaps[lexicon.orders[row].astype(int)] = np.inf
        assert lexicon.far[row] <= gaps.min()
        near = lexicon.far[row] > 0.9 * gaps.min() or np.isinf(gaps.min())
        assert near or not tight


def test_the_version_says_that_lexicons_are_others() -> None:
    """Lexicons of files that were imported before are made anew."""
    assert importing.VERSION == 5
    assert store.FORMAT == 2
