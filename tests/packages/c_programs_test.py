# Programs that CMake and pkg-config build from the tree, in empty folders.
# SPDX-License-Identifier: Apache-2.0

import os
import re
import shutil
import tempfile
import unittest

import consumer

PROJECT = """cmake_minimum_required(VERSION 3.18)
project(asks CXX)
find_package(partita ${ASKED})
message(STATUS "found: ${partita_FOUND}")
"""
HEADERS = """cmake_minimum_required(VERSION 3.18)
project(headers NONE)
find_package(partita REQUIRED)
get_target_property(headers partita::runtime INTERFACE_INCLUDE_DIRECTORIES)
message(STATUS "headers: ${headers}")
"""

PLANTED = """#include <cstdio>
namespace {
const int kOpened = std::puts("opened a file that is not the library's");
}
"""


class CMake(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def configure(self, source):
        return consumer.run("cmake", "-S", source, "-B", self.folder + "/build", "-DCMAKE_BUILD_TYPE=Release",
                            "-DCMAKE_PREFIX_PATH=" + TREE.prefix)

    def test_programs_of_both_targets_train_and_run_plans(self):
        source = self.folder + "/source"
        os.mkdir(source)
        for name in ("CMakeLists.txt", "linear_training.cc", "run_plan.cc"):
            shutil.copy(TREE.examples(name), source)
        self.configure(source)
        consumer.run("cmake", "--build", self.folder + "/build")
        program = self.folder + "/build/linear_training"
        self.assertEqual(consumer.LOSSES, consumer.run(program, *TREE.training()))

        plan = self.folder + "/linear.plan"
        model, machine = TREE.training()
        consumer.run(TREE.path("bin/partita"), "compile", model, "--machine", machine, "--output", plan)
        runner = self.folder + "/build/run_plan"
        self.assertEqual(consumer.LOSS_OF_RUN_PLAN, consumer.run(runner, plan))
        libraries = consumer.run("ldd", runner)
        self.assertIn("libpartita_runtime", libraries)
        for stranger in ("libpartita.so", "libLLVM", "libprotobuf"):
            self.assertNotIn(stranger, libraries)

    def test_the_page_has_the_files_and_what_they_print(self):
        with open("docs/guide/with_cmake.md", encoding="utf-8") as file:
            page = file.read()
        for fence, name in (("cmake", "CMakeLists.txt"), ("cpp", "linear_training.cc")):
            with open(TREE.examples(name), encoding="utf-8") as file:
                self.assertIn("```%s\n%s```\n" % (fence, file.read()), page)
        self.assertIn("```\n%s```\n" % consumer.LOSSES, page)

    def test_errors_are_exceptions(self):
        source = self.folder + "/source"
        os.mkdir(source)
        for name in ("CMakeLists.txt", "linear_training.cc", "run_plan.cc"):
            shutil.copy(TREE.examples(name), source)
        self.configure(source)
        consumer.run("cmake", "--build", self.folder + "/build", "--target", "run_plan")
        with self.assertRaisesRegex(AssertionError, "NOT_FOUND: .*nowhere.plan"):
            consumer.run(self.folder + "/build/run_plan", "/nowhere.plan")

    def test_a_linked_lib_folder_leads_to_the_headers(self):
        # As in Debian, where /lib is a link to /usr/lib.
        root = self.folder + "/root"
        os.mkdir(root)
        os.symlink(TREE.prefix, root + "/usr")
        os.symlink("usr/lib", root + "/lib")
        with open(self.folder + "/CMakeLists.txt", "w", encoding="utf-8") as file:
            file.write(HEADERS)
        text = consumer.run("cmake", "-S", self.folder, "-B", self.folder + "/build",
                            "-Dpartita_DIR=%s/lib/cmake/partita" % root)
        (headers,) = re.findall("headers: (.*)", text)
        self.assertTrue(os.path.exists(headers + "/partita/c_api.h"), headers)

    def test_components_are_the_targets(self):
        with open(self.folder + "/CMakeLists.txt", "w", encoding="utf-8") as file:
            file.write(PROJECT)
        for asked, expected in {"COMPONENTS;runtime;partita": "1", "COMPONENTS;viewer": "0",
                                "OPTIONAL_COMPONENTS;viewer": "1"}.items():
            with self.subTest(asked=asked):
                text = consumer.run("cmake", "-S", self.folder, "-B", self.folder + "/build", "-U", "partita_DIR",
                                    "-DASKED=" + asked, "-DCMAKE_PREFIX_PATH=" + TREE.prefix)
                self.assertIn("found: %s\n" % expected, text)

    def test_the_version_file_serves_older_requests_of_one_minor_version(self):
        major, minor, _ = VERSION.split(".")
        found = {"": "1", VERSION: "1", "%s.%s" % (major, minor): "1", "%s EXACT" % VERSION: "1",
                 "%s.%d" % (major, int(minor) + 1): "0", "%d.0" % (int(major) + 1): "0"}
        with open(self.folder + "/CMakeLists.txt", "w", encoding="utf-8") as file:
            file.write(PROJECT)
        for asked, expected in found.items():
            with self.subTest(asked=asked):
                # One build folder: the compiler is examined once.
                text = consumer.run("cmake", "-S", self.folder, "-B", self.folder + "/build", "-U", "partita_DIR",
                                    "-DASKED=" + asked.replace(" ", ";"), "-DCMAKE_PREFIX_PATH=" + TREE.prefix)
                self.assertIn("found: %s\n" % expected, text)


class Companions(unittest.TestCase):

    def test_no_file_beside_a_program_is_opened_as_code_generator(self):
        with tempfile.TemporaryDirectory() as folder:
            planted_in = ("bin", "lib/partita", "bin/run_plan.runfiles/partita/kernels/codegen")
            for name in ("alone",) + planted_in:
                os.makedirs(os.path.join(folder, name))
            library = "libpartita_runtime.so." + SOVERSION
            shutil.copy(TREE.path("lib", library), folder + "/alone")
            with open(folder + "/planted.cc", "w", encoding="utf-8") as file:
                file.write(PLANTED)
            planted = folder + "/libpartita_codegen.so"
            consumer.run("g++", "-shared", "-fPIC", folder + "/planted.cc", "-o", planted)
            for name in planted_in:
                shutil.copy(planted, os.path.join(folder, name))
            program, plan = folder + "/bin/run_plan", folder + "/linear.plan"
            consumer.run("g++", "-std=c++17", TREE.examples("run_plan.cc"), "-I", TREE.path("include"),
                         "%s/alone/%s" % (folder, library), "-o", program)
            model, machine = TREE.training()
            consumer.run(TREE.path("bin/partita"), "compile", model, "--machine", machine, "--output", plan)
            text = consumer.run(program, plan, environment={"LD_LIBRARY_PATH": folder + "/alone"})
            self.assertEqual(consumer.LOSS_OF_RUN_PLAN, text)


class PkgConfig(unittest.TestCase):

    def flags(self, name):
        environment = {"PKG_CONFIG_PATH": TREE.path("lib/pkgconfig")}
        self.assertEqual(VERSION + "\n", consumer.run("pkg-config", "--modversion", name, environment=environment))
        return consumer.run("pkg-config", "--cflags", "--libs", name, environment=environment).split()

    def test_a_c_program_trains(self):
        with tempfile.TemporaryDirectory() as folder:
            program = folder + "/linear_training"
            consumer.run("gcc", "-std=c99", "-O1", TREE.examples("linear_training.c"), "-o", program,
                         *self.flags("partita"))
            text = consumer.run(program, *TREE.training(), environment={"LD_LIBRARY_PATH": TREE.path("lib")})
            self.assertTrue(text.endswith(consumer.LOSSES), text)

    def test_the_runtime_lacks_the_compiler_only(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(AssertionError, "undefined reference to .partita_compile"):
                consumer.run("gcc", "-std=c99", TREE.examples("linear_training.c"), "-o", folder + "/program",
                             *self.flags("partita_runtime"))


if __name__ == "__main__":
    VERSION, SOVERSION = consumer.versions()
    TREE = consumer.InstalledTree(VERSION)
    unittest.main()
