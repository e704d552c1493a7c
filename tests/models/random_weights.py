#!/usr/bin/env python3
# ONNX's light models with random weights, and ONNX Runtime's results.
# SPDX-License-Identifier: Apache-2.0
"""
    random_weights.py LIGHT_MODELS FOLDER

The light models make their weights from constants, so their outputs say little of the arithmetic. Writes
FOLDER/NAME/model.onnx with weights of a usual size in their place, and a random input with ONNX Runtime's output as
FOLDER/NAME/test_data_set_0, for `tests/models/check --models FOLDER`. Needs onnx, onnxruntime and numpy from PyPI.
"""

import pathlib
import sys

import numpy
import onnx
import onnxruntime
from onnx import numpy_helper

SCALE, VARIANCE = 1, 4  # operands of BatchNormalization


def roles(graph):
    """From a value to the (op, operand) that reads it first, through Unsqueeze."""
    role = {}
    for node in reversed(graph.node):
        for i, name in enumerate(node.input):
            passes_on = node.op_type == "Unsqueeze" and node.output[0] in role
            role[name] = role[node.output[0]] if passes_on else (node.op_type, i)
    return role


def weight(rng, shape, role, residual):
    """Residual branches are damped, since sums over many of them would saturate the softmax at the end."""
    op, operand = role
    if op == "BatchNormalization":
        around = {SCALE: 0.4 if residual else 1, VARIANCE: 1}.get(operand, 0)
        return around + rng.uniform(-0.3, 0.3, shape)
    if op == "Mul":
        return 1 + rng.uniform(-0.3, 0.3, shape)
    if len(shape) < 2:
        return rng.uniform(-0.1, 0.1, shape)
    fan_in = numpy.prod(shape[1:])
    return rng.normal(0, (2 / fan_in) ** 0.5, shape)


def with_random_weights(model, rng):
    graph, shapes = model.graph, {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    role, kept, residual = roles(graph), [], any(node.op_type == "Sum" for node in graph.node)
    for node in graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        name = node.output[0]
        values = weight(rng, shapes[node.input[0]], role[name], residual).astype(numpy.float32)
        graph.initializer.append(numpy_helper.from_array(values, name))
    del graph.node[:]
    graph.node.extend(kept)
    read = {name for node in kept for name in node.input}
    initial = {i.name for i in graph.initializer}
    for field in (graph.initializer, graph.input):
        used = [item for item in field if item.name in read and (field is graph.initializer or item.name not in initial)]
        del field[:]
        field.extend(used)
    model.ir_version = 8  # initializers need not be inputs too
    return model


def write(path, name, values):
    path.write_bytes(numpy_helper.from_array(values, name).SerializeToString())


def main(models, folder):
    for path in sorted(pathlib.Path(models).glob("light_*.onnx")):
        rng = numpy.random.default_rng(1)
        model = with_random_weights(onnx.load(path), rng)
        onnx.checker.check_model(model)
        data = pathlib.Path(folder) / path.stem.replace("light", "random") / "test_data_set_0"
        data.mkdir(parents=True)
        onnx.save(model, data.parent / "model.onnx")
        feed = {}
        for i, value in enumerate(model.graph.input):
            dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
            feed[value.name] = rng.uniform(-1, 1, dims).astype(numpy.float32)
            write(data / f"input_{i}.pb", value.name, feed[value.name])
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        for i, (output, values) in enumerate(zip(session.get_outputs(), session.run(None, feed))):
            write(data / f"output_{i}.pb", output.name, values)
            print(path.stem, values.shape, f"from {values.min():.3g} to {values.max():.3g}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
