# What the tree has, what the libraries export, and what they need.
# SPDX-License-Identifier: Apache-2.0

import os
import re
import unittest

import consumer


def exported(path):
    """The names of the symbols that a library defines for others, without versions."""
    lines = consumer.run("nm", "-D", "--defined-only", path).splitlines()
    names = {line.split()[-1].partition("@")[0] for line in lines}
    return names - {"PARTITA_1"}  # the version's own


def needed(path, environment=None):
    return consumer.run("ldd", path, environment=environment)


class Libraries(unittest.TestCase):

    def declared(self):
        with open(TREE.path("include/partita/c_api.h"), encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        return set(re.findall(r"PARTITA_API[^;(]*?\b(partita_\w+)\(", text))

    def test_the_library_exports_the_c_api_and_nothing_else(self):
        self.assertIn("partita_compile", self.declared())
        self.assertEqual(self.declared(), exported(TREE.path("lib/libpartita.so." + SOVERSION)))

    def test_the_runtime_exports_the_c_api_without_the_compiler(self):
        self.assertEqual(self.declared() - {"partita_compile"},
                         exported(TREE.path("lib/libpartita_runtime.so." + SOVERSION)))

    def test_the_code_generator_exports_its_interface(self):
        names = exported(TREE.path("lib/partita/libpartita_codegen.so"))
        self.assertTrue(names)
        self.assertEqual([], [name for name in names if not name.startswith("Partita")])

    def test_the_runtime_needs_neither_llvm_nor_protobuf(self):
        libraries = needed(TREE.path("lib/libpartita_runtime.so." + SOVERSION))
        self.assertIn("libdnnl", libraries)
        for stranger in ("libLLVM", "libprotobuf", "libonnx"):
            self.assertNotIn(stranger, libraries)

    def test_only_the_code_generator_needs_llvm(self):
        self.assertNotIn("libLLVM", needed(TREE.path("lib/libpartita.so." + SOVERSION)))
        self.assertIn("libLLVM", needed(TREE.path("lib/partita/libpartita_codegen.so")))

    def test_nothing_is_missing(self):
        for path in ("bin/partita", "lib/libpartita.so", "lib/libpartita_runtime.so",
                     "lib/partita/libpartita_codegen.so", "lib/partita/partita_onednn"):
            with self.subTest(path=path):
                self.assertNotIn("not found", needed(TREE.path(path)))
                # Folders of the build are no part of a tree that may be anywhere.
                self.assertNotRegex(consumer.run("readelf", "-d", TREE.path(path)), r"\((RPATH|RUNPATH)\)")

    def test_the_loader_knows_them_by_their_soname(self):
        for name in ("libpartita", "libpartita_runtime"):
            self.assertEqual("%s.so.%s" % (name, SOVERSION), os.readlink(TREE.path("lib", name + ".so")))
            self.assertIn("Library soname: [%s.so.%s]" % (name, SOVERSION),
                          consumer.run("readelf", "-d", TREE.path("lib", name + ".so")))


class Headers(unittest.TestCase):

    def compile(self, *words, text):
        consumer.run(*words, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", TREE.path("include"), "-",
                     input=text)

    def test_each_needs_no_other_package(self):
        self.compile("gcc", "-std=c99", "-x", "c", text='#include <partita/c_api.h>\n')
        for standard in ("c++17", "c++20"):
            for header in ("c_api.h", "partita.hpp"):
                self.compile("g++", "-std=" + standard, "-x", "c++", text="#include <partita/%s>\n" % header)


class Program(unittest.TestCase):

    def test_it_says_the_version_and_finds_the_code_generator(self):
        text = consumer.run(TREE.path("bin/partita"), "--version")
        self.assertIn("partita %s\n" % VERSION, text)
        self.assertRegex(text, r"\ncommit: .+\n")
        self.assertRegex(text, r"oneDNN \d.*LLVM \d")
        self.assertRegex(text, r"\ninstruction sets: \w+")

    def test_it_compiles_and_runs_an_example(self):
        plan = TREE.path("mlp.plan")
        machine = TREE.examples("machines/two_small_cpus.json")
        consumer.run(TREE.path("bin/partita"), "compile", TREE.examples("mlp.graph"), "--machine", machine,
                     "--output", plan)
        self.assertIn("bit for bit", consumer.run(TREE.path("bin/partita"), "run", plan, "--virtual", "--reference"))

    def test_it_compiles_the_onnx_model_of_the_guide(self):
        model = TREE.path("mlp.onnx")
        consumer.run("python3", TREE.examples("mlp_onnx.py"), model, TREE.path("x.npy"))
        text = consumer.run(TREE.path("bin/partita"), "compile", model, "--dim", "batch=8", "--strategy", "single",
                            "--machine", TREE.examples("machines/cpu_2_cores.json"), "--output", TREE.path("onnx.plan"))
        self.assertIn("placement @main by single", text)

    def test_bash_completes_commands_flags_and_values(self):
        script = '. "$1"; COMP_WORDS=(partita %s); COMP_CWORD=%d; _partita; echo "${COMPREPLY[@]}"'
        path = TREE.path("share/bash-completion/completions/partita")
        self.assertEqual("simulate\n", consumer.run("bash", "-c", script % ("simu", 1), "-", path))
        self.assertEqual("--stages --stop-after --strategy --strict-types\n",
                         consumer.run("bash", "-c", script % ("compile --st", 2), "-", path))
        self.assertEqual("pinned pipeline\n", consumer.run("bash", "-c", script % ("compile --strategy pi", 3), "-", path))
        self.assertEqual("memory\n", consumer.run("bash", "-c", script % ("leaderboard --objective me", 3), "-", path))
        # Bash splits words at colons.
        self.assertEqual("resnet50\n", consumer.run("bash", "-c", script % ("compile builtin : r", 4), "-", path))
        self.assertEqual("resnet18\n", consumer.run("bash", "-c", script % ("train builtin : r", 4), "-", path))

    def test_the_manual_page_has_every_command(self):
        with open(TREE.path("share/man/man1/partita.1"), encoding="utf-8") as file:
            page = file.read()
        for command in ("compile", "check", "run", "view"):
            self.assertIn("\n.SS partita %s " % command, page)


if __name__ == "__main__":
    VERSION, SOVERSION = consumer.versions()
    TREE = consumer.InstalledTree(VERSION)
    unittest.main()
