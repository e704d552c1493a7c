# The Python package: what a program imports.
# SPDX-License-Identifier: Apache-2.0
"""Compiles dataflow graphs for several devices, proves the plans and runs them.

    import numpy as np
    import partita

    plan = partita.compile("mlp.onnx", dim={"batch": 8})
    with plan.session() as session:
        y = session.run({"x": np.ones((8, 64), np.float32)})["y"]

Every error of the library is a partita.Error. Arrays are numpy's; bf16 is an array of uint16 that has the upper halves of f32.
Inputs may be tensors of other libraries too, by DLPack.
The package is a thin layer over the C API, partita/c_api.h, which states errors and threads in full.
`python -m partita` is the program.
"""

from partita._errors import Error
from partita._library import VERSION as __version__
from partita._plan import Plan, compile, load
from partita._session import Cancel, Memory, Session
from partita._tensors import TensorType

__all__ = ["Cancel", "Error", "Memory", "Plan", "Session", "TensorType", "__version__", "compile", "load"]
