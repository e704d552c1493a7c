"""The recorded exports run on one device and on three, and give PyTorch's results.

    recorded_exports_test.py PARTITA
"""
# SPDX-License-Identifier: Apache-2.0

import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
FOLDER = pathlib.Path(__file__).absolute().parent
sys.path.insert(0, str(FOLDER))

from program import Program  # noqa: E402

DEVICES = 3
RUNS = [(1, ["single"]), (DEVICES, ["list"]), (DEVICES, ["pipeline", "--stages", DEVICES])]
EXPECTED = ["bi_lstm_17", "llama_cache_23", "qwen3_23_open"]


def check(program, model, devices, strategy):
    """The program itself compares, within the tolerances of judge.py."""
    report = json.loads(program(
        "run", model / "model.onnx", "--test-data", model / "test_data_set_0", "--rtol", 1e-3, "--atol", 1e-5,
        "--machine", program.machine(devices), "--virtual", "--reference", "--json", "--strategy", *strategy,
    ))
    used = sum(memory["arena"] > 0 for memory in report["memory"].values())
    if not (report["equals_reference"] and all(output["within"] for output in report["outputs"].values())):
        sys.exit(f"{model.name} by {strategy[0]}: found {report}; expected outputs within the tolerances")
    if strategy[0] == "pipeline" and used != DEVICES:
        sys.exit(f"{model.name} by pipeline: found {used} devices that take part; expected {DEVICES}")


def main(partita):
    models = sorted(path.parent for path in (FOLDER / "recorded").glob("*/model.onnx"))
    if [model.name for model in models] != EXPECTED:
        sys.exit(f"found the models {[model.name for model in models]}; expected {EXPECTED}")
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(pathlib.Path(partita).resolve(), pathlib.Path(scratch))
        for model in models:
            for devices, strategy in RUNS:
                check(program, model, devices, strategy)


if __name__ == "__main__":
    main(sys.argv[1])
