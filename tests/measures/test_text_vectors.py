"""What vectors of whole texts are worth at a small epsilon, as measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dptext.measures.vector_figures import TopicAccuracy, worth_of_texts
from dptext.vectors import release
from dptext.vectors.release import VectorRelease
from tests.cli.running import here

GIVEN = b'{"text":"the film was good"}\n' * 3


def measured(pool: str, loss: float | None, **over: object) -> TopicAccuracy | None:
    """Return the figures of settings at a loss of a text."""
    return figures(prepared(pool, **over), loss)


def prepared(pool: str, **over: object) -> VectorRelease:
    """Make a release ready."""
    return release.prepare(release.parse(over, {"pool": pool}))


def figures(chosen: VectorRelease, loss: float | None) -> TopicAccuracy | None:
    """Return the figures of a release at a loss of a text."""
    return worth_of_texts(chosen.settings.plain(), chosen.base_digest, loss)


@pytest.mark.parametrize("pool", ["mean", "sif"])
def test_means_hold_nothing_at_a_small_epsilon(pool: str) -> None:
    """Up to 20 nats a classifier is near chance, and noise hides how texts differ."""
    chosen = prepared(pool, mechanism="discrete-gaussian")
    for loss, at in ((2.0, 8.0), (8.0, 8.0), (12.0, 20.0)):
        found = figures(chosen, loss)
        assert found is not None
        assert found.loss == at
        assert found.accuracy < found.chance + 0.05 < found.original
        assert found.noise > 20 * found.spread


def test_other_settings_and_larger_losses_were_not_measured() -> None:
    """Neither another mechanism's parameters nor more than 20 nats have figures."""
    mean = prepared("mean")
    assert figures(mean, 21.0) is None
    assert figures(mean, None) is None
    assert measured("word", 8.0) is None
    assert measured("mean", 8.0, tokens={"stop_word": "drop"}) is None
    assert measured("mean", 8.0, mechanism={"delta": 1e-3}) is None
    assert worth_of_texts({"embed": 3}, "", 8.0) is None


def test_a_run_says_it(tmp_path: Path) -> None:
    """In its answer, with the figures, below 20 nats alone."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.npy"
    source.write_bytes(GIVEN)
    run = ("embed", str(source), "-f", "text", "-o", str(out), "--json")
    noise = ("--mechanism", "discrete-gaussian")
    ran = here(*run, *noise, "--pool", "sif")
    assert ran.code == 0, ran.err
    said = json.loads(ran.err)["use"]
    assert said["sentence"].startswith("Next to nothing is left: a classifier")
    assert said["accuracy"] < said["chance"] + 0.05
    ran = here(*run, *noise, "--epsilon", "500")
    assert "use" not in json.loads(ran.err)
