"""Where bytes come from and go to: paths, "-", compression by suffix.

An output file appears whole or not at all: it is written beside its target under a
hidden name and renamed when it is complete. Several outputs of one run appear together.
"""

from dptext.streams._inputs import (
    AHEAD,
    check_distinct,
    check_file,
    first_lines,
    identity,
    is_standard,
    joined,
    open_input,
    read_small,
    unpacked,
)
from dptext.streams._layers import (
    COMPRESSIONS,
    HEAD,
    compression,
    decompress,
    known_encoding,
    plain_name,
    recognised,
)
from dptext.streams._outputs import Aside, Output, Release, open_output

__all__ = [
    "AHEAD",
    "COMPRESSIONS",
    "HEAD",
    "Aside",
    "Output",
    "Release",
    "check_distinct",
    "check_file",
    "compression",
    "decompress",
    "first_lines",
    "identity",
    "is_standard",
    "joined",
    "known_encoding",
    "open_input",
    "open_output",
    "plain_name",
    "read_small",
    "recognised",
    "unpacked",
]
