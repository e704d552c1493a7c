"""Makes a table out of the constants that source files define, so that no list of them is written by hand."""

# Reads `extern const TYPE k<Name>`, or `extern constinit const TYPE k<Name>`, from every source.
_TABLE = """
set -e
names=""
for file in $(SRCS); do
  found=$$(sed -nE 's/^extern (constinit )?const {type} (k[A-Za-z0-9]+).*/\\2/p' $$file)
  if [ -z "$$found" ]; then
    echo "$$file: found no {type}; expected a line \\`extern const {type} k<Name>\\`" >&2
    exit 1
  fi
  names="$$names $$found"
done
names=$$(printf '%s\\n' $$names | LC_ALL=C sort)
{{
  echo "// Every {type} of a table; written by constant_table.bzl."
  echo "// SPDX-License-Identifier: Apache-2.0"
  echo
  echo "#ifndef {guard}"
  echo "#define {guard}"
  echo
  echo "#include \\"{header}\\""
  echo
  echo "namespace partita {{"
  for name in $$names; do echo "extern const {type} $$name;"; done
  echo
  echo "extern const {type}* const {table}[];"
  echo "extern const int {table}Size;"
  echo "}}  // namespace partita"
  echo
  echo "#endif  // {guard}"
}} > $(RULEDIR)/{declarations}.h
{{
  echo "// A table of {type}; written by constant_table.bzl."
  echo "// SPDX-License-Identifier: Apache-2.0"
  echo "#include \\"{folder}/{declarations}.h\\""
  echo "namespace partita {{"
  echo "const {type}* const {table}[] = {{"
  for name in $$names; do echo "    &$$name,"; done
  echo "}};"
  echo "const int {table}Size = sizeof({table}) / sizeof({table}[0]);"
  echo "}}  // namespace partita"
}} > $(RULEDIR)/{name}.cc
"""

def constant_table(name, srcs, type, header, table, declarations):
    """Writes DECLARATIONS.h (declarations of all constants and of the table) and NAME.cc (the table).

    The table is in the order of the constants' names. A source that defines none fails the build, so that no file is
    dropped silently; a misspelt constant is an error of the linker that names it.

    Args:
      name: of the rule, and of the source of the table.
      srcs: sources of this package; each defines one or more constants, at the start of a line.
      type: of the constants: "OpDef".
      header: that defines the type: "graph/op_def.h".
      table: its name: "kOpTable". The number of its rows is kOpTableSize.
      declarations: the stem of the header: "op_list".
    """
    folder = native.package_name()
    native.genrule(
        name = name,
        srcs = srcs,
        outs = [declarations + ".h", name + ".cc"],
        cmd = _TABLE.format(
            declarations = declarations,
            folder = folder,
            guard = "PARTITA_" + folder.replace("/", "_").upper() + "_" + declarations.upper() + "_H_",
            header = header,
            name = name,
            table = table,
            type = type,
        ),
    )
