# The makers of packages on small inputs.
# SPDX-License-Identifier: Apache-2.0

import json
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

def flag(name, value=None, doc="", values=(), file=False):
    return {"name": name, "value": value, "doc": doc, "values": list(values), "file": file}


HELP = {
    "summary": "partita: does things.",
    "commands": [{
        "name": "draw", "usage": "draw PLAN [--fast]", "doc": "Draws.\n.It is art.",
        "operands": ["builtin:cat", "builtin:cow"],
        "groups": [{"heading": "flags", "flags": [
            flag("fast", doc="not slow"),
            flag("pin", "A=B,..[/dim]", "where"),
            flag("nan", "stop|go", "if not finite", ["stop", "go"]),
            flag("model", "MODEL", "of what", ["builtin:cat"], file=True),
            flag("output", "FILE", "the drawing", file=True)]}]}],
}


class Help(unittest.TestCase):

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "partita")
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n[ \"$*\" = 'help --json' ] && cat << 'END'\n%s\nEND\n" % json.dumps(HELP))
            os.chmod(path, 0o755)
            self.program = program_help.read(path)

    def completed(self, *words):
        """What the last of the words, as bash splits them, may become, in a folder with two files."""
        quoted = " ".join("'%s'" % word for word in ("partita", "draw") + words)
        script = bash_completion.script(self.program) + (
            "COMP_WORDBREAKS=' :='; COMP_WORDS=(%s); COMP_CWORD=%d; _partita\n"
            '[ ${#COMPREPLY[@]} -eq 0 ] || printf "%%s\\n" "${COMPREPLY[@]}"\n' % (quoted, len(words) + 1))
        with tempfile.TemporaryDirectory() as folder:
            for name in ("my model.plan", "my*"):
                with open(os.path.join(folder, name), "w", encoding="utf-8"):
                    pass
            done = subprocess.run(["bash", "-c", script], cwd=folder, check=True, text=True, stdout=subprocess.PIPE)
        return sorted(done.stdout.splitlines())

    def test_commands_and_flags_are_read(self):
        (command,) = self.program.commands
        self.assertEqual("draw PLAN [--fast]", command.usage)
        self.assertEqual([("fast", "", "not slow"), ("pin", "A=B,..[/dim]", "where"), ("nan", "stop|go", "if not finite"),
                          ("model", "MODEL", "of what"), ("output", "FILE", "the drawing")],
                         [tuple(flag)[:3] for flag in command.flags()])

    def test_the_manual_page_escapes_lines_that_troff_would_obey(self):
        page = manual_page.page(self.program, "1.2.3")
        self.assertIn("\n\\&.It is art.\n", page)
        self.assertIn("\\fB\\-\\-pin\\fR \\fIA=B,..[/dim]\\fR\nwhere\n", page)
        self.assertIn('"Partita 1.2.3"', page)

    def test_the_completion_has_each_flag(self):
        self.assertEqual(["--fast", "--help", "--model", "--nan", "--output", "--pin"], self.completed("--"))
        self.assertEqual(["--nan"], self.completed("--n"))

    def test_the_completion_keeps_names_of_files_whole(self):
        self.assertEqual(["my model.plan", "my*"], self.completed("my"))
        self.assertEqual(["my model.plan", "my*"], self.completed("--output", ""))
        self.assertEqual(["my model.plan", "my*"], self.completed("--pin", "a", "=", "my"))
        self.assertEqual(["my model.plan", "my*"], self.completed("--output", "=", "m"))

    def test_the_completion_has_the_values_of_a_flag_in_place_of_files(self):
        self.assertEqual(["go", "stop"], self.completed("--nan", ""))
        self.assertEqual(["stop"], self.completed("--nan", "s"))
        self.assertEqual([], self.completed("--nan", "m"))
        self.assertEqual(["go", "stop"], self.completed("--nan", "="))
        self.assertEqual(["stop"], self.completed("--nan", "=", "s"))

    def test_the_completion_has_models_beside_files(self):
        self.assertEqual(["builtin:cat", "builtin:cow", "my model.plan", "my*"], self.completed(""))
        self.assertEqual(["builtin:cat", "builtin:cow", "my model.plan", "my*"], self.completed("--fast", ""))
        self.assertEqual(["builtin:cat", "my model.plan", "my*"], self.completed("--model", ""))

    def test_the_completion_adds_what_follows_a_colon(self):
        self.assertEqual(["cat", "cow"], self.completed("builtin", ":"))
        self.assertEqual(["cow"], self.completed("builtin", ":", "co"))
        self.assertEqual(["cat"], self.completed("--model", "=", "builtin", ":", "c"))


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
