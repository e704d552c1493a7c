"""Times a model in ONNX Runtime or OpenVINO, on the inputs of a folder of ONNX test data.

    peer.py onnxruntime|openvino MODEL.onnx FOLDER THREADS RUNS

Prints the seconds that creating the session took, and the median of RUNS steps in f32 after three others.
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import statistics
import sys
import time

import onnx

WARM_UP = 3


def inputs_of(model, folder):
    """By name: input_I.pb is that of the I-th input that no initializer gives."""
    graph = onnx.load(model, load_external_data=False).graph
    given = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in given]
    files = [pathlib.Path(folder) / f"input_{i}.pb" for i in range(len(names))]
    return {
        name: onnx.numpy_helper.to_array(onnx.load_tensor(file))
        for name, file in zip(names, files, strict=True)
        if file.exists()
    }


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


def main(peer, model, folder, threads, runs):
    feed = inputs_of(model, folder)
    creating, step = seconds(lambda: PEERS[peer](model, int(threads)))
    for _ in range(WARM_UP):
        step(feed)
    print(creating, statistics.median(seconds(lambda: step(feed))[0] for _ in range(int(runs))))


if __name__ == "__main__":
    main(*sys.argv[1:])
