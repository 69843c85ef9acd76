"""Lexicons of public text: adapted to a kind, or made of the text alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dptext import lexicons
from dptext.attackers import ngrams
from dptext.errors import InputError
from dptext.lexicons import importing, store, word_classes
from dptext.lexicons.from_text import adapt, count_words, vectors_from_text
from dptext.lexicons.orders import rows_of_names
from dptext.lexicons.sources import RawVectors
from dptext.tokens import names
from dptext.types import Lexicon
from tests.cli.running import BALANCED, here

TEXTS = [
    "The router crashed again and the Fritzbox lost the network.",
    "Please restart the Fritzbox, the router and the network.",
    "My Fritzbox and my modem lost the network again.",
] * 4


def english(listed: int = 30) -> Lexicon:
    """Return a small lexicon of frequent words, which are measured in no time."""
    base = lexicons.find("builtin")
    rows = [row for row, word in enumerate(base.words[:5_000]) if word.isalpha()]
    assert base.counts is not None
    raw = RawVectors(
        [base.words[row] for row in rows],
        np.asarray(base.vectors[rows, :50]),
        np.asarray(base.counts[rows], np.float64),
    )
    settings = importing.Settings(outputs=2000, listed=listed, language="en")
    return importing.from_vectors(
        raw, name="small", settings=settings, source={}, location="words"
    )


def adapted(base: Lexicon) -> Lexicon:
    """Return a lexicon with the words of a few public tickets."""
    return adapt(base, "tickets", lambda: [TEXTS], 3, {"adapted": "tickets.txt"})


@pytest.fixture(scope="module")
def tickets() -> tuple[Lexicon, Lexicon]:
    """Return a lexicon, and the adapted one."""
    base = english()
    return base, adapted(base)


def test_what_is_written_for_a_word_stays(tickets: tuple[Lexicon, Lexicon]) -> None:
    """Every word of the base has its vector and, word for word, its order."""
    base, lexicon = tickets
    store.check(lexicon)
    rows = np.array([lexicon.row_of[word.lower()] for word in base.words])
    np.testing.assert_array_equal(lexicon.vectors[rows], base.vectors[:-1])
    np.testing.assert_array_equal(lexicon.orders[rows], rows[base.orders[:-1]])
    outputs = int(base.meta["outputs"])
    assert lexicon.meta["outputs"] == outputs
    assert set(rows[:outputs]) == set(range(outputs))


def test_a_new_word_is_an_input(tickets: tuple[Lexicon, Lexicon]) -> None:
    """It is spelled as in the text, has an order of outputs, and is no output."""
    base, lexicon = tickets
    row = lexicon.row_of["fritzbox"]
    assert lexicon.words[row] == "Fritzbox"
    assert "fritzbox" not in base.row_of
    order = lexicon.orders[row]
    assert order[0] == row
    assert order[1:].max() < lexicon.meta["outputs"] <= row
    assert len(set(order.tolist())) == len(order)


def test_frequencies_are_those_of_the_text(tickets: tuple[Lexicon, Lexicon]) -> None:
    """A word of the text is more frequent than before, all others less."""
    base, lexicon = tickets
    before = base.prior[base.row_of["network"]]
    assert lexicon.prior[lexicon.row_of["network"]] > 10 * before
    before = base.prior[base.row_of["government"]]
    assert lexicon.prior[lexicon.row_of["government"]] < before


def test_elisions_and_spellings_are_found_in_the_text() -> None:
    """Nouns keep their capitals, and what stands before many words is a word."""
    nouns = [f"{letter}au" for letter in "bcdfghjklmnpqrstvwxz"]
    texts = [f"Das Haus. Dem l'{noun} das Haus" for noun in nouns]
    counted = count_words(lambda: [texts], {}, 2, elisions=True)
    assert {"Haus", "l'", "das"} <= {*counted.new} | {
        each.lower() for each in counted.new
    }
    assert counted.new["l'"] == 20.0
    assert "Haus" in counted.new


def test_words_in_like_places_are_near() -> None:
    """By vectors of the text alone."""
    rng = np.random.default_rng(0)
    animals, tools = ("cat", "dog", "horse"), ("saw", "hammer", "drill")
    texts = []
    for number in range(600):
        word = rng.choice(animals if number % 2 else tools)
        around = "eats sleeps runs barks" if number % 2 else "cuts builds wood iron"
        first, second = rng.permutation(around.split())[:2]
        texts.append(f"{first} {word} {second}")
    raw = vectors_from_text(lambda: [texts[:200], texts[200:]], 3)
    rows = {word: raw.vectors[row] for row, word in enumerate(raw.words)}
    for one, other in (("cat", "dog"), ("saw", "drill")):
        near, far = (
            rows[one]
            @ rows[each]
            / np.linalg.norm(rows[one])
            / np.linalg.norm(rows[each])
            for each in (other, "hammer" if one == "cat" else "horse")
        )
        assert near > far + 0.5
    lexicon = importing.from_vectors(
        raw, name="t", settings=importing.Settings(), source={}, location="texts"
    )
    assert {"cat", "saw"} <= set(lexicon.words)


def test_a_text_without_words_is_refused() -> None:
    """In one line, with what to do."""
    with pytest.raises(InputError, match="give more text"):
        vectors_from_text(lambda: [["one two three"]], 3)


@pytest.mark.parametrize("text", ["", "\n\n", "the cat\n", "the cat\n" * 50])
def test_too_few_texts_are_refused(text: str, tmp_path: Path) -> None:
    """Nothing, or one text, is no public text to adapt a lexicon to."""
    public = tmp_path / "tickets.txt"
    public.write_text(text)
    ran = here("lexicon", "adapt", str(public), "--name", "mine")
    assert ran.code == 2
    assert "too few distinct texts" in ran.err


def test_an_adapted_lexicon_is_measured_and_stated(
    tickets: tuple[Lexicon, Lexicon], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table with shares; a report names the public text, and says what it leaves."""
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "home"))
    base, _ = tickets
    store.save(base, store.lexicon_folder("small"))
    rng = np.random.default_rng(4)
    lines = [
        " ".join(base.words[row] for row in rng.zipf(1.1, 80) if row < 2000)
        for _ in range(60)
    ]
    public = tmp_path / "tickets.txt"
    public.write_text("\n".join(lines) + "\nMy Fritzbox.\nThe Fritzbox.\nA Fritzbox.\n")
    digest = hashlib.sha256(public.read_bytes()).hexdigest()
    ran = here("lexicon", "adapt", str(public), "--lexicon", "small", "--name", "mine")
    assert ran.code == 0, ran.err
    shown = " ".join(ran.out.decode().split())
    assert "decoded by pairs of this text" in shown
    assert "words guessed by same-kind" in shown
    assert "1 of them new" in shown
    assert shown.count("%") > 8
    private, output = tmp_path / "private.txt", tmp_path / "output.txt"
    private.write_text("My router lost the network.\n")
    ran = here("sanitize", str(private), "-o", str(output), "--lexicon", "mine")
    assert ran.code == 0, ran.err
    report = json.loads(Path(f"{output}.dptext.json").read_bytes())
    (said,) = (
        c for c in report["guarantee"]["scope"]["conditions"] if "The lexicon" in c
    )
    assert f"the text tickets.txt (sha256 {digest[:12]})" in said
    assert "The public text itself has no guarantee" in said
    assert here("check", str(output)).code == 0
    vectors = tmp_path / "vectors.npy"
    embed = ("embed", str(private), "--lexicon", "mine", "--epsilon", "5")
    ran = here(*embed, "-o", str(vectors))
    assert ran.code == 0, ran.err
    report = json.loads(Path(f"{vectors}.dptext.json").read_bytes())
    assert said in report["guarantee"]["scope"]["conditions"]
    calibrate = (
        "calibrate",
        "--risk",
        "20%",
        "--lexicon",
        "mine",
        "--attacker",
        "ngram",
    )
    ran = here(*calibrate, "--public-text", str(public))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "have counted tickets.txt" in ran.err
    assert [row["kind"] for row in found(private, output)] == ["public text"]
    # Another model of pairs under the lexicon's name, whatever text it is of.
    pairs = ("lexicon", "ngrams", str(private), "--lexicon", "mine", "--name")
    ours = ngrams.model_folder("mine")
    ours.rename(tmp_path / "kept")
    assert here(*pairs, "mine").code == 0
    ran = here("sanitize", str(private), "-o", str(output), "--lexicon", "mine")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "not the one that lexicon 'mine' was built with" in ran.err
    assert not found(private, output)
    ours.rename(tmp_path / "other")
    assert not found(private, output)
    (tmp_path / "kept").rename(ours)
    assert found(private, output)
    # Nor does another lexicon get the figures by its name.
    store.save(replace(base, name="mine"), store.lexicon_folder("mine"))
    assert not found(private, output)


def found(private: Path, output: Path) -> list[dict[str, Any]]:
    """Return what attackers find by the report of drawn words."""
    drawn = ("--lexicon", "mine", "--decode", "none", "--risk", "20%")
    ran = here("sanitize", str(private), "-o", str(output), *drawn)
    assert ran.code == 0, ran.err
    report = json.loads(Path(f"{output}.dptext.json").read_bytes())
    rows: list[dict[str, Any]] = report["words"].get("attackers", [])
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("language", ["de", "fr"])
def test_a_language_from_manuals_alone(
    language: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lexicon, decoded file, report and attacker's figure from one corpus."""
    manuals = Path("/usr/share/man") / language / "man1"
    if not manuals.is_dir():
        pytest.skip(f"no {manuals} (Debian's manpages-{language})")
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "home"))
    lines: list[str] = []
    for path in sorted(manuals.glob("*.gz"))[:30]:
        text = gzip.open(path, "rt", encoding="utf-8", errors="replace").read()
        plain = [re.sub(r"\\f.|\\&|^\.\w+ *", "", line) for line in text.split("\n")]
        lines += [line for line in plain if re.search(r"[a-z]{3,} \w{2,} \w", line)]
    corpus = tmp_path / "manuals.txt"
    corpus.write_text("\n".join(lines), encoding="utf-8")
    ran = here(
        "lexicon",
        "adapt",
        str(corpus),
        "--from-text",
        "--language",
        language,
        "--name",
        "manuals",
        "--json",
    )
    assert ran.code == 0, ran.err
    gained = json.loads(ran.out)
    assert gained["adapted"]["changed"] < gained["drawn"]["changed"] - 0.05
    # More than who always says the most frequent word, and not everything.
    assert 0.1 < gained["reading"]["classes"][0]["success"] < 0.8
    private = tmp_path / "private.txt"
    private.write_text("\n".join(lines[:20]), encoding="utf-8")
    outputs = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for output in outputs:
        ran = here(
            "sanitize",
            str(private),
            *BALANCED,
            "--lexicon",
            "manuals",
            "-o",
            str(output),
            "--key-file",
            key,
        )
        assert ran.code == 0, ran.err
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    report = json.loads(Path(f"{outputs[0]}.dptext.json").read_bytes())
    # The strongest attacker of these texts, by the measurements beside the lexicon.
    assert report["words"]["attackers"][0]["success"] > 0.1
    settings = report["run"].get("settings", report)
    assert "manuals" in json.dumps(settings)


def with_names(base: Lexicon) -> Lexicon:
    """Return a lexicon in which all names of persons are one input."""
    known = [
        row
        for row, word in enumerate(base.words)
        if names.known_is_name(word.capitalize(), "en")
    ]
    orders = np.array(base.orders)
    shared = np.array(orders[known[0]])
    for row in known:
        if row < int(base.meta["outputs"]):
            orders[row] = shared
        else:
            orders[row] = [row, *shared[:-1]]
    meta = {**base.meta, "names": base.words[known[0]]}
    return replace(base, orders=orders, meta=meta)


def test_new_names_are_the_input_that_all_names_are() -> None:
    """A name that the text brings has the one order of names; other words list none."""
    # So many are listed that words of a closed class would be among them.
    base = with_names(english(listed=200))
    texts = [
        "The qzzorp of Xanthippine works. A qzzorp, Xanthippine said, works well."
    ] * 3
    lexicon = adapt(base, "more", lambda: [texts], 3, {"adapted": "more.txt"})
    store.check(lexicon)
    row_of, named = lexicon.row_of, rows_of_names(lexicon)
    assert named[row_of["xanthippine"]]
    assert not named[row_of["qzzorp"]]
    assert named.sum() == rows_of_names(base).sum() + 1 > 10
    closed = word_classes.sealed_words(lexicon)
    assert not closed[lexicon.orders[row_of["qzzorp"], 1:].astype(int)].any()
