"""One object of Python has one key for all of its calls, and a report of each."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import dptext
from dptext import profile
from dptext.errors import RefusedError, StoppedError, UsageError
from dptext.run.interface import noun, option
from tests.cli.running import lexicon

pytestmark = pytest.mark.quick
KEY = bytes(range(40))
TEXT = "the film was good and the story old"


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    """Return settings of a quick call."""
    return {"profile": "balanced", "lexicon": lexicon(tmp_path), "epsilon": 3}


def test_an_object_without_a_profile_has_the_default_one() -> None:
    """As on the command line: readable, and balanced with a risk."""
    assert dptext.Sanitizer().profile == profile.load("readable")
    of_risk = profile.load("balanced", {"budget": {"risk": 0.1}})
    assert dptext.Sanitizer(risk="10%").profile == of_risk


def test_an_object_repeats_its_draws(settings: dict[str, Any]) -> None:
    """An equal text at an equal place; other places, and other objects, draw anew."""
    sanitizer = dptext.Sanitizer(**settings)
    first = sanitizer.texts([TEXT] * 20)
    assert sanitizer.texts([TEXT] * 20) == first
    assert sanitizer.text(TEXT) == first[0]
    assert len(set(first)) > 1
    assert dptext.Sanitizer(**settings).texts([TEXT] * 20) != first


def test_all_calls_share_the_key_that_is_given(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    """Texts, a column and a file of them get the words that functions give."""
    pandas = pytest.importorskip("pandas")
    sanitizer, texts = dptext.Sanitizer(key=KEY, **settings), [TEXT, "bread"]
    expected = dptext.privatize(texts, key=KEY, **settings)
    assert sanitizer.texts(texts) == expected
    table = sanitizer.table(pandas.DataFrame({"text": texts}), "text")
    assert list(table["text"]) == expected
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("\n".join(texts) + "\n")
    assert sanitizer.files(source, out).paths == (out,)
    assert out.read_text().splitlines() == expected


def test_each_call_has_a_report(settings: dict[str, Any], tmp_path: Path) -> None:
    """It is that of the last call that has ended; before one there is none."""
    sanitizer = dptext.Sanitizer(**settings)
    with pytest.raises(UsageError, match="there is none yet"):
        _ = sanitizer.report
    sanitizer.texts([TEXT] * 3)
    first = sanitizer.report
    assert first.private is not None
    assert first.private.texts == 3
    with pytest.raises(TypeError):
        sanitizer.texts([TEXT, 5])  # type: ignore[list-item]
    assert sanitizer.report is first
    sanitizer.text(TEXT)
    assert sanitizer.report.private is not None
    assert sanitizer.report.private.texts == 1
    (tmp_path / "in.txt").write_text(f"{TEXT}\n")
    result = sanitizer.files(tmp_path / "in.txt", tmp_path / "out.txt")
    assert sanitizer.report is result.report


def test_the_statement_of_a_key_that_stays_is_true(settings: dict[str, Any]) -> None:
    """An object keeps a fresh key for its next call; functions keep none."""
    kept = "anyone who has it can repeat every draw"
    sanitizer = dptext.Sanitizer(**settings)
    sanitizer.text(TEXT)
    _, once = dptext.privatize(TEXT, report=True, **settings)
    for report, stays in ((sanitizer.report, True), (once, False)):
        conditions = " ".join(report.guarantee.scope.conditions)
        assert (kept in conditions) == stays
        assert ("nobody keeps" in conditions) != stays
    promised = " ".join(sanitizer.plan().guarantee.scope.conditions)
    assert kept in promised


def test_pseudonyms_need_a_key_that_is_given(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    """A fresh key ends with its object, and no later run could make them again."""
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"who": ["ann"], "text": [TEXT]})
    rows.to_csv(tmp_path / "in.csv", index=False)
    sanitizer = dptext.Sanitizer(**settings)
    with pytest.raises(UsageError, match="give it with key="):
        sanitizer.table(rows, "text", pseudonym="who")
    with pytest.raises(UsageError, match="give it with key="):
        sanitizer.files(
            tmp_path / "in.csv", tmp_path / "out.csv", fields="text", pseudonym="who"
        )


def test_a_plan_reads_no_text(settings: dict[str, Any], tmp_path: Path) -> None:
    """It gives the guarantee, and with files the time that they take."""
    sanitizer = dptext.Sanitizer(**settings)
    assert sanitizer.plan().guarantee.bound.epsilon == 3
    assert sanitizer.plan().bytes is None
    (tmp_path / "in.txt").write_text("not read\n")
    assert sanitizer.plan(tmp_path / "in.txt").bytes == 9


def test_a_fresh_key_stays_in_its_process(
    settings: dict[str, Any], key: str, tmp_path: Path
) -> None:
    """A pickle would copy it; with a key that is given the copy gives the same."""
    fresh = dptext.Sanitizer(**settings)
    for function in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="fresh key cannot be pickled or copied: "):
            function(fresh)
    given = dptext.Sanitizer(key=key, **settings)
    packed = pickle.dumps(given)
    assert Path(key).read_bytes() not in packed
    assert pickle.loads(packed).text(TEXT) == given.text(TEXT)


def test_the_public_work_is_done_once(settings: dict[str, Any]) -> None:
    """When it is first needed; settings are checked at once."""
    sanitizer = dptext.Sanitizer(**settings)
    sanitizer.text(TEXT)
    ready = sanitizer.pipeline
    sanitizer.texts([TEXT])
    assert sanitizer.pipeline is ready
    with pytest.raises(UsageError, match="did you mean 'balanced'"):
        dptext.Sanitizer("balancd")
    nowhere = dptext.Sanitizer(lexicon="nowhere")
    with pytest.raises(dptext.errors.LexiconError, match="nowhere"):
        nowhere.text(TEXT)


@pytest.mark.parametrize(
    ("chosen", "overrides"),
    [
        ({"epsilon": 5}, {"budget": {"epsilon": 4}}),
        ({"risk": 0.1}, {"budget": {"name": "linguistic"}}),
        ({"mechanism": "rank"}, {"mechanism": "santext"}),
        ({"decode": "none"}, {"decoder": {"name": "ngram"}}),
        ({"lexicon": "builtin"}, {"lexicon": "english"}),
    ],
)
def test_an_override_replaces_no_choice(
    chosen: dict[str, Any], overrides: dict[str, Any]
) -> None:
    """Both are of one call: neither wins silently."""
    (name,), (part,) = chosen, overrides
    message = f"{name}: overrides has another {part}; give only one of them"
    with pytest.raises(UsageError, match=message):
        dptext.Sanitizer(overrides=overrides, **chosen)


def test_options_of_files_are_keywords(
    settings: dict[str, Any], tmp_path: Path, key: str
) -> None:
    """A delimiter, a folder continued, a stop at people, a ledger."""
    sanitizer = dptext.Sanitizer(key=key, **settings)
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("who|body\nann@example.org|the film\nbob@example.org|good\n")
    with pytest.raises(StoppedError, match="who"):
        sanitizer.files(
            source, out, fields="body", delimiter="|", fail_on="identifying"
        )
    assert not out.exists()
    sanitizer.files(source, out, fields="body", delimiter="pipe", drop="who")
    assert out.read_text().startswith("body\n")
    folder = tmp_path / "out"
    several: Any = {"fields": "body", "delimiter": "|", "drop": "who"}
    made = sanitizer.files([source], out_dir=folder, resume=True, **several)
    assert made.paths == (folder / "in.csv",)
    with pytest.warns(UserWarning, match="1 of 1 files were already finished"):
        made = sanitizer.files([source], out_dir=folder, resume=True, **several)
    assert made.paths == ()
    with pytest.raises(UsageError, match="all outputs were already finished"):
        _ = made.report
    charged: Any = {"ledger": tmp_path / "ledger", "subject": "who", "limit": 5}
    with pytest.raises(UsageError, match="ledger, subject and limit go together"):
        sanitizer.files(source, out, fields="body", delimiter="|", limit=7)
    with pytest.raises(RefusedError):
        sanitizer.files(source, out, fields="body", delimiter="|", **charged)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"resume": 1}, "resume: give True or False, not int"),
        ({"encoding": 8}, "encoding: give a text, not int"),
        ({"delimiter": "||"}, r"delimiter \|\|: give one character"),
        ({"limit": "lots"}, "limit lots: give a number from"),
        ({"jobs": True}, "jobs: give .*not bool"),
        ({"jobs": 2.5}, "jobs 2.5: give an integer from 1 to 256, or auto"),
        ({"out_dir": "out"}, "give out_dir or output, not both"),
        ({"resume": True}, r"resume works only for output folders \(out_dir\)"),
    ],
)
def test_a_wrong_keyword_is_named(
    values: dict[str, Any],
    expected: str,
    settings: dict[str, Any],
    tmp_path: Path,
) -> None:
    """In one line, before anything is written."""
    (tmp_path / "in.txt").write_text(f"{TEXT}\n")
    sanitizer = dptext.Sanitizer(**settings)
    with pytest.raises((TypeError, UsageError), match=expected):
        sanitizer.files(tmp_path / "in.txt", tmp_path / "out.txt", **values)
    assert not (tmp_path / "out.txt").exists()


def test_messages_after_a_call_are_those_of_commands(settings: dict[str, Any]) -> None:
    """Whether a call ends well or not."""
    sanitizer = dptext.Sanitizer(**settings)
    with pytest.raises(UsageError):
        sanitizer.files("nowhere.txt", "out.txt")
    assert (noun("drop"), option("no-header")) == ("--drop", "--no-header")
