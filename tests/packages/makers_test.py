# The makers of packages on small inputs.
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "tools/packaging")
import bash_completion
import cffi_declarations
import installed_tree
import manual_page
import program_help

PROGRAM = """#!/bin/sh
case $1 in
  --help) printf 'partita: does things.\\n\\nusage: partita COMMAND ...\\n\\n  draw PLAN [--fast]\\n      Draws.\\n' ;;
  draw) printf 'usage: partita draw PLAN [--fast]\\n\\nDraws.\\n.It is art.\\n\\nflags:\\n  --fast      not slow\\n'
        printf '  --pin A=B,..[/dim] where\\n  --ieee                     keep NaN\\n'
        printf '  --nan stop|go      if not finite\\n  --a-name-that-fills-the-line so long\\n' ;;
esac
"""


class Help(unittest.TestCase):

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "partita")
            with open(path, "w", encoding="utf-8") as file:
                file.write(PROGRAM)
            os.chmod(path, 0o755)
            self.program = program_help.read(path)

    def test_commands_and_flags_are_read(self):
        (command,) = self.program.commands
        self.assertEqual("draw PLAN [--fast]", command.usage)
        self.assertEqual([("fast", "", "not slow"), ("pin", "A=B,..[/dim]", "where"), ("ieee", "", "keep NaN"),
                          ("nan", "stop|go", "if not finite"), ("a-name-that-fills-the-line", "", "so long")],
                         [tuple(flag) for flag in command.flags()])

    def test_the_manual_page_escapes_lines_that_troff_would_obey(self):
        page = manual_page.page(self.program, "1.2.3")
        self.assertIn("\n\\&.It is art.\n", page)
        self.assertIn("\\fB\\-\\-pin\\fR \\fIA=B,..[/dim]\\fR\nwhere\n", page)
        self.assertIn('"Partita 1.2.3"', page)

    def test_the_completion_has_each_flag(self):
        self.assertIn('draw) flags="--a-name-that-fills-the-line --fast --ieee --nan --pin" ;;',
                      bash_completion.script(self.program))

    def test_the_completion_keeps_names_of_files_whole(self):
        script = bash_completion.script(self.program)
        script += 'COMP_WORDS=(partita draw my); COMP_CWORD=2; _partita; printf "%s\\n" "${COMPREPLY[@]}"\n'
        with tempfile.TemporaryDirectory() as folder:
            for name in ("my model.plan", "my*"):
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass
            done = subprocess.run(["bash", "-c", script], cwd=folder, check=True, text=True, stdout=subprocess.PIPE)
        self.assertEqual(["my model.plan", "my*"], sorted(done.stdout.splitlines()))


class Declarations(unittest.TestCase):

    def test_the_header_becomes_declarations(self):
        with open("partita/c_api.h", encoding="utf-8") as file:
            text = cffi_declarations.declarations(file.read())
        self.assertIn("partita_code partita_compile(const char* model,", text)
        self.assertIn("#define PARTITA_MAX_RANK 16", text)
        for stranger in ("PARTITA_API ", "//", "inline", "extern"):
            self.assertNotIn(stranger, text)

    def test_text_that_it_does_not_know_is_refused(self):
        with self.assertRaisesRegex(ValueError, "neither declaration nor comment"):
            cffi_declarations.declarations("int32_t partita_api_version(void);\nint f(void) { return 1; }\n")


class Tree(unittest.TestCase):

    def test_templates_get_their_values(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/a.pc.in"
            with open(path, "w", encoding="utf-8") as file:
                file.write("Version: @VERSION@\n")
            self.assertEqual(b"Version: 1.2.3\n", installed_tree.content_of(path, {"VERSION": "1.2.3"}))
            with self.assertRaisesRegex(ValueError, "has no value"):
                installed_tree.content_of(path, {"OTHER": "1"})
            self.assertEqual("lib/pkgconfig/a.pc", installed_tree.destination_of("lib/pkgconfig/", path))

    def test_the_same_files_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            written = []
            for name in ("a", "b"):
                path = "%s/%s.tar.gz" % (folder, name)
                installed_tree.write_tarball(path, "root", {"share/x": b"1", "bin/y": b"2"}, {"lib/l": "x"})
                with open(path, "rb") as file:
                    written.append(file.read())
            self.assertEqual(*written)


if __name__ == "__main__":
    unittest.main()
