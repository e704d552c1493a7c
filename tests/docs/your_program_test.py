# A page about a program of your own shows the program that is built, and its output.
# SPDX-License-Identifier: Apache-2.0
"""your_program_test.py PAGE SOURCE OPERAND...

SOURCE is in the folder of the page's name, and so is the program; the OPERANDs are the program's.
"""

import re
import subprocess
import sys
import unittest

LANGUAGES = {"cc": "cpp", "c": "c"}  # of a block, by the source's extension


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
        self.assertEqual(content(FOLDER + SOURCE), block_of(LANGUAGES[SOURCE.partition(".")[2]]))

    def test_the_page_has_its_target(self):
        self.assertIn("\n" + block_of("python"), content(FOLDER + "BUILD"))

    def test_the_page_has_what_it_prints(self):
        program = FOLDER + SOURCE.partition(".")[0]
        printed = subprocess.run([program] + OPERANDS, check=True, text=True, stdout=subprocess.PIPE).stdout
        command = "$ bazel-bin/%s %s\n" % (program, " ".join(OPERANDS))
        self.assertEqual(command + printed, block_of("console").partition("\n")[2])


if __name__ == "__main__":
    PAGE, SOURCE = sys.argv[1:3]
    OPERANDS = sys.argv[3:]
    FOLDER = PAGE[:-len(".md")] + "/"
    del sys.argv[1:]
    unittest.main()
