# The golden files show the program's messages for wrong calls.
# SPDX-License-Identifier: Apache-2.0
"""errors_test.py PROGRAM ANY_FILE_OF_ROOT [--update]

Each file is run in a folder of its own, in order (tests/docs/console_blocks.py).
"""

import glob
import os
import re
import sys
import unittest

import console_blocks


class Blocks(unittest.TestCase):

    def faults(self, text, *printed):
        answers = list(printed)
        return console_blocks.golden_faults(text, lambda command: answers.pop(0))

    def test_a_block_ends_at_an_empty_line(self):
        text = "# title\n\n# first\n$ a\nx\n$ b\n\n$ c\ny\n"
        self.assertEqual(([], text), self.faults(text, ["x"], [], ["y"]))

    def test_a_stale_block_is_renewed_in_its_place(self):
        faults, text = self.faults("# title\n$ a\nold\n\n$ b\n", ["new"], [])
        self.assertEqual(["$ a\nexpected:\nold\nit prints:\nnew"], faults)
        self.assertEqual("# title\n$ a\nnew\n\n$ b\n", text)

    def test_a_line_outside_of_blocks_is_a_fault(self):
        faults, _ = self.faults("$ a\nx\n\ny\n", ["x"])
        self.assertEqual(["'y' belongs to no command; expected `$ command`, or a comment"], faults)


class Errors(unittest.TestCase):

    def test_every_file_shows_what_the_program_says(self):
        for path in GOLDENS:
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with console_blocks.Console(PROGRAM, ROOT) as console:
                faults, new_text = console_blocks.golden_faults(text, console.run)
            if UPDATE:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(new_text)
                continue
            with self.subTest(golden=os.path.basename(path)):
                self.assertFalse(faults, "\n" + "\n\n".join(faults) + "\nif that is meant: "
                                 "bazel run //tools/partita/errors:errors_test -- --update")

    def test_every_command_has_a_file(self):
        with console_blocks.Console(PROGRAM, ROOT) as console:
            message = " ".join(console.run("partita fly"))
        commands = re.search("expected one of: (.*)", message).group(1).split(", ")
        files = {os.path.basename(path) for path in GOLDENS}
        self.assertEqual([], [name for name in commands if name + ".golden" not in files])


if __name__ == "__main__":
    UPDATE = "--update" in sys.argv
    if UPDATE:
        sys.argv.remove("--update")
    PROGRAM = os.path.realpath(sys.argv.pop(1))
    assert os.access(PROGRAM, os.X_OK), PROGRAM
    ROOT = os.path.dirname(os.path.realpath(sys.argv.pop(1)))
    GOLDENS = sorted(glob.glob(os.path.join(ROOT, "tools/partita/errors/*.golden")))
    unittest.main()
