"""Every edit of an honest sidecar, of words or of vectors, fails the check."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dptext import signatures
from dptext.checking import exports, policy
from dptext.checking.recompute import Recomputer
from dptext.checking.verify import Finding
from dptext.cli import check
from dptext.lexicons import find
from dptext.run.work import SIDECAR
from tests.cli.running import BALANCED, here, lexicon
from tests.keys import PRIVATE

# Limits that hold for all, so that no verdict decides.
POLICY = policy.parse({"notion": ["LDP", "metric-DP"], "max_loss": 1e9}, "test")
_SMALL = ("--epsilon", "3", "--set", "mechanism.k=8")
SANITIZE = ("sanitize", "-f", "text", *_SMALL, *BALANCED)
EMBED = (
    "embed",
    "-f",
    "text",
    "--mechanism",
    "laplace",
    "--epsilon",
    "2",
    "--pool",
    "word",
)
RUNS = {
    "out.jsonl": (*SANITIZE, "--id", "id"),
    "out.csv": SANITIZE,
    "noise.jsonl": (
        "sanitize",
        "-f",
        "text",
        "--mechanism",
        "laplace",
        "--epsilon",
        "9",
    ),
    "out.npy": EMBED,
    "out.npz": (*EMBED, "--id", "id"),
    "out.parquet": (*EMBED, "--id", "id"),
}
# Edits that an unsigned report may have, with the reason.
FREE = {
    "run.dptext": "another version may have said all of it in the same words",
    "run.profile": "a plain name, which is no figure",
    "run.lexicon": "a plain name: the digest beside it is what counts",
    "run.layout.missing": "a file without such records says nothing of it",
    "run.layout.quoting": "without quotes a file reads alike with both",
    "signature": "without a key that verifies it nothing is known of a signature",
}
# How the input was read: vectors do not show it, and the guarantee depends only on
# whether there is an id.
OF_INPUT = ("id_field", "fields")
# Names that hold a figure, or are those of settings that they are not.
NO_NAMES = (
    "balanced with epsilon=1",
    "epsilon-1",
    "ε1",
    "1%",
    "risk of 1 percent",
    "x ",
    "strict",
    "balanced",
    "english",
    "builtin",
    "custom, from epsilon=1",
    "a" * 99,
    "",
    "custom, from strict with epsilon=1",
    "../x",
    "/tmp/x",
    "low-risk",
    "x\n",
)
_LEXICONS = ("english", "builtin")


@pytest.fixture(scope="module", params=RUNS)
def honest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Write an output and its sidecar."""
    name, folder = str(request.param), tmp_path_factory.mktemp("honest")
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    is_table = name.endswith(".csv")
    source = folder / f"in.{'csv' if is_table else 'jsonl'}"
    lines = ["id,text,n", "1,the film was good,2"]
    if not is_table:
        lines = ['{"id":"1","text":"the film was good"}', '{"id":"2","text":"bad"}']
    source.write_text("\n".join(lines) + "\n")
    command, *options = RUNS[name]
    words = ("--lexicon", lexicon(folder))
    ran = here(command, str(source), *options, *words, "-q", "-o", str(folder / name))
    assert ran.code == 0, ran.err
    return folder / name


@pytest.fixture(scope="module")
def recomputer(honest: Path) -> Recomputer:
    """Return the recomputer that all files of one check share."""
    return Recomputer([find(lexicon(honest.parent))])


def judged(path: Path, recomputer: Recomputer, *keys: signatures.Key) -> list[Finding]:
    """Return what `check` finds."""
    judge = check.judged(lambda: exports.on_disk(path), POLICY, keys, recomputer)
    return list(judge[0])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the path of each value in a document."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def others(value: Any) -> Iterator[Any]:
    """Give values that differ from one in little and in much."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1)
    elif isinstance(value, float):
        yield from (value - 0.0045, value * 0.99, value + 0.5)
    elif isinstance(value, str):
        yield from (f"{value} ", "", "x", "epsilon=1")
    elif value is None:
        yield from ("x", 0.5, {})
    elif isinstance(value, list):
        yield from ([*value, *value[:1], *([] if value else ["x"])], value[1:])
    elif isinstance(value, dict):
        yield {**value, "more": 1}


def put(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value in one place."""
    # What is not changed is shared.
    key, *rest = path
    changed = copy.copy(document)
    changed[key] = put(document[key], tuple(rest), value) if rest else value
    return changed


def without(document: Any, path: tuple[Any, ...]) -> Any:
    """Return a document without one of its keys, or one member of a list."""
    changed = copy.deepcopy(document)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return changed


def edits(text: str) -> Iterator[tuple[str, str]]:
    """Give where a document was edited, and it as text with the edit."""
    document = json.loads(text)
    for path in places(document):
        name, value = ".".join(map(str, path)), document
        for key in path:
            value = value[key]
        yield name, json.dumps(without(document, path))
        for other in others(value):
            if other != value:
                yield name, json.dumps(put(document, path, other))
        if isinstance(path[-1], str):
            marked = json.dumps(put(document, path, "MARK"))
            both = f"{json.dumps(value)}, {json.dumps(path[-1])}: {json.dumps(value)}"
            yield f"{name} twice", marked.replace('"MARK"', both)


def is_free(name: str, before: Any, after: str) -> bool:
    """Tell whether an unsigned report may be edited so."""
    of_words = before["words"] is not None
    if name in FREE:
        # Only another value, never a key that is gone.
        now = json.loads(after)
        for key in name.split("."):
            if key not in now:
                return False
            now = now[key]
        return now not in NO_NAMES and now != "epsilon=1"
    part = name.removeprefix("run.layout.").split(".")[0]
    return not of_words and part in OF_INPUT and name.startswith("run.layout.")


def test_every_edit_fails(honest: Path, recomputer: Recomputer) -> None:
    """Keys that are gone or doubled, and other values, after an honest file passed."""
    side = honest.with_name(honest.name + SIDECAR)
    text = side.read_text()
    before = json.loads(text)
    assert judged(honest, recomputer) == []
    passed = []
    for name, edited in edits(text):
        side.write_text(edited)
        if not is_free(name, before, edited) and not judged(honest, recomputer):
            passed.append((name, edited))
    side.write_text(text)
    assert [name for name, _ in passed] == []


def test_names_hold_no_figures(honest: Path, recomputer: Recomputer) -> None:
    """Nor do they promise anything, or stand for other settings than these."""
    side = honest.with_name(honest.name + SIDECAR)
    text = side.read_text()
    report = json.loads(text)
    passed = []
    for key in ("profile", "lexicon"):
        for name in NO_NAMES:
            shipped = ("strict", "balanced") if key == "profile" else _LEXICONS
            if name in ("strict", "balanced", *_LEXICONS) and name not in shipped:
                continue
            side.write_text(json.dumps(put(report, ("run", key), name)))
            passed += [] if judged(honest, recomputer) else [(key, name)]
    side.write_text(text)
    assert passed == []


def test_every_edit_of_a_signed_report_fails(
    honest: Path, recomputer: Recomputer
) -> None:
    """With a key nothing is free."""
    key = signatures.parse(PRIVATE, "key")
    side = honest.with_name(honest.name + SIDECAR)
    text = side.read_text()
    signed = signatures.sign(text.encode(), key)
    side.write_bytes(signed)
    assert judged(honest, recomputer, key) == []
    for name in (*FREE, "run.layout.delimiter"):
        for edit, edited in edits(signed.decode()):
            if edit == name:
                side.write_text(edited)
                assert judged(honest, recomputer, key), name
    side.write_text(text)


def test_a_layout_has_no_settings_of_other_formats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a folder sets for its tables is not said of JSON lines, which have none."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"text":"the film was good"}\n')
    monkeypatch.setenv("DPTEXT_DELIMITER", ";")
    monkeypatch.setenv("DPTEXT_HEADER", "false")
    words = lexicon(tmp_path)
    ran = here(*SANITIZE, str(source), "--lexicon", words, "-q", "-o", str(out))
    assert ran.code == 0, ran.err
    report = json.loads(out.with_name(out.name + SIDECAR).read_text())
    assert report["run"]["layout"] == {"format": "jsonl", "fields": ["text"]}
    assert judged(out, Recomputer([find(words)])) == []
