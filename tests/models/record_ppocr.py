"""Records ONNX Runtime's results of the PP-OCR models, as ppocr_expected.json beside this file.

Run once, by hand, when pictures or models change:

    python3 -m venv venv && venv/bin/pip install onnxruntime==1.31.1 numpy==2.4.6
    venv/bin/python tests/models/record_ppocr.py MODELS

MODELS is the folder with the ONNX files of rapidocr-onnxruntime 1.4.4.
"""
# SPDX-License-Identifier: Apache-2.0

import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "ocr"))

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import ppocr  # noqa: E402

MODELS = {
    "ppocr_direction": {"file": "ch_ppocr_mobile_v2.0_cls_infer.onnx", "picture": "line.png", "width": 192},
    "ppocr_recognition": {"file": "ch_PP-OCRv4_rec_infer.onnx", "picture": "line.png", "width": 320},
    "ppocr_detection": {"file": "ch_PP-OCRv4_det_infer.onnx", "picture": "page.png", "width": 640},
}


def record(folder, source):
    dims, values = ppocr.input_of(source)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = folder / source["file"]
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    output = session.run(None, {"x": np.array(values, dtype=np.float32).reshape(dims)})[0]
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    found = output.ravel().tolist()
    return {**source, "sha256": digest, **ppocr.summary(output.shape, found, ppocr.positions_of(found))}


def main(folder):
    models = {name: record(folder, source) for name, source in MODELS.items()}
    expected = {"recorded_with": f"onnxruntime {onnxruntime.__version__}, one thread", "models": models}
    ppocr.EXPECTED.write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
