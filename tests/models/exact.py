"""Runs an ONNX model in f64, by ONNX's own reference evaluator except for two ops.

PyTorch computes convolutions, which are slow there; BatchNormalization is written out, as the evaluator takes the
statistics of the batch in opsets before 14.
"""
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import onnx
import torch
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def pads_of(x, kernel, auto_pad, pads, strides, dilations):
    """The padding of each side, as torch.nn.functional.pad takes it: the last dimension first."""
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        both = []
        for size, k, s, d in zip(x.shape[2:], kernel, strides, dilations):
            total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
            small = total // 2
            both.append((small, total - small) if auto_pad == "SAME_UPPER" else (total - small, small))
    else:
        rank = len(kernel)
        both = list(zip(pads[:rank], pads[rank:])) if pads else [(0, 0)] * rank
    return [side for pair in reversed(both) for side in pair]


class Conv(OpRun):
    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None, strides=None):
        rank = x.ndim - 2
        strides, dilations = strides or [1] * rank, dilations or [1] * rank
        padded = torch.nn.functional.pad(
            torch.tensor(x), pads_of(x, w.shape[2:], auto_pad, pads, strides, dilations)
        )
        run = (torch.nn.functional.conv1d, torch.nn.functional.conv2d, torch.nn.functional.conv3d)[rank - 1]
        bias = None if b is None else torch.tensor(b)
        return (run(padded, torch.tensor(w), bias, tuple(strides), 0, tuple(dilations), group or 1).numpy(),)


class BatchNormalization(OpRun):
    def _run(self, x, scale, bias, mean, variance, epsilon=None, momentum=None, training_mode=None):
        if training_mode:
            raise NotImplementedError("found a BatchNormalization that trains; expected a model for inference")
        scale, bias, mean, variance = (
            values.reshape(-1, *[1] * (x.ndim - 2)) for values in (scale, bias, mean, variance)
        )
        return ((x - mean) / np.sqrt(variance + epsilon) * scale + bias,)


def widen_tensor(tensor):
    if tensor.data_type in FLOATS:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))


def widen_node(node):
    for attribute in list(node.attribute):
        if attribute.type == onnx.AttributeProto.TENSOR:
            widen_tensor(attribute.t)
        elif attribute.type == onnx.AttributeProto.GRAPH:
            widen_graph(attribute.g)
        elif node.op_type == "Cast" and attribute.name == "to" and attribute.i in FLOATS:
            attribute.i = TensorProto.DOUBLE
        elif node.op_type == "Constant" and attribute.name in ("value_float", "value_floats"):
            value = np.float64(attribute.f if attribute.name == "value_float" else attribute.floats)
            attribute.CopyFrom(onnx.helper.make_attribute("value", numpy_helper.from_array(value)))


def widen_graph(graph):
    for tensor in graph.initializer:
        widen_tensor(tensor)
    for node in graph.node:
        widen_node(node)
    for value in [*graph.input, *graph.output, *graph.value_info]:
        kind = value.type.tensor_type
        if kind.elem_type in FLOATS:
            kind.elem_type = TensorProto.DOUBLE


def outputs(path, feed):
    """The outputs of the model in f64, for inputs by name."""
    model = onnx.load(path)
    widen_graph(model.graph)
    for function in model.functions:
        for node in function.node:
            widen_node(node)
    wide = {name: x.astype(np.float64) if x.dtype.kind == "f" else x for name, x in feed.items()}
    return ReferenceEvaluator(model, new_ops=[BatchNormalization, Conv]).run(None, wide)
