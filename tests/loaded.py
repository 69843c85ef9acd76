"""A program `dptext` for scripts, which forks a process that has loaded all it needs.

The pages call dptext a hundred times, and loading takes most of the time of a command.
The program hands its arguments, folder, environment and standard streams to a server,
which runs the command in a copy of itself. Tests of the start of a process, of signals
and of memory start one of their own.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from tests.cli.running import environment, here

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


@contextlib.contextmanager
def program(folder: Path) -> Iterator[Path]:
    """Write the program into a new folder, for as long as the server runs."""
    folder.mkdir()
    address = folder / "socket"
    path = folder / "dptext"
    path.write_text(_CLIENT.format(python=sys.executable, address=str(address)))
    path.chmod(0o755)
    # Forked processes have one thread: OpenMP cannot start others.
    env = environment(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    command = [sys.executable, "-m", "tests.loaded", str(address)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=env
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield folder
        server.terminate()


def _serve(address: str) -> None:
    """Load all that most commands need, and run each that comes in a copy."""
    assert here("sanitize", "--quiet", given=b"The film was good.\n").code == 0
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
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
