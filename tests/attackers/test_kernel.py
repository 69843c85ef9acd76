from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dptext._built import VARIABLE, kernel_file
from dptext.attackers import kernel
from dptext.attackers.channel import Channel
from dptext.attackers.pairs import POWER, PairAttacker
from dptext.decoders import ngram
from dptext.tokens import kinds
from dptext.tokens.policy import Policy
from dptext.types import BudgetDescription, BudgetKind, Released
from tests import prepared, small
from tests.attackers import models

ROOT = Path(__file__).parents[2]
SIZE = 60
# A few frequent words; the others are rare enough to tell what a text is about.
LEXICON = small.lexicon(
    np.random.default_rng(0).normal(size=(SIZE, 7)),
    counts=[1e4 / (row + 1) ** 2 for row in range(SIZE)],
)
MODEL = models.model(LEXICON, seed=5)
EPSILONS = 1.0, 4.0
needs_kernel = pytest.mark.skipif(
    kernel.library is None, reason="kernel.c is not compiled: python hatch_build.py"
)


@cache
def channel(kind: BudgetKind) -> Channel:
    """Return a channel of words with one epsilon, or several."""
    budget = BudgetDescription(kind, *EPSILONS)
    mechanism = prepared.ready("rank", LEXICON)
    return Channel(LEXICON, Policy(), mechanism, budget, prior=np.array(LEXICON.prior))


@cache
def decoder(kind: BudgetKind, **params: Any) -> ngram.Ngram:
    """Return a decoder with a small model."""
    chosen = ngram.Params(**params)
    attacker = PairAttacker(
        channel(kind),
        MODEL,
        count=chosen.candidates,
        weight=chosen.weight,
        topic=chosen.topic,
        kept=16,
    )
    return ngram.Ngram(chosen, attacker, MODEL)


@cache
def attacker(kind: BudgetKind, **params: Any) -> PairAttacker:
    """Return an attacker with a small model."""
    return PairAttacker(channel(kind), MODEL, **params)


@st.composite
def released(draw: st.DrawFn) -> Released:
    """Make a batch of texts of drawn words among known pieces and ends of sentences."""
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    known = [kinds.UNKNOWN, kinds.NUMBER, kinds.STOP_WORD, kinds.PUNCTUATION]
    share = draw(st.sampled_from([0.02, 0.3, 0.9]))
    count, ends = sum(sizes), np.cumsum(sizes)
    flags = np.where(rng.random(count) < share, rng.choice(known, count), kinds.WORD)
    positions = np.flatnonzero(flags == kinds.WORD)
    marks = (flags == kinds.PUNCTUATION) & (rng.random(count) < 0.5)
    texts = np.searchsorted(ends, positions, side="right")
    drawn = rng.integers(0, SIZE, len(positions)).astype(np.int32)
    pieces = [LEXICON.words[row] for row in rng.integers(0, SIZE, count).tolist()]
    eps = rng.uniform(*EPSILONS, len(positions))
    coded = (flags | marks * kinds.ENDER).astype(np.uint8)
    return Released(
        pieces=pieces,
        flags=coded,
        ends=ends,
        positions=positions,
        texts=texts,
        drawn=drawn,
        eps=eps,
    )


@contextmanager
def numpy_alone() -> Iterator[None]:
    """Read without the kernel."""
    library, kernel.library = kernel.library, None
    try:
        yield
    finally:
        kernel.library = library


DECODERS: list[dict[str, Any]] = [
    {"mode": "mbr"},
    {"mode": "mbr", "fluency": 0.3, "candidates": 20, "topic": 0.0},
    {"mode": "mbr", "fluency": 0.0, "weight": 1.0},
    {"mode": "posterior", "candidates": 3},
    {"mode": "viterbi"},
    {"mode": "viterbi", "weight": 1.0, "candidates": 12},
]
ATTACKERS: list[dict[str, Any]] = [{"topic": POWER}, {"weight": 0.5}, {"count": 256}]


@needs_kernel
@settings(max_examples=60, deadline=None)
@given(released(), st.sampled_from([BudgetKind.WORD, BudgetKind.PAST]))
def test_the_kernel_has_the_bytes_of_numpy(batch: Released, kind: BudgetKind) -> None:
    """Words, posteriors and guesses, in every mode, of some 5,000 random chains."""

    def read() -> list[bytes]:
        arrays: list[NDArray[np.generic]] = [
            decoder(kind, **params).decode(batch) for params in DECODERS
        ]
        for each in (attacker(kind, **params) for params in ATTACKERS):
            arrays += [*each.posterior(batch), each.guess(batch), each.best_path(batch)]
        return [array.tobytes() for array in arrays]

    by_kernel = read()
    with numpy_alone():
        assert read() == by_kernel


def build(**variables: str) -> subprocess.CompletedProcess[str]:
    """Run the build by itself."""
    return subprocess.run(
        [sys.executable, ROOT / "hatch_build.py"],
        env={**os.environ, VARIABLE: "", **variables},
        capture_output=True,
        check=False,
        text=True,
    )


@pytest.mark.parametrize(
    "variables",
    [
        {"PATH": "", "CC": ""},
        {"PATH": "", "CC": f"{sys.executable} -c 0"},
        {VARIABLE: "numpy"},
    ],
    ids=["no compiler", "a compiler that writes nothing", "switched off"],
)
def test_a_build_without_a_compiler_succeeds(variables: dict[str, str]) -> None:
    """It compiles nothing, says so, and leaves no file."""
    before = set(kernel_file().parent.iterdir())
    done = build(**variables)
    assert (done.returncode, done.stdout) == (0, "nothing was compiled\n")
    assert set(kernel_file().parent.iterdir()) == before


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({VARIABLE: "required", "PATH": "", "CC": ""}, "no C compiler compiles"),
        ({VARIABLE: "requierd"}, "give required or numpy"),
    ],
)
def test_a_build_that_needs_the_kernel_fails_loudly(
    variables: dict[str, str], problem: str
) -> None:
    """A wheel for a platform is never made without its kernel."""
    done = build(**variables)
    assert done.returncode == 1
    assert problem in done.stderr


@needs_kernel
def test_a_build_repeats_its_bytes() -> None:
    """Two builds give one library, which names no folder of the machine."""
    before = kernel_file().read_bytes()
    required = {VARIABLE: "required"}
    assert build(**required).returncode == 0
    assert kernel_file().read_bytes() == before
    for folder in (str(ROOT), "/tmp/", "/var/folders/"):
        assert folder.encode() not in before


@needs_kernel
def test_the_library_is_that_of_this_source() -> None:
    """Its name has the digest of kernel.c, in the package's own folder."""
    assert kernel.library is not None
    assert Path(kernel.library._name) == kernel_file()
    assert kernel_file().parent == Path(kernel.__file__).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "numpy")
        assert kernel._open() is None
