# The pages show the program's real output.
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py PROGRAM ANY_FILE_OF_ROOT [--update]"""

import glob
import os
import sys
import unittest

import console_blocks

PAGES = ["README.md", "docs/internals/how_a_graph_runs.md", "docs/guide/placing_a_model.md",
         "docs/reference/machine_file.md", "docs/guide/data_parallel.md", "docs/guide/model_parallel.md",
         "docs/guide/pipeline_parallel.md", "docs/guide/comparing_plans.md", "docs/guide/viewer.md", "docs/guide/errors.md",
         "docs/reference/plan_format.md", "docs/internals/proof.md",
         "tests/docs/program_reports.md"]


class Blocks(unittest.TestCase):

    def faults(self, page, *printed):
        answers = list(printed)
        return console_blocks.page_faults(page, lambda command: answers.pop(0))

    def test_a_block_that_is_right_is_no_fault(self):
        page = "text\n```console\n$ a\nx\ny\n$ b\n```\nmore\n"
        self.assertEqual(([], page), self.faults(page, ["x", "y"], []))

    def test_a_stale_block_is_reported_and_renewed(self):
        faults, page = self.faults("```console\n$ a\nold\n```\n", ["new"])
        self.assertEqual(["$ a\nexpected:\nold\nit prints:\nnew"], faults)
        self.assertEqual("```console\n$ a\nnew\n```\n", page)

    def test_dots_stand_for_any_lines(self):
        page = "```console\n$ a\nx\n...\nz\n```\n"
        self.assertEqual(([], page), self.faults(page, ["x", "1", "2", "z"]))
        self.assertEqual(([], page), self.faults(page, ["x", "z"]))
        faults, page = self.faults(page, ["u", "1", "2", "v"])
        self.assertEqual(1, len(faults))
        self.assertEqual("```console\n$ a\nu\n...\nv\n```\n", page)

    def test_a_command_may_go_on_in_the_next_line(self):
        self.assertEqual([("a \\\n  b", ["x"])], console_blocks.commands_of("$ a \\\n  b\nx\n"))


class Ignored(unittest.TestCase):

    def test_a_pattern_names_entries_of_the_root(self):
        self.assertTrue(console_blocks.ignores("# a\n/*.plan\n", "mlp.plan"))
        self.assertTrue(console_blocks.ignores("/out\n", "out"))
        self.assertFalse(console_blocks.ignores("# *\n/*.plan\n", "mlp.html"))


class Pages(unittest.TestCase):

    def test_every_page_shows_what_the_program_prints(self):
        with open(os.path.join(ROOT, ".gitignore"), encoding="utf-8") as f:
            ignored = f.read()
        for page in PAGES:
            path = os.path.join(ROOT, page)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with console_blocks.Console(PROGRAM, ROOT) as console:
                faults, new_text = console_blocks.page_faults(text, console.run)
                written = console.written()
            if UPDATE:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(new_text)
                continue
            with self.subTest(page=page):
                self.assertIn("```console\n", text)
                self.assertFalse(faults, "\n" + "\n\n".join(faults) +
                                 "\nif that is meant: bazel run //tests/docs:pages_test -- --update")
                if page.startswith("tests/"):
                    continue  # no reader runs it in the root
                self.assertEqual([], [name for name in written if not console_blocks.ignores(ignored, name)],
                                 "written by the page; expected in .gitignore")

    def docs(self):
        return sorted(os.path.relpath(path, ROOT)
                      for path in glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True))

    def test_the_readme_lists_every_page(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
            links = console_blocks.links_of(f.read())
        self.assertEqual([], sorted(set(self.docs()) - set(links)))

    def test_links_lead_to_files(self):
        for page in ["README.md", "CONTRIBUTING.md"] + self.docs():
            with open(os.path.join(ROOT, page), encoding="utf-8") as f:
                text = f.read()
            for link in console_blocks.links_of(text):
                target = os.path.join(ROOT, os.path.dirname(page), link)
                self.assertTrue(os.path.exists(target), "%s links to %s" % (page, link))


if __name__ == "__main__":
    UPDATE = "--update" in sys.argv
    if UPDATE:
        sys.argv.remove("--update")
    PROGRAM = os.path.realpath(sys.argv.pop(1))
    assert os.access(PROGRAM, os.X_OK), PROGRAM
    ROOT = os.path.dirname(os.path.realpath(sys.argv.pop(1)))
    unittest.main()
