"""Bytes under a key stay the same from release to release, until a law is changed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from dptext.pipeline import OUTPUT_LAWS
from tests.cli.running import BALANCED, environment, here, lexicon

pytestmark = pytest.mark.quick

TEXT = b"the film was good and the music was not bad\nold street, new house!\n" * 4
# The laws, and what they write for TEXT: the beginning of the sha256 of each output.
# Where an output changes, raise OUTPUT_LAWS to the coming version (once between two
# releases) and write the digests anew; the assertion shows them.
LAWS = "2.0.0"
OUTPUTS = {
    "rank": "abc884e798b7b4d7",
    "rank with forms": "4cdd3e411fb87404",
    "laplace": "41c5e1f6f1249584",
    "santext": "ffe35746bee74a5e",
    "tem": "2441ab9ba7d88e05",
    "discrete-gaussian": "1bca97801ffcf0db",
    "per-text": "0b0c35e4eaf66180",
    "record": "5846303a82553e71",
}
PROFILES: dict[str, tuple[str, ...]] = {
    "rank": ("--epsilon", "4", "--set", "mechanism.k=8"),
    "rank with forms": ("--epsilon", "4", "--set", "tokens.forms=[date]"),
    "laplace": ("--mechanism", "laplace", "--epsilon", "9"),
    "santext": ("--profile", "santext", "--epsilon", "9"),
    "tem": ("--profile", "tem", "--epsilon", "9"),
    "discrete-gaussian": ("--mechanism", "discrete-gaussian", "--epsilon", "9"),
    "per-text": ("--set", "budget={name: per-text, epsilon: 40}"),
    "record": ("--epsilon", "4", "--set", "strategy=record"),
}


def run(key: str, folder: Path, options: tuple[str, ...]) -> str:
    """Return the digest of the output of a keyed run."""
    words = ("--lexicon", lexicon(folder), "--no-bayes-risk")
    given = (*BALANCED, "--key-file", key, *words)
    done = here("sanitize", "--quiet", *given, *options, given=TEXT)
    assert done.code == 0, done.err
    return hashlib.sha256(done.out).hexdigest()[:16]


def test_outputs_are_those_of_the_laws(key: str, tmp_path: Path) -> None:
    """Several profiles write what they wrote when OUTPUT_LAWS was last raised."""
    found = {name: run(key, tmp_path, PROFILES[name]) for name in PROFILES}
    assert len(set(found.values())) == len(found)
    assert (OUTPUT_LAWS, found) == (LAWS, OUTPUTS)


@pytest.mark.parametrize("version", ["0.1.0", "7.8.9"])
def test_no_byte_follows_from_the_version_of_the_program(
    version: str, key: str, tmp_path: Path
) -> None:
    """A release that changes no law writes the same bytes under the same key."""
    words = ("--lexicon", lexicon(tmp_path), "--no-bayes-risk")
    options = (*BALANCED, "--key-file", key, *words)
    code = (
        f"from dptext import _version; _version.__version__ = {version!r}\n"
        "import dptext.__main__ as program\nprogram.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "sanitize", "-q", *options, *PROFILES["rank"]],
        input=TEXT,
        capture_output=True,
        env=environment(),
        check=True,
    )
    assert hashlib.sha256(done.stdout).hexdigest()[:16] == OUTPUTS["rank"]
