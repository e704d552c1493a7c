"""Runs a model on one device and on three, and compares its outputs with a peer's."""
# SPDX-License-Identifier: Apache-2.0

import json
import shutil
import subprocess

import exact
import judge
import numpy
import tensor_files

DEVICES = 3
SINGLE = ["--strategy", "single"]
LIST = ["--strategy", "list"]
PIPELINE = ["--strategy", "pipeline", "--stages", DEVICES]
SECONDS = 600


class Refused(Exception):
    """The program refuses the model."""


class Wrong(Exception):
    """The program dies, or gives wrong numbers."""


def flat(values):
    return (values.astype("float64") if values.dtype.kind in "fV" else values).ravel().tolist()


def file_name(output):
    return "".join(c if " " <= c <= "~" and c not in "/%" else "".join(f"%{b:02x}" for b in c.encode()) for c in output)


class Exact:
    """The outputs in f64, by name: those that the exporter wrote, else those of a run on demand."""

    def __init__(self, folder, names):
        self.folder, self.names = folder, names

    def __call__(self, name):
        found = tensor_files.read(self.folder / "exact", "output")
        if not found:
            found = self.run()
        return flat(found[name])

    def run(self):
        feed = tensor_files.read(self.folder / "test_data_set_0", "input")
        values = exact.outputs(str(self.folder / "model.onnx"), feed)
        found = dict(zip(self.names, values))
        tensor_files.write(self.folder / "exact", "output", found)
        return found


class Check:
    def __init__(self, program, folder, row):
        self.program, self.folder, self.row = program, folder, row
        self.expected = tensor_files.read(folder / "test_data_set_0", "output")
        self.exact = Exact(folder, list(self.expected))
        self.outputs = program.folder / "outputs"

    def whole(self):
        how = "one device"
        try:
            needed = sum(self.run(1, SINGLE))
            how = f"{DEVICES} devices by list"
            self.row.by_list = self.by_list(needed)
            how = f"{DEVICES} devices by pipeline"
            self.row.by_pipeline = len(self.run(DEVICES, PIPELINE))
        except (Refused, Wrong) as error:
            self.row.wrong = isinstance(error, Wrong)
            self.row.problem = f"on {how}: {error}"

    def by_list(self, needed):
        """The number of devices used. If one is the fastest, less memory forces the use of others, if possible."""
        used = len(self.run(DEVICES, LIST))
        if used > 1:
            return used
        try:
            return len(self.run(DEVICES, LIST, f"{3 * needed // 4} B"))
        except Refused:
            return used

    def run(self, devices, flags, memory="4 GiB"):
        """The bytes of every device that is used. Compares the outputs."""
        shutil.rmtree(self.outputs, ignore_errors=True)
        command = [
            self.program.path, "run", self.folder / "model.onnx", "--test-data", self.folder / "test_data_set_0",
            "--machine", self.program.machine(devices, memory), "--virtual", "--reference", "--json",
            "--output", self.outputs, *flags,
        ]
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise Wrong(f"does not end within {SECONDS} s") from error
        if not done.stdout:
            raise (Refused if done.returncode in (1, 2) else Wrong)(done.stderr.strip() or f"exit {done.returncode}")
        report = json.loads(done.stdout)
        if not report["equals_reference"]:
            raise Wrong(done.stderr.strip())
        self.compare()
        return [memory["arena"] for memory in report["memory"].values() if memory["arena"] > 0]

    def compare(self):
        for name, expected in self.expected.items():
            path = self.outputs / f"{file_name(name)}.npy"
            if not path.exists():
                raise Wrong(f"output {name}: found no file of it")
            found = numpy.load(path)
            if found.shape != expected.shape or found.dtype != expected.dtype:
                raise Wrong(f"output {name}: found {found.dtype}{list(found.shape)}; expected "
                            f"{expected.dtype}{list(expected.shape)}")
            who, share = judge.verdict(flat(found), flat(expected), lambda: self.exact(name))
            if who is None:
                raise Wrong(f"output {name}: found {share:.3g} times the allowed difference")
            self.row.share = max(self.row.share, share)
            self.row.judges.add(who)
