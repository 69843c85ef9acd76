"""How to add to an installation of dptext, by where it came from."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from dptext.attackers import kernel
from dptext.errors import MissingExtra, install_command
from tests.cli.running import here

pytestmark = pytest.mark.quick

IN_FOLDER = "(in the folder of dptext)"


def installed(folder: Path, url: dict[str, Any] | None) -> None:
    """Write the metadata of an installation as pip does: url is its direct_url.json."""
    info = folder / "dptext-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dptext\nVersion: 1.0.0\n"
    )
    if url is not None:
        (info / "direct_url.json").write_text(json.dumps(url))


@pytest.mark.parametrize(
    ("url", "command", "rebuild"),
    [
        (None, 'pip install "dptext[xlsx]"', "--no-binary dptext dptext=="),
        (
            {"url": "file:///x/dptext-1.0.0.whl", "archive_info": {}},
            'pip install "dptext[xlsx]"',
            "--no-binary dptext dptext==",
        ),
        (
            {"url": "file:///x", "dir_info": {}},
            f'pip install ".[xlsx]" {IN_FOLDER}',
            f"--no-deps . {IN_FOLDER}",
        ),
        (
            {"url": "file:///x", "dir_info": {"editable": True}},
            f'pip install -e ".[xlsx]" {IN_FOLDER}',
            f"python hatch_build.py {IN_FOLDER}",
        ),
    ],
)
def test_an_extra_is_installed_as_dptext_was(
    url: dict[str, Any] | None,
    command: str,
    rebuild: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By name from a package, else from the folder, editable if that is how it is."""
    installed(tmp_path, url)
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("xlsx") == command
    assert str(MissingExtra.for_package("openpyxl", "xlsx")).endswith(command)
    monkeypatch.setattr(kernel, "library", None)
    monkeypatch.delenv("DPTEXT_KERNEL", raising=False)
    (line,) = [
        line for line in here("doctor").out.decode().splitlines() if "kernel" in line
    ]
    assert rebuild in line


def test_a_folder_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Run from its source, dptext has no metadata: the folder is all there is."""

    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("xlsx") == f'pip install ".[xlsx]" {IN_FOLDER}'
