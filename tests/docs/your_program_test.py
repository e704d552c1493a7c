# The page of your own program shows the program that is built, and its output.
# SPDX-License-Identifier: Apache-2.0
"""your_program_test.py PROGRAM"""

import re
import subprocess
import sys
import unittest

PAGE, FOLDER = "docs/guide/from_cpp.md", "docs/guide/from_cpp/"
MACHINE = "examples/machines/two_small_cpus.json"


def content(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def block_of(language):
    """The page's one block of this language, without its fences."""
    blocks = re.findall(r"^```%s\n(.*?)^```$" % language, content(PAGE), re.S | re.M)
    assert len(blocks) == 1, "found %d blocks of %r; expected one" % (len(blocks), language)
    return blocks[0]


class YourProgram(unittest.TestCase):

    def test_the_page_has_the_whole_program(self):
        self.assertEqual(content(FOLDER + "two_layers.cc"), block_of("cpp"))

    def test_the_page_has_its_target(self):
        self.assertIn("\n" + block_of("python"), content(FOLDER + "BUILD"))

    def test_the_page_has_what_it_prints(self):
        printed = subprocess.run([PROGRAM, MACHINE], check=True, text=True, stdout=subprocess.PIPE).stdout
        command = "$ bazel-bin/docs/guide/from_cpp/two_layers %s\n" % MACHINE
        self.assertEqual(command + printed, block_of("console").partition("two_layers\n")[2])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
