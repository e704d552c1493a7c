# Writes plans with many nodes, for tests of the page's size.
# SPDX-License-Identifier: Apache-2.0
"""usage: long_plan.py NODES DEVICES SCOPED    (writes the plan's text to standard output)

Each device computes a chain of its own, whose step-local bytes alternate between two buffers. SCOPED is 1 for a scope of 24
nodes each, in blocks; 0 for none, as models without scopes have.
"""

import sys


def plan_text(nodes, devices, scoped):
    """The text of a plan of about `nodes` nodes over that many CPU devices."""
    each = nodes // devices
    inputs = ", ".join("%%x%d: i8[64] on cpu:%d" % (d, d) for d in range(devices))
    lines = ["graph @f(%s) -> (%s) {" % (inputs, ", ".join(["i8[64]"] * devices))]
    for i in range(each):
        for d in range(devices):
            scope = ' scope "block%d/layer%d"' % (i // 240, i // 24) if scoped else ""
            before = "%%n%d_%d" % (d, i - 1) if i else "%%x%d" % d
            lines.append("  %%n%d_%d = neg %s : i8[64] on cpu:%d%s" % (d, i, before, d, scope))
    lines.append("  return " + ", ".join("%%n%d_%d as y%d" % (d, each - 1, d) for d in range(devices)))
    lines += ["}", "plan @f {"]
    for d in range(devices):
        lines += ["  device cpu:%d cpu memory 65536" % d, "    arena persistent 0 step 192"]
    lines.append("  entry @f of @f {")
    lines += ["    input x%d i8[64]" % d for d in range(devices)]
    lines += ["    output y%d i8[64]" % d for d in range(devices)]
    for d in range(devices):
        lines += ["    arena cpu:%d" % d, "      !x%d 128 64" % d]
        lines += ["      !n%d_%d %d 64" % (d, i, 64 * (i % 2)) for i in range(each)]
    number = 0
    for d in range(devices):
        lines += ["    stream cpu:%d/compute" % d, "      %d feed -> !x%d input %d" % (number, d, d)]
        for i in range(each):
            number += 1
            before = "!n%d_%d" % (d, i - 1) if i else "!x%d" % d
            lines.append("      %d kernel %%n%d_%d (%s) -> !n%d_%d" % (number, d, i, before, d, i))
        number += 1
        lines.append("      %d fetch !n%d_%d output %d" % (number, d, each - 1, d))
        number += 1
    return "\n".join(lines + ["  }", "}", ""])


def machine_text(devices):
    """A machine file for it; every device is linked to the first."""
    own = ['{"name": "cpu:%d", "kind": "cpu", "memory": "1 MiB", "peak_flops": {"f32": 1e9}, "memory_bandwidth": 1e9, '
           '"launch_seconds": 1e-6}' % d for d in range(devices)]
    links = ['{"from": "cpu:0", "to": "cpu:%d", "bandwidth": 1e9, "latency": 1e-6}' % d for d in range(1, devices)]
    return '{"name": "many", "devices": [%s], "links": [%s]}\n' % (", ".join(own), ", ".join(links))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.stdout.write(plan_text(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1"))
