#!/usr/bin/env python3
"""Lists the convolutions, products, pools and normalisations of models, for onednn_bench and own_kernels_bench.

    tests/bench/onednn_versions/list_nodes.py --light FOLDER --models FOLDER --text FILE > tests/bench/onednn_versions/nodes.tsv

--light has ONNX's light models, --models is what tests/models/real_models.py wrote, --text is any text to train on. Models
without such a node, or that cannot be compiled, are left out and named. The nodes are those of the optimised graph of
an inference model and of the step of a model in training, f32 only. A row is a distinct node with the models that hold
it and how often. Of a product, x and w are the factors as multiplied; the flags name those that are stored transposed.
The flag "constant" is for weights that are known at compile time.
"""
# SPDX-License-Identifier: Apache-2.0

import argparse
import collections
import itertools
import pathlib
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "bench"))

from bench import PARTITA, output_of, ran  # noqa: E402

COLUMNS = "models kind x w y strides dilations before after groups flags".split()
INT64 = 7  # onnx.TensorProto.INT64
MOST_BOUND = 8
TRAINED = {
    "resnet18, training, batch 32": ["builtin:resnet18", "--images", "rgb.npy", "--labels", "labels.npy", "--batch", "32"],
    "mnist, training, batch 64": ["builtin:mnist", "--images", "gray.npy", "--labels", "labels.npy", "--batch", "64"],
    "gpt, training": ["builtin:gpt", "--text", "text"],
    "lstm, training": ["builtin:lstm", "--text", "text"],
}

TYPE = r"[a-z]+[0-9]*\[[0-9, ]*\](?:\{[a-z0-9]+\})?"
NAMES = r"%[^\s,]+(?:, %[^\s,]+)*"
DEFINED = re.compile(r"(" + NAMES + r") = (\w+) ?(" + NAMES + r")? ?(?:\{(.*?)\})? : (" + TYPE + r"(?:, " + TYPE + r")*)")
BODY = re.compile(r"((?:%[^\s,]+, )*%[^\s,]+) = \w+ .*@body\((.*)\) \{$")
CLOSED = re.compile(r"\} : (" + TYPE + r"(?:, " + TYPE + r")*)")


def statements(text):
    """One a line: the printer breaks long ones."""
    found = []
    for line in text.splitlines():
        line = line.strip()
        is_new = re.match(r"(%\S+( = |, %)|\}|return |graph |variable |plan |//)", line) and not (
            found and found[-1].endswith(("(", ",")))
        if is_new or not found:
            found.append(line)
        else:
            found[-1] += ("" if found[-1].endswith("(") else " ") + line
    return found


def dims_of(kind):
    return [int(extent) for extent in re.search(r"\[(.*?)\]", kind)[1].split(",") if extent.strip()]


def joined(dims):
    return "x".join(map(str, dims)) or "-"


def product_row(types, attributes):
    a, b = map(dims_of, types[:2])
    flags = []
    for name, dims in (("transpose_a", a), ("transpose_b", b)):
        if attributes.get(name) == "true":
            dims[-2:] = dims[:-3:-1]
            flags.append(name)
    if min(len(a), len(b)) < 2:
        return None
    if len(b) == 2 and "transpose_a" not in flags:
        rows = 1
        for extent in a[:-1]:
            rows *= extent
        a = [rows, a[-1]]
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    y = [max(pair) for pair in zip(a[:-2], b[:-2])] + [a[-2], b[-1]]
    return dict(x=joined(a), w=joined(b), y=joined(y), flags=",".join(flags) or "-")


def window_row(kind, types, result, attributes):
    x, y = dims_of(types[0]), dims_of(result)
    rank = len(x) - 2

    def each(name, default):
        return [int(v) for v in re.findall(r"-?\d+", attributes.get(name, ""))] or [default] * rank

    if kind == "conv_weight_gradient":
        w, y = y, dims_of(types[1])
    elif kind.endswith("_pool"):
        w = each("kernel", 1)
    else:
        w = dims_of(types[1])
    return dict(x=joined(x), w=joined(w), y=joined(y), strides=joined(each("strides", 1)),
                dilations=joined(each("dilations", 1)), before=joined(each("pads_before", 0)),
                after=joined(each("pads_after", 0)), groups=attributes.get("groups", "1"), flags="-")


def line_row(kind, types, attributes):
    """A softmax or a layer norm; only along the last dimension."""
    x = dims_of(types[0])
    if int(attributes.get("axis", "-1")) % len(x) != len(x) - 1:
        return None
    return dict(x=joined(x), y=joined(x))


def row_of(kind, types, result, attributes):
    if any(not name.startswith("f32[") for name in [*types, result]):
        return None
    if kind == "matmul":
        row = product_row(types, attributes)
    elif kind in ("conv", "conv_transpose", "conv_weight_gradient", "max_pool", "avg_pool"):
        row = window_row(kind, types, result, attributes)
    elif kind in ("softmax", "layer_norm"):
        row = line_row(kind, types, attributes)
    else:
        return None
    return row and dict({column: "-" for column in COLUMNS[2:]}, kind=kind, **row)


def attributes_of(text):
    return dict(re.findall(r"(\w+) = (\[[^\]]*\]|[^,]+)", text or ""))


def first_graph(text):
    begin = text.index("graph @")
    end = text.find("\n}\n", begin)
    return text[begin:end]


def nodes_of(text):
    """The rows of the first graph of a module or a plan."""
    scopes, rows, constants = [{}], [], [set()]
    for line in statements(first_graph(text)):
        if line.startswith("graph @"):
            scopes[0] = dict(re.findall(r"(%[^\s,(]+): (" + TYPE + ")", line))
        elif body := BODY.match(line):
            outer = re.findall(r"%[^\s,]+", line.split("=", 1)[1].split("@body")[0])
            arguments = re.findall(r"(%[^\s,(]+): (" + TYPE + ")", body[2])
            constants.append({name for (name, _), value in zip(arguments, outer) if value in constants[-1]})
            scopes.append(dict(arguments, **{"": body[1]}))
        elif closed := CLOSED.match(line):
            constants.pop()
            for name, kind in zip(scopes.pop()[""].split(", "), re.findall(TYPE, closed[1])):
                scopes[-1][name] = kind
        elif defined := DEFINED.match(line):
            results, op, operands = defined[1].split(", "), defined[2], re.findall(r"%[^\s,]+", defined[3] or "")
            types = [scopes[-1].get(name, "?") for name in operands]
            found = re.findall(TYPE, defined[5])
            scopes[-1].update(zip(results, found))
            row = row_of(op, types, found[0], attributes_of(defined[4]))
            if row:
                if op in ("conv", "conv_transpose", "matmul") and operands[1] in constants[-1]:
                    row["flags"] = "constant" if row["flags"] == "-" else row["flags"] + ",constant"
                rows.append(tuple(row[column] for column in COLUMNS[1:]))
        elif constant := re.match(r"(%\S+) = constant (" + TYPE + ")", line):
            scopes[-1][constant[1]] = constant[2]
            constants[-1].add(constant[1])
    return rows


def write_array(path, dims, values):
    header = "{'descr': '|u1', 'fortran_order': False, 'shape': (%s), }" % "".join("%d, " % extent for extent in dims)
    header = header.ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + values)


def trained_models(folder, text):
    write_array(folder / "rgb.npy", (64, 3, 32, 32), bytes(64 * 3 * 32 * 32))
    write_array(folder / "gray.npy", (64, 28, 28), bytes(64 * 28 * 28))
    write_array(folder / "labels.npy", (64,), bytes(i % 10 for i in range(64)))
    (folder / "text").write_bytes(pathlib.Path(text).read_bytes())
    for name, arguments in TRAINED.items():
        paths = [str(folder / a) if (folder / a).exists() else a for a in arguments]
        output_of(PARTITA, "train", *paths, "--strategy", "single", "--plan", folder / "step.plan")
        yield name, output_of(PARTITA, "check", "--text", folder / "step.plan")


def varint(data, at):
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """The fields of a protobuf message: (number, value)."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if key & 7 == 2 else (4 if key & 7 == 5 else 8, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def input_flags(path):
    """What a tensor file (onnx.TensorProto) says of an input: its shape, and its values if they are few integers."""
    dims, dtype, name, raw = [], 0, "", b""
    for number, value in fields(path.read_bytes()):
        if number == 1:
            dims += [value] if isinstance(value, int) else list(varints(value))
        elif number == 2:
            dtype = value
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
    flags = ["--shape", "%s=%s" % (name, ",".join(map(str, dims)) or "scalar")]
    if dtype == INT64 and len(raw) <= 8 * MOST_BOUND:
        flags += ["--bind", "%s=%s" % (name, ",".join(map(str, struct.unpack("<%dq" % (len(raw) // 8), raw))))]
    return flags


def varints(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def inference_models(light, folder):
    commands = {"resnet50": ["builtin:resnet50"]}
    for path in sorted(light.glob("*.onnx")):
        commands[path.stem] = [path]
    for path in sorted(folder.glob("*/test_data_set_0")):
        flags = [flag for file in sorted(path.glob("input_*.pb")) for flag in input_flags(file)]
        commands[path.parent.name] = [path.parent / "model.onnx", *flags]
    for name, command in commands.items():
        done = ran(PARTITA, "compile", *command, "--stop-after", "optimised")
        if done.returncode == 0:
            yield name, done.stdout
        else:
            print(f"left out: {name}: {done.stderr.strip()}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--light", type=pathlib.Path, required=True)
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--text", required=True)
    arguments = parser.parse_args()
    models = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        inference = inference_models(arguments.light, arguments.models)
        for name, text in itertools.chain(inference, trained_models(pathlib.Path(folder), arguments.text)):
            rows = nodes_of(text)
            if not rows:
                print(f"left out: {name}: no such node", file=sys.stderr)
            for row in rows:
                models[row][name] += 1
    print("\t".join(COLUMNS))
    for row in sorted(models):
        print("; ".join(f"{count} {name}" for name, count in models[row].items()), *row, sep="\t")


if __name__ == "__main__":
    main()
