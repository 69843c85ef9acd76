"""Topics in the place of whole texts: the law, conditions, what the output shows."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dptext
from dptext.errors import LexiconError, UsageError
from dptext.lexicons import topics
from dptext.pipeline import Pipeline
from dptext.randomness import RunKey
from dptext.types import Record
from tests import distributions, made_topics
from tests.cli.running import here

TEXTS = (
    "The company reported profit.",
    "The players won the match in the league.",
    "",
    " \n",
    "qzx wvb",
    "\ud800 half of an emoji",
    "soup " * 5000,
    "Привет 你好 🙂",
)


@pytest.fixture(scope="module", autouse=True)
def made(run_folders: Path) -> topics.TopicFile:
    """Build topics once."""
    return made_topics.make()


@cache
def opened(epsilon: float = 2.0) -> Pipeline:
    """Make the profile ready at an epsilon."""
    return dptext.open_pipeline(
        "topics", {"lexicon": "topics:made", "budget": {"epsilon": epsilon}}
    )


def law_of(pipeline: Pipeline, texts: list[str]) -> np.ndarray:
    """Return the exact chances of each topic for each text: (n, K)."""
    words = pipeline.tokenizer.words(texts)
    epsilon = pipeline.budget.description.high
    return pipeline.mechanism.probs(words.ids, epsilon)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_no_output_is_much_likelier_for_one_of_two_texts(
    epsilon: float,
) -> None:
    """Whatever two texts hold, their laws differ by a factor of e^epsilon at most."""
    law = law_of(opened(epsilon), list(TEXTS))
    ratio = np.log(law).max(axis=0) - np.log(law).min(axis=0)
    assert ratio.max() <= epsilon * (1 + 1e-12)
    np.testing.assert_allclose(law.sum(axis=1), 1.0, atol=1e-12)


@settings(max_examples=60)
@given(st.lists(st.text(max_size=60), min_size=2, max_size=4))
def test_every_text_has_one_topic_and_the_law_holds(texts: list[str]) -> None:
    """Any texts at all keep the bound, and a text's topic is the same in any batch."""
    pipeline = opened(2.0)
    law = law_of(pipeline, texts)
    assert (np.log(law).max(axis=0) - np.log(law).min(axis=0)).max() <= 2.0 + 1e-9
    alone = [pipeline.tokenizer.words([text]).ids[0] for text in texts]
    assert pipeline.tokenizer.words(texts).ids.tolist() == alone


@pytest.mark.parametrize("text", TEXTS[:4])
def test_draws_follow_the_law(text: str) -> None:
    """What the whole program writes is drawn by the exact law (false alarm 1e-6)."""
    pipeline = opened(2.0)
    records = [Record(number, (text,), None) for number in range(20_000)]
    drawn = Counter(new for _, (new,) in pipeline.run(records, RunKey.from_seed(5)))
    rows = np.array([pipeline.lexicon.words.index(new) for new in drawn.elements()])
    distributions.assert_follows(rows, law_of(pipeline, [text])[0])


def test_a_view_that_fails_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception, a NaN or a wrong shape gives the fixed order, and no other text."""
    pipeline = opened()
    known = pipeline.tokenizer.words(["The company reported profit."]).ids[0]
    from dptext.views import sif

    vectors = sif.Sif.vectors

    def broken(self: sif.Sif, texts: list[str]) -> np.ndarray:
        if any("boom" in text for text in texts):
            raise RuntimeError
        rows = vectors(self, texts)
        rows[[("nan" in text) for text in texts]] = np.nan
        return rows

    monkeypatch.setattr(sif.Sif, "vectors", broken)
    texts = ["boom", "The company reported profit.", "nan"]
    assert pipeline.tokenizer.words(texts).ids.tolist() == [-1, known, -1]


def test_the_output_holds_nothing_but_topics(tmp_path: Path) -> None:
    """Marks, lengths, words and emptiness of a text do not reach the output."""
    source = tmp_path / "in.jsonl"
    rows = [{"id": n, "text": text} for n, text in enumerate(TEXTS) if n != 5]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    target = tmp_path / "out.jsonl"
    ran = here(
        "sanitize", str(source), "-f", "text", "--topics", "made", "-o", str(target)
    )
    assert ran.code == 0, ran.err
    phrases = set(topics.open_lexicon("made", 8).words)
    written = [json.loads(line)["text"] for line in target.read_text().splitlines()]
    assert len(written) == len(rows)
    assert set(written) <= phrases
    assert here("check", str(target)).code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "tokens.keep.files=[FILE]"), "a topic replaces the whole text"),
        (("--set", "tokens.punctuation=keep"), "punctuation"),
        (("--set", "tokens.forms=email"), "forms"),
        (("--set", "tokens.number=keep"), "treatment of words"),
        (("--set", "strategy=data-set"), "token"),
        (("--decode", "ngram"), "none"),
        (("--mechanism", "laplace"), "guarantee for any two words"),
        (("--risk", "20%"), "epsilon of a whole text"),
        (("--lexicon", "builtin"), "not both"),
    ],
)
def test_settings_that_show_more_than_a_topic_are_refused(
    options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """Lists, forms, marks, other strategies, decoders and mechanisms are refused."""
    source, listed = tmp_path / "in.txt", tmp_path / "list.txt"
    source.write_text("one\n")
    listed.write_text("one\n")
    named = [each.replace("FILE", str(listed)) for each in options]
    ran = here("sanitize", str(source), "--topics", "made", *named)
    assert ran.code == 2
    assert said in ran.err


def test_the_number_of_topics_follows_epsilon_alone() -> None:
    """Four up to 5 nats, 16 at 6, 64 at 8, 256 at 10, as measured best."""
    sizes = [4, 16, 64, 256]
    chosen = {e: topics.size_for(sizes, e) for e in (1, 4, 5, 6, 8, 10)}
    assert chosen == {1: 4, 4: 4, 5: 4, 6: 16, 8: 64, 10: 256}
    assert opened(2.0).lexicon.name == "topics:made/4"
    assert opened(6.0).lexicon.name == "topics:made/8"


def test_topics_follow_labels() -> None:
    """With public labels each topic is of one label, and labels are told by topics."""
    document = made_topics.make("labelled", labelled=True)
    four = document.sizes["4"]
    assert sorted(four.labels) == sorted(made_topics.SUBJECTS)
    best = {each.epsilon: each.private for each in four.kept}
    assert best[6.0] > 0.9 > best[1.0]
    # The exact accuracy of an attacker who knows the law, from the topics' own
    # accuracy.
    odds = math.exp(2.0)
    assert best[2.0] == pytest.approx(odds / (odds + 3), abs=0.05)


def test_damaged_files_are_refused(made: topics.TopicFile) -> None:
    """A changed file of topics is refused or has another digest."""
    path = topics.topic_path("damaged")
    first = made.sizes["4"]
    for wrong in (
        replace(first, words=first.words[:3]),
        replace(first, centres=first.centres[:3]),
        replace(first, words=(first.words[0],) * 4),
        replace(first, counts=(0, 1, 1, 1)),
    ):
        path.write_bytes(
            topics.encode(replace(made, name="damaged", sizes={"4": wrong}))
        )
        with pytest.raises(LexiconError, match="damaged"):
            topics.read("damaged")
    path.write_bytes(b"{}")
    with pytest.raises(LexiconError, match="not a topics file"):
        topics.read("damaged")
    path.unlink()


def test_topics_of_another_lexicon_are_refused(made: topics.TopicFile) -> None:
    """Where the lexicon of the view has changed, centres mean nothing."""
    other = replace(made, name="other", view_content={"lexicon": "0" * 64})
    path = made_topics.save(other)
    with pytest.raises(LexiconError, match="build them again"):
        dptext.open_pipeline("topics", {"lexicon": "topics:other"})
    path.unlink()


def test_a_name_is_asked_for() -> None:
    """Without topics the profile says how to make some."""
    with pytest.raises(LexiconError, match="dptext topics build"):
        dptext.open_pipeline("topics")
    with pytest.raises(LexiconError, match="no topics named"):
        dptext.open_pipeline("topics", {"lexicon": "topics:nobody"})
    with pytest.raises((UsageError, LexiconError), match="no size 5"):
        dptext.open_pipeline("topics", {"lexicon": "topics:made/5"})


def test_texts_of_another_language_are_warned_of(tmp_path: Path) -> None:
    """They are drawn for as all texts are; their owner hears that they say little."""
    source = tmp_path / "in.txt"
    source.write_text("Привет как твои дела сегодня\n" * 20 + "你好你好吗\n" * 20)
    ran = here(
        "sanitize", str(source), "--topics", "made", "-o", str(tmp_path / "out.txt")
    )
    assert ran.code == 0
    assert "another language" in " ".join(ran.err.split())


def test_a_view_that_is_not_repeatable_refuses_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With a key, an equal text with another topic would share random bits."""
    from dptext.views import sif

    monkeypatch.setattr(sif.Sif, "is_repeatable", False)
    source = tmp_path / "in.txt"
    source.write_text("one\n")
    arguments = ("sanitize", str(source), "--topics", "made", "-o")
    target = tmp_path / "out.txt"
    assert here(*arguments, str(target)).code == 0
    ran = here(*arguments, str(tmp_path / "keyed.txt"), "--seed", "1")
    assert ran.code == 2
    assert "seed" in ran.err
    assert not (tmp_path / "keyed.txt").exists()
