"""The smallest ONNX models, for tests of the program: protobuf by hand.

SPDX-License-Identifier: Apache-2.0
"""


def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value])
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2, len(value)]) + value


def node(op, inputs, output):
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, op)


def tensor(element, *dims):
    """A number, or a name, for each dimension; None for one without either."""
    kinds = {int: 1, str: 2}
    dims = [b"" if dim is None else field(kinds[type(dim)], dim) for dim in dims]
    return field(2, field(1, field(1, element) + field(2, b"".join(field(1, dim) for dim in dims))))


def f32(*dims):
    return tensor(1, *dims)


def i64(*dims):
    return tensor(7, *dims)


def without_shape():
    return field(2, field(1, field(1, 1)))


def write_model(path, nodes, inputs, outputs, initializer=b""):
    """`inputs` and `outputs` are pairs of a name and a type."""
    ports = [field(11, field(1, name) + of) for name, of in inputs]
    ports += [field(12, field(1, name) + of) for name, of in outputs]
    graph = b"".join(field(1, n) for n in nodes) + field(2, "g") + initializer + b"".join(ports)
    with open(path, "wb") as model:
        model.write(field(1, 8) + field(8, field(2, 13)) + field(7, graph))
