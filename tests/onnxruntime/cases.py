# Models of a few nodes with inputs and ONNX Runtime's outputs, as text.
# SPDX-License-Identifier: Apache-2.0
"""recorded_case.h reads the text.

    case relu
    opset 22
    input x f32[3] nan -0.0 1.5
    constant w f32[0, 3]
    node Relu x -> y
    attribute alpha f 0.5
    output y f32[3] nan 0.0 1.5
    bound 0                        of |found - expected| / max(1, |expected|); 0: equal bits, except those of NaN
"""

import numpy as np
import onnx
import onnx.reference
import onnxruntime
from onnx import helper

NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "bool": "bool",
         "uint8": "u8", "uint16": "u16", "uint32": "u32"}


class Case:
    def __init__(self, name, opset=22, bound=0):
        self.name, self.opset, self.bound = name, opset, bound
        self.inputs, self.constants, self.nodes, self.outputs = {}, {}, [], []

    def input(self, name, value):
        self.inputs[name] = np.asarray(value)
        return self

    def constant(self, name, value):
        self.constants[name] = np.asarray(value)
        return self

    def node(self, op, inputs, outputs, **attributes):
        self.nodes.append((op, inputs.split(), outputs.split(), attributes))
        return self

    def output(self, *names):
        self.outputs = list(names)
        return self

    def model(self):
        def names(words):
            return ["" if word == "_" else word for word in words]

        nodes = [helper.make_node(op, names(inputs), names(outputs), **attributes)
                 for op, inputs, outputs, attributes in self.nodes]
        inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
                  for name, value in self.inputs.items()]
        constants = [onnx.numpy_helper.from_array(value, name) for name, value in self.constants.items()]
        graph = helper.make_graph(nodes, "case", inputs, [onnx.ValueInfoProto(name=name) for name in self.outputs], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)
        return onnx.shape_inference.infer_shapes(model)

    def run_reference(self):
        """By the reference evaluator of the package onnx."""
        return onnx.reference.ReferenceEvaluator(self.model()).run(None, self.inputs)

    def run(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(self.model().SerializeToString(), options)
        return session.run(None, self.inputs)


def number(value):
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)):
        return str(value)
    if np.isnan(value):
        return "-nan" if np.signbit(value) else "nan"
    return repr(float(value)) if value.dtype == np.float64 else "%.9g" % value


def tensor(value):
    dims = ", ".join(str(extent) for extent in value.shape)
    return " ".join(["%s[%s]" % (NAMES[str(value.dtype)], dims)] + [number(one) for one in value.ravel()])


def attribute(name, value):
    if isinstance(value, str):
        return "%s s %s" % (name, value)
    if isinstance(value, list) and value and isinstance(value[0], (str, float)):
        kind = "strings" if isinstance(value[0], str) else "floats"
        return "%s %s %s" % (name, kind, " ".join(str(one) for one in value))
    if isinstance(value, list):
        return "%s ints %s" % (name, " ".join(str(one) for one in value))
    return "%s %s %s" % (name, "f" if isinstance(value, float) else "i", number(np.float32(value)) if isinstance(value, float) else value)


def write(case, out, expected=None, by="NumPy"):
    """`expected`: results of another judge, if that decides."""
    found = case.run() if expected is None else expected
    if expected is not None:
        out.write("# By %s.\n" % by)
    out.write("case %s\nopset %d\n" % (case.name, case.opset))
    for kind, tensors in (("input", case.inputs), ("constant", case.constants)):
        for name, value in tensors.items():
            out.write("%s %s %s\n" % (kind, name, tensor(value)))
    for op, inputs, outputs, attributes in case.nodes:
        out.write("node %s %s -> %s\n" % (op, " ".join(inputs), " ".join(outputs)))
        for name, value in attributes.items():
            out.write("attribute %s\n" % attribute(name, value))
    for name, value in zip(case.outputs, found):
        out.write("output %s %s\n" % (name, tensor(value)))
    out.write("bound %g\n\n" % case.bound)
