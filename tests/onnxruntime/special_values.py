# Comparisons, selections and non-linear functions of NaN, infinities, zeros of both signs and denormals, by ONNX Runtime.
# SPDX-License-Identifier: Apache-2.0
"""special_values.txt."""

import os

import numpy as np

from cases import Case, write

NAN, INF = float("nan"), float("inf")
FEW = [NAN, -NAN, INF, -INF, 0.0, -0.0, 1e-45, -1e-45, 1.0, -1.0, 2.5, -3.0]
MANY = FEW + [1.1754942e-38, 1.17549435e-38, 0.5, -0.5, 0.25, 1.5, -2.5, 3.0, 7.0, 3.4028235e38, -3.4028235e38]

EXACT = [("Relu", {}), ("ThresholdedRelu", {}),
         ("ThresholdedRelu", {"alpha": -1.0}), ("ThresholdedRelu", {"alpha": NAN}), ("Shrink", {}),
         ("Shrink", {"bias": 0.5, "lambd": 1.0}), ("Shrink", {"lambd": NAN}), ("Shrink", {"bias": NAN}), ("HardSigmoid", {}),
         ("HardSigmoid", {"alpha": NAN}), ("HardSigmoid", {"beta": NAN}), ("Sign", {}), ("Abs", {}), ("Neg", {}), ("Round", {}),
         ("Floor", {}), ("Ceil", {}), ("IsNaN", {}), ("IsInf", {}), ("IsInf", {"detect_negative": 0}),
         ("IsInf", {"detect_positive": 0}), ("Identity", {}), ("Cast", {"to": 9}), ("Cast", {"to": 11}), ("Sqrt", {}),
         ("Reciprocal", {})]
ROUNDED = [("LeakyRelu", {}), ("LeakyRelu", {"alpha": -0.5}), ("LeakyRelu", {"alpha": NAN}), ("HardSwish", {}),
           ("Softsign", {}), ("Elu", {}), ("Elu", {"alpha": NAN}), ("Selu", {}), ("Selu", {"alpha": NAN}), ("Selu", {"gamma": NAN}), ("Celu", {}),
           ("Celu", {"alpha": 2.0}), ("Celu", {"alpha": NAN}), ("Celu", {"alpha": INF}), ("Celu", {"alpha": 0.0}), ("Softplus", {}),
           ("Sigmoid", {}), ("Tanh", {}), ("Exp", {}), ("Log", {}), ("Gelu", {}), ("Mish", {}), ("Erf", {})]
PAIRS = [("Max", {}), ("Min", {}), ("Greater", {}), ("Less", {}), ("GreaterOrEqual", {}), ("LessOrEqual", {}),
         ("Equal", {}), ("PRelu", {}), ("Mod", {"fmod": 1}), ("Add", {}), ("Sub", {}), ("Mul", {}), ("Div", {})]
LINES = [("ReduceMax", {}, 0), ("ReduceMin", {}, 0), ("ReduceSum", {}, 1e-6), ("ReduceL1", {}, 1e-6),
         ("ReduceLogSumExp", {}, 1e-6), ("Softmax", {}, 1e-6), ("LogSoftmax", {}, 1e-6), ("Hardmax", {}, 0),
         ("ArgMax", {}, 0), ("ArgMin", {}, 0), ("ArgMax", {"select_last_index": 1}, 0),
         ("ArgMin", {"select_last_index": 1}, 0), ("TopK", {"largest": 1}, 0), ("TopK", {"largest": 0}, 0),
         ("CumSum", {}, 1e-6)]
POOLS = [("MaxPool", {"kernel_shape": [3]}), ("MaxPool", {"kernel_shape": [2], "pads": [1, 1]}), ("GlobalMaxPool", {})]


def label(op, attributes):
    return " ".join([op] + ["%s=%s" % item for item in attributes.items()])


def pairs(kind):
    return (np.repeat(np.array(FEW, kind), len(FEW)), np.tile(np.array(FEW, kind), len(FEW)))


def lines(kind):
    """Lines of 9 elements: a special value at each position, then two."""
    ordinary = [0.5, -1.5, 2.0, 0.25, -0.75, 2.0, 1.0, -1.5, 0.125]
    rows = [ordinary, [-INF] * 9, [INF] * 9, [NAN] * 9]
    for special in (NAN, -NAN, INF, -INF, 1e-45):
        for place in (0, 4, 8):
            rows.append(ordinary[:place] + [special] + ordinary[place + 1:])
    for pair in ((NAN, INF), (INF, NAN), (-INF, NAN), (INF, -INF), (NAN, NAN), (-INF, -INF)):
        rows.append(ordinary[:2] + [pair[0]] + ordinary[3:6] + [pair[1]] + ordinary[7:])
    return np.array(rows, kind)


def unary_cases(kind):
    x = np.tile(np.array(MANY, kind), 3)
    for bound, ops in ((0, EXACT), (2e-6, ROUNDED)):
        for op, attributes in ops:
            yield Case(label(op, attributes), bound=bound).input("x", x).node(op, "x", "y", **attributes).output("y")
    for least, most in ((-1.0, 2.0), (None, 2.0), (-1.0, None), (NAN, None), (None, NAN), (2.0, -1.0)):
        case = Case("Clip %s to %s" % (least, most)).input("x", x)
        if least is not None:
            case.constant("least", np.array(least, kind))
        if most is not None:
            case.constant("most", np.array(most, kind))
        yield case.node("Clip", "x %s %s" % ("_" if least is None else "least", "_" if most is None else "most"),
                        "y").output("y")
    for least, most in ((-1.0, 2.0), (NAN, 2.0), (-1.0, NAN), (2.0, -1.0)):
        case = Case("Clip %s to %s, inputs" % (least, most)).input("x", x)
        case.input("least", np.array(least, kind)).input("most", np.array(most, kind))
        yield case.node("Clip", "x least most", "y").output("y")


def pair_cases(kind):
    x, w = pairs(kind)
    for op, attributes in PAIRS:
        yield Case(label(op, attributes)).input("x", x).input("w", w).node(op, "x w", "y", **attributes).output("y")
    yield Case("Pow", bound=2e-6).input("x", x).input("w", w).node("Pow", "x w", "y").output("y")
    for op in ("Max", "Min"):
        yield Case(op + " of three").input("x", x).input("w", w).constant("c", np.array([0.5], kind)).node(
            op, "x w c", "y").output("y")
    yield Case("Where Greater").input("x", x).input("w", w).node("Greater", "x w", "c").node(
        "Where", "c x w", "y").output("y")


def line_cases(kind):
    x = lines(kind)
    for op, attributes, bound in LINES:
        case = Case(label(op, attributes), bound=bound).input("x", x).output("y")
        if op == "TopK":
            case.constant("k", np.array([4], np.int64)).node(op, "x k", "y i", **attributes).output("y", "i")
        elif op == "CumSum":
            case.constant("axis", np.array(1, np.int64)).node(op, "x axis", "y")
        elif op.startswith("Reduce"):
            case.constant("axes", np.array([1], np.int64)).node(op, "x axes", "y", keepdims=0)
        else:
            case.node(op, "x", "y", axis=1, **attributes)
        yield case
    for op, attributes in POOLS:
        yield Case(label(op, attributes)).input("x", x.reshape(1, -1, 9)).node(op, "x", "y", **attributes).output("y")


def windows(x, extent, pad=0):
    padded = np.pad(x, ((0, 0), (pad, pad)), constant_values=-INF)
    return np.lib.stride_tricks.sliding_window_view(padded, extent, axis=1).max(-1)[None]


def log_softmax(x):
    return x - x.max(1, keepdims=True) - np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))


def shrink(x, bias, bound):
    return np.where(x < -bound, x + bias, np.where(x > bound, x - bias, 0.0))


def by_numpy(name, kind, inputs):
    """NumPy's results where ONNX Runtime loses NaN, the sign of a zero, infinities or, for f64, digits."""
    x = inputs["x"]
    ours = {
        "ReduceMax": lambda: x.max(1),
        "ReduceMin": lambda: x.min(1),
        "ArgMax": lambda: x.argmax(1)[:, None],
        "ArgMin": lambda: x.argmin(1)[:, None],
        "ArgMax select_last_index=1": lambda: 8 - x[:, ::-1].argmax(1)[:, None],
        "ArgMin select_last_index=1": lambda: 8 - x[:, ::-1].argmin(1)[:, None],
        "Hardmax": lambda: np.eye(9, dtype=kind)[x.argmax(1)],
        "MaxPool kernel_shape=[3]": lambda: windows(x[0], 3),
        "MaxPool kernel_shape=[2] pads=[1, 1]": lambda: windows(x[0], 2, 1),
        "GlobalMaxPool": lambda: windows(x[0], 9),
        "Where Greater": lambda: np.where(x > inputs["w"], x, inputs["w"]),
        "Clip None to 2.0": lambda: np.clip(x, None, kind(2)),
        "Clip -1.0 to None": lambda: np.clip(x, kind(-1), None),
        "Clip nan to None": lambda: x,
        "Clip None to nan": lambda: x,
    }
    if kind == np.float64:
        ours["LogSoftmax"] = lambda: log_softmax(x)
        ours["Shrink"] = lambda: shrink(x, 0.0, 0.5)
        ours["Shrink bias=0.5 lambd=1.0"] = lambda: shrink(x, 0.5, 1.0)
    return [ours[name]()] if name in ours else None


def all_cases(kind):
    for cases in (unary_cases, pair_cases, line_cases):
        yield from cases(kind)


def record(folder):
    np.seterr(all="ignore")
    with open(os.path.join(folder, "special_values.txt"), "w") as out:
        for kind in (np.float32, np.float64):
            for case in all_cases(kind):
                expected = by_numpy(case.name, kind, case.inputs)
                case.name += " of " + np.dtype(kind).name
                try:
                    write(case, out, expected)
                except Exception as error:  # ONNX Runtime has no such kernel
                    print("left out:", case.name, str(error)[:100])
