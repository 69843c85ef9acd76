"""The decoder that writes words by the copied words around them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dptext import open_pipeline, profile
from dptext.attackers import kernel
from dptext.attackers.context_writer import Illnesses, writable_words
from dptext.decoders.context import Context, Params
from dptext.errors import UsageError
from dptext.lexicons import word_classes
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.tokens import grammar, language_data
from dptext.tokens.regex import key_of
from dptext.types import Record, Released

TEXTS = (
    "The trellis arrived in a tiny quilt and the mailman blamed the windmill.",
    "My lantern hums; a gargoyle replaced the sprocket, the spatula and one crowbar.",
    "We booked a bungalow near the lagoon. The gondolier mislaid our bagel!",
    "Please refund the cauldron on my hammock, which the chandelier dwarfed.",
    "THE CAULDRON STALLED, the Sprocket glistened and both smelt of scorched fjord.",
    "",
    "zqx grommet",
)
# What tells of an illness at the end of one is no cue for the next.
ILL = (
    "They suffer from migraines and",
    "migraines came",
    "They were diagnosed with",
    "migraines, asthma and lupus came again",
)
COUNT = 200_000  # outputs that are compared with the law of the noise


@cache
def readable() -> Pipeline:
    """Open the profile that copies common words."""
    return open_pipeline("readable")


@cache
def decoder() -> Context:
    """Return its decoder."""
    chosen = readable().decoder
    assert isinstance(chosen, Context)
    return chosen


def release(texts: tuple[str, ...], seed: int) -> Released:
    """Draw words for texts."""
    ready = readable()
    records = [Record(number, (text,), None) for number, text in enumerate(texts)]
    draws = ready.draws(records, ready.randomness(RunKey.from_seed(seed)))
    return ready.released(draws.words, draws.drawn, draws.eps)


def words(rows: np.ndarray) -> list[str]:
    """Return the words of rows."""
    return [readable().lexicon.words[row] for row in rows.tolist()]


@pytest.mark.skipif(kernel.library is None, reason="kernel.c is not compiled")
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=6),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 4.0]),
)
def test_the_kernel_has_the_bytes_of_numpy(
    texts: list[str], seed: int, topic: float
) -> None:
    """With and without a topic."""
    batch = release((*texts,), seed)
    chosen = Params(topic=topic).prepare(readable().channel)
    by_kernel = chosen.decode(batch)
    library, kernel.library = kernel.library, None
    try:
        assert chosen.decode(batch).tobytes() == by_kernel.tobytes()
    finally:
        kernel.library = library


@pytest.mark.parametrize("texts", [TEXTS, ILL])
@pytest.mark.parametrize("seed", range(4))
def test_each_text_is_decoded_alone(texts: tuple[str, ...], seed: int) -> None:
    """The other texts of a batch change nothing."""
    batch = release(texts, seed)
    together = decoder().decode(batch)
    for number, text in enumerate(texts):
        record = [Record(number, (text,), None)]
        ready = readable()
        draws = ready.draws(record, ready.randomness(RunKey.from_seed(seed)))
        alone = decoder().decode(ready.released(draws.words, draws.drawn, draws.eps))
        assert alone.tolist() == together[batch.texts == number].tolist()


def test_words_have_the_shown_form_and_no_opinion() -> None:
    """Of each word that was not drawn itself."""
    may_write = writable_words(readable().channel)
    opinions = language_data.opinion_words("en") | language_data.opinion_nouns("en")
    delicate = word_classes.classes_of_lexicon(readable().lexicon).delicate
    forms = grammar.forms_of_rows(readable().lexicon)
    others = 0
    for seed in range(30):
        batch = release(TEXTS, seed)
        assert batch.grammar is not None
        written = decoder().decode(batch)
        other = written != batch.drawn
        others += other.sum()
        assert (forms[written] == batch.grammar)[other].all()
        assert not delicate[written[other]].any()
        assert may_write[1][written[other]].all()
        assert not opinions & {key_of(word) for word in words(written[other])}
    assert others > 500


def test_copied_words_decide_and_not_the_hidden_ones() -> None:
    """Texts with other words of the same forms in the gaps read the same."""
    one = release(("The trellis was on the doormat.",), 1)
    other = release(("The sprocket was on the lantern.",), 1)
    assert one.pieces == other.pieces
    same = replace(other, drawn=one.drawn)
    assert decoder().decode(one).tolist() == decoder().decode(same).tolist()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("was on club walrus till he left", "club penguin"),
        ("she drank vanilla sprocket and cola", "vanilla vodka"),
        ("it was Halo Trellis again", "halo reach"),
    ],
)
def test_fixed_phrases_are_not_completed(text: str, name: str) -> None:
    """They are names of products and works; a common word cannot have been replaced."""
    for seed in range(60):
        batch = release((text,), seed)
        written = words(decoder().decode(batch))
        drawn = words(batch.drawn)
        assert name.split()[1] not in written or drawn == written


def test_a_word_is_seldom_written_twice_in_a_text() -> None:
    """Of 60 equal gaps, nearly all are written with other words."""
    batch = release(("I lost the doormat. " * 60,), 3)
    assert len({*decoder().decode(batch).tolist()}) > 45


def test_few_words_do_not_stand_everywhere() -> None:
    """The five commonest of the same 24 places in 100 draws: each place has many."""
    rows = np.concatenate([decoder().decode(release(TEXTS, s)) for s in range(100)])
    counts = np.sort(np.bincount(rows))[::-1]
    assert counts[:5].sum() < 0.25 * len(rows)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("She had breast lymphoma.", "noun"),
        ("He has type 2 lymphoma.", "noun"),
        ("They suffer from migraines.", "plural"),
        ("They suffer from severe migraines.", "plural"),
        ("They suffer from gargantuan migraines.", "plural"),
    ],
)
def test_an_illness_is_written_as_any(text: str, form: str) -> None:
    """By copied words before it, at every draw."""
    written = language_data.illness_cues("en")[form]
    for seed in range(10):
        *_, last = words(decoder().decode(release((text,), seed)))
        assert last in written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Treated for kidney failure.", {"organ"}),
        ("He suffers from kidney problems.", {"organ"}),
    ],
)
def test_an_organ_is_written_before_a_noun_of_illness(
    text: str, written: set[str]
) -> None:
    """Where a copied phrase tells an illness, not "adoption failure"."""
    for seed in range(10):
        assert words(decoder().decode(release((text,), seed)))[-1] in written


def test_words_for_illnesses_have_an_order() -> None:
    """A set of strings has another one in each process, so that no draw repeats."""
    lexicon = readable().lexicon
    for rows in Illnesses.of_lexicon(lexicon).words.values():
        named = [lexicon.words[row] for row in rows]
        assert named == sorted(named)
        assert len(named) > 1


@pytest.mark.parametrize("text", ["I broke the sprocket.", "Breast. Sprocket"])
def test_other_words_are_no_illnesses(text: str) -> None:
    """Without such words before it."""
    several = {words(decoder().decode(release((text,), s)))[-1] for s in range(20)}
    assert several - {"pain", "trouble", "conditions", "problems"}


def test_opinions_stay() -> None:
    """Words of a public list are copied in lower case, wherever they stand."""
    ready = readable()
    text = (
        "Not rude at all, but the manual is dreadful, lame and pathetic; I loathed it."
    )
    record = [Record(0, (text,), None)]
    for seed in range(5):
        done = ready.privatize(record, ready.randomness(RunKey.from_seed(seed)))
        for word in ("Not rude at all", "dreadful, lame and pathetic", "I loathed it"):
            assert word in done.texts[0][0]


def test_no_opinion_is_written_where_one_was_drawn() -> None:
    """Also in gaps for which no list has words, as for single letters."""
    opinions = language_data.opinion_words("en") | language_data.opinion_nouns("en")
    rows = readable().lexicon.row_of
    batch = release((" ".join(f"it was {letter} then" for letter in "bcdfhjkl"),), 1)
    for word in ("wrong", "criticism", "outrageous", "lose"):
        drawn = np.full_like(batch.drawn, rows[word])
        written = words(decoder().decode(replace(batch, drawn=drawn)))
        assert len(written) > 4
        assert not opinions & {key_of(each) for each in written}


def test_opinions_go_with_common_words() -> None:
    """One setting adds to the other."""
    with pytest.raises(UsageError, match="opinion extends the common words"):
        profile.load("balanced", {"tokens": {"opinion": "keep"}})


def test_the_noise_is_that_of_gumbel_variables() -> None:
    """Mean and variance over draws and rows; false alarm below 1 in 10^6."""
    rows = np.arange(COUNT // 100)
    noise = [decoder().writer._noise_of(drawn, rows) for drawn in range(0, 10_000, 100)]
    values = np.concatenate(noise) / (decoder().writer.variety * 2**16)
    assert abs(values.mean() - np.euler_gamma) < 5.0 * 1.2826 / COUNT**0.5
    assert abs(values.var() - np.pi**2 / 6.0) < 0.05
