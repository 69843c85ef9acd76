"""Common words of German and French: capitals tell more, and no names are listed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dptext import pipeline, profile
from dptext.errors import UsageError
from dptext.lexicons import store
from dptext.lexicons.importing import Settings, make
from dptext.tokens.policy import Policy
from dptext.types import Lexicon
from tests.lexicons import files
from tests.tokens.test_common import shown_in

GERMAN = (
    "der",
    "die",
    "und",
    "ist",
    "nicht",
    "will",
    "wir",
    "sie",
    "klein",
    "schön",
    "Haus",
    "Straße",
    "kam",
    "war",
    "gestern",
    "alles",
    "im",
    "von",
    "neu",
)
FRENCH = (
    "le",
    "la",
    "l'",
    "d'",
    "et",
    "est",
    "elle",
    "son",
    "petit",
    "grand",
    "hier",
    "maison",
    "eau",
    "venu",
    "très",
    "bonne",
    "aujourd'hui",
    "qu'",
    "s'",
    "il",
)


def lexicon(folder: Path, words: tuple[str, ...], language: str) -> Lexicon:
    """Import words, the first of which are the commonest."""
    vectors = np.eye(len(words), 20) + 0.1
    content = files.npz(words=np.array(words), vectors=vectors)
    path = files.put(folder / "v.npz", content)
    settings = Settings(listed=4, language=language)
    store.save(make(path, "mine", settings), folder / "lexicon")
    return store.load(folder / "lexicon")


@pytest.mark.parametrize(
    "text",
    [
        "wir war klein und neu",
        "<Klein> war im <Haus>. Und <Klein> kam von der <Straße>",
        "Das ist schön. <Neu> ist alles nicht",
        "Herr <Klein>, Frau Dr. <Schön> und Prof. <Will>",
        "wir wissen, dass Sie nicht <SCHÖN> kam",
    ],
)
def test_no_german_noun_and_no_name_is_copied(tmp_path: Path, text: str) -> None:
    """Where a sentence begins only function words are, since adjectives are names."""
    words = lexicon(tmp_path, GERMAN, "de")
    bare = text.replace("<", "").replace(">", "")
    # Function words of which this small vocabulary knows nothing are common, too.
    assert shown_in(words, bare, Policy(common=100)).replace("<wissen>", "wissen") == (
        text
    )


@pytest.mark.parametrize(
    "text",
    [
        "l'eau est très bonne",
        "<Petit> est venu hier. Elle est venu",
        "L'eau d'<Avignon>, qu'il est grand",
        "Madame <Petit> s'est venu aujourd'hui",
    ],
)
def test_french_elisions_stand_by_themselves(tmp_path: Path, text: str) -> None:
    """An elided word is a word, with any word after it."""
    words = lexicon(tmp_path, FRENCH, "fr")
    bare = text.replace("<", "").replace(">", "")
    assert shown_in(words, bare, Policy(common=100)) == text


def test_classes_of_other_languages_are_refused(tmp_path: Path) -> None:
    """No list of German names ships: one line says so, and what to do."""
    words = lexicon(tmp_path, GERMAN, "de")
    with pytest.raises(UsageError, match="no words of class person for"):
        pipeline.build(profile.load("readable"), words)
    recipe = profile.load("readable", {"tokens": {"classes": []}})
    pipeline.build(recipe, words)
