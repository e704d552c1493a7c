"""Tensors as files, in the layout of ONNX's own tests: input_0.pb .., output_0.pb .."""
# SPDX-License-Identifier: Apache-2.0

import onnx


def write(folder, kind, arrays):
    """NumPy arrays by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, (name, values) in enumerate(arrays.items()):
        proto = onnx.numpy_helper.from_array(values, name)
        (folder / f"{kind}_{i}.pb").write_bytes(proto.SerializeToString())


def tensor(path):
    proto = onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    return proto.name, onnx.numpy_helper.to_array(proto)


def read(folder, kind):
    """By name, in the order of their numbers."""
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    return dict(tensor(path) for path in paths)
