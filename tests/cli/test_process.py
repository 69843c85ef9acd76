"""Commands in separate processes: pipes, signals, terminals, imports."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import (
    MARKER,
    WORDS,
    command,
    environment,
    here,
    on_terminal,
    there,
)

LINE = json.dumps({"text": " ".join(WORDS)}).encode() + b"\n"
# A main that breaks one stage first; its message holds what must not be shown.
BROKEN = f"""
import sys
from dptext.tokens import tokenizer
def broken(*arguments, **named):
    raise ZeroDivisionError("{MARKER}")
tokenizer.Tokenizer.words = broken
from dptext.cli.app import main
main()
"""


# Faiss ends a search at a signal with its own error.
REPLACED = """
import os, signal, sys
from dptext.tokens import tokenizer
number = int(sys.argv.pop(1))
def broken(*arguments, **named):
    try:
        os.kill(os.getpid(), number)
    except BaseException:
        raise RuntimeError("computation interrupted") from None
tokenizer.Tokenizer.words = broken
from dptext.cli.app import main
main()
"""


def _start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command("sanitize", "-f", "text", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env=environment(),
    )


def test_success_from_pipe_to_pipe(options: tuple[str, ...]) -> None:
    """A record goes in, one comes out, exit code 0; stderr holds the answer alone."""
    ran = there("sanitize", "-f", "text", *options, given=LINE)
    assert ran.code == 0
    assert len(json.loads(ran.out)["text"].split()) == len(WORDS)
    assert ran.err.startswith("Hand it at most to")
    assert "\x1b" not in ran.err


def test_unexpected_error_is_a_bug_without_details(options: tuple[str, ...]) -> None:
    """An exception nobody foresaw is exit code 70 and one line without its message."""
    done = subprocess.run(
        [sys.executable, "-c", BROKEN, "sanitize", "-f", "text", *options],
        input=LINE,
        capture_output=True,
        env=environment(),
        check=False,
        timeout=60,
    )
    message = done.stderr.decode()
    assert done.returncode == 70
    assert done.stdout == b""
    assert "internal error (ZeroDivisionError at" in message
    assert "this is a bug" in message
    assert MARKER not in message
    assert message.count("\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_signal_replaced_by_a_library_is_no_bug(
    number: signal.Signals, code: int, options: tuple[str, ...]
) -> None:
    """A run ends by its signal, with any error that a library makes of it."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            REPLACED,
            str(int(number)),
            "sanitize",
            "-f",
            "text",
            *options,
        ],
        input=LINE,
        capture_output=True,
        env=environment(),
        check=False,
        timeout=60,
    )
    assert done.returncode == code
    assert done.stderr.endswith(b"no unfinished output file was left\n")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_closed_pipe_is_quiet(options: tuple[str, ...], tmp_path: Path) -> None:
    """When the reader goes away the run ends with 141 and says nothing."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(LINE * 20_000)
    with _start(str(source), *options, "--batch-size", "16", cwd=tmp_path) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        message = running.stderr.read()
        assert running.wait(60) == 141
    assert message == b""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGHUP, 129),
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_killed_run_leaves_no_output(
    number: signal.Signals, code: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    """A run that is ended from outside leaves no file under the output's name."""
    target = tmp_path / "out.jsonl"
    running = _start(*options, "--line-buffered", "-o", str(target), cwd=tmp_path)
    assert running.stdin is not None
    running.stdin.write(LINE * 50)
    running.stdin.flush()
    limit = time.monotonic() + 60
    # It is at work once something was written beside the target.
    while not any(path.stat().st_size for path in tmp_path.glob(".*.part")):
        assert time.monotonic() < limit
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(number)
    assert running.stderr is not None
    ended = running.wait(60)
    message = running.stderr.read().decode()
    assert ended == code, message
    with contextlib.suppress(BrokenPipeError):
        running.stdin.close()
    for stream in (running.stdout, running.stderr):
        assert stream is not None
        stream.close()
    assert not target.exists()
    assert not (tmp_path / "out.jsonl.dptext.json").exists()
    assert "Traceback" not in message
    if number == signal.SIGKILL:
        # The parts of output and sidecar; the next run to this output clears them.
        assert [path.name[0] for path in tmp_path.iterdir()] == [".", "."]
        assert (
            there(
                "sanitize", "-f", "text", *options, "-o", str(target), given=LINE
            ).code
            == 0
        )
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"out.jsonl", "out.jsonl.dptext.json"}
        return
    assert list(tmp_path.iterdir()) == []
    assert "no unfinished output file was left" in message
    assert message.count("\n") == 1


def _group(
    folder: Path, options: tuple[str, ...], *arguments: str
) -> subprocess.Popen[bytes]:
    """Start a command of several processes as a new group; wait for workers."""
    (folder / "in.jsonl").write_bytes(LINE * 40_000)
    running = subprocess.Popen(
        command(*arguments, *options),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(),
        start_new_session=True,
    )
    limit = time.monotonic() + 60
    while len(_members(running.pid)) < 3:  # it, a server or tracker, and one more
        assert time.monotonic() < limit
        assert running.poll() is None
        time.sleep(0.01)
    return running


def _members(group: int) -> list[str]:
    """Return the processes of a group that have not ended."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,pid="],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [pid for pgid, state, pid in rows if pgid == str(group) and state[0] != "Z"]


def _wait_for_end(group: int) -> None:
    limit = time.monotonic() + 60
    while left := _members(group):
        assert time.monotonic() < limit, left
        time.sleep(0.05)


_SEVERAL = (
    ("compare", "in.jsonl", "-m", "rank", "--epsilon", "2", "-j", "2", "-q"),
    ("sanitize", "-ftext", "in.jsonl", "--jobs", "2", "-o", "out.jsonl", "-q"),
)
_needs_groups = pytest.mark.skipif(
    os.name == "nt" or shutil.which("ps") is None, reason="needs POSIX and ps"
)


def _options(arguments: tuple[str, ...], options: tuple[str, ...]) -> tuple[str, ...]:
    """Return what a command takes of options for the small lexicon."""
    return options[:2] if arguments[0] == "compare" else options


@_needs_groups
@pytest.mark.parametrize("arguments", _SEVERAL)
def test_workers_end_with_a_parent_that_is_killed(
    arguments: tuple[str, ...], options: tuple[str, ...], tmp_path: Path
) -> None:
    """After `kill -9` of a command no process of it is left."""
    running = _group(tmp_path, _options(arguments, options), *arguments)
    running.kill()
    running.communicate()
    _wait_for_end(running.pid)


@_needs_groups
@pytest.mark.parametrize("arguments", _SEVERAL)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_of_the_terminal_is_one_line(
    number: signal.Signals,
    arguments: tuple[str, ...],
    options: tuple[str, ...],
    tmp_path: Path,
) -> None:
    """All processes get it while workers start; one line, no worker, no part file."""
    running = _group(tmp_path, _options(arguments, options), *arguments)
    os.killpg(running.pid, number)
    message = running.communicate(timeout=60)[1].decode()
    # Python itself ends so where SIGINT came inside of an `exec`, as of a dataclass.
    assert running.returncode in (128 + number, -signal.SIGINT)
    assert message.count("\n") == 1, message
    assert "no unfinished output file was left" in message
    assert [path.name for path in tmp_path.glob("*.jsonl")] == ["in.jsonl"]
    assert not list(tmp_path.glob(".*.part"))
    _wait_for_end(running.pid)


@pytest.mark.parametrize("missing", ["fail", "pass"])
def test_line_buffered_shows_each_record_at_once(
    options: tuple[str, ...], missing: str, tmp_path: Path
) -> None:
    """With --line-buffered a record comes out before the next goes in."""
    more = ("--line-buffered", "-q", "--missing", missing)
    running = _start(*options, *more, cwd=tmp_path)
    assert running.stdin is not None
    assert running.stdout is not None
    for _ in range(3):
        running.stdin.write(LINE)
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["text"]
    out, err = running.communicate()
    assert (running.returncode, out, err) == (0, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX terminal")
def test_terminal_shows_progress_and_no_color_is_kept(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """On a terminal there is progress; with NO_COLOR nothing there has a colour."""
    shown = {}
    for name, given in (("colour", {}), ("plain", {"NO_COLOR": "1"})):
        env = {**environment(), "TERM": "xterm-256color", **given}
        env.pop("FORCE_COLOR", None)
        if not given:
            env.pop("NO_COLOR", None)
        run = command("sanitize", "-f", "text", *options)
        ran = on_terminal(run, env, given=LINE * 600)
        assert ran.code == 0
        shown[name] = ran.err
    assert "records," in shown["colour"].split("Privacy report")[0]
    assert "\x1b[32m" in shown["colour"]
    assert "\x1b[32m" not in shown["plain"]
    assert "\x1b[31m" not in shown["plain"]


# No command needs them to read its options, or to make a line private.
_NEVER = ("pydantic", "faiss", "pyarrow", "scipy", "spacy", "ssl", "xml")
_NO_HELP = (*_NEVER, "numpy", "cryptography", "yaml")


@pytest.mark.parametrize(
    ("heavy", "arguments"),
    [
        (_NO_HELP, ("--help",)),
        (_NO_HELP, ("sanitize", "--help")),
        (_NO_HELP, ("--version",)),
        ((*_NEVER, "rich", "numpy.ma"), ("sanitize", "-f", "text", "--quiet")),
        # Figures of a risk load numpy.ma where they are computed for the first time.
        (_NEVER, ("sanitize", "-f", "text", "--risk", "10%", "-")),
    ],
)
def test_nothing_heavy_is_loaded(
    heavy: tuple[str, ...], arguments: tuple[str, ...]
) -> None:
    """Help comes from the command line alone, and one line from what it needs."""
    code = (
        "import sys\nfrom dptext.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        f"found = [name for name in {heavy!r} if name in sys.modules]\n"
        "sys.exit(f'imported: {found}' if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        env=environment(),
        input=LINE,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout
    assert done.stderr == b"" or "--risk" in arguments


def test_completion_script_is_produced() -> None:
    """The shell can ask for a completion script."""
    ran = there(
        "--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"
    )
    assert ran.code == 0, ran.err
    assert b"complete" in ran.out
    assert b"DPTEXT" in ran.out
    ran = there(
        _DPTEXT_COMPLETE="complete_bash", COMP_WORDS="dptext san", COMP_CWORD="1"
    )
    assert b"sanitize" in ran.out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk_on_standard_output(options: tuple[str, ...]) -> None:
    """Standard output that cannot be written is exit code 1 and one line."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command("sanitize", "-f", "text", *options),
            input=LINE * 300,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
            timeout=60,
        )
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert message.startswith("dptext: standard output: No space left")
    assert message.count("\n") == 1


def test_bare_command_shows_help_and_wrong_ones_end_with_2() -> None:
    """Without a command there is help; an unknown command is a usage error."""
    ran = there("sanitise")
    assert ran.code == 2
    assert "sanitise" in ran.err
    assert ran.out == b""


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("arguments", "closed", "code", "said"),
    [
        (("sanitize", "-f", "text", "-q", "-"), "<&-", 2, "stdin is closed"),
        (("sanitize", "-f", "text", "-q", "in.jsonl"), ">&-", 2, "stdout is closed"),
        (("sanitize", "-f", "text", "in.jsonl"), "2>&-", 0, ""),
        (("sanitize", "-f", "text", "in.jsonl", "--on-error", "x"), "2>&-", 2, ""),
        (("list", "--json"), ">/dev/full", 1, "No space left"),
    ],
)
def test_closed_and_full_standard_streams(
    arguments: tuple[str, ...],
    closed: str,
    code: int,
    said: str,
    options: tuple[str, ...],
    tmp_path: Path,
) -> None:
    """Standard streams that are closed or full end in a code and at most one line."""
    (tmp_path / "in.jsonl").write_bytes(LINE)
    given = options if arguments[0] == "sanitize" else ()
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *command(*arguments, *given)],
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
        timeout=60,
    )
    message = done.stderr.decode()
    assert done.returncode == code, message
    assert said in message
    assert message.count("\n") == bool(said)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_interrupt_while_loading_is_one_line(tmp_path: Path) -> None:
    """An interrupt before the command line is loaded ends with 130 and no traceback."""
    # The first module that the entry point loads interrupts its own process.
    code = (
        "import os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'typer':\n"
        "            os.kill(os.getpid(), 2)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from dptext.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        cwd=tmp_path,
        env=environment(),
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (130, b"dptext: interrupted\n")


def test_little_is_loaded_before_interrupts_are_handled() -> None:
    """The entry point loads no module of the standard library but what Python has."""
    code = (
        "import sys\nbefore = set(sys.modules)\nimport dptext.__main__\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    loaded = ["__future__", "dptext", "dptext.__main__", "dptext._version"]
    assert done.stdout == f"{loaded}\n"


@pytest.mark.skipif(not os.path.exists("/dev/urandom"), reason="needs devices")
@pytest.mark.parametrize(
    "arguments",
    [
        ("sanitize", "-f", "text", "--key-file", "/dev/urandom"),
        ("report", "/dev/zero"),
        ("lexicon", "info", "/dev/zero"),
        ("lexicon", "import", "/dev/zero", "--name", "mine"),
        ("sanitize", "-f", "text", "--lexicon", "/dev/zero"),
    ],
)
def test_devices_that_never_end_are_refused(arguments: tuple[str, ...]) -> None:
    """A device where a file is meant is refused at once."""
    ran = here(*arguments)
    assert ran.code == 2
    assert "not a regular file" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="needs /dev/fd")
def test_key_from_a_pipe(options: tuple[str, ...], key: str) -> None:
    """A key may come from a pipe, of which only as much is read as a key may have."""
    shell = (
        'exec "$@" --key-file <(cat "$KEY")',
        'exec "$@" --key-file <(cat /dev/urandom)',
    )
    ended = []
    for script in shell:
        done = subprocess.run(
            [
                "bash",
                "-c",
                script,
                "sh",
                *command("sanitize", "-f", "text", "-q", *options),
            ],
            input=LINE,
            capture_output=True,
            env=environment(KEY=key),
            check=False,
            timeout=60,
        )
        ended.append((done.returncode, done.stdout, done.stderr))
    again = there(
        "sanitize", "-f", "text", "-q", *options, "--key-file", key, given=LINE
    )
    assert ended[0] == (0, again.out, b"")
    assert ended[1][:2] == (2, b"")
    assert b"a key has at most 1048576 bytes" in ended[1][2]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("sanitize", "-f", "text", "in.jsonl", "-o", "out.jsonl"), 0),
        (("sanitize", "-f", "text", "in.jsonl", "--jobs", "2"), 0),
        (("sanitize", "nowhere.jsonl"), 2),
        (("sanitize", "-f", "text", "bad.jsonl"), 4),
        (("check", "in.jsonl"), 1),
        (("--nonsense",), 2),
    ],
)
def test_full_standard_error_changes_no_outcome(
    arguments: tuple[str, ...], code: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Lines that cannot be written are dropped; data and exit code are the same."""
    (tmp_path / "in.jsonl").write_bytes(LINE)
    (tmp_path / "bad.jsonl").write_bytes(b"bad\n")
    if arguments[0] == "sanitize":
        arguments = (*arguments, *options)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command(*arguments),
            stdout=subprocess.PIPE,
            stderr=full,
            cwd=tmp_path,
            env=environment(),
            check=False,
            timeout=120,
        )
    assert done.returncode == code
    assert (tmp_path / "out.jsonl").exists() == ("out.jsonl" in arguments)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.parametrize("megabytes", [40, 60, 200])
def test_too_little_memory_is_no_bug(megabytes: int, tmp_path: Path) -> None:
    """Any lack of memory is one line, with exit code 1."""
    (tmp_path / "in.jsonl").write_bytes(LINE)
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'ulimit -v {megabytes}000; exec "$@"',
            "sh",
            *command("sanitize", "-f", "text", "in.jsonl", "-q"),
        ],
        capture_output=True,
        cwd=tmp_path,
        env=environment(OPENBLAS_NUM_THREADS="1"),
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, b""), done.stderr
    assert done.stderr.startswith(b"dptext: out of memory; "), done.stderr
    assert b"raise the limit" in done.stderr or b"lower --jobs" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
def test_too_little_memory_for_a_check_is_no_edit(tmp_path: Path) -> None:
    """A true report is then not verified, and not called changed."""
    (tmp_path / "in.jsonl").write_bytes(LINE)
    run = ("sanitize", "-f", "text", "in.jsonl", "-q", "-o", "out.jsonl")
    assert there(*run, cwd=tmp_path).code == 0
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            'ulimit -v 300000; exec "$@"',
            "sh",
            *command("check", "out.jsonl"),
        ],
        capture_output=True,
        cwd=tmp_path,
        env=environment(OPENBLAS_NUM_THREADS="1"),
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    assert b"changed" not in done.stdout
    said = done.stdout + done.stderr  # by the line of the file, or of the whole command
    assert b"not enough memory" in said or b"out of memory" in said, said


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
def test_an_interrupt_of_openblas_is_a_lack_of_memory() -> None:
    """It interrupts the process where it cannot start its threads."""
    refusals = 0
    for megabytes in (132, 135, 138, 141, 144):
        limit = f'ulimit -v {megabytes}000; exec "$@"'
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", limit, "sh", *command("explain", "a")],
                capture_output=True,
                env=environment(OPENBLAS_NUM_THREADS="2"),
                check=False,
                timeout=20,
            )
        except subprocess.TimeoutExpired:
            continue  # the library itself waits for ever, or ends by a signal
        assert done.returncode in (0, 1, -signal.SIGSEGV), done.stderr
        assert b"interrupted" not in done.stderr
        refusals += done.returncode == 1 and b"memory" in done.stderr
    assert refusals > 0


def _pipe(data: bytes) -> str:
    """Return the name of a pipe that holds data and ends behind them."""
    end, into = os.pipe()
    with open(into, "wb") as file:
        file.write(data)
    return f"/dev/fd/{end}"


@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1", "-"])
def test_other_names_of_standard_streams(
    name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Names of the system stand for the streams, also where these are files."""
    run = ("sanitize", "-f", "text", *options, "-q", "-o", name)
    ran = there(*run, name.replace("stdout", "stdin").replace("1", "0"), given=LINE)
    assert (ran.code, ran.err) == (0, "")
    assert len(json.loads(ran.out)["text"].split()) == len(WORDS)
    into = tmp_path / "out.jsonl"
    with into.open("wb") as file:
        subprocess.run(
            command(*run), input=LINE, stdout=file, env=environment(), check=True
        )
    assert len(json.loads(into.read_bytes())["text"].split()) == len(WORDS)
    assert os.listdir(tmp_path) == ["out.jsonl"]


def test_pipes_are_read_once_as_standard_input_is(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """Open ones, as a shell gives for <(...), and named ones; their content decides."""
    run = ("sanitize", "-f", "text", *options, "-q")
    table = b"id,text\n7,the film was good\n"
    ran = here(*run, _pipe(table))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(b"id,text\n7,")
    for name in ("pipe", "pipe.jsonl"):
        named = tmp_path / name
        os.mkfifo(named)
        with subprocess.Popen(["cp", "/dev/stdin", named], stdin=subprocess.PIPE) as cp:
            assert cp.stdin is not None
            cp.stdin.write(LINE)
            cp.stdin.close()
            ran = here(*run, str(named), "--on-error", "skip")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.count(b"\n") == 1
    ran = here("sanitize", *options, _pipe(table))
    assert ran.code == 2
    assert "/dev/fd/" in ran.err
    assert "looks like a table" in ran.err
    for refused, said in (
        (("-", "-"), "standard input is named twice"),
        ((_pipe(LINE), "--out-dir", str(tmp_path / "out")), "need a name"),
    ):
        ran = here(*run, *refused)
        assert ran.code == 2
        assert said in ran.err


def test_outputs_that_are_open_already(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """A pipe or a file that a shell opened, by its number or by a link to it."""
    link = tmp_path / "link"
    end, into = os.pipe()
    link.symlink_to(f"/proc/self/fd/{into}")
    file = os.open(tmp_path / "file.jsonl", os.O_WRONLY | os.O_CREAT)
    for output in (f"/dev/fd/{into}", str(link), f"/dev/fd/{file}"):
        ran = here("sanitize", "-f", "text", *options, "-q", "-o", output, given=LINE)
        assert (ran.code, ran.out, ran.err) == (0, b"", "")
    os.close(into)
    with open(end, "rb") as pipe:
        assert pipe.read().count(b"\n") == 2
    assert (tmp_path / "file.jsonl").read_bytes().count(b"\n") == 1
    assert sorted(os.listdir(tmp_path)) == ["file.jsonl", "link"]
    assert link.is_symlink()
