"""The three PP-OCR models: their source, their inputs, and ONNX Runtime's outputs."""
# SPDX-License-Identifier: Apache-2.0

import array
import hashlib
import json
import pathlib
import sys

import ocr
import pypi

HERE = pathlib.Path(__file__).resolve().parent
PICTURES = HERE.parent.parent / "examples" / "ocr"
EXPECTED = HERE / "ppocr_expected.json"
PACKAGE = "rapidocr-onnxruntime"
VERSION = "1.4.4"
TOLERANCE = 1e-4
SAMPLES = 200


def fetch(cache):
    """The folder of the models; None if it does not exist and the package cannot be fetched."""
    models = cache / "rapidocr_onnxruntime" / "models"
    return models if pypi.fetch(PACKAGE, VERSION, "rapidocr_onnxruntime/models", models) else None


def expected():
    return json.loads(EXPECTED.read_text())


def input_of(recorded):
    """A picture of examples/ocr, cropped to the model's width."""
    dims, values = ocr.tensor_of_png(PICTURES / recorded["picture"])
    width = recorded["width"]
    rows = array.array("f")
    for start in range(0, len(values), dims[3]):
        rows.extend(values[start : start + width])
    return dims[:3] + [width], rows


def positions_of(values):
    """Where an output is sampled: everywhere, and where it is largest."""
    largest = sorted(range(len(values)), key=lambda i: -abs(values[i]))[: SAMPLES // 2]
    return sorted({*range(0, len(values), max(1, 2 * len(values) // SAMPLES)), *largest})


def summary(dims, values, positions):
    """The recorded part of an output."""
    return {
        "dims": list(dims),
        "largest": max(abs(value) for value in values),
        "mean": sum(values) / len(values),
        "positions": positions,
        "samples": [float(f"{values[at]:.8g}") for at in positions],
    }


def check_digest(model, recorded):
    if hashlib.sha256(model.read_bytes()).hexdigest() != recorded["sha256"]:
        sys.exit(f"{model.name}: found another file than the recorded one")
