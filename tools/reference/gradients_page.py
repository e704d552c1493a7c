# Prints docs/reference/gradients.md: every op with a gradient, and the graphs by which it is compared with PyTorch.
# SPDX-License-Identifier: Apache-2.0
"""usage: gradients_page.py OPS_PAGE TORCH_OPS   (docs/reference/ops.md and tests/gradients/torch_ops.txt)"""

import re
import sys

HEAD = """# Gradients by op

Generated from [the ops](ops.md) and [PyTorch's gradients](../../tests/gradients/torch_ops.txt) by
`bazel run --config=opt //tests/docs:reference_test -- --update`; a test compares.

Every gradient is compared with fourth-order central differences of the op's `eval`, in f64, element by element over the op's
samples, to 1e-6 (`//graph/gradient:finite_differences_test`, for every op of the table); and with PyTorch 2.15 for the graphs
in the second column, in f64, to 1e-10 (`//tests/gradients:torch_ops_test`, which requires a graph for each op with a gradient).

| op | graphs compared with PyTorch |
|---|---|
"""

TAIL = """
Zero, and so in no graph: %s. None, for the reasons [there](ops.md): %s.

Losses, optimizers, schedules, recurrent networks, batch norm in training, clipping and products in bf16 are compared with
PyTorch by `//tests/gradients:torch_training_test`, whole training steps of a GPT and of ResNet-18, on one device and as
DistributedDataParallel does, by `//tests/gradients:torch_models_test`.
"""


def gradients(ops_page):
    """"yes", "zero" or "none" by the op's name."""
    found, name = {}, None
    for line in ops_page.splitlines():
        if line.startswith("## "):
            name = line[3:]
        elif line.startswith("* Gradient: "):
            found[name] = line[len("* Gradient: "):].split(" (")[0]
    return found


def graphs_by_op(torch_ops):
    """The titles of the recorded graphs that contain the op, in order."""
    found = {}
    for section in torch_ops.split("=== ")[1:]:
        title = section[:section.index("\n")]
        for op in dict.fromkeys(re.findall(r"^  %.* = (\w+) ", section, re.M)):
            found.setdefault(op, []).append(title)
    return found


def shown(titles, count):
    """Sums and products are in nearly every graph, to reduce its result to one number."""
    return "%d of the %d" % (len(titles), count) if len(titles) > 20 else "; ".join(titles)


def listed(gradients, kind):
    return ", ".join("`%s`" % op for op in sorted(gradients) if gradients[op] == kind)


def page(ops_page, torch_ops):
    ops, graphs, count = gradients(ops_page), graphs_by_op(torch_ops), torch_ops.count("=== ")
    rows = ["| `%s` | %s |\n" % (op, shown(graphs.get(op, []), count)) for op in sorted(ops) if ops[op] == "yes"]
    return HEAD + "".join(rows) + TAIL % (listed(ops, "zero"), listed(ops, "none"))


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


if __name__ == "__main__":
    sys.stdout.write(page(text_of(sys.argv[1]), text_of(sys.argv[2])))
