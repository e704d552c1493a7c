#!/usr/bin/env python3
# Writes the files in this folder with other libraries.
# SPDX-License-Identifier: Apache-2.0
"""usage: record.py   (needs numpy and safetensors; recorded with 2.4.6 and 0.5.3)

Element i of every tensor is i + 1 (a bool: whether i is even).
"""

import gzip
import os
import struct

import numpy
import safetensors

HERE = os.path.dirname(os.path.realpath(__file__))

# The format's name, and how Python packs one element; bf16 is the upper half of a float.
DTYPES = {
    "bool": ("?", None), "uint8": ("B", int), "int8": ("b", int), "int16": ("h", int), "uint16": ("H", int),
    "float16": ("e", float), "bfloat16": (None, float), "int32": ("i", int), "uint32": ("I", int),
    "float32": ("f", float), "float64": ("d", float), "int64": ("q", int), "uint64": ("Q", int),
}


def packed(dtype, count):
    code, kind = DTYPES[dtype]
    if code is None:
        return b"".join(struct.pack("<f", i + 1)[2:] for i in range(count))
    if kind is None:
        return bytes(i % 2 == 0 for i in range(count))
    return b"".join(struct.pack("<" + code, kind(i + 1)) for i in range(count))


def tensor(dtype, *shape):
    count = 1
    for extent in shape:
        count *= extent
    return {"dtype": dtype, "shape": list(shape), "data": packed(dtype, count)}


def write(name, content):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(content)


def write_safetensors():
    tensors = {"of_" + dtype: tensor(dtype, 2, 3) for dtype in DTYPES}
    tensors["scalar"] = tensor("float32")
    tensors["empty"] = tensor("float32", 0, 4)
    tensors["weight \"q\" \\ \n ü"] = tensor("float32", 2)
    write("every_dtype.safetensors", safetensors.serialize(tensors, {"step": "17 \t é"}))
    write("no_metadata.safetensors", safetensors.serialize({"w": tensor("float32", 3)}))


def write_numpy():
    arrays = {
        "x_train": numpy.arange(1, 31, dtype=numpy.uint8).reshape(5, 2, 3),
        "y_train": numpy.arange(1, 6, dtype=numpy.int64),
        "even": numpy.arange(5) % 2 == 0,
    }
    numpy.savez(os.path.join(HERE, "stored.npz"), **arrays)
    numpy.savez_compressed(os.path.join(HERE, "packed.npz"), **arrays)
    numpy.save(os.path.join(HERE, "f32.npy"), numpy.arange(1, 7, dtype=numpy.float32).reshape(2, 3))


def write_idx():
    # Yann LeCun's format of MNIST: 0, 0, element type, rank, extents, elements, all big-endian.
    images = struct.pack(">BBBB3I", 0, 0, 0x08, 3, 5, 2, 3) + packed("uint8", 30)
    labels = struct.pack(">BBBBI", 0, 0, 0x08, 1, 5) + packed("uint8", 5)
    write("images.idx.gz", gzip.compress(images, mtime=0))
    write("labels.idx", labels)


write_safetensors()
write_numpy()
write_idx()
