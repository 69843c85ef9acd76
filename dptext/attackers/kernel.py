"""Inner loops of the attackers in C; numpy gives the same bytes without them.

`hatch_build.py` compiles kernel.c when dptext is built. The library is opened only from
this folder and only if it was compiled from the kernel.c in it. The environment
variable DPTEXT_KERNEL=numpy switches it off.
"""

from __future__ import annotations

import ctypes
import os

import numpy as np
from numpy.ctypeslib import ndpointer

from dptext._built import VARIABLE, kernel_file

# The arguments of each function, as kernel.c has them: N is a whole number, F and D are
# numbers of single and double precision, others arrays of the type that numpy codes so.
_SCALARS = {"N": ctypes.c_int64, "F": ctypes.c_float, "D": ctypes.c_double}
_ARGUMENTS = {
    "marginals": "NN ii iff bN b f",
    "marginals_of_all": "NN ii iff qib b f",
    "viterbi": "NN ii iii i bN B q",
    "topic_sums": "NN iq hf dq",
    "weigh": "NqiqNN i?f Nhfdq fNF fh if ii?iff",
    "expected_closeness": "Nqi NN ib f F f",
    "closest": "NNN fi DD iii iiii",
    "fill": "N iiiqB NNN iib iib iii Nii Nhfdqf NF fh NN i iBq i",
}


def _open() -> ctypes.CDLL | None:
    if os.environ.get(VARIABLE) == "numpy":
        return None
    try:
        library = ctypes.CDLL(str(kernel_file()))
        for name, codes in _ARGUMENTS.items():
            function = getattr(library, name)
            function.argtypes = [
                _SCALARS.get(code) or ndpointer(np.dtype(code), flags="C_CONTIGUOUS")
                for code in codes.replace(" ", "")
            ]
            function.restype = None
    except (OSError, AttributeError):
        return None
    return library


library = _open()
