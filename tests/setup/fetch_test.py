"""tools/fetch_wheel leaves the folder whole or not at all, and nothing beside it; tools/fetch_cuda_header declines where it should."""
# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(sys.argv.pop())


def write_wheel(folder, name, version, path):
    """A wheel with one file, which says its own path."""
    info = f"{name}-{version}.dist-info/"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(path, path)
        wheel.writestr(info + "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")


class Scripts(unittest.TestCase):
    """A tree with the scripts alone, and an index of local wheels."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = pathlib.Path(scratch.name) / "a tree"
        self.wheels = pathlib.Path(scratch.name) / "wheels"
        self.bin = pathlib.Path(scratch.name) / "bin"
        for folder in (self.tree / "tools", self.wheels, self.bin):
            folder.mkdir(parents=True)
        for script in ("fetch_wheel", "fetch_cuda_header"):
            shutil.copy(ROOT / "tools" / script, self.tree / "tools")
        self.cache = self.tree / ".cache"
        self.environment = {name: value for name, value in os.environ.items() if name != "CUDA_HOME"} | {
            "PATH": f"{self.bin}:{os.environ['PATH']}", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels)}

    def put_in_path(self, name, script):
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def call(self, script, *arguments, **variables):
        return subprocess.run([self.tree / "tools" / script, *arguments], capture_output=True, text=True,
                              env=self.environment | variables)

    def left(self):
        """Names in .cache."""
        return sorted(path.name for path in self.cache.glob("*"))


class FetchWheel(Scripts):
    def setUp(self):
        super().setUp()
        write_wheel(self.wheels, "thing", "1.0", "deep/include/thing.h")

    def fetch(self, *arguments):
        return self.call("fetch_wheel", *arguments)

    def test_a_folder_of_the_wheel_becomes_the_folder(self):
        done = self.fetch("thing==1.0", "deep", self.cache / "thing")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("deep/include/thing.h", (self.cache / "thing" / "include" / "thing.h").read_text())
        self.assertEqual(["thing"], self.left())

    def test_a_missing_wheel_leaves_nothing(self):
        done = self.fetch("thing==2.0", "deep", self.cache / "thing")
        self.assertEqual(1, done.returncode)
        self.assertIn("thing==2.0", done.stderr)
        self.assertEqual([], self.left())

    def test_a_missing_folder_leaves_nothing(self):
        done = self.fetch("thing==1.0", "shallow", self.cache / "thing")
        self.assertEqual(1, done.returncode)
        self.assertIn("thing==1.0: found no folder shallow; expected one", done.stderr)
        self.assertEqual([], self.left())

    def test_what_is_there_stays(self):
        (self.cache / "thing").mkdir(parents=True)
        (self.cache / "thing" / "mine").touch()
        done = self.fetch("thing==1.0", "deep", self.cache / "thing")
        self.assertEqual(1, done.returncode)
        self.assertIn("expected no such file", done.stderr)
        self.assertTrue((self.cache / "thing" / "mine").exists())

    def test_another_count_of_arguments_is_refused(self):
        done = self.fetch("thing==1.0")
        self.assertEqual((2, "usage: tools/fetch_wheel NAME==VERSION PATH FOLDER\n"), (done.returncode, done.stderr))

    def test_an_interrupt_ends_the_caller_too(self):
        self.put_in_path("python3", "touch " + str(self.bin / "started").replace(" ", "\\ ") + "; trap 'kill $!; exit 1' INT; sleep 60 & wait")
        caller = subprocess.Popen(["bash", "-c", '"$0" thing==1.0 deep "$1" || echo went on', self.tree / "tools" / "fetch_wheel",
                                   self.cache / "thing"], stdout=subprocess.PIPE, text=True, env=self.environment, start_new_session=True)
        while not (self.bin / "started").exists():
            time.sleep(0.01)
        os.killpg(caller.pid, signal.SIGINT)
        self.assertEqual("", caller.communicate()[0])
        self.assertEqual(-signal.SIGINT, caller.returncode)
        self.assertEqual([], self.left())


class FetchCudaHeader(Scripts):
    def setUp(self):
        super().setUp()
        self.toolkit = self.bin.parent / "toolkit"  # in place of this host's
        script = self.tree / "tools" / "fetch_cuda_header"
        script.write_text(script.read_text().replace("/usr/local/cuda", str(self.toolkit)))
        self.put_in_path("bazel", f'echo bazel "$@" >> "{self.bin}/calls"; exit 7')

    def fetch(self, **variables):
        return self.call("fetch_cuda_header", **variables)

    def calls(self):
        calls = self.bin / "calls"
        return calls.read_text() if calls.exists() else ""

    def write_cuda_wheel(self):
        write_wheel(self.wheels, "nvidia_cuda_runtime", "13.0.96", "nvidia/cu13/include/cuda.h")

    def test_the_header_is_fetched_once(self):
        self.write_cuda_wheel()
        done = self.fetch()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("fetching cuda.h, under NVIDIA's licence", done.stdout)
        self.assertTrue((self.cache / "cuda" / "include" / "cuda.h").exists())
        self.assertEqual("bazel shutdown\n", self.calls())
        again = self.fetch()
        self.assertEqual((0, "", ""), (again.returncode, again.stdout, again.stderr))
        self.assertEqual("bazel shutdown\n", self.calls())

    def test_cuda_home_declines_it(self):
        self.write_cuda_wheel()
        done = self.fetch(CUDA_HOME="/none")
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        self.assertFalse(self.cache.exists())

    def test_a_toolkit_is_enough(self):
        (self.toolkit / "include").mkdir(parents=True)
        (self.toolkit / "include" / "cuda.h").touch()
        done = self.fetch()
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        self.assertFalse(self.cache.exists())

    def test_without_an_index_the_build_goes_on_and_says_so(self):
        done = self.fetch()
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("cuda.h was not fetched; what is built without it plans for GPUs and runs none", done.stderr)
        self.assertFalse((self.cache / "cuda" / "include").exists())
        self.assertEqual("", self.calls())


if __name__ == "__main__":
    unittest.main()
