"""A program `dptext` for scripts, which forks a process that has loaded all it needs.

Loading takes most of the time of a command. The program hands its arguments, folder,
environment and standard streams to a server, which runs the command in a copy of
itself. Tests of the start of a process, of signals and of memory start their own.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path

from dptext import registry
from tests.cli.running import Ran, environment, here

_CLIENT = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"0"], [0, 1, 2])
    order = [sys.argv[1:], os.getcwd(), dict(os.environ)]
    server.sendall(json.dumps(order).encode() + b"\\n")
    code = server.recv(1)
sys.exit(code[0] if code else 1)
"""


@cache
def program() -> Path:
    """Return the program, in a folder of its own; it works as long as this process."""
    folder = Path(tempfile.mkdtemp())  # a socket has a short path
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address, path = folder / "socket", folder / "bin" / "dptext"
    path.parent.mkdir()
    path.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
    path.chmod(0o755)
    # A fork has one thread, and OpenMP cannot start others.
    env = environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.loaded", str(address)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
    )
    atexit.register(server.communicate)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return path


def run(*arguments: str, given: bytes = b"", **env: str) -> Ran:
    """Run a command by the program."""
    done = subprocess.run(
        [str(program()), *arguments],
        input=given,
        capture_output=True,
        env=environment(**env),
        timeout=120,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def _serve(address: str) -> None:
    """Load all that most commands need, and run each that comes in a copy."""
    assert here("sanitize", "--quiet", given=b"The film was good.\n").code == 0
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        # Standard input ends with the process of the tests.
        while sys.stdin not in select.select([server, sys.stdin], [], [])[0]:
            connection, _ = server.accept()
            if os.fork() == 0:
                server.close()
                _run(connection)
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass


def _run(connection: socket.socket) -> None:
    """Run one command with the streams of its caller, and send the exit code."""
    from dptext.__main__ import main

    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    arguments, folder, env = json.loads(connection.makefile().readline())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    others = env.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [each for each in others if each and each not in sys.path]
    registry.look_again()
    sys.argv = ["dptext", *arguments]
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    connection.send(bytes([int(str(code))]))
    sys.exit(0)


if __name__ == "__main__":
    _serve(sys.argv[1])
