"""Calls that are refused, and reports that were edited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.golden.commands import GOLD, IN, KEY, SEED, TEXT, VECTORS, settings
from tests.golden.running import Entry, checked, run


def refused() -> dict[str, tuple[str, ...]]:
    """Return calls that end with another exit code than 0, or look as if they did."""
    one = ("sanitize", f"{IN}two.jsonl", *GOLD)
    named = (*one, *TEXT)
    out = ("-o", "o.jsonl", "-q")
    calls: dict[str, tuple[str, ...]] = {
        "no command": (),
        "unknown command": ("sanitise",),
        "unknown option": (*named, "--nonsense"),
        "unknown field": (*one, "--field", "body", *out),
        "missing file": ("sanitize", "no.jsonl", *TEXT, *GOLD),
        "folder for a file": ("sanitize", IN, *TEXT, *GOLD),
        "odd suffix": ("sanitize", f"{IN}odd.docx", *TEXT, *GOLD),
        "unknown format": (*named, "--format", "xml"),
        "unknown profile": (*named, "-p", "balancd"),
        "missing profile": (*named, "-p", "missing.yaml"),
        "unknown mechanism": (*named, "--mechanism", "rnk"),
        "unknown lexicon": (*named[:2], *TEXT, "--lexicon", "nowhere"),
        "unknown decoder": (*named, "--decode", "nope"),
        "unknown model": (*named, "--set", "decoder={name: ngram, model: nope}"),
        "no-such key": (*named, "--key-file", "no-such-key"),
        "weak key": (*named, "--key-file", f"{IN}weak-key"),
        "key and seed": (*named, *KEY, *SEED),
        "two epsilons": (*named, "--risk", "10%"),
        "bad risk": (*named[:2], *TEXT, "--lexicon", "gold", "--risk", "100%"),
        "mapping of rank": (*named, "--set", "mapping=nearest"),
        "space of nowhere": (*named, "--set", "space=nowhere"),
        "missing and skip": (*named, "--missing", "skip"),
        "quarantine nowhere": (*named, "--on-error", "quarantine"),
        "out and in place": (*named, "-o", "o.jsonl", "--in-place"),
        "output in no folder": (*named, "-o", "nowhere/at/all.jsonl"),
        "output is the input": (*named, "-o", f"{IN}two.jsonl"),
        "id twice": ("sanitize", f"{IN}twice.jsonl", *TEXT, *GOLD, "--id", "id", *out),
        "field and id": (*one, "--field", "id", "--id", "id", *out),
        "not text": (*one, "--field", "id", *out),
        "limit without ledger": (*named, "--limit", "9", *out),
        "delta without ledger": (*named, "--limit-delta", "0.1", *out),
        "keep list missing": (*named, "--set", "tokens.keep.files=[no.txt]", *out),
        "unknown form": (*named, "--set", "tokens.forms=passport", *out),
        "embed without output": ("embed", f"{IN}two.jsonl", *TEXT, *VECTORS),
        "embed odd suffix": ("embed", f"{IN}two.jsonl", *TEXT, *VECTORS, "-o", "o.txt"),
        "embed rank": (
            "embed",
            f"{IN}two.jsonl",
            *TEXT,
            *VECTORS,
            "-o",
            "o.npy",
            "--mechanism",
            "rank",
        ),
        "check nothing": ("check", "no.jsonl"),
        "check without report": ("check", f"{IN}two.jsonl"),
        "report of no report": ("report", f"{IN}two.jsonl"),
        "calibrate to nothing": (
            "calibrate",
            "--risk",
            "0.001%",
            "--lexicon",
            "gold",
        ),
        "calibrate total": (
            "calibrate",
            "--risk",
            "20%",
            "--lexicon",
            "gold",
            *settings("budget={name: per-text, epsilon: 9}"),
        ),
        "audit unknown": ("audit", "nothing"),
        "ledger missing": ("ledger", "show", "no.db"),
        "import nothing": ("lexicon", "import", f"{IN}empty.txt", "--name", "none"),
        "import a bad name": ("lexicon", "import", f"{IN}gold.vec", "--name", "../x"),
        "import a folder": ("lexicon", "import", IN, "--name", "none"),
        "lstm": (
            "evaluate",
            f"{IN}two.jsonl",
            f"{IN}two.jsonl",
            "--classifier",
            "lstm",
        ),
        "info of nothing": ("lexicon", "info", "nowhere"),
        "unknown profile shown": ("list", "profiles", "nothing"),
        "unknown mechanism shown": ("list", "mechanisms", "nothing"),
        "version": ("--version",),
        "help": ("sanitize", "--help"),
    }
    calls |= {
        f"set {given}": (*named, "--set", given, *out)
        for given in (
            "tokens.numbr=mask",
            "tokens.number=hide",
            "tokens",
            "=x",
            "colour=red",
            "mechanism.k=0",
            "budget.name=nothing",
        )
    }
    calls |= {
        f"epsilon {given}": (*named[:2], *TEXT, "--epsilon", given)
        for given in ("nan", "0", "-1", "501", "x")
    }
    calls |= {
        f"profile {name}": (*named, "-p", IN + name, *out)
        for name in ("wrong.yaml", "twice.yaml", "torn.yaml")
    }
    calls |= {
        f"record {name}": ("sanitize", IN + name, *TEXT, *GOLD, "-o", f"o.{name}")
        for name in (
            "broken.jsonl",
            "noutf.jsonl",
            "ragged.csv",
            "cut.jsonl.gz",
            "absent.jsonl",
        )
    }
    return calls


# Edits of a report, by the path of a value.
EDITS: dict[str, tuple[str, Any]] = {
    "nothing": ("audience", "public"),
    "kind": ("report", "other"),
    "version": ("version", 99),
    "success": ("success", False),
    "profile": ("run.profile", "strict"),
    "epsilon": ("guarantee.bound.epsilon", 5.0),
    "setting": ("run.settings.budget.epsilon", 5.0),
    "weights": ("run.settings.mechanism.k", 31),
    "notion": ("guarantee.bound.notion", "metric-DP"),
    "sentence": ("guarantee.wording.sentence", "Nobody can read this."),
    "loss": ("guarantee.bound.worst_loss", 1.0),
    "delta": ("guarantee.bound.delta", 0.1),
    "covered": ("guarantee.scope.covered", []),
    "not covered": ("guarantee.scope.not_covered", []),
    "conditions": ("guarantee.scope.conditions", []),
    "risk": ("words.risk.success", 0.01),
    "baseline": ("words.risk.baseline", 0.01),
    "no risk": ("words.risk", None),
    "layouts": ("guarantee.wording.form_layouts", ["none"]),
    "measures": ("vectors.measures", None),
    "step": ("vectors.step", 0.5),
    "rows": ("output.rows", 7),
    "digest": ("output.sha256", "0" * 64),
    "size": ("output.bytes", 7),
    "file": ("output.file", "other.jsonl"),
    "lexicon": ("run.lexicon", "other"),
    "lexicon digest": ("run.lexicon_digest", "0" * 64),
    "settings digest": ("run.settings_digest", "0" * 64),
    "key": ("run.key", "random"),
    "layout": ("run.layout.fields", ["who"]),
    "format": ("run.layout.format", "csv"),
    "surplus": ("surplus", 1),
}
POLICIES: dict[str, tuple[str, ...]] = {
    "max epsilon": ("--set", "max_epsilon=5"),
    "max epsilon met": ("--set", "max_epsilon=6"),
    "max loss": ("--set", "max_loss=5"),
    "max risk": ("--set", "max_risk=1%"),
    "max risk met": ("--set", "max_risk=99%"),
    "notion": ("--set", "notion=metric-DP"),
    "nothing allowed": ("--set", "allow=case"),
    "unsigned": ("--verify-key", f"{IN}sign.pem"),
}


def _edit(data: Any, path: str, value: object) -> None:
    *way, last = path.split(".")
    for name in way:
        data = data[name]
    data[last] = value


def edited(command: str, out: str) -> Entry:
    """Edit the report of an export in many ways; keep the rules that fail."""
    options = GOLD if command == "sanitize" else VECTORS
    run(command, f"{IN}in.jsonl", *TEXT, *options, *KEY, "-o", out, "-q")
    side = Path(f"{out}.dptext.json")
    honest = side.read_bytes()
    entry: Entry = {}
    for name, (path, value) in EDITS.items():
        data = json.loads(honest)
        try:
            _edit(data, path, value)
        except (KeyError, TypeError):
            continue  # this kind of report has no such value
        side.write_text(json.dumps(data))
        entry[name] = checked(out)
    side.write_bytes(honest)
    for name, policy in POLICIES.items():
        entry[f"policy {name}"] = checked(out, *policy)
    Path(out).write_bytes(Path(out).read_bytes() + b"\n")
    entry["longer output"] = checked(out)
    side.unlink()
    entry["no report"] = checked(out)
    return entry
