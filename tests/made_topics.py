"""Small files of topics, made of public sentences by rule, for tests."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from dptext.evaluation import topics as making
from dptext.lexicons import topics
from dptext.lexicons.topics import PublicSource, TopicFile

SUBJECTS = {
    "money": "the bank raised prices and the company reported profit on shares".split(),
    "games": "the team won the match and the players scored in the league".split(),
    "weather": "the storm brought rain and wind to the coast and the island".split(),
    "food": "the kitchen served soup and bread with cheese and fresh fruit".split(),
}


def public_texts(each: int = 60) -> making.PublicTexts:
    """Return sentences of four subjects with their labels."""
    rng = np.random.default_rng(11)
    texts, labels = [], []
    for number in range(each):
        for label, words in SUBJECTS.items():
            drawn = rng.choice(words, size=8)
            texts.append(" ".join([*drawn.tolist(), f"number {number}"]))
            labels.append(label)
    source = PublicSource("made.txt", "0" * 64, len(texts))
    return making.PublicTexts(texts, labels, (source,))


def make(name: str = "made", *, labelled: bool = False) -> TopicFile:
    """Build topics of sizes 4 and 8 and put them where `find` looks for them."""
    document = replace(built(labelled), name=name)
    save(document)
    return document


@cache
def built(labelled: bool) -> TopicFile:
    """Build topics of sizes 4 and 8."""
    public = public_texts()
    if not labelled:
        public = making.PublicTexts(public.texts, None, public.sources)
    return making.build("made", public, [4, 8], {"name": "sif"})


def save(document: TopicFile) -> Path:
    """Write a file of topics to the user's store."""
    path = topics.topic_path(document.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(topics.encode(document))
    return path
