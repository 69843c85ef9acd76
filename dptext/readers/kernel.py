"""The loops of readers in C, where they were compiled; numpy's give the same bytes.

`hatch_build.py` compiles kernel.c when dptext is built. The library is opened from this
folder alone, and only if it was made from the kernel.c beside it. The environment
variable DPTEXT_KERNEL=numpy leaves it unopened.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from pathlib import Path

import numpy as np
from numpy.ctypeslib import ndpointer

VARIABLE = "DPTEXT_KERNEL"
_SOURCE = Path(__file__).with_name("kernel.c")


def path() -> Path:
    """Return where the library of this kernel.c lies once it was compiled."""
    digest = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()
    return _SOURCE.with_name(f"kernel-{digest[:16]}.so")


_NUMBER = ctypes.c_int64


def _array(dtype: type[np.generic]) -> type:
    return ndpointer(dtype, flags="C_CONTIGUOUS")


_CODES, _FLAGS, _SHORTS = _array(np.int8), _array(np.bool_), _array(np.int16)
_BYTES, _SCORES, _PLACES = _array(np.uint8), _array(np.int32), _array(np.int64)
_FLOATS, _SUMS = _array(np.float32), _array(np.float64)
_ARGUMENTS = {
    "marginals": (
        *(_NUMBER, _NUMBER, _SCORES, _SCORES, _SCORES, _FLOATS, _FLOATS),
        *(_CODES, _NUMBER, _CODES, _FLOATS),
    ),
    "triple_marginals": (
        *(_NUMBER, _NUMBER, _SCORES, _SCORES, _SCORES, _FLOATS, _FLOATS),
        *(_CODES, _NUMBER, _PLACES, _SCORES, _CODES, _PLACES, _SCORES, _CODES),
        *(_CODES, _FLOATS, _FLOATS, _FLOATS),
    ),
    "viterbi": (
        *(_NUMBER, _NUMBER, _SCORES, _SCORES, _SCORES, _SCORES, _SCORES, _SCORES),
        *(_CODES, _NUMBER, _BYTES, _PLACES),
    ),
    "topic_sums": (
        _NUMBER,
        _NUMBER,
        _SCORES,
        _PLACES,
        _SHORTS,
        _FLOATS,
        _SUMS,
        _PLACES,
    ),
    "weigh": (
        *(_NUMBER, _PLACES, _SCORES, _PLACES, _NUMBER, _NUMBER),
        *(_SCORES, _FLAGS, _FLOATS),
        *(_NUMBER, _SHORTS, _FLOATS, _SUMS, _PLACES, _FLOATS, _NUMBER, ctypes.c_float),
        *(_FLOATS, _SHORTS, _SCORES, _FLOATS),
        *(_SCORES, _SCORES, _FLAGS, _SCORES, _FLOATS, _FLOATS),
    ),
    "expected_closeness": (
        *(_NUMBER, _PLACES, _SCORES, _NUMBER, _NUMBER, _SCORES, _CODES, _FLOATS),
        *(ctypes.c_float, _FLOATS),
    ),
    "closest": (
        *(
            _NUMBER,
            _NUMBER,
            _NUMBER,
            _FLOATS,
            _SCORES,
            ctypes.c_double,
            ctypes.c_double,
        ),
        *(_SCORES, _SCORES, _SCORES, _SCORES, _SCORES, _SCORES, _SCORES),
    ),
}


def _opened() -> ctypes.CDLL | None:
    if os.environ.get(VARIABLE) == "numpy":
        return None
    try:
        library = ctypes.CDLL(str(path()))
        for name, types in _ARGUMENTS.items():
            function = getattr(library, name)
            function.argtypes, function.restype = types, None
    except (OSError, AttributeError):
        return None
    return library


library = _opened()
