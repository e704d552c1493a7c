# The wheel in a fresh virtual environment.
# SPDX-License-Identifier: Apache-2.0

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import consumer


class Wheel(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        environment = cls.scratch.name + "/venv"
        # Debian's numpy and cffi, so that nothing is downloaded.
        consumer.run("/usr/bin/python3", "-m", "venv", "--system-site-packages", environment)
        cls.python = environment + "/bin/python"
        consumer.run(cls.python, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps", WHEEL)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def run_python(self, *words):
        """In an empty folder, so that the package is that of the environment."""
        with tempfile.TemporaryDirectory() as folder:
            return consumer.run(self.python, *words, cwd=folder)

    def test_the_example_trains(self):
        self.assertEqual(consumer.LOSSES,
                         self.run_python(TREE.examples("linear_training.py"), *TREE.training()))

    def test_the_program_is_a_module(self):
        text = self.run_python("-m", "partita", "--version")
        self.assertIn("partita %s\n" % VERSION, text)
        self.assertRegex(text, r"LLVM \d")

    def test_the_library_finds_the_code_generator(self):
        program = "import partita, sys; partita.compile(sys.argv[1], machine=sys.argv[2]).write(sys.argv[3])"
        with tempfile.TemporaryDirectory() as folder:
            plan = folder + "/linear.plan"
            self.run_python("-c", program, *TREE.training(), plan)
            self.assertIn(" by codegen.", consumer.run(TREE.path("bin/partita"), "check", plan, "--text"))

    def test_the_package_by_itself(self):
        here = os.path.realpath("tests/packages/from_python_test.py")
        text = self.run_python(here, *TREE.training())
        self.assertIn("\nOK\n", text)
        self.assertNotIn("skipped", text)

    def test_every_program_of_the_page_runs(self):
        with open("docs/guide/from_python.md", encoding="utf-8") as file:
            page = file.read()
        programs = re.findall(r"^```python\n(.*?)^```\n+(?:It prints\n*```\n(.*?)^```)?", page, re.M | re.S)
        self.assertTrue(programs)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(TREE.examples(), folder + "/examples")
            for program, printed in programs:
                self.assertEqual(printed, consumer.run(self.python, "-c", program, cwd=folder))


class Types(unittest.TestCase):
    """What mypy finds in the installed package, and in a program that imports it."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        consumer.run("/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", cls.scratch.name)
        (packages,) = glob.glob(cls.scratch.name + "/lib/python3*/site-packages")
        with zipfile.ZipFile(WHEEL) as archive:
            archive.extractall(packages, [name for name in archive.namelist() if name.endswith((".py", "/py.typed"))])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def errors(self, *words):
        """Lines of `FILE:LINE: error: ...`."""
        done = subprocess.run(["/usr/bin/mypy", "--strict", "--no-error-summary", "--config-file", os.devnull,
                               "--cache-dir", self.scratch.name + "/cache",
                               "--python-executable", self.scratch.name + "/bin/python",
                               *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return [line for line in done.stdout.splitlines() if ": error: " in line]

    def test_the_package_has_no_error(self):
        self.assertEqual([], self.errors("-p", "partita"))

    def test_a_program_is_held_to_its_types(self):
        program = "tests/packages/typed_program.py"
        with open(program, encoding="utf-8") as file:
            wrong = [number for number, line in enumerate(file, start=1) if "# wrong: " in line]
        errors = self.errors(program)
        self.assertEqual(wrong, [int(error.split(":")[1]) for error in errors], "\n".join(errors))
        self.assertTrue(wrong)


class Files(unittest.TestCase):

    def setUp(self):
        archive = zipfile.ZipFile(WHEEL)
        self.addCleanup(archive.close)
        self.archive = archive

    def text(self, name):
        return self.archive.read("partita-%s.dist-info/%s" % (VERSION, name)).decode()

    def test_it_says_what_it_needs(self):
        self.assertIn("Tag: py3-none-linux_x86_64\n", self.text("WHEEL"))
        self.assertRegex(self.text("METADATA"), r"\nRequires-External: libdnnl2 ")
        self.assertIn("partita/py.typed", self.archive.namelist())

    def test_its_record_has_every_file(self):
        listed = {line.split(",")[0] for line in self.text("RECORD").splitlines()}
        self.assertEqual(set(self.archive.namelist()), listed)


if __name__ == "__main__":
    VERSION, _ = consumer.versions()
    TREE = consumer.InstalledTree(VERSION)
    WHEEL = os.path.realpath("%s/partita-%s-py3-none-linux_x86_64.whl" % (consumer.PACKAGES, VERSION))
    unittest.main()
