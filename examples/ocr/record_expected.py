"""Draws the pictures of the demo and records what ONNX Runtime makes of them.

Run once, by hand, when pictures or models change:

    python3 -m venv venv && venv/bin/pip install onnxruntime==1.31.1 pillow==13.0.0 numpy==2.4.6
    venv/bin/python examples/ocr/record_expected.py MODELS

MODELS is the folder with the ONNX files of rapidocr-onnxruntime 1.4.4. Writes page.png, line.png and
expected.json beside this file; ./demo compares Partita's results with expected.json.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

import ocr

HERE = pathlib.Path(__file__).parent
LINE = "Place it, prove it."
PAGE = ["A model is a graph.", "Every byte has a place,", "every copy a reason,", "every plan a proof."]
# Every SAMPLE-th pixel of the 640x640 probability map is kept.
SAMPLE = 16


def draw(size, lines, font_size, left, top, step):
    picture = Image.new("L", size, 245)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(font_size)
    for i, line in enumerate(lines):
        pen.text((left, top + i * step), line, fill=20, font=font)
    return picture


def run(model, tensor):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": tensor})[0]


def main(models):
    draw((640, 640), PAGE, 48, 60, 90, 120).save(HERE / "page.png", optimize=True)
    draw((320, 48), [LINE], 30, 10, 4, 0).save(HERE / "line.png", optimize=True)

    def tensor(name):
        dims, values = ocr.tensor_of_png(HERE / name)
        return np.array(values, dtype=np.float32).reshape(dims)

    detection = models / ocr.DETECTION
    recognition = models / ocr.RECOGNITION
    found = run(detection, tensor("page.png"))
    read = run(recognition, tensor("line.png"))
    text = ocr.decode(read.shape, read.ravel().tolist(), ocr.characters(recognition))
    expected = {
        "recorded_with": f"onnxruntime {onnxruntime.__version__}, one thread",
        "models_sha256": {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (detection, recognition)},
        "text": text,
        "sample": SAMPLE,
        "detection_largest": float(found.max()),
        "detection": [float(f"{v:.9g}") for v in found[0, 0, ::SAMPLE, ::SAMPLE].ravel()],
    }
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")
    print("read:", text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
