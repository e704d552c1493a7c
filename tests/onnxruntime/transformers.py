# The standard's ops for transformers, by the evaluator of the package onnx, or by NumPy if that evaluator
# computes fewer digits than the standard requires.
# SPDX-License-Identifier: Apache-2.0
"""transformers.txt."""

import os

import numpy as np

from cases import Case, write

INF = float("inf")
F16 = 2e-3  # of one rounding to f16, and of sums of values rounded so


def draw(seed, *shape, kind=np.float32):
    """Multiples of 1/16 in [-2, 2], which are exact in every float type."""
    return (np.random.default_rng(seed).integers(-32, 33, shape) / 16).astype(kind)


def attention(name, opset=23, queries=(2, 2, 3, 4), keys=(2, 2, 5, 4), values=None, past=0, mask=None, filled=None,
              kind=np.float32, outputs="y", bound=2e-6, **attributes):
    values = values or keys
    case = Case("attention " + name, opset, bound)
    for seed, (operand, shape) in enumerate((("q", queries), ("k", keys), ("v", values))):
        case.input(operand, draw(seed, *shape, kind=kind))
    names = ["q", "k", "v", "_", "_", "_", "_"]
    if mask is not None:
        case.input("mask", mask)
        names[3] = "mask"
    if past:
        heads = attributes.get("kv_num_heads", keys[1])
        for seed, (operand, shape) in enumerate((("past_k", keys), ("past_v", values))):
            size = shape[3] if len(shape) == 4 else shape[2] // heads
            case.input(operand, draw(7 + seed, shape[0], heads, past, size, kind=kind))
        names[4:6] = ["past_k", "past_v"]
    if filled is not None:
        case.input("filled", np.array(filled))
        names[6] = "filled"
    while names[-1] == "_":
        names.pop()
    return case.node("Attention", " ".join(names), outputs, **attributes).output(*[o for o in outputs.split() if o != "_"])


def masks():
    """For 3 queries and 5 keys; the second query of one mask sees no key."""
    seen = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1]], bool)
    added = np.where(seen, draw(11, 3, 5), np.float32(-INF))
    return seen, added


def attention_cases():
    seen, added = masks()
    packed = dict(queries=(2, 3, 8), keys=(2, 5, 8), q_num_heads=2, kv_num_heads=2)
    grouped = dict(queries=(2, 3, 24), keys=(2, 5, 8), values=(2, 5, 6), q_num_heads=6, kv_num_heads=2)
    square = dict(queries=(1, 1, 3, 2), keys=(1, 1, 3, 2))
    yield attention("4D")
    yield attention("3D", **packed)
    yield attention("3D grouped, past", past=2, outputs="y key value", **grouped)
    yield attention("one head of keys", queries=(2, 3, 2, 4), keys=(2, 1, 5, 4), values=(2, 1, 5, 3), scale=0.25, softcap=1.5)
    yield attention("f64", kind=np.float64, bound=1e-12)
    yield attention("f16", kind=np.float16, bound=F16)
    yield attention("f16, softmax in f32", kind=np.float16, bound=F16, softmax_precision=1)
    yield attention("softmax in f16", bound=F16, softmax_precision=10)
    yield attention("bool mask", mask=seen)
    yield attention("bool mask, causal", mask=seen, is_causal=1)
    yield attention("float mask", mask=added)
    yield attention("float mask of heads", mask=np.stack([added, draw(12, 3, 5)]))
    yield attention("float mask of samples, causal", mask=draw(13, 2, 1, 3, 5), is_causal=1)
    yield attention("float mask, grouped", mask=draw(14, 2, 6, 3, 5), **grouped)
    yield attention("mask of keys alone", opset=24, mask=np.array([True, True, False, True, False]))
    yield attention("short mask", opset=24, mask=draw(15, 3, 4))
    yield attention("short bool mask", opset=24, mask=seen[:, :3])
    yield attention("causal", is_causal=1, **square)
    yield attention("causal, past", is_causal=1, past=2, outputs="y key value")
    yield attention("causal, more queries than keys", is_causal=1, queries=(1, 2, 5, 4), keys=(1, 2, 2, 4))
    yield attention("shows products", mask=added, outputs="y _ _ scores")
    for stage, name in ((1, "capped"), (2, "masked"), (3, "shares")):
        yield attention("shows " + name, mask=seen, outputs="y _ _ scores", softcap=1.25, qk_matmul_output_mode=stage)
    yield attention("filled", opset=24, filled=[2, 5])
    yield attention("filled, short mask", opset=24, filled=[2, 4], mask=draw(16, 2, 1, 3, 4))
    yield attention("filled, causal", opset=24, filled=[4, 5], is_causal=1)
    yield attention("filled less than queries, causal", opset=24, filled=[1, 3], is_causal=1, outputs="y _ _ scores",
                    qk_matmul_output_mode=3)
    yield attention("left window", opset=25, left_window_size=1)
    yield attention("right window", opset=25, right_window_size=1)
    yield attention("windows, past", opset=25, left_window_size=2, right_window_size=0, past=2)
    yield attention("left window, causal", opset=25, left_window_size=1, is_causal=1, mask=added)
    yield attention("windows, filled", opset=25, left_window_size=1, right_window_size=1, filled=[3, 5])
    yield attention("window of no keys", opset=25, left_window_size=0, queries=(1, 1, 4, 2), keys=(1, 1, 2, 2))


def rotary_cases():
    for name, shape, attributes in (("4D", (2, 3, 4, 8), {}), ("3D", (2, 4, 24), {"num_heads": 3})):
        for interleaved in (0, 1):
            for turned in (0, 4):
                for chosen in (False, True):
                    pairs = (turned or 8) // 2
                    angles = draw(3, *((9,) if chosen else (2, 4)), pairs)
                    case = Case("rotary %s interleaved=%d turned=%d%s" % (name, interleaved, turned, ", by ids" if chosen else ""),
                                23, 1e-6)
                    case.input("x", draw(2, *shape)).input("c", np.cos(angles)).input("s", np.sin(angles))
                    if chosen:
                        case.input("ids", np.array([[0, 8, 3, 3], [1, 2, 3, 4]]))
                    yield case.node("RotaryEmbedding", "x c s ids" if chosen else "x c s", "y", interleaved=interleaved,
                                    rotary_embedding_dim=turned, **attributes).output("y")
    for name, shape, attributes in (("4D", (2, 3, 4, 8), {}), ("3D", (2, 4, 24), {"num_heads": 3})):
        angles = draw(3, 1, 4, 4)
        case = Case("rotary %s, one table for all the batch" % name, 23, 1e-6)
        case.input("x", draw(2, *shape)).input("c", np.cos(angles)).input("s", np.sin(angles))
        yield case.node("RotaryEmbedding", "x c s", "y", **attributes).output("y")


def linear_attention(name, rule, kind=np.float32, heads=(4, 2), past=False, per_head=False, rate=2, length=3, bound=2e-6, **more):
    case = Case("linear attention " + name, 27, bound)
    queries, keys = heads
    for seed, (operand, width) in enumerate((("q", queries * 3), ("k", keys * 3), ("v", keys * 2))):
        case.input(operand, (draw(seed, 2, length, width) / 2).astype(kind))
    names = ["q", "k", "v", "_", "_", "_"]
    if past:
        case.input("past", draw(4, 2, keys, 3, 2, kind=kind))
        names[3] = "past"
    if rule.startswith("gated"):
        case.input("decay", -np.abs(draw(5, 2, length, keys * (1 if per_head else 3), kind=kind)))
        names[4] = "decay"
    if rule.endswith("delta"):
        case.input("rate", np.abs(draw(6, 2, length, rate, kind=kind)) / kind(2))
        names[5] = "rate"
    while names[-1] == "_":
        names.pop()
    return case.node("LinearAttention", " ".join(names), "y state", q_num_heads=queries, kv_num_heads=keys, update_rule=rule,
                     **more).output("y", "state")


def linear_attention_cases():
    for rule in ("linear", "gated", "delta", "gated_delta"):
        yield linear_attention(rule, rule)
        yield linear_attention(rule + ", past", rule, past=True, per_head=True, rate=1, length=1)
    yield linear_attention("as many heads, scaled", "gated_delta", heads=(2, 2), scale=0.25, chunk_size=2)
    yield linear_attention("f16", "gated_delta", kind=np.float16, past=True, bound=F16)


def causal_conv_cases():
    for name, shape, kernel, more in (("alone", (2, 3, 5), 3, ""), ("bias", (2, 3, 5), 3, "b"), ("past", (2, 3, 5), 3, "_ p"),
                                      ("one position", (2, 3, 1), 4, "b p"), ("shorter than its kernel", (2, 3, 2), 5, ""),
                                      ("kernel of 1", (2, 3, 4), 1, "b")):
        for activation in ("none", "silu"):
            case = Case("causal convolution %s, %s" % (name, activation), 27, 2e-6)
            case.input("x", draw(1, *shape)).input("w", draw(2, shape[1], 1, kernel))
            if "b" in more:
                case.input("b", draw(3, shape[1]))
            if "p" in more:
                case.input("p", draw(4, shape[0], shape[1], kernel - 1))
            yield case.node("CausalConvWithState", ("x w " + more).strip(), "y state", activation=activation).output("y", "state")


def norm_cases():
    for axis in (-1, 1, 0):
        x = draw(1, 2, 3, 4)
        case = Case("RMS norm from %d" % axis, 23, 2e-6).input("x", x).constant("s", draw(2, *x.shape[axis:]))
        yield case.node("RMSNormalization", "x s", "y", axis=axis, epsilon=0.5).output("y")
        case = Case("layer norm from %d" % axis, 17, 2e-6).input("x", x).constant("s", draw(2, *x.shape[axis:]))
        yield case.node("LayerNormalization", "x s", "y mean inverse", axis=axis, epsilon=0.5).output("y", "mean", "inverse")
    yield (Case("RMS norm, one scale for all", 23, 2e-6).input("x", draw(1, 2, 3)).input("s", draw(2, 2, 1))
           .node("RMSNormalization", "x s", "y").output("y"))
    yield (Case("RMS norm of f64", 23, 1e-12).input("x", draw(1, 2, 3, kind=np.float64)).input("s", draw(2, 3, kind=np.float64))
           .node("RMSNormalization", "x s", "y").output("y"))


def activation_cases():
    for alpha in (1.0, 1.702, -0.5):
        yield Case("swish of %g" % alpha, 24, 2e-6).input("x", draw(1, 9)).node("Swish", "x", "y", alpha=alpha).output("y")
        yield (Case("SwiGLU of %g" % alpha, 28, 2e-6).input("a", draw(1, 3, 3)).input("b", draw(2, 3, 3))
               .node("SwiGLU", "a b", "y", alpha=alpha).output("y"))


def scatter_cases():
    for name, kind, shape, count, places, attributes in (
            ("from the front", np.float32, (2, 1, 4, 3), 2, None, {}), ("from places", np.float32, (2, 1, 4, 3), 2, [1, 2], {}),
            ("along 1", np.int64, (3, 4, 2), 1, [3, 0, 2], {"axis": 1}),
            ("around the end", np.float32, (2, 4, 3), 3, [3, 6], {"mode": "circular"})):
        axis = attributes.get("axis", -2)
        update = list(shape)
        update[axis] = count
        case = Case("tensor scatter " + name, 24).input("cache", (draw(1, *shape) * 16).astype(kind))
        case.input("update", (draw(2, *update) * 16).astype(kind))
        if places is not None:
            case.input("places", np.array(places))
        yield case.node("TensorScatter", "cache update places" if places is not None else "cache update", "y",
                        **attributes).output("y")


def half_norms():
    """The standard's result for f16: statistics in f32, one rounding before the scale and one after it."""
    x, s = draw(1, 2, 3, 8, kind=np.float16), draw(2, 8, kind=np.float16)
    wide = x.astype(np.float32)
    normalised = wide / np.sqrt(np.mean(wide * wide, -1, keepdims=True) + np.float32(1e-5))
    yield (Case("RMS norm of f16", 23, F16).input("x", x).input("s", s).node("RMSNormalization", "x s", "y").output("y"),
           [normalised.astype(np.float16) * s])
    mean = np.mean(wide, -1, keepdims=True)
    inverse = 1 / np.sqrt(np.mean((wide - mean) ** 2, -1, keepdims=True) + np.float32(1e-5))
    yield (Case("layer norm of f16", 17, F16).input("x", x).input("s", s)
           .node("LayerNormalization", "x s", "y mean inverse").output("y", "mean", "inverse"),
           [((wide - mean) * inverse).astype(np.float16) * s, mean, inverse])


def record(folder):
    with open(os.path.join(folder, "transformers.txt"), "w") as out:
        out.write("# Written by record.py (transformers.py).\n# SPDX-License-Identifier: Apache-2.0\n")
        for cases in (attention_cases, rotary_cases, linear_attention_cases, causal_conv_cases, norm_cases, activation_cases,
                      scatter_cases):
            for case in cases():
                write(case, out, case.run_reference(), "the evaluator of the package onnx")
        for case, expected in half_norms():
            write(case, out, expected)
