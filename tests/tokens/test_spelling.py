from __future__ import annotations

import pytest

from dptext.tokens import spelling


@pytest.mark.parametrize(
    ("of", "word", "form"),
    [
        *((spelling.plural, "dog", "dogs"), (spelling.plural, "city", "cities")),
        *((spelling.plural, "box", "boxes"), (spelling.plural, "photo", "photos")),
        *((spelling.plural, "hero", "heroes"), (spelling.plural, "day", "days")),
        *(
            (spelling.third_person, "go", "goes"),
            (spelling.third_person, "try", "tries"),
        ),
        *((spelling.past, "walk", "walked"), (spelling.past, "try", "tried")),
        *((spelling.past, "stop", "stopped"), (spelling.past, "hope", "hoped")),
        *(
            (spelling.participle, "lie", "lying"),
            (spelling.participle, "see", "seeing"),
        ),
        *((spelling.participle, "try", "trying"), (spelling.participle, "be", "being")),
        *((spelling.participle, "panic", "panicking"),),
        *(
            (spelling.comparative, "big", "bigger"),
            (spelling.superlative, "dry", "driest"),
        ),
    ],
)
def test_regular_forms(of: object, word: str, form: str) -> None:
    """Each rule gives the form that usage has."""
    assert callable(of)
    assert of(word) == form
