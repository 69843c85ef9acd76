"""The benchmark of topics: rows are apart, accuracies those of an exact attacker."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import private_rows, topics
from tests import made_topics


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put small files in the place of the test data."""
    monkeypatch.setattr(private_rows, "TEXTS", tmp_path)
    private_rows.read_rows.cache_clear()
    public = made_topics.public_texts()
    assert public.labels is not None
    lines = [
        json.dumps({"text": text, "label": label}) + "\n"
        for text, label in zip(public.texts, public.labels, strict=True)
    ]
    with gzip.open(tmp_path / "small.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(lines)
    return tmp_path


def test_measured_rows_made_no_topic(rows: Path) -> None:
    """Public and measured rows of one file, or of two equal ones, share no text."""
    corpus = topics.Corpus("small", "small", "small", 160)
    public, measured = topics.divided(corpus)
    assert len(public) == 160
    assert not {text for text, _ in public} & {text for text, _ in measured}
    assert len(measured) == 80


@pytest.mark.parametrize("labelled", [False, True])
def test_a_attacker_gains_with_epsilon(rows: Path, labelled: bool) -> None:
    """From chance to what the nearest topic tells, for each number of topics."""
    if labelled:
        pytest.importorskip("sklearn")
    public, measured = topics.divided(topics.Corpus("small", "small", "small", 160))
    document = topics.made(public, labelled=labelled)
    assert document.numbers == [4, 16]
    for _, accuracies in topics.kept(document, public, measured):
        assert accuracies == sorted(accuracies)
        assert accuracies[0] < 0.75
        assert accuracies[-1] > 0.9
    assert np.isfinite(accuracies).all()
