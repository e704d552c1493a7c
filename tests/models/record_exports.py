"""Records a few small exports in recorded/, beside this file, for recorded_exports_test.py.

Run once, by hand, with the packages that exports.py needs:

    venv/bin/python tests/models/record_exports.py
"""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import shutil
import warnings

import exports
import onnx

FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"
TINY = dict(exports.DECODER, hidden_size=16, intermediate_size=24, num_hidden_layers=1)
MODELS = {
    ("qwen3", "23_open"): lambda: exports.decoder("Qwen3", num_key_value_heads=exports.KEY_HEADS, head_dim=4, **TINY),
    ("llama_cache", "23"): lambda: exports.llama(**TINY),
    ("bi_lstm", "17"): lambda: (exports.Tagger(width=8), (exports.ids(),)),
}


def strip(path):
    """Without the Python location of each node, which is most of a small file."""
    model = onnx.load(path)
    for node in model.graph.node:
        node.ClearField("metadata_props")
        node.ClearField("doc_string")
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info, *model.graph.initializer]:
        value.ClearField("metadata_props")
        value.ClearField("doc_string")
    model.graph.ClearField("metadata_props")
    model.ClearField("metadata_props")
    model.graph.ClearField("value_info")
    onnx.checker.check_model(model)
    onnx.save(model, path)


def main():
    warnings.filterwarnings("ignore")
    for (name, way), make in MODELS.items():
        folder = FOLDER / f"{name}_{way}"
        exports.export(*exports.made(make), exports.WAYS[way], folder)
        shutil.rmtree(folder / "exact")
        strip(folder / "model.onnx")


if __name__ == "__main__":
    main()
