# Prints docs/reference/passes.md: every pass in the order of the pipeline, from its header.
# SPDX-License-Identifier: Apache-2.0
"""usage: passes_page.py ROOT   (the root of the tree)"""

import os
import re
import sys

HEAD = """# Passes

Generated from [passes/pipeline.cc](../../passes/pipeline.cc) and the headers of the passes by
`bazel run --config=opt //tests/docs:reference_test -- --update`; a test compares. They run in this order on every model;
`--skip NAME` leaves one out, `--passes N` stops after N, `--dump FOLDER` writes the graph after each.

"""

AFTER = """
With [micro-batches](../guide/pipeline_parallel.md) these run after them, whatever is skipped:

"""

# A pass that needs more than the graph is there twice, without and with a context.
ROW = re.compile(r'^    \{"(\w+)", (\w+)(?:, \2)?\},', re.M)


def text_of(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def pass_names(root, name):
    """In the order of the table, with repetitions."""
    text = text_of(root, "passes/pipeline.cc")
    table = re.search(name + r"\[\] = \{\n(.*?)^\};", text, re.S | re.M)
    if table is None:
        sys.exit("passes/pipeline.cc: found no table %s[]; expected one" % name)
    rows = ROW.findall(table.group(1))
    if len(rows) != table.group(1).count("{"):
        sys.exit("passes/pipeline.cc: found rows of another form; expected {\"name\", Function},")
    return rows


def contract(root, name, function):
    """The comment before the function in the pass's header."""
    path = "passes/%s.h" % name
    comment = re.search(r"((?:^//.*\n)+)absl::Status %s\(" % function, text_of(root, path), re.M)
    if comment is None:
        sys.exit("%s: found no comment before %s; expected its contract" % (path, function))
    return [line[2:].removeprefix(" ") for line in comment.group(1).splitlines()]


def as_markdown(lines):
    """Indented lines become code; others stay text."""
    out, code = [], False
    for i, line in enumerate(lines):
        indented = line.startswith("  ")
        # An empty line within code is code, if more of it follows.
        if code and not line and i + 1 < len(lines) and lines[i + 1].startswith("  "):
            indented = True
        if indented != code:
            if not indented or (out and out[-1]):
                out.append("```" if code else "")
            if indented:
                out.append("```")
            code = indented
        out.append(line)
    if code:
        out.append("```")
    return "\n".join(out)


def numbered(rows):
    return "".join("%d. [%s](#%s)\n" % (i + 1, name, name) for i, (name, _) in enumerate(rows))


def page(root):
    rows = pass_names(root, "kSourcePasses")
    divided = pass_names(root, "kMicroBatchPasses")
    text = HEAD + numbered(rows) + AFTER + numbered(divided)
    for name, function in dict.fromkeys(rows + divided):
        text += "\n## %s\n%s\n" % (name, as_markdown(contract(root, name, function)))
    return text


if __name__ == "__main__":
    sys.stdout.write(page(sys.argv[1]))
