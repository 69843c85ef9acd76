"""Entry point of the command line."""

from __future__ import annotations

# The core of `signal`, which alone would load for as long as an interrupt takes.
import _signal  # type: ignore[import-not-found]
import os

# Loaded modules stay until the end: to look for garbage in them as often as usual takes
# a tenth of the time of one line, and to take them apart at the end another tenth.
_OBJECTS = 250_000


def main() -> None:
    """Run the command line.

    An interrupt ends it with one line even while it is still being loaded, which takes
    longer than some users wait.
    """
    # Where an interrupt is ignored (nohup, a shell's background job) it stays so.
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _interrupted)
    from dptext.errors import PlatformError, check_platform

    try:
        check_platform()
    except PlatformError as error:
        _end(f"dptext: {error}\n".encode(), error.exit_code)
    _dump_no_core()
    import gc

    gc.set_threshold(_OBJECTS)
    try:
        from dptext.cli.app import main as run

        run()
    except (MemoryError, SystemError, ImportError):
        if _has_memory():
            raise  # what the installation lacks
        _end(b"dptext: out of memory; raise the limit (ulimit -v, the container)\n", 1)
    finally:
        gc.freeze()


def _dump_no_core() -> None:
    """Disable core dumps, which would contain texts and the key."""
    import resource

    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def _interrupted(number: int, frame: object) -> None:
    """End at once: nothing has been opened yet, or everything is closed."""
    _end(b"dptext: interrupted\n", 130)


def _has_memory() -> bool:
    try:
        bytearray(2**26)
    except MemoryError:
        return False
    return True


def _end(line: bytes, code: int) -> None:
    try:
        os.write(2, line)
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
