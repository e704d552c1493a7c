"""Times a model in ONNX Runtime or OpenVINO, on ONNX test data or on random numbers.

    peer.py onnxruntime|openvino MODEL.onnx THREADS RUNS FOLDER
    peer.py onnxruntime|openvino MODEL.onnx THREADS RUNS [NAME=N,N,..  ...]

FOLDER has input_0.pb and so on. Without it inputs are random f32, of the shapes that are given or that the model fixes.
Prints the seconds that creating the session took, and the median of RUNS steps in f32 after three others.
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import statistics
import sys
import time

import numpy
import onnx

WARM_UP = 3


def inputs_of(model):
    """The inputs without an initializer."""
    graph = onnx.load(model, load_external_data=False).graph
    given = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in given]


def recorded(values, folder):
    """By name: input_I.pb is that of the I-th input."""
    files = [pathlib.Path(folder) / f"input_{i}.pb" for i in range(len(values))]
    return {
        value.name: onnx.numpy_helper.to_array(onnx.load_tensor(file))
        for value, file in zip(values, files)
        if file.exists()
    }


def random(values, shapes):
    """By name, the same for each."""
    feed = {}
    for value in values:
        fixed = [d.dim_value for d in value.type.tensor_type.shape.dim]
        shape = [int(d) for d in shapes[value.name].split(",")] if value.name in shapes else fixed
        feed[value.name] = numpy.random.default_rng(0).uniform(-1, 1, shape).astype(numpy.float32)
    return feed


def onnxruntime_step(model, threads):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda feed: session.run(None, feed)


def openvino_step(model, threads):
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    return lambda feed: request.infer(feed)


PEERS = {"onnxruntime": onnxruntime_step, "openvino": openvino_step}


def seconds(action):
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def main(peer, model, threads, runs, *inputs):
    values = inputs_of(model)
    if len(inputs) == 1 and pathlib.Path(inputs[0]).is_dir():
        feed = recorded(values, inputs[0])
    else:
        feed = random(values, dict(text.split("=") for text in inputs))
    creating, step = seconds(lambda: PEERS[peer](model, int(threads)))
    for _ in range(WARM_UP):
        step(feed)
    print(creating, statistics.median(seconds(lambda: step(feed))[0] for _ in range(int(runs))))


if __name__ == "__main__":
    main(*sys.argv[1:])
