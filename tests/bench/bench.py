"""Shared by the benchmarks: the programs, this host as a machine, and a Python with the peers."""
# SPDX-License-Identifier: Apache-2.0

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "bench"
OCR = ROOT / ".cache" / "rapidocr_onnxruntime" / "models"  # what ./demo fetched
PARTITA = ROOT / "bazel-bin" / "tools" / "partita" / "partita"
BINARIES = ROOT / "bazel-bin" / "tests" / "bench"
PEER = ROOT / "tests" / "bench" / "peer.py"
PACKAGES = {"onnxruntime": "onnxruntime==1.32.0", "openvino": "openvino==2026.4.*"}

RESNET = """
import sys
import numpy
from onnx import TensorProto, checker, helper, numpy_helper, save
rng, nodes, weights = numpy.random.default_rng(0), [], []
def weight(shape, scale):
    weights.append(numpy_helper.from_array(rng.normal(0, scale, shape).astype(numpy.float32), f"w{len(weights)}"))
    return weights[-1].name
def add(op, inputs, **attributes):
    nodes.append(helper.make_node(op, inputs, [f"v{len(nodes)}"], **attributes))
    return nodes[-1].output[0]
def conv(x, c, o, k, stride=1):
    w, b = weight((o, c, k, k), (2 / (c * k * k)) ** 0.5), weight((o,), 0.01)
    return add("Conv", [x, w, b], kernel_shape=[k, k], strides=[stride] * 2, pads=[k // 2] * 4)
x = add("Relu", [conv("image", 3, 64, 7, 2)])
x, c = add("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]), 64
for stage, count in enumerate([3, 4, 6, 3]):
    for i in range(count):
        m, stride = 64 << stage, 2 if stage and not i else 1
        y = add("Relu", [conv(x, c, m, 1)])
        y = add("Relu", [conv(y, m, m, 3, stride)])
        y = conv(y, m, 4 * m, 1)
        x, c = add("Relu", [add("Add", [y, x if i else conv(x, c, 4 * m, 1, stride)])]), 4 * m
x = add("Flatten", [add("GlobalAveragePool", [x])])
x = add("Gemm", [x, weight((2048, 1000), 0.02), weight((1000,), 0.01)])
nodes[-1].output[0] = "logits"
tensor = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
model = helper.make_model(helper.make_graph(nodes, "resnet50", [tensor("image", [1, 3, 224, 224])],
    [tensor("logits", [1, 1000])], weights), opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
checker.check_model(model)
save(model, sys.argv[1])
"""


def ran(*command, limit=None):
    """The finished process; None if it took more than `limit` seconds."""
    try:
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None


def output_of(*command):
    """Its output; ends this program if it fails."""
    done = ran(*command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:3]))} ...: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def build(*targets):
    """Into a file, since a server that bazel starts would keep a pipe open."""
    log = CACHE / "build.log"
    command = ["bazel", "build", "--config=opt", *targets]
    with open(log, "w") as file:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{log.read_text()[-2000:]}")


def python_with(venv, modules, packages, variable):
    """The Python that the environment's `variable` names, or that of CACHE/venv, with the packages from PyPI.

    None if it has not all modules.
    """
    named = os.environ.get(variable)
    python = pathlib.Path(named) if named else CACHE / venv / "bin" / "python"
    if not named and not python.exists():
        output_of(sys.executable, "-m", "venv", CACHE / venv)
    if ran(python, "-c", f"import {', '.join(modules)}").returncode == 0:
        return python
    pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", *packages]
    return python if not named and subprocess.run(pip).returncode == 0 else None


def peers_python(*peers):
    """The Python for PEER, or None."""
    packages = [*(PACKAGES[peer] for peer in peers), "onnx", "numpy"]
    return python_with("venv", ["onnx", *peers], packages, "PARTITA_PEERS_PYTHON")


def machine(devices, threads):
    """Writes a machine of identical CPU devices, with this host's rates for `threads`; returns its path."""
    host = json.loads(output_of(PARTITA, "devices", "--output", "-"))["devices"][0]
    share = threads / host["threads"]
    cpus = [
        {
            **host,
            "name": f"cpu:{i}",
            "memory": "4 GiB",
            "reserve": "0 B",
            "threads": threads,
            "peak_flops": {dtype: rate * share for dtype, rate in host["peak_flops"].items()},
            "memory_bandwidth": host["memory_bandwidth"] * share,
        }
        for i in range(devices)
    ]
    links = [{"from": "cpu:0", "to": "cpu:1", "bandwidth": 5e9, "latency": 1e-5}] if devices == 2 else []
    path = CACHE / f"cpu_{devices}_devices_{threads}_threads.json"
    path.write_text(json.dumps({"name": path.stem, "devices": cpus, "links": links}, indent=2))
    return path


def resnet50(python):
    """Writes a ResNet-50 of random weights, if it is not there; returns its path."""
    path = CACHE / "resnet50.onnx"
    if not path.exists():
        output_of(python, "-c", RESNET, path)
    return str(path)


def shapes_of(path):
    shapes = {"_det_": "1,3,640,640", "_rec_": "1,3,48,320", "_cls_": "1,3,48,192"}
    return [f"x={shape}" for part, shape in shapes.items() if part in pathlib.Path(path).name]


def seconds_of(text):
    value, unit = re.search(r"median ([0-9.]+) ?([a-zµ]+)", text).groups()
    return float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}[unit]


def peers_step(python, model, threads, runs, shapes):
    """ONNX Runtime's."""
    return float(output_of(python, PEER, "onnxruntime", model, threads, runs, *shapes).split()[1])
