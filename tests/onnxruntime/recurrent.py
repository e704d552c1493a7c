# LSTM, GRU and RNN, by ONNX Runtime; in f64 and several layers deep by PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""recurrent.txt: directions, states, lengths, peepholes, bounds, activations, layouts."""

import os

import numpy as np
import torch

from cases import Case, write

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, UNITS = 4, 3, 2, 3


def drawn(*shape, seed):
    return np.round(np.random.default_rng(seed).uniform(-1, 1, shape) * 256).astype(np.float32) / 256


def case(name, op, directions=1, bias=True, lengths=None, states=True, peepholes=False, opset=14, outputs=3, **attributes):
    """Weights are constants, the rest inputs; a missing one is "_"."""
    gates = GATES[op]
    batch_first = attributes.get("layout") == 1
    c = Case("%s, %s" % (op, name), opset=opset, bound=2e-6)
    c.input("x", drawn(*((BATCH, STEPS) if batch_first else (STEPS, BATCH)), INPUTS, seed=1) * 2)
    c.constant("w", drawn(directions, gates * UNITS, INPUTS, seed=2))
    c.constant("r", drawn(directions, gates * UNITS, UNITS, seed=3))
    state = (BATCH, directions, UNITS) if batch_first else (directions, BATCH, UNITS)
    if bias:
        c.constant("b", drawn(directions, 2 * gates * UNITS, seed=4))
    if lengths is not None:
        c.input("l", np.array(lengths, np.int32))
    if states:
        c.input("h", drawn(*state, seed=5))
    if states and op == "LSTM":
        c.input("e", drawn(*state, seed=6))
    if peepholes:
        c.constant("p", drawn(directions, 3 * UNITS, seed=7))
    names = ["x", "w", "r", "b" if bias else "_", "_" if lengths is None else "l", "h" if states else "_"]
    if op == "LSTM":
        names += ["e" if states else "_"] + (["p"] if peepholes else [])
    results = ["y", "last", "cell"][:min(outputs, 3 if op == "LSTM" else 2)]
    return c.node(op, " ".join(names), " ".join(results), hidden_size=UNITS, **attributes).output(*results)


def cases():
    both = {"directions": 2, "direction": "bidirectional"}
    for op in ("LSTM", "GRU", "RNN"):
        yield case("nothing but weights", op, bias=False, states=False)
        yield case("bias and states", op)
        yield case("reverse", op, direction="reverse")
        yield case("bidirectional", op, **both)
        yield case("lengths", op, lengths=[4, 1, 2])
        yield case("lengths in both directions", op, lengths=[1, 4, 3], **both)
        yield case("lengths, no bias, no states", op, lengths=[2, 4, 1], bias=False, states=False, direction="reverse")
        yield case("clip", op, clip=0.375)
        yield case("opset 7", op, opset=7)
    for op, names in (("LSTM", ["HardSigmoid", "Softsign", "Relu"]), ("GRU", ["Sigmoid", "ScaledTanh"]), ("RNN", ["Affine"])):
        numbers = {"GRU": ([1.5], [0.5]), "RNN": ([0.5], [0.25]), "LSTM": ([0.3], [0.4])}[op]
        yield case("activations", op, activations=names, activation_alpha=numbers[0], activation_beta=numbers[1])
    for name, alpha in (("Elu", 0.5), ("LeakyRelu", 0.125), ("ThresholdedRelu", 0.25)):
        yield case(name, "RNN", activations=[name], activation_alpha=[alpha])
    yield case("defaults of activations", "LSTM", activations=["HardSigmoid", "LeakyRelu", "Softplus"])
    yield case("directions that differ", "LSTM", lengths=[4, 2, 3], peepholes=True,
               activations=["Sigmoid", "Tanh", "Tanh", "Sigmoid", "Relu", "Softsign"], **both)
    yield case("directions that differ", "RNN", activations=["Tanh", "Relu"], **both)
    yield case("peepholes", "LSTM", peepholes=True)
    yield case("peepholes, lengths and both directions", "LSTM", peepholes=True, lengths=[4, 1, 2], **both)
    yield case("coupled gates", "LSTM", input_forget=1, clip=0.5)
    yield case("linear before reset", "GRU", linear_before_reset=1)
    yield case("linear before reset, lengths", "GRU", linear_before_reset=1, lengths=[4, 1, 2], **both)
    yield case("linear before reset, clip, no bias", "GRU", linear_before_reset=1, clip=0.375, bias=False)


def by_torch(name, op, layers, dtype, bidirectional, batch_first=False):
    """A torch module as its exporter writes it, and its results."""
    torch.manual_seed(8)
    module = getattr(torch.nn, op)(INPUTS, UNITS, layers, bidirectional=bidirectional).to(dtype)
    directions = 2 if bidirectional else 1
    x = torch.from_numpy(drawn(STEPS, BATCH, INPUTS, seed=9)).to(dtype)
    c = Case(name, opset=14, bound=1e-13 if dtype == torch.float64 else 1e-6)
    c.input("x", x.transpose(0, 1).numpy() if batch_first else x.numpy())
    order = {"LSTM": [0, 3, 1, 2], "GRU": [1, 0, 2], "RNN": [0]}[op]

    def stacked(weight, layer):
        parts = [getattr(module, "%s_l%d%s" % (weight, layer, "_reverse" if d else "")) for d in range(directions)]
        return torch.stack([torch.cat([part.chunk(len(order))[i] for i in order]) for part in parts]).detach().numpy()

    attributes = {"hidden_size": UNITS, "direction": "bidirectional" if bidirectional else "forward"}
    attributes.update({"linear_before_reset": 1} if op == "GRU" else {})
    attributes.update({"layout": 1} if batch_first else {})
    value = "x"
    for layer in range(layers):
        c.constant("w%d" % layer, stacked("weight_ih", layer)).constant("r%d" % layer, stacked("weight_hh", layer))
        c.constant("b%d" % layer, np.concatenate((stacked("bias_ih", layer), stacked("bias_hh", layer)), 1))
        c.node(op, "%s w%d r%d b%d" % (value, layer, layer, layer), "y%d" % layer, **attributes)
        if not batch_first:
            c.node("Transpose", "y%d" % layer, "t%d" % layer, perm=[0, 2, 1, 3])
        c.constant("s%d" % layer, np.array([0, 0, -1], np.int64))
        c.node("Reshape", "%s%d s%d" % ("y" if batch_first else "t", layer, layer), "z%d" % layer)
        value = "z%d" % layer
    y = module(x)[0].detach()
    return c.output(value), [y.transpose(0, 1).numpy() if batch_first else y.numpy()]


def torch_cases():
    for op in ("LSTM", "GRU", "RNN"):
        yield by_torch("%s in f64" % op, op, 1, torch.float64, False)
        yield by_torch("%s, two layers, both directions" % op, op, 2, torch.float32, True)
        # ONNX Runtime refuses this layout.
        yield by_torch("%s, the batch first" % op, op, 2, torch.float32, True, batch_first=True)


def record(folder):
    with open(os.path.join(folder, "recurrent.txt"), "w") as out:
        for one in cases():
            write(one, out)
        for one, expected in torch_cases():
            write(one, out, expected, by="PyTorch")
