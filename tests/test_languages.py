"""Lexicons of other languages: nothing that is right in English alone is done."""

from __future__ import annotations

import re
import unicodedata
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.errors import UsageError
from dptext.lexicons import store
from dptext.lexicons.importing import Settings, detect_language, make
from dptext.pipeline import Pipeline
from dptext.randomness import Randomness, RunKey
from dptext.tokens.numbers import Numbers
from dptext.types import NUMBER, Lexicon, Record
from tests import distributions
from tests.lexicons import files

DATE = "<number {1-31}.{1-12}.{1950-2029}>"
GERMAN = "der die an a Haus Straße schön schon Mädchen Äpfel Größe und".split()
FRENCH = "le l' d' qu' eau été école homme où an a aujourd'hui est de".split()


def lexicon(tmp_path: Path, words: list[str], language: str | None) -> Lexicon:
    """Import words with vectors that are at right angles, so that each is its own."""
    vectors = np.eye(len(words), min(len(words), 20)) + 0.1
    content = files.npz(words=np.array(words), vectors=vectors)
    path = files.put(tmp_path / "v.npz", content)
    imported = make(path, "mine", Settings(listed=4, language=language))
    store.save(imported, tmp_path / "lexicon")
    return store.load(tmp_path / "lexicon")


def ready(lexicon: Lexicon, **tokens: str) -> Pipeline:
    """Make ready what writes every word as itself."""
    recipe = {
        "name": "test",
        "mechanism": {"name": "rank", "weights": "staircase", "k": 1},
        "budget": {"name": "uniform", "epsilon": 60},
        "tokens": tokens,
    }
    return pipeline.build(profile.parse(recipe, "test"), lexicon)


def written(sanitizer: Pipeline, text: str) -> str:
    """Sanitize one text."""
    randomness = Randomness(RunKey.from_seed(1), "test")
    return sanitizer.privatize([Record(0, (text,), None)], randomness).texts[0][0]


def test_german_keeps_its_capitals_and_umlauts(tmp_path: Path) -> None:
    """Nouns as the lexicon writes them, sentences with a capital, no English rule."""
    sanitizer = ready(lexicon(tmp_path, GERMAN, "de"))
    assert sanitizer.profile.tokens.agreement == "none"
    text = "an Haus und a Straße. schön, die Größe und schon ÄPFEL"
    expected = "An Haus und a Straße. Schön, die Größe und schon Äpfel"
    assert written(sanitizer, text) == expected
    decomposed = unicodedata.normalize("NFD", text)
    assert written(sanitizer, decomposed) == expected


def test_french_elisions_are_words(tmp_path: Path) -> None:
    """They are divided from the next word, and nothing stands between them again."""
    sanitizer = ready(lexicon(tmp_path, FRENCH, "fr"))
    text = "l'eau d'été où l’homme est aujourd'hui qu'a l'école"
    words = sanitizer.tokenizer.words([text])
    pieces = [piece.strip() for piece in words.pieces]
    assert pieces[:5] == ["l'", "eau", "d'", "été", "où"]
    assert "aujourd'hui" in pieces
    assert (words.ids >= 0).all()
    assert written(sanitizer, text) == "L" + text[1:].replace("’", "'")
    assert written(sanitizer, "an a eau") == "An a eau"
    deep = "l'" * 5000 + "eau"
    assert written(sanitizer, deep) == "L" + deep[1:]


def test_stop_words_are_those_of_the_language(tmp_path: Path) -> None:
    """None are known of most languages, and that is said; none is an English one."""
    kept = ready(lexicon(tmp_path, GERMAN, "de"), stop_word="keep")
    words = kept.tokenizer.words(["die a und Haus"])
    assert len(words.ids) == 2  # "die" and "und" are copied
    with pytest.raises(UsageError, match="no list of function words for language 'xy'"):
        ready(lexicon(tmp_path, GERMAN, "xy"), stop_word="keep")
    ready(lexicon(tmp_path, GERMAN, "xy"))


def test_numbers_are_written_as_in_the_language(tmp_path: Path) -> None:
    """A comma before decimals; no English ordinals and decades."""
    words = ["ö" + "".join(letters) for letters in product("abcdefghijklm", repeat=3)]
    german = lexicon(tmp_path, words, "de")
    assert NUMBER in german.words
    assert not {"<number 1st>", "<number 19{1-9}0s>"} & set(german.words)
    numbers = Numbers(german)
    names = [german.words[numbers.row(text)] for text in ("3,5", "1.250", "31.12.2020")]
    assert names == ["<number {3-4}.{0-9}>", "<number 1,{000-999}>", DATE]
    ids = np.array([numbers.row("3,5"), numbers.row("1.250")] * 20, np.int32)
    texts = numbers.write(ids, distributions.bits(len(ids)))
    assert all(re.fullmatch(r"[34],\d", text) for text in texts[::2])
    assert all(re.fullmatch(r"1\.\d{3}", text) for text in texts[1::2])
    np.testing.assert_array_equal(numbers.read(ids, texts), ids)


def test_english_is_told_by_its_words() -> None:
    """By function words among the first ones; all else is unknown until it is said."""
    english = (
        "the , . of to and in a \" 's for - that on is was said with he as it".split()
    )
    assert detect_language(english) == "en"
    assert detect_language(GERMAN + FRENCH) == "unknown"
    assert detect_language(["x"] * 300 + english) == "unknown"
    with pytest.raises(UsageError, match="two or three lower-case letters"):
        Settings(language="German")
