# A program that wheel_test.py gives to mypy: every line with "wrong" is an error, and no other one.
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np
import partita
from numpy.typing import NDArray


class OtherTensor:
    """Of a library that knows no numpy."""

    def __dlpack__(self, *, stream: None = None) -> object:
        return NotImplemented

    def __dlpack_device__(self) -> Tuple[int, int]:
        return (1, 0)


def train(model: Path, machine: str) -> float:
    plan: partita.Plan = partita.compile(model, machine=machine, dim={"batch": 8}, pin=["*=cpu:0"], ieee=True)
    entries: List[str] = plan.entries
    with plan.session(devices="virtual", copy_constants=True) as session:
        types: Dict[str, partita.TensorType] = session.inputs
        session.bind_output("loss", np.zeros((), np.float32))
        session.bind_input("x", OtherTensor())
        step: int = session.submit(timeout=1.5, cancel=partita.Cancel())
        session.wait(step)
        zeros: Dict[str, NDArray[Any]] = {name: np.zeros(kind.shape, kind.numpy_dtype) for name, kind in types.items()}
        outputs: Dict[str, NDArray[Any]] = session.run(zeros)
        outputs = session.run({"x": OtherTensor(), "t": zeros["t"]})
        arena: int = session.memory()["cpu:0"].arena
        session.write_variable("w", session.read_variable("w"))
    return float(outputs["loss"]) + arena + len(entries)


def code_of(error: partita.Error) -> str:
    return error.code


plan: str = partita.load("a.plan")  # wrong: a Plan
partita.load(7)  # wrong: neither a path nor bytes
partita.load("a.plan").session(devices=1)  # wrong: a string
partita.load("a.plan").session().run({"x": [1.0]})  # wrong: a list
partita.load("a.plan").sessions()  # wrong: no such method
partita.compile("a.onnx", machine=None)  # wrong: no value
