"""`dptext lexicon ngrams`, decoding by what it makes, and attackers on the way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import WORDS, here, lexicon, small


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a public corpus of words in fixed pairs, and keep models apart."""
    monkeypatch.setenv("DPTEXT_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(2)
    lines = []
    for number in range(300):
        pairs = rng.integers(0, len(WORDS) // 2, 6) * 2
        words = [WORDS[row + one] for row in pairs for one in (0, 1)]
        lines.append(json.dumps({"id": number, "text": " ".join(words) + "."}))
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def count_pairs(corpus: Path, folder: Path) -> None:
    """Make a model of the corpus."""
    where = ("--name", "pairs", "--lexicon", lexicon(folder), "--json")
    ran = here("lexicon", "ngrams", str(corpus), *where, "--licence", "CC0")
    assert ran.code == 0, ran.err
    assert "must be public" in ran.err
    counted = json.loads(ran.out)
    assert (counted["licence"], counted["counted"]) == ("CC0", 300 * 12)
    assert counted["pairs"] > 100


@pytest.mark.parametrize("mode", ["mbr", "viterbi"])
def test_a_run_decodes_the_same_bytes(mode: str, corpus: Path, tmp_path: Path) -> None:
    """With one key jobs and batches change no byte; the report says who wrote."""
    count_pairs(corpus, tmp_path)
    secret = tmp_path / "key"
    secret.write_bytes(bytes(range(64)))
    secret.chmod(0o600)
    decoder = ("--decode", "ngram", "--set", "decoder.model=pairs")
    options = (*small(tmp_path), *decoder, "--set", f"decoder.mode={mode}")
    outputs: list[bytes] = []
    for more in (("--batch-size", "7"), ("--jobs", "2"), ()):
        report = tmp_path / f"report{len(outputs)}.json"
        target = tmp_path / f"out{len(outputs)}.jsonl"
        ran = here(
            "sanitize",
            "-f",
            "text",
            str(corpus),
            "-o",
            str(target),
            "--key-file",
            str(secret),
            *options,
            "--report",
            str(report),
            *more,
        )
        assert ran.code == 0, ran.err
        outputs.append(target.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]
    written = json.loads(report.read_text())
    assert written["guarantee"]["scope"]["decoder"] == "ngram"
    assert (
        "decoding changes no guarantee" in written["guarantee"]["wording"]["decoding"]
    )
    assert any(
        "model by which words" in line
        for line in written["guarantee"]["scope"]["conditions"]
    )
    assert len(written["words"]["decoder_files"]["model"]) == 64
    assert written["private"]["words"]["describes"] == "decoded words"
    sidecar = f"{target}.dptext.json"
    assert here("check", str(target), "--lexicon", lexicon(tmp_path)).code in (0, 1)
    assert (
        json.loads(Path(sidecar).read_text())["guarantee"]["scope"]["decoder"]
        == "ngram"
    )


@pytest.mark.parametrize("damage", ["nope", "cut", "edited", "empty", "header"])
def test_a_model_that_is_named_is_sound_or_an_error(
    damage: str, corpus: Path, tmp_path: Path
) -> None:
    """One line and exit code 2, with `optional: true` and without; no draws instead."""
    count_pairs(corpus, tmp_path)
    array = tmp_path / "home" / "ngrams" / "pairs" / "gains.npy"
    content = array.read_bytes()
    array.write_bytes(
        {
            "nope": content,
            "cut": content[:-5],
            "edited": content[:-1] + bytes([content[-1] ^ 1]),
            "empty": b"",
            "header": content.replace(b"}", b" ", 1),
        }[damage]
    )
    name = "nope" if damage == "nope" else "pairs"
    for optional in ("true", "false"):
        for more in (("-q",), ()):
            ran = here(
                "sanitize",
                "-f",
                "text",
                str(corpus),
                *more,
                *small(tmp_path),
                "--decode",
                "ngram",
                "--set",
                f"decoder.model={name}",
                "--set",
                f"decoder.optional={optional}",
            )
            assert (ran.code, ran.out) == (2, b"")
            assert ran.err.count("\n") == 1
            assert "n-gram model" in ran.err


def test_attackers_show_in_an_evaluation(corpus: Path, tmp_path: Path) -> None:
    """Evaluate says how much each attacker finds, with intervals."""
    count_pairs(corpus, tmp_path)
    settings = ("--decode", "ngram", "--set", "decoder.model=pairs", *small(tmp_path))
    target = tmp_path / "out.jsonl"
    ran = here(
        "sanitize",
        "-f",
        "text",
        str(corpus),
        "-o",
        str(target),
        "--seed",
        "1",
        *settings,
    )
    assert ran.code == 0, ran.err
    page = tmp_path / "page.html"
    ran = here(
        "evaluate",
        str(corpus),
        str(target),
        "--profile",
        "balanced",
        *settings,
        "--json",
        "--html",
        str(page),
    )
    assert ran.code == 0, ran.err
    evaluated = json.loads(ran.out)
    names = [each["attacker"] for each in evaluated["in_context"]]
    assert names == ["as written", "alone", "ngram"]
    _, alone, pairs = (each["classes"][0] for each in evaluated["in_context"])
    assert pairs["low"] > alone["high"], "pairs of this corpus are fixed"
    assert [each["name"] for each in evaluated["word_attacks"]] == ["nearest guess"]
    assert "What attackers find" in page.read_text()
    shown = here(
        "evaluate",
        str(corpus),
        str(target),
        "--profile",
        "balanced",
        *settings,
        "--no-attackers",
    )
    assert b"attacker:" not in shown.out


def test_an_epsilon_for_a_risk_in_context(corpus: Path, tmp_path: Path) -> None:
    """Calibrate --attacker finds where it reaches the risk, below the other."""
    count_pairs(corpus, tmp_path)
    lexicon_ = ("--lexicon", lexicon(tmp_path))
    decoder = ("--set", "decoder.name=ngram", "--set", "decoder.model=pairs")
    common = (*lexicon_, "--risk", "40%", "--set", "mechanism.k=8", "--json")
    ran = here("calibrate", *common)
    assert ran.code == 0, ran.err
    alone = json.loads(ran.out)["rows"][0]["epsilon"]
    read = ("--attacker", "ngram", "--public-text", str(corpus))
    ran = here("calibrate", *common, *decoder, *read)
    assert ran.code == 0, ran.err
    row = json.loads(ran.out)
    assert row["epsilon"] < alone
    assert 0.3 < row["reading"]["classes"][0]["success"] <= 0.4
    ran = here("calibrate", *common, "--attacker", "ngram")
    assert ran.code == 2
    assert "--public-text" in ran.err
