"""Makes a table of op definitions out of the constants that source files define."""

load("//bazel:constant_table.bzl", "constant_table")

def op_table(name, srcs):
    """Writes op_list.h (declarations), op_table.cc (kOpTable) and op_names.inc (for tests) of the ops in `srcs`."""
    constant_table(
        name = name,
        srcs = srcs,
        declarations = "op_list",
        header = "graph/op_def.h",
        table = "kOpTable",
        type = "OpDef",
    )
    native.genrule(
        name = name + "_names",
        srcs = ["op_list.h"],
        outs = ["op_names.inc"],
        cmd = "sed -nE 's/^extern const OpDef (k[A-Za-z0-9]+);/EXPECT_NAMED(\\1);/p' $< > $@",
    )
