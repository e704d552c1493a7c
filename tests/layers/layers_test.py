# The rules of layers.py on small trees, then on this tree.
# SPDX-License-Identifier: Apache-2.0

import os
import sys
import unittest

import layers

RULES = """
graph    -> xxhash
graph/onnx -> graph protobuf
passes   -> graph  # a comment
placement -> graph
tools    -> * nlohmann
tests    -> *
*_test.cc -> gtest
"""


def file_text(*includes):
    return "\n".join(["// A file.", layers.SPDX] + list(includes))


def faults(path, *includes):
    return layers.file_faults(layers.Layers(RULES), path, file_text(*includes))


class Arrows(unittest.TestCase):

    def test_an_arrow_that_is_listed_is_followed_below_its_folder(self):
        self.assertEqual([], faults("passes/a/foo.cc", '#include "graph/ops/x.h"'))

    def test_a_sideways_include_is_told_with_its_line_and_what_is_allowed(self):
        self.assertEqual(
            ["passes/foo.cc:4 includes placement/cost.h; passes may include only graph"],
            faults("passes/foo.cc", "", '#include "placement/cost.h"'))

    def test_a_folder_with_a_line_of_its_own_must_be_named(self):
        self.assertEqual(
            ["passes/foo.cc:3 includes graph/onnx/import.h; passes may include only graph"],
            faults("passes/foo.cc", '#include "graph/onnx/import.h"'))

    def test_libraries_are_allowed_by_name_only(self):
        self.assertEqual([], faults("graph/a.cc", "#include <xxhash.h>", '#include "absl/x.h"'))
        self.assertEqual([], faults("graph/onnx/a.cc", "#include <google/protobuf/x.h>"))
        self.assertEqual(
            ["graph/a.cc:3 includes llvm/IR/IRBuilder.h; graph may include only xxhash"],
            faults("graph/a.cc", "#include <llvm/IR/IRBuilder.h>"))
        self.assertEqual(
            ["placement/a.cc:3 includes cuda_runtime.h; placement may include only graph"],
            faults("placement/a.cc", "#  include <cuda_runtime.h>"))

    def test_tests_may_include_gtest_and_others_may_not(self):
        self.assertEqual([], faults("graph/a_test.cc", "#include <gtest/gtest.h>"))
        self.assertEqual(1, len(faults("graph/a.cc", "#include <gtest/gtest.h>")))

    def test_nobody_below_includes_tools_or_tests(self):
        self.assertEqual(
            ["graph/a_test.cc:3 includes tests/x.h; graph may include only xxhash"],
            faults("graph/a_test.cc", '#include "tests/x.h"'))
        self.assertEqual(
            ["tools/a.cc:3 includes tests/x.h; tools may include only * nlohmann"],
            faults("tools/a.cc", '#include "tests/x.h"'))
        self.assertEqual([], faults("tests/a.cc", '#include "tools/x.h"', '#include "graph/x.h"'))

    def test_a_quoted_header_of_nowhere_is_a_fault(self):
        self.assertEqual(
            ["graph/a.cc:3 includes elsewhere/x.h; found neither a folder of "
             "docs/internals/layers.txt nor a library"],
            faults("graph/a.cc", '#include "elsewhere/x.h"'))
        self.assertEqual([], faults("graph/a.cc", "#include <sys/mman.h>", "#include <vector>"))

    def test_a_file_outside_every_folder_is_a_fault(self):
        self.assertEqual(["new/a.cc: found no line for its folder in docs/internals/layers.txt"],
                         faults("new/a.cc"))

    def test_the_page_itself_is_read_strictly(self):
        for text in ("graph absl", "graph -> grph", "graph ->\ngraph ->", "graph -> passes\npasses -> graph"):
            with self.assertRaises(ValueError):
                layers.Layers(text)


class Circles(unittest.TestCase):

    def circles(self, *includes):
        edges = {}
        for path, header in includes:
            layers.add_folder_edges(layers.Layers(RULES), edges, path, file_text('#include "%s"' % header))
        return layers.circle_faults(edges)

    def test_a_circle_of_folders_below_one_layer_is_found(self):
        self.assertEqual(
            ["placement/a -> placement/b -> placement/c -> placement/a: found a circle of folders: "
             "placement/a/x.cc:3 includes placement/b/x.h, placement/b/x.h:3 includes placement/c/x.h, "
             "placement/c/x.h:3 includes placement/a/y.h; expected arrows of one direction; move what both use into "
             "one of them, or below them"],
            self.circles(("placement/a/x.cc", "placement/b/x.h"), ("placement/b/x.h", "placement/c/x.h"),
                         ("placement/c/x.h", "placement/a/y.h"), ("placement/c/x.h", "graph/x.h")))

    def test_a_circle_of_a_folder_and_one_below_it_is_found(self):
        self.assertEqual(1, len(self.circles(("graph/x.cc", "graph/ops/list.h"), ("graph/ops/y.cc", "graph/x.h"))))

    def test_arrows_of_one_direction_are_no_circle(self):
        self.assertEqual([], self.circles(("placement/a/x.h", "placement/b/x.h"), ("placement/a/x.h", "graph/x.h"),
                                          ("placement/b/x.h", "graph/x.h"), ("graph/x.h", "graph/y.h")))

    def test_nobody_includes_a_test(self):
        self.assertEqual([], self.circles(("graph/x_test.cc", "graph/text/x.h"), ("graph/text/x.h", "graph/x.h")))


class Headers(unittest.TestCase):

    def test_a_header_has_the_guard_of_its_path(self):
        self.assertEqual(["graph/x.h: found no include guard PARTITA_GRAPH_X_H_"],
                         faults("graph/x.h"))
        self.assertEqual([], faults("graph/x.h", "#ifndef PARTITA_GRAPH_X_H_",
                                    "#define PARTITA_GRAPH_X_H_"))

    def test_a_file_opens_with_a_sentence_and_the_licence(self):
        rules = layers.Layers(RULES)
        self.assertEqual([], layers.file_faults(
            rules, "graph/a.cc", "// Two lines\n// of words.\n" + layers.SPDX))
        self.assertEqual(
            ["graph/a.cc:1: found no sentence; expected `// What this file is.`"],
            layers.file_faults(rules, "graph/a.cc", layers.SPDX))
        self.assertEqual(
            ["graph/a.cc: found no SPDX-License-Identifier: Apache-2.0 below the first sentence"],
            layers.file_faults(rules, "graph/a.cc", "// A file.\n\n" + layers.SPDX))

    def test_names_that_say_nothing_are_refused(self):
        self.assertEqual(
            ["graph/string_util.cc: found the word 'util' in its name; expected "
             "one that says what it is (docs/reference/glossary.md)"], faults("graph/string_util.cc"))


class Types(unittest.TestCase):

    def test_two_types_of_one_name_are_a_fault(self):
        seen = {}
        layers.same_name_faults(seen, "graph/x.h", "struct Window {\n};")
        self.assertEqual(
            ["passes/y.h:1 defines partita::Window, which graph/x.h:1 defines too; rename one"],
            layers.same_name_faults(seen, "passes/y.h", "struct Window {"))

    def test_types_of_an_inner_namespace_have_its_name(self):
        text = "namespace partita::ptx {\nclass Window {\n}\n}  // namespace partita::ptx"
        self.assertEqual([("ptx::Window", 2)], list(layers.types_of("graph/x.h", text)))
        text = "namespace partita {\ninline namespace v1 {\nclass Window {\n}\n}  // namespace v1"
        self.assertEqual([("v1::Window", 3)], list(layers.types_of("partita/x.hpp", text)))

    def test_types_of_an_anonymous_namespace_are_nobodys_else(self):
        text = "namespace {\nclass Walk {\n}  // namespace\nstruct Walk;"
        self.assertEqual([], list(layers.types_of("graph/x.cc", text)))


class Tree(unittest.TestCase):

    def test_every_file_of_the_tree_keeps_to_the_layers(self):
        found, files = layers.tree_faults(ROOT)
        self.assertGreater(files, 300)  # the tree was found
        self.assertEqual([], found, "\n" + "\n".join(found))


if __name__ == "__main__":
    ROOT = os.path.dirname(os.path.realpath(sys.argv.pop(1)))
    unittest.main()
