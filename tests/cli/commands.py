"""All commands with arguments that end soon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from dptext.cli.app import app
from dptext.word_file import encode
from tests.cli import running
from tests.made_words import listed

RECORDS = '{"text":"the film was good","a":"x"}\n{"text":"the sad story","a":"y"}\n'
# Arguments with which each command ends soon, without the option that is tried.
SMALL = ("--lexicon", "words.vec", "--epsilon", "3")
GOOD: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "init": (("in.jsonl",), ()),
    "sanitize": (("in.jsonl",), (*SMALL, *running.BALANCED, "-q", "--no-bayes-risk")),
    "embed": (("in.jsonl",), (*SMALL, "-q", "-o", "out.npy")),
    "evaluate": (("in.jsonl", "in.jsonl"), ("--lexicon", "words.vec")),
    "compare": (("in.jsonl",), (*SMALL, "-m", "rank", "--sample", "2", "-q")),
    "explain": (("the film",), (*SMALL, *running.BALANCED)),
    "calibrate": (("balanced",), ("--risk", "30%", "--lexicon", "words.vec")),
    "audit": (
        ("balanced",),
        (*SMALL, "--inputs", "4", "--runs", "100", "--draws", "1000"),
    ),
    "check": ((), ()),
    "report": (("report.json",), ()),
    "list": ((), ()),
    "doctor": ((), ()),
    "ledger show": (("spent.db",), ()),
    "ledger export": (("spent.db",), ()),
    "ledger verify": (("spent.db",), ()),
    "lexicon list": ((), ()),
    "lexicon info": (("words.vec",), ()),
    "lexicon import": (("words.vec",), ("--name", "mine")),
    "lexicon adapt": (("in.jsonl",), ("--name", "mine", "--lexicon", "words.vec")),
    "lexicon ngrams": (("in.jsonl",), ("--name", "mine", "--lexicon", "words.vec")),
    "words build": (
        ("in.jsonl",),
        ("-p", "readable", "--seed", "1", "--epsilon", "20", "-o", "own.words"),
    ),
    "words show": (("own.words",), ()),
    "words confirm": (("own.words", "film"), ()),
    "words remove": (("own.words", "film"), ()),
    "topics build": (("in.jsonl",), ("--name", "mine", "--sizes", "2")),
    "topics show": (("mine",), ()),
    "topics estimate": (("in.jsonl",), ()),
}


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and objects of all commands."""
    for name in group.commands:
        command = group.get_command(None, name)
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


ALL = dict(commands(typer.main.get_command(app)))


def write_inputs(folder: Path) -> None:
    """Write the inputs that the good arguments name."""
    running.lexicon(folder)
    (folder / "in.jsonl").write_text(RECORDS)
    (folder / "folder").mkdir()
    (folder / "binary").write_bytes(b"\xff\xfe\x1b[31m\n" * 9)
    (folder / "report.json").write_text("{}")
    (folder / "own.words").write_bytes(encode(listed("film")))
