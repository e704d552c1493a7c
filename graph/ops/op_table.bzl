"""Makes a table of op definitions out of the constants that source files define."""

# Reads `extern constinit const OpDef k<Name>` from every source.
_LIST = """
set -e
list=$(RULEDIR)/op_list.h
table=$(RULEDIR)/op_table.cc
checks=$(RULEDIR)/op_names.inc
names=""
for file in $(SRCS); do
  found=$$(sed -nE 's/^extern constinit const OpDef (k[A-Za-z0-9]+).*/\\1/p' $$file)
  if [ -z "$$found" ]; then
    echo "$$file: found no op; expected a line \\`extern constinit const OpDef k<Name>\\`" >&2
    exit 1
  fi
  names="$$names $$found"
done
names=$$(printf '%s\\n' $$names | LC_ALL=C sort)
{
  echo "// Every op of the built-in table; written by op_table.bzl."
  echo "// SPDX-License-Identifier: Apache-2.0"
  echo
  echo "#ifndef PARTITA_GRAPH_OPS_OP_LIST_H_"
  echo "#define PARTITA_GRAPH_OPS_OP_LIST_H_"
  echo
  echo "#include \\"graph/op_def.h\\""
  echo
  echo "namespace partita {"
  for name in $$names; do echo "extern const OpDef $$name;"; done
  echo
  echo "extern const OpDef* const kOpTable[];"
  echo "extern const int kOpTableSize;"
  echo "}  // namespace partita"
  echo
  echo "#endif  // PARTITA_GRAPH_OPS_OP_LIST_H_"
} > $$list
{
  echo "// The table of ops; written by op_table.bzl."
  echo "// SPDX-License-Identifier: Apache-2.0"
  echo "#include \\"graph/ops/op_list.h\\""
  echo "namespace partita {"
  echo "const OpDef* const kOpTable[] = {"
  for name in $$names; do echo "    &$$name,"; done
  echo "};"
  echo "const int kOpTableSize = sizeof(kOpTable) / sizeof(kOpTable[0]);"
  echo "}  // namespace partita"
} > $$table
{
  echo "// EXPECT_NAMED of every op; written by op_table.bzl."
  echo "// SPDX-License-Identifier: Apache-2.0"
  for name in $$names; do echo "EXPECT_NAMED($$name);"; done
} > $$checks
"""

def op_table(name, srcs):
    """Writes op_list.h (declarations), op_table.cc (kOpTable) and op_names.inc (for tests) of the ops in `srcs`.

    A source that defines no op fails the build, so that no file is dropped silently; a misspelt constant is an error
    of the linker that names it.
    """
    native.genrule(
        name = name,
        srcs = srcs,
        outs = ["op_list.h", "op_table.cc", "op_names.inc"],
        cmd = _LIST,
    )
