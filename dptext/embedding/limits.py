"""What a statement about vectors rests on, and what it leaves out."""

from __future__ import annotations

from dptext.embedding import claims
from dptext.embedding.claims import Claim
from dptext.embedding.release import Release
from dptext.embedding.settings import Pool
from dptext.guarantees import adjacency as of_words
from dptext.guarantees.conditions import (
    FRESH_KEY,
    IDENTIFIED,
    KEY_FILE,
    LEXICON,
    SETTINGS,
)
from dptext.guarantees.rounding import above
from dptext.mechanisms.privemb import PrivEmb
from dptext.types import Notion

_AMPLIFICATION = (
    "No amplification by sampling is claimed, whatever share of all records is "
    "released: who reads the output sees which records took part and which vector is "
    "whose."
)
_GRID = (
    "Each number is a whole multiple of a public step, {step:.6g}, in single precision."
)
_PROGRAM = (
    "{grid} The guarantee is one of the program: vectors are rounded to that grid "
    "before the noise, which is drawn in whole steps from tables of whole numbers; "
    "what these add to a loss is at most {slack} nats."
)
_FORMULA = (
    "{grid} The guarantee is that of the formula, in exact arithmetic. The program "
    "adds noise in 64-bit floating point and rounds to the grid, so that low-order "
    "bits tell nothing; how far it is else from the formula is not proven, above all "
    "for outputs rarer than about 1e-15. discrete-gaussian and discrete-laplace have "
    "no such gap."
)
_MODEL = (
    "The sentence model is public and was not trained on the private text; dptext "
    "cannot check this."
)
_PUBLIC = "The public texts are public; dptext cannot check this."
_MATRIX = (
    "The projection was drawn from a public seed, before and apart from the texts."
)


def adjacency(release: Release) -> tuple[str, ...]:
    """Return what two inputs must have in common to be compared."""
    if release.pool is not Pool.WORD:
        return ()
    return ("the same number of words that become vectors (as dptext divides texts)",)


def covered(release: Release) -> tuple[str, ...]:
    """Return what becomes vectors."""
    if release.pool is not Pool.WORD:
        return ("texts",)
    return of_words.covered(release.settings.recipe.tokens)


def conditions(
    release: Release, claim: Claim, key: str, identified: bool, custom: bool
) -> tuple[str, ...]:
    """Return what must hold for a statement to be true."""
    named = "with the same id" if identified else "in the same place"
    options = release.settings.options
    grid = _GRID.format(step=release.mechanism.step(release.epsilon))
    exact = (
        _PROGRAM.format(grid=grid, slack=above(max(claim.slack or 0.0, 1e-15), 2))
        if claim.exact
        else _FORMULA.format(grid=grid)
    )
    lines = (
        (True, KEY_FILE.format(named=named) if key == "key-file" else FRESH_KEY),
        (True, SETTINGS),
        (custom and options.pool is not Pool.SENTENCE, LEXICON),
        (options.pool is Pool.SENTENCE, _MODEL),
        (options.public is not None, _PUBLIC),
        (isinstance(release.mechanism, PrivEmb), _MATRIX),
        (identified, IDENTIFIED),
        (True, exact),
    )
    return (*(line for wanted, line in lines if wanted), *claim.promise.gaps)


def not_covered(
    release: Release, identified: bool, subject: str | None
) -> tuple[str, ...]:
    """Return what no setting covers."""
    is_word = release.pool is Pool.WORD
    lines = [
        "The number of vectors, and which record each is of, are those of the input, "
        "less the records that could not be read; how long the run takes is not "
        "hidden.",
        "Which words stand in a text, how many and in which order is not hidden beyond "
        "each word alone: texts with a different number of words are told apart."
        if is_word
        else "A person is in more than one text: the losses of all texts about the "
        "same person add up, and so do those of several releases of the same text.",
        _AMPLIFICATION,
    ]
    if is_word:
        lines += _left_out(release)
        lines.append(
            "A person is in more than one word: the losses of all words about the same "
            "person add up, and so do those of several releases of the same text."
        )
    if identified:
        lines.append("The id of each record is copied unchanged.")
    if subject is not None:
        most = release.settings.options.most
        known = f"; that no value has more than {most} vectors is" if most > 1 else ""
        lines.append(f'Which vectors have the same "{subject}" is not shown{known}.')
    if claims.claim(release, "system").notion is Notion.METRIC:
        lines.append("What is far apart in the metric is protected less.")
    return tuple(lines)


def _left_out(release: Release) -> list[str]:
    """Say which words have no vector."""
    tokens, lines = release.settings.recipe.tokens, []
    if tokens.stop_word == "drop":
        lines.append(
            "Stop words have no vector, so that every vector is of a word that is none."
        )
    if tokens.unknown == "drop":
        lines.append(
            "Words outside the vocabulary and identifiers have no vector, so that "
            "every vector is of a word of the vocabulary or of a number."
        )
    return lines
