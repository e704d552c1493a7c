# Resizes by ONNX Runtime: which elements mode nearest reads, and values of the other modes.
# SPDX-License-Identifier: Apache-2.0
"""resize_nearest.npy and resize_values.npy; resize_test.cc goes through the same cases in the same order."""

import os

import numpy as np
import onnx
import onnxruntime
from onnx import helper

COORDINATES = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
BLENDS = [{"mode": "linear"}, {"mode": "cubic"}, {"mode": "cubic", "exclude_outside": 1},
          {"mode": "cubic", "cubic_coeff_a": -0.5}]

# For mode nearest: extents 1 to 200, each with all of these.
SCALES = [np.float32(i) / np.float32(10) for i in range(1, 101)]
SIZES = [1, 2, 3, 5, 7, 10, 16, 25, 50, 64, 99, 100, 127, 150, 199, 200]
# For the others: this many elements of each result, evenly from the first to the last.
BLENDED_EXTENTS = [1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 33, 64, 100, 128, 199, 200]
BLENDED_SCALES = [np.float32(i) / np.float32(10) for i in (1, 3, 5, 7, 9, 11, 12, 15, 20, 25, 33, 47, 71, 100)]
SAMPLES = 8


def session(opset, inputs, attributes):
    """Of a Resize of [1, 1, 1, n], whose scales or sizes are inputs, too."""
    node = helper.make_node("Resize", inputs, ["y"], **attributes)
    graph_inputs = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1, 1, "n"])]
    kind = onnx.TensorProto.INT64 if inputs[-1] == "sizes" else onnx.TensorProto.FLOAT
    graph_inputs.append(helper.make_tensor_value_info(inputs[-1], kind, [4]))
    outputs = [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 1, 1, "m"])]
    model = helper.make_model(helper.make_graph([node], "resize", graph_inputs, outputs), ir_version=9,
                              opset_imports=[helper.make_opsetid("", opset)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def run(resize, x, name, value):
    kind = np.int64 if name == "sizes" else np.float32
    return resize.run(None, {"x": x.reshape(1, 1, 1, -1), name: np.array([1, 1, 1, value], kind)})[0].ravel()


def hashed(lists):
    """A hash of each list's length and elements: the sum of each plus 1, times the powers of an odd number."""
    values = np.concatenate([np.concatenate([[len(one)], one]) for one in lists]).astype(np.uint64)
    powers = np.full(len(values), 0x9E3779B97F4A7C15, np.uint64)
    powers[0] = 1
    return ((values + np.uint64(1)) * np.cumprod(powers, dtype=np.uint64)).sum(dtype=np.uint64)


def nearest_lists(by_scales, by_sizes, extent):
    x = np.arange(extent, dtype=np.float32)
    scales = [scale for scale in SCALES if np.float32(extent) * scale >= 1]
    lists = [run(by_scales, x, "scales", scale) for scale in scales]
    return lists + [run(by_sizes, x, "sizes", size) for size in SIZES if by_sizes]


def record_nearest(path):
    pairs = []
    for coordinates in COORDINATES:
        for rounding in ROUNDINGS:
            attributes = {"mode": "nearest", "coordinate_transformation_mode": coordinates, "nearest_mode": rounding}
            pairs.append((session(19, ["x", "", "scales"], attributes), session(19, ["x", "", "", "sizes"], attributes)))
    pairs.append((session(10, ["x", "scales"], {"mode": "nearest"}), None))
    rows = [[hashed(nearest_lists(*pair, extent)) for extent in range(1, 201)] for pair in pairs]
    np.save(path, np.array(rows, np.uint64).astype(np.int64))


def samples_of(resize, extent, scale):
    if np.float32(extent) * scale < 1:
        return np.zeros(SAMPLES, np.float32)
    x = ((np.arange(extent) * 7919 + 17) % 1009 - 504) / 256
    y = run(resize, x.astype(np.float32), "scales", scale)
    return [y[i * (len(y) - 1) // (SAMPLES - 1)] for i in range(SAMPLES)]


def record_values(path):
    rows = []
    for blend in BLENDS:
        for coordinates in COORDINATES:
            resize = session(19, ["x", "", "scales"], {"coordinate_transformation_mode": coordinates, **blend})
            rows.append([[samples_of(resize, extent, scale) for scale in BLENDED_SCALES] for extent in BLENDED_EXTENTS])
    np.save(path, np.array(rows, np.float32))


def record(folder):
    record_nearest(os.path.join(folder, "resize_nearest.npy"))
    record_values(os.path.join(folder, "resize_values.npy"))
