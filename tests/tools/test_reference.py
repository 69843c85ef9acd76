"""The reference of the site is made from the program."""

from __future__ import annotations

import dataclasses

import pytest

from dptext import errors, profile
from dptext.tokens.policy import Policy
from tools import pictures, reference, terminal

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", ["commands", "profile-keys", "exit-codes"])
def test_the_page_is_made_from_the_program(name: str) -> None:
    """A changed option, key or error is on its page: python -m tools.reference."""
    written = (reference.FOLDER / f"{name}.md").read_text("utf-8")
    assert written == reference.pages()[name]


def test_every_key_is_explained() -> None:
    """No key of a profile, and none of tokens, lacks its words."""
    fields = [field.name for field in dataclasses.fields(profile.Profile)]
    assert sorted(reference.KEYS) == sorted(fields)
    own = [field.name for field in dataclasses.fields(Policy)]
    assert sorted(reference.TOKENS) == sorted(own)


def test_every_exit_code_of_an_error_is_explained() -> None:
    """The page has the code of each class of errors."""
    kinds = [each for each in vars(errors).values() if hasattr(each, "exit_code")]
    assert kinds
    assert {each.exit_code for each in kinds} <= reference.CODES.keys()


def test_pictures_have_the_figures_that_ship() -> None:
    """A picture is drawn anew when a figure changes: python -m tools.pictures."""
    drawn = pictures.pictures()
    shipped = {path.stem for path in pictures.FOLDER.glob("*.svg")}
    assert shipped == {*drawn, terminal.PICTURE.stem}
    for name, text in drawn.items():
        assert (pictures.FOLDER / f"{name}.svg").read_text("utf-8") == text
