"""Amounts reserved, released and given back."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from dptext.errors import RefusedError
from dptext.ledger import Ledger, Limit, entries, findings, spent_by, store
from dptext.ledger.keys import lock_run
from tests.ledger.charges import begun, charge, release


def spent(ledger: Ledger, subject: str = "u") -> float:
    """Return what a subject is charged, and see that the ledger is sound."""
    assert not list(findings(ledger))
    return float(spent_by(ledger, subject)["nats"])


def test_releases_add_up_to_the_limit_and_not_beyond(ledger: Ledger) -> None:
    """The last nat is spent; what would be beyond is refused and costs nothing."""
    release(ledger, charge(4), charge(2), charge(1, "other"))
    release(ledger, charge(4))
    assert (spent(ledger), spent(ledger, "other")) == (10.0, 1.0)
    beyond = r"record 1: .*10\.5 nats in all \(10 nats by other releases, 0\.5 nats by"
    with pytest.raises(RefusedError, match=beyond):
        release(ledger, charge(9, "other"), charge(0.5))
    assert (spent(ledger), spent(ledger, "other")) == (10.0, 1.0)
    states = [row["state"] for row in entries(ledger)]
    assert states == [store.RELEASED, store.RELEASED, store.RETURNED]


def test_a_refusal_tells_releases_and_records_apart(ledger: Ledger) -> None:
    """A first run was never charged before; the next step follows."""
    with begun(ledger, Limit(10.0)) as entry:
        entry.reserve([charge(4)])
        with pytest.raises(RefusedError) as first:
            entry.reserve([charge(4), charge(3)])
    assert (
        "11 nats in all (8 nats by other records of this output, 3 nats by this record)"
        in str(first.value)
    )
    assert "leave out records of this value, or raise the limit" in str(first.value)
    release(ledger, charge(4))
    with pytest.raises(RefusedError) as second:
        release(ledger, charge(5), charge(2))
    assert (
        "(4 nats by other releases, 5 nats by other records of this output, 2 nats by "
        "this record)" in str(second.value)
    )
    with pytest.raises(
        RefusedError, match=r"11 nats in all \(11 nats by this record\)"
    ):
        release(ledger, charge(11, "new"))


def test_the_same_draws_cost_once(ledger: Ledger) -> None:
    """Twice in one release, or again in another; not for another subject."""
    release(ledger, charge(6, nonce=b"n"), charge(6, nonce=b"n"))
    release(ledger, charge(6, nonce=b"n"))
    assert spent(ledger) == 6.0
    release(ledger, charge(6, "other", nonce=b"n"))
    assert spent(ledger, "other") == 6.0
    with pytest.raises(RefusedError):
        release(ledger, charge(6, nonce=b"m"))


def test_draws_that_were_reserved_only_are_not_free(ledger: Ledger) -> None:
    """Of two runs with the same draws the one that is released is charged, once."""
    limit = Limit(20.0)
    with contextlib.ExitStack() as first:
        one = first.enter_context(begun(ledger, limit))
        one.reserve([charge(6, nonce=b"n")])
        with begun(ledger, limit) as two:
            two.reserve([charge(6, nonce=b"n")])
            assert spent_by(ledger, "u")["nats"] == 12.0
            two.leave()
        one.leave()
    assert spent(ledger) == 6.0
    assert entries(ledger)[0]["records"] == 0


@pytest.mark.parametrize("leaving", [False, True])
def test_what_fails_is_given_back_unless_it_may_have_left(
    leaving: bool, ledger: Ledger, tmp_path: Path
) -> None:
    """A hidden file that is still there did not leave; what went to a pipe may have."""
    part = tmp_path / "part"
    part.touch()

    def fail(parts: tuple[Path, ...]) -> None:
        with begun(ledger, parts=parts) as entry:
            entry.reserve([charge(4)])
            if leaving:
                entry.leave()
            raise RuntimeError

    for parts, rest in (((part,), 0.0), ((), 4.0 * leaving)):
        with pytest.raises(RuntimeError):
            fail(parts)
        assert spent(ledger) == rest
        assert not part.exists()


def test_hidden_files_are_named_for_holders_of_the_key_alone(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their paths are encrypted, in steps of length; the key finds them anywhere."""
    monkeypatch.chdir(tmp_path)
    notes = []
    for name in ("zqxjka.part", "zqxjk" * 9 + ".part"):
        Path(name).touch()
        with begun(ledger, parts=(Path(name),)) as entry:
            monkeypatch.chdir("/")
            notes.append(ledger.state(entry.number)[1])
        assert not (tmp_path / name).exists()
        monkeypatch.chdir(tmp_path)
    assert len({len(note) for note in notes}) == 1
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert b"zqxjk" not in content
        assert b"zqxjk".hex().encode() not in content


@pytest.mark.parametrize("exists", [True, False])
def test_an_unfinished_entry_of_an_older_version_is_finished(
    exists: bool, ledger: Ledger, tmp_path: Path
) -> None:
    """Version 1.0.0 of dptext wrote the paths of hidden files in clear."""
    part = tmp_path / "part"
    note = {
        "token": "00",
        "began": "2026-11-27T10:00:00+00:00",
        "settings": "settings",
        "field": "user",
        "parts": [str(part)],
        "leaves_words": "no",
    }
    with ledger.transaction() as writer:
        number = writer.begin(Limit(10.0).amount, json.dumps(note))
        writer.change(number, store.LEAVING)
    if exists:
        part.touch()
    release(ledger, charge(1))
    state = store.RETURNED if exists else store.RELEASED
    assert [each["state"] for each in entries(ledger)] == [state, store.RELEASED]
    assert not part.exists()
    assert spent(ledger) == 1.0


def test_who_goes_on_keeps_what_was_reserved(ledger: Ledger) -> None:
    """Another run takes nothing back from one that holds its lock."""
    with begun(ledger) as entry:
        entry.reserve([charge(6)])
        with pytest.raises(RefusedError):
            release(ledger, charge(6))
        assert spent_by(ledger, "u")["records"] == 1
        assert lock_run(ledger.path, entry.number) is None
        entry.leave()
    assert spent(ledger) == 6.0
