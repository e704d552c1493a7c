# Values without elements beside others, by ONNX Runtime.
# SPDX-License-Identifier: Apache-2.0
"""empty_values.txt: values beside an empty one, in memory too, must not change."""

import os

import numpy as np

from cases import Case, write


def f32(*shape, start=1):
    return (np.arange(np.prod(shape, dtype=int)) + start).astype(np.float32).reshape(shape) / 4


def ints(*values):
    return np.array(values, np.int64)


def beside(case, name, shape):
    """name + beside * scale: constants around the empty one, all of which are read."""
    case.constant("beside", f32(*shape, start=20)).constant("scale", f32(1, start=3))
    return case.node("Mul", "beside scale", "scaled").node("Add", "%s scaled" % name, "y").output("y")


def cases():
    yield beside(Case("MatMul, bias").input("x", f32(2, 0)).constant("w", f32(0, 3)).constant("b", f32(3)).node(
        "MatMul", "x w", "t").node("Add", "t b", "u"), "u", [2, 3])
    yield beside(Case("Gemm").input("x", f32(2, 0)).constant("w", f32(0, 3)).constant("b", f32(3)).node(
        "Gemm", "x w b", "t", alpha=0.5, beta=2.0), "t", [2, 3])
    yield beside(Case("Gemm of no rows").input("x", f32(0, 2)).constant("w", f32(2, 3)).constant("b", f32(3)).node(
        "Gemm", "x w b", "t").node("ReduceSum", "t _", "u", keepdims=0), "u", [3])
    yield beside(Case("Gemm transposed").input("x", f32(2, 0)).constant("w", f32(3, 0)).constant("b", f32(3)).node(
        "Gemm", "x w b", "t", transB=1), "t", [2, 3])
    yield beside(Case("Conv of no images").input("x", f32(0, 2, 4, 4)).constant("w", f32(3, 2, 3, 3)).constant("b", f32(3)).node(
        "Conv", "x w b", "t").node("ReduceSum", "t _", "u", keepdims=0), "u", [3])
    yield beside(Case("rank 0").input("x", f32(2, 3)).constant("w", f32(3, 4)).constant("a", f32(3, 0)).constant(
        "b", f32(0, 4)).constant("bias", f32(4)).node("MatMul", "x w", "h").node("MatMul", "x a", "xa").node(
            "MatMul", "xa b", "xab").node("Add", "h xab", "s").node("Add", "s bias", "t"), "t", [2, 4])
    yield beside(Case("ScatterND").input("x", f32(4, 2)).constant("i", np.zeros((0, 1), np.int64)).constant(
        "u", f32(0, 2)).node("ScatterND", "x i u", "t"), "t", [4, 2])
    yield beside(Case("ScatterElements").input("x", f32(4, 2)).constant("i", np.zeros((0, 2), np.int64)).constant(
        "u", f32(0, 2)).node("ScatterElements", "x i u", "t"), "t", [4, 2])
    yield beside(Case("Gather").input("x", f32(4, 2)).constant("i", ints()).node("Gather", "x i", "t").node(
        "Concat", "x t x", "u", axis=0), "u", [8, 2])
    yield beside(Case("Gather of a constant").input("x", f32(4, 2)).constant("c", f32(3, 2)).constant("i", ints()).node(
        "Gather", "c i", "t").node("Concat", "t x t", "u", axis=0), "u", [4, 2])
    yield beside(Case("GatherND").input("x", f32(4, 2)).constant("i", np.zeros((0, 2), np.int64)).node(
        "GatherND", "x i", "t").node("ReduceSum", "t _", "u", keepdims=0), "u", [3])
    yield beside(Case("Slice").input("x", f32(4, 2)).constant("from", ints(2)).constant("to", ints(2)).constant(
        "axes", ints(0)).node("Slice", "x from to axes", "t").node("Concat", "t x", "u", axis=0), "u", [4, 2])
    yield beside(Case("Slice of a constant").input("x", f32(4, 2)).constant("c", f32(3, 2)).constant("from", ints(3)).constant(
        "to", ints(3)).constant("axes", ints(0)).node("Slice", "c from to axes", "t").node(
            "Concat", "x t", "u", axis=0), "u", [4, 2])
    yield beside(Case("Concat").input("x", f32(2, 3)).constant("none", f32(2, 0)).node(
        "Concat", "none x none", "t", axis=1), "t", [2, 3])
    yield beside(Case("Pad").input("x", f32(0)).constant("pads", ints(1, 2)).constant("value", f32()[()]).node(
        "Pad", "x pads value", "t"), "t", [3])
    yield beside(Case("sums").input("x", f32(3, 0)).constant("none", f32(1, 0)).constant("axes", ints(1)).node(
        "Add", "x none", "t").node("ReduceSum", "t axes", "u", keepdims=0), "u", [3])
    for op in ("Prod", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "LogSum", "LogSumExp"):
        yield beside(Case("Reduce" + op).input("x", f32(3, 0)).constant("axes", ints(1)).node(
            "Reduce" + op, "x axes", "u", keepdims=0), "u", [3])
    yield beside(Case("elementwise").input("x", f32(0, 3)).constant("none", f32(0, 3)).constant("b", f32(3)).node(
        "Mul", "x none", "t").node("Add", "t b", "u").node("Relu", "u", "v").node("ReduceSum", "v _", "s", keepdims=0),
        "s", [3])
    yield beside(Case("Expand").input("x", f32(2, 3)).constant("none", f32(1, 0)).constant("shape", ints(2, 0)).node(
        "Expand", "none shape", "t").node("Concat", "x t", "u", axis=1), "u", [2, 3])
    yield beside(Case("Reshape and Transpose").input("x", f32(2, 3)).constant("none", f32(3, 0, 2)).constant(
        "shape", ints(3, 0)).node("Transpose", "none", "t", perm=[1, 0, 2]).node("Reshape", "t shape", "r", allowzero=1).node(
            "Transpose", "r", "s").node("Concat", "s x", "u", axis=0), "u", [2, 3])
    yield beside(Case("Conv of no channels").input("x", f32(1, 0, 4, 4)).constant("w", f32(3, 0, 3, 3)).constant(
        "b", f32(3)).node("Conv", "x w b", "t"), "t", [1, 3, 2, 2])
    yield beside(Case("ConvTranspose of no channels").input("x", f32(1, 0, 1, 1)).constant("w", f32(0, 3, 2, 2)).constant(
        "b", f32(3)).node("ConvTranspose", "x w b", "t"), "t", [1, 3, 2, 2])


def by_numpy(name):
    """A mean of no elements is 0 / 0."""
    return [np.full(3, np.nan, np.float32)] if name == "ReduceMean" else None


def record(folder):
    with open(os.path.join(folder, "empty_values.txt"), "w") as out:
        for case in cases():
            write(case, out, by_numpy(case.name))
