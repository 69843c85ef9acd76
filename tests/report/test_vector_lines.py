"""Lines of an answer about released vectors, from figures alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dptext.measures.vector_figures import Distortion, VectorAttack, VectorMeasures
from dptext.report.units import vector_lines
from tests.cli.running import here

MEASURES = VectorMeasures(
    distortion=Distortion(
        pairs=10,
        distance=1.0,
        expected_distance=9.0,
        distance_error=8.0,
        corrected_error=2.0,
        product=0.5,
        expected_product_error=3.0,
        product_error=3.0,
    ),
    noise_lengths=(1.0, 2.0, 3.0),
    ruler=VectorAttack(
        of="words",
        choices=1000,
        draws=2000,
        baseline=0.05,
        nearest=0.25,
        best=0.5,
        low=0.4,
        high=0.6,
    ),
)


def test_the_better_guess_counts() -> None:
    """Of the nearest word and the best guess; what needs no vector stands beside it."""
    attacker, distances = vector_lines(MEASURES)
    assert attacker.figures["found"] == 0.5
    assert "Finds at least 50% of originals among 1,000 words" in attacker.sentence
    assert "without the vector 5%" in attacker.sentence
    assert distances.figures["distance_error"] == 8.0


def test_who_has_the_seed_needs_no_guess() -> None:
    """No figure of a guess is shown."""
    (line,) = vector_lines(None)
    assert line.figures == {"found": None}


def used(folder: Path, *more: str) -> dict[str, Any] | None:
    """Embed some texts; return what the answer says of their use."""
    source = folder / "in.jsonl"
    source.write_text('{"text":"the film was good"}\n' * 3)
    run = ("embed", str(source), "-f", "text", "-o", str(folder / "out.npy"), "--json")
    ran = here(*run, *more)
    assert ran.code == 0, ran.err
    answer: dict[str, Any] = json.loads(ran.err)
    return answer.get("use")


@pytest.mark.parametrize("pool", ["mean", "sif"])
def test_directions_say_what_is_left_of_texts(pool: str, tmp_path: Path) -> None:
    """As measured at the same loss, or at the next larger one; more than nothing."""
    found = used(tmp_path, "--pool", pool, "--epsilon", "5")
    assert found is not None
    assert found["measured_at_loss"] == 6.0
    assert 0.45 < found["accuracy"] < found["original"]
    assert found["sentence"].startswith("A classifier of public English news was right")
    assert "(at 6 nats, with less noise)" in found["sentence"]
    assert used(tmp_path, "--pool", pool, "--epsilon", "30") is None


def test_directions_of_other_public_texts_were_not_measured(tmp_path: Path) -> None:
    """So nothing is said of them."""
    public = tmp_path / "public.txt"
    public.write_text("the film was old\na good story\nthe sea is calm\n")
    assert used(tmp_path, "--pool", "sif", "--public", str(public)) is None
