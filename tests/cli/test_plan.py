"""`dptext sanitize --plan`: the statement before anything is spent."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

from dptext import calibration, lexicons, pipeline, profile
from dptext.engine import plan as plans
from dptext.measures import bayes_risk
from dptext.randomness import RunKey
from dptext.types import Record
from tests.cli.running import here, lexicon, small
from tests.keys import put


def test_a_plan_for_people(tmp_path: Path) -> None:
    """Guarantee, risk, share of change, examples; the file is not read."""
    target = tmp_path / "absent-of-json.jsonl"
    target.write_text("this is no JSON")
    ran = here("sanitize", "--plan", str(target), *small(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    shown = " ".join(ran.out.decode().split())
    for part in ("locally differentially private", "attacker", " changed "):
        assert part in shown
    assert "all 15 bytes" in shown
    assert "The room was clean and the staff" in shown


def test_json_for_machines(tmp_path: Path) -> None:
    """Every figure, and the same examples each time."""
    source = tmp_path / "in.txt"
    source.write_bytes(b"x" * 10**6)
    arguments = ("sanitize", "--plan", str(source), *small(tmp_path), "--json")
    runs = [here(*arguments) for _ in range(2)]
    first, second = (json.loads(ran.out) for ran in runs)
    assert first["bytes"] == 10**6
    assert first["seconds"] > 0
    assert first["examples"] == second["examples"]
    assert first["changed"] == second["changed"]


@pytest.mark.parametrize("mechanism", ["rank", "santext"])
def test_the_share_that_changes_is_the_expected_one(
    tmp_path: Path, mechanism: str
) -> None:
    """Within 0.02 of the exact share: 20,000 draws err by 0.0035 (one in 10^8)."""
    recipe = profile.parse(
        {
            "mechanism": mechanism,
            "lexicon": lexicon(tmp_path),
            "budget": {"name": "uniform", "epsilon": 2.0},
        },
        "test.yaml",
    )
    sanitizer = pipeline.build(recipe, lexicons.find(recipe.lexicon))
    plan = plans.plan(sanitizer, bayes_risk=False)
    weights = bayes_risk.prior_of_replaced(sanitizer.lexicon, recipe.tokens)
    ids = np.arange(len(weights), dtype=np.int32)
    law = sanitizer.mechanism.probs(ids, 2.0)
    assert plan.changed == pytest.approx(1 - weights @ np.diag(law), abs=0.02)


def test_a_plan_says_what_the_run_promises(tmp_path: Path) -> None:
    """Its guarantee is that of the same command without --plan, word by word."""
    (tmp_path / "in.jsonl").write_text('{"id":"1","text":"the film was good"}\n')
    key = str(put(tmp_path / "key", bytes(range(32))))
    run = (
        "sanitize",
        str(tmp_path / "in.jsonl"),
        "--field",
        "text",
        "--id",
        "id",
        "--drop",
        "id",
        "--key-file",
        key,
        *small(tmp_path),
        "--ledger",
        str(tmp_path / "spent.db"),
        "--subject",
        "id",
        "--limit",
        "90",
    )
    out = tmp_path / "o.jsonl"
    plan = json.loads(here(*run, "-o", str(out), "--plan", "--json").out)
    assert not out.exists()
    assert not (tmp_path / "spent.db").exists()
    report = tmp_path / "r.json"
    ran = here(*run, "-o", str(out), "--report", str(report), "-q")
    assert ran.code == 0, ran.err
    promise = json.loads(report.read_bytes())["guarantee"]
    # A report leaves out default values.
    planned = plan["guarantee"]
    assert planned["strength"] == promise["strength"]
    other = [
        key
        for part in ("bound", "scope", "wording")
        for key, value in promise[part].items()
        if planned[part][key] != value
    ]
    assert other == ["text_loss"]
    written = promise["bound"]["text_loss"]
    assert written.items() <= planned["bound"]["text_loss"].items()
    ran = here("sanitize", "--plan", "--seed", "1")
    assert (ran.code, ran.err) == (2, "dptext: give --plan or --seed, not both\n")


def test_slow_machines_have_a_speed(tmp_path: Path) -> None:
    """No speed is 0.00 MB a second."""
    ran = here("sanitize", "--plan", *small(tmp_path))
    (speed,) = re.findall("speed here +([0-9.e-]+) MB", ran.out.decode())
    assert float(speed) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["readable", "balanced"])
def test_the_time_of_a_plan_is_of_the_order_of_a_run(name: str) -> None:
    """What is loaded once counts as no text: within a factor of ten, it was 400."""
    recipe = profile.load(name)
    ready = calibration.build(recipe, lexicons.find(recipe.lexicon))
    sentences = [
        " ".join((*plans.SENTENCES[n % 6 :], f"number {n}")) for n in range(2000)
    ]
    planned = plans.plan(ready, plans.Size(sum(map(len, sentences))))
    records = [Record(n, (text,), None) for n, text in enumerate(sentences)]
    began = time.perf_counter()
    for first in range(0, len(records), 256):
        randomness = ready.randomness(RunKey.from_seed(1))
        ready.privatize(records[first : first + 256], randomness)
    taken = time.perf_counter() - began
    assert planned.seconds is not None
    assert taken / 10 < planned.seconds < 10 * taken


def test_the_time_is_a_range(tmp_path: Path) -> None:
    """Texts and machines differ: two ends, a factor of nine apart."""
    source = tmp_path / "in.txt"
    source.write_bytes(b"x" * 10**9)
    ran = here("sanitize", "--plan", str(source), *small(tmp_path))
    shown = " ".join(ran.out.decode().split())
    assert re.search(
        r"time \S+ (s|min|h) to \S+ (min|h), and seconds to start, if", shown
    )


def test_faults(tmp_path: Path) -> None:
    """A missing file is one line."""
    ran = here("sanitize", "--plan", "nowhere.jsonl", *small(tmp_path))
    assert ran.code in (2, 4)
    assert ran.err.count("\n") == 1


def test_compressed_files_say_what_was_counted(tmp_path: Path) -> None:
    """Compressed bytes are taken as more text, and the plan says so."""
    packed, plain = tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl"
    packed.write_bytes(b"x" * 2000)
    plain.write_bytes(b"x" * 500)
    ran = here(
        "sanitize", "--plan", str(packed), str(plain), *small(tmp_path), "--json"
    )
    plan = json.loads(ran.out)
    assert (plan["bytes"], plan["text_bytes"]) == (2500, 500 + 2000 * plans.UNPACKED)
    ran = here("sanitize", "--plan", str(packed), *small(tmp_path))
    shown = " ".join(ran.out.decode().split())
    assert f"2,000 compressed bytes hold {plans.UNPACKED} times as many" in shown


def test_a_plan_can_be_a_page(tmp_path: Path) -> None:
    """--html writes it instead, and over no input."""
    page = tmp_path / "plan.html"
    ran = here("sanitize", "--plan", *small(tmp_path), "--html", str(page))
    assert (ran.code, ran.out, ran.err) == (0, b"", "")
    assert b"locally differentially private" in page.read_bytes()
    ran = here("sanitize", "--plan", str(page), *small(tmp_path), "--html", str(page))
    assert ran.code == 2


def test_a_plan_names_fields_that_are_left_out_and_pseudonyms(tmp_path: Path) -> None:
    """Both stand in the short answer, and in the data."""
    used = ("--drop", "phone", "--pseudonym", "customer", *small(tmp_path))
    shown = here("sanitize", "--plan", *used).out.decode()
    assert re.search(r"left out +phone\b", shown)
    assert "no guarantee, equal values stay equal: customer" in shown
    plan = json.loads(here("sanitize", "--plan", *used, "--json").out)
    assert (plan["dropped"], plan["pseudonyms"]) == (["phone"], ["customer"])
