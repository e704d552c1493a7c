#!/usr/bin/env python3
# Writes a small ONNX model and an input for it, where no exporter is at hand.
# SPDX-License-Identifier: Apache-2.0
"""usage: mlp_onnx.py MODEL.onnx INPUT.npy

The model is four layers of 512 with an open batch, as an exporter would write
it:  x [batch, 512] -> MatMul, Relu -> ... -> MatMul, Softmax -> p [batch, 512].
The input has a batch of 8. Both are the same in every run.
"""

import array
import random
import struct
import sys

WIDTH, LAYERS, BATCH = 512, 4, 8
FLOAT = 1  # onnx.TensorProto.FLOAT
OPSET = 13


def varint(value):
    low, rest = value & 0x7F, value >> 7
    return bytes([low]) if rest == 0 else bytes([low | 0x80]) + varint(rest)


def field(number, value):
    """One field of a protobuf message: a number, or a text or message by its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def random_floats(rng, count, scale):
    return array.array("f", (rng.uniform(-scale, scale) for _ in range(count))).tobytes()


def weight(name, rng):
    """A TensorProto: dims, data_type, name, raw_data."""
    data = random_floats(rng, WIDTH * WIDTH, (3 / WIDTH) ** 0.5)
    return field(1, WIDTH) + field(1, WIDTH) + field(2, FLOAT) + field(8, name) + field(9, data)


def node(op, inputs, output):
    """A NodeProto: inputs, outputs, name, op_type."""
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, op)


def port(name):
    """A ValueInfoProto of f32[batch, WIDTH]."""
    dims = field(1, field(2, "batch")) + field(1, field(1, WIDTH))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


def model(rng):
    nodes, weights, x = [], [], "x"
    for layer in range(1, LAYERS + 1):
        last = layer == LAYERS
        y = "p" if last else "h%d" % layer
        weights.append(weight("w%d" % layer, rng))
        nodes.append(node("MatMul", [x, "w%d" % layer], "a%d" % layer))
        nodes.append(node("Softmax" if last else "Relu", ["a%d" % layer], y))
        x = y
    graph = b"".join(field(1, n) for n in nodes) + field(2, "mlp")
    graph += b"".join(field(5, w) for w in weights) + field(11, port("x")) + field(12, port("p"))
    return field(1, 8) + field(7, graph) + field(8, field(2, OPSET))


def npy(shape, data):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def main(model_path, input_path):
    rng = random.Random(1)
    with open(model_path, "wb") as f:
        f.write(model(rng))
    with open(input_path, "wb") as f:
        f.write(npy((BATCH, WIDTH), random_floats(rng, BATCH * WIDTH, 1)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
