"""A signature holds for the very bytes that were signed, by the key that signed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from dptext import signatures
from dptext.errors import UsageError
from tests.keys import OTHER, PRIVATE, PUBLIC, put

REPORT = (
    b'{\n  "a": "\\"signature\\": null",\n  "b": [1, 2.5],\n  "signature": null\n}\n'
)
SECRET = bytes(range(64))


PAIRS = [(PRIVATE, PUBLIC), (PRIVATE, PRIVATE)]


@pytest.mark.parametrize(("signer", "verifier"), PAIRS)
def test_signed_report_verifies(signer: bytes, verifier: bytes) -> None:
    """A signed report is accepted by its key, among others, and by no other key."""
    mine = signatures.parse(signer, "key")
    other = signatures.parse(OTHER, "key")
    theirs = signatures.parse(verifier, "key")
    report = signatures.sign(REPORT, mine)
    assert signatures.problem(report, [theirs]) == ""
    assert signatures.problem(report, [other, theirs]) == ""
    assert "another key" in signatures.problem(report, [other])
    assert signatures.problem(REPORT, [theirs]) == "its report is not signed"
    assert msgspec.json.decode(report)["b"] == [1, 2.5]
    assert signatures.sign(REPORT, None) == REPORT


@given(data=st.data())
def test_every_edit_breaks_it(data: st.DataObject) -> None:
    """No byte can be changed, taken out or put in."""
    key = signatures.parse(PRIVATE, "key")
    report = signatures.sign(REPORT, key)
    at = data.draw(st.integers(0, len(report) - 1))
    kind = data.draw(st.sampled_from(["change", "remove", "insert"]))
    byte = bytes([data.draw(st.integers(0, 255))])
    rest = report[at:] if kind == "insert" else report[at + 1 :]
    edited = report[:at] + (b"" if kind == "remove" else byte) + rest
    if edited != report:
        assert signatures.problem(edited, [key])


def test_value_in_another_place() -> None:
    """The value counts where it belongs: moved, or there twice, it is invalid."""
    key = signatures.parse(PRIVATE, "key")
    report = signatures.sign(REPORT, key)
    value = msgspec.json.decode(report)["signature"]["value"].encode()
    moved = report.replace(value, b"").replace(b'"a": "', b'"a": "' + value)
    twice = report.replace(b'"a": "', b'"a": "' + value)
    assert signatures.problem(moved, [key]) == "its report is not signed"
    assert "is invalid" in signatures.problem(twice, [key])


@pytest.mark.parametrize(
    "report",
    [
        b"",
        b"[]",
        b"{}",
        b'{"signature": 3}',
        b"\xff",
        b"[" * 9999,
        b'{"signature": {"algorithm": [], "key": {}, "value": null}}',
    ],
)
def test_what_is_no_report(report: bytes) -> None:
    """Anything else is not signed, and no error."""
    key = signatures.parse(PUBLIC, "key")
    assert signatures.problem(report, [key]) == "its report is not signed"


def test_keys_that_are_refused(tmp_path: Path) -> None:
    """A wrong key, or one that others may read, is refused in one line."""
    password = serialization.BestAvailableEncryption(b"secret")
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private = ed25519.Ed25519PrivateKey.generate()
    other = rsa.generate_private_key(65537, 2048)
    for data in (
        SECRET,
        b"-----BEGIN nonsense",
        private.private_bytes(*form, password),
        other.private_bytes(*form, serialization.NoEncryption()),
    ):
        with pytest.raises(UsageError, match="not an Ed25519 key in PEM format with"):
            signatures.read(put(tmp_path / "key", data))
    with pytest.raises(UsageError, match="can only verify"):
        signatures.read_private(put(tmp_path / "key", PUBLIC, 0o644))
    if os.name != "nt":
        with pytest.raises(UsageError, match="other users may read it"):
            signatures.read(put(tmp_path / "key", PRIVATE, 0o644))


def test_a_file_of_two_keys_is_refused(tmp_path: Path) -> None:
    """The second would silently count for nothing, or the first."""
    for data in (
        PUBLIC + OTHER,
        PRIVATE + PUBLIC,
        PUBLIC * 2,
        PUBLIC + b"\n" + PRIVATE,
    ):
        with pytest.raises(
            UsageError, match="contains several keys; put each into a separate file"
        ):
            signatures.read(put(tmp_path / "key", data))


def test_others_can_verify_it(tmp_path: Path) -> None:
    """OpenSSL finds the same signature good, by the recipe of the documentation."""
    report = signatures.sign(REPORT, signatures.parse(PRIVATE, "key"))
    value = msgspec.json.decode(report)["signature"]["value"]
    put(tmp_path / "data", report.replace(value.encode(), b""))
    put(tmp_path / "value", bytes.fromhex(value))
    put(tmp_path / "team.pub", PUBLIC)
    run = (
        "openssl pkeyutl -verify -pubin -inkey team.pub -rawin -in data -sigfile value"
    )
    try:
        done = subprocess.run(
            run.split(), cwd=tmp_path, capture_output=True, check=False
        )
    except OSError:
        pytest.skip("needs openssl")
    assert done.returncode == 0, done.stderr
