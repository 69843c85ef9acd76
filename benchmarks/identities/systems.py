"""What makes texts private: profiles of dptext with settings, and released peers."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.private_rows import privatized
from dptext import __version__, open_pipeline
from dptext.errors import DptextError
from dptext.pipeline import Pipeline
from dptext.run.choices import read_keys

PEERS = {"presidio": "Presidio", "scrubadub": "scrubadub", "philter": "Philter"}
PROFILES = ("strict", "balanced", "readable")
# Words of the lexicon that are copied, for people to choose.
LADDER = (500, 1_000, 2_000, 3_000, 5_000, 12_000, 20_000, 60_000)
COMMON = "readable tokens.common="
_ABSENT = 3
_PEER = Path(__file__).with_name("peer.py")


class LeftOut(Exception):
    """A system that cannot be measured here, and why."""


@dataclass(frozen=True, slots=True)
class Private:
    """Private texts, the processor seconds that they took, and what made them."""

    texts: Sequence[str]
    seconds: float
    versions: dict[str, str]


def default_systems() -> tuple[str, ...]:
    """Return the names of all systems."""
    return (*PROFILES, *(f"{COMMON}{count}" for count in LADDER), *PEERS)


def opened(system: str) -> Pipeline:
    """Make a profile with settings ready: "readable tokens.common=500".

    Raises LeftOut for settings that this version does not know.
    """
    profile, *settings = system.split()
    try:
        return open_pipeline(profile, read_keys(settings))
    except DptextError as error:
        raise LeftOut(str(error)) from None


def run(
    system: str, texts: Sequence[str], python: str, data: Path, seed: int
) -> Private:
    """Make texts private. Raises LeftOut."""
    if system in PEERS:
        return _peer(system, texts, python, data)
    pipeline = opened(system)
    privatized(pipeline, texts[:20], seed)  # tables are made once
    began = time.process_time()
    out, _, _ = privatized(pipeline, texts, seed)
    seconds = time.process_time() - began
    versions = {"dptext": __version__, "lexicon": pipeline.lexicon.digest[:12]}
    return Private(out, seconds, versions)


def _peer(name: str, texts: Sequence[str], python: str, data: Path) -> Private:
    """Run a peer with an interpreter that has it."""
    environment = {**os.environ, "NLTK_DATA": str(data / "nltk_data")}
    ran = subprocess.run(
        (python, str(_PEER), name),
        input=json.dumps(list(texts)),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or [""])[-1]
        absent = ran.returncode == _ABSENT
        why = "not installed (--peers PYTHON)" if absent else "failed"
        raise LeftOut(f"{why}: {last}")
    answer = json.loads(ran.stdout)
    return Private(answer["texts"], answer["seconds"], answer["versions"])
