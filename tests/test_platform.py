"""Systems that dptext does not run on are refused at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cli.running import environment

pytestmark = pytest.mark.quick

# The standard library of another system is not at hand: dptext alone sees its name.
WINDOWS = "import sys\nimport dptext.errors\nsys.platform = 'win32'\n"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("from dptext.__main__ import main; main()", 1),
        ("import dptext; dptext.privatize('a word')", 1),
    ],
    ids=["command line", "Python"],
)
def test_windows_is_refused_in_one_sentence(code: str, status: int) -> None:
    """It names WSL; nothing is read or written."""
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS + code],
        input="a private word\n",
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert (done.returncode, done.stdout) == (status, "")
    last = done.stderr.splitlines()[-1]
    assert "Windows is not supported" in last
    assert "WSL" in last
    assert "main()" not in code or done.stderr.count("\n") == 1
