# Prints docs/reference/gpu_facts.md: what the CUDA driver and a GPU were seen to do.
# SPDX-License-Identifier: Apache-2.0
"""usage: gpu_facts_page.py FACTS OTHER...   (files of tests/bench/results/gpu_facts; the table is that of the first)"""

import json
import sys

HEAD = """# Facts about the CUDA driver

What GPUs and their driver were seen to do. The tables show the %(gpu)s, driver %(driver)s, CUDA %(cuda)s, measured on %(date)s
by `testing/gpu/run_on_gpu` at commit %(commit)s ([how to repeat it](../contributing/measuring_a_gpu.md)). Generated from
[the readings](../../tests/bench/results/gpu_facts) by `bazel run --config=opt //tests/docs:reference_test -- --update`;
a test compares.

A backend for CUDA relies on these facts, and the software GPU imitates them. `cuda.h:N` is line N of the header of CUDA 13.0,
whose comments are the reference of the driver API. A fact is one of these:

* *as the rule says*: the rule is from the source that is named, and was seen to hold;
* **otherwise**: what was seen is not what was expected; where that is understood, the row says so;
* *figure*: no source makes a promise; another driver may do otherwise;
* *not measured*: with the reason.

%(counts)s

## Other GPUs

%(others)s

## What no one GPU can show

Several GPUs: routes between them, NVLink, copies from peer to peer and their capture, events across devices, whether a sticky error
of one device reaches the others, the progress of NCCL, and a launch that blocks on a collective. Two contexts of one device stand
in for two devices here; they share the device's queues, its copy engines and its memory, and two devices do not. Nor can one GPU
show what another architecture or another driver does: only what cuda.h promises carries over. The rates are those of one host's
PCIe slot.
"""

GROUPS = {
    "device": "The device",
    "event": "Events",
    "stream": "Streams",
    "graph": "Graphs",
    "graph_context": "Graphs over two contexts",
    "capture": "Capture",
    "capture_event": "Events recorded in a capture",
    "capture_copy": "Copies and other calls in a capture",
    "number": "Arithmetic, compared with IEEE 754 and the PTX ISA",
    "nan": "The bits of NaN results",
    "error": "Errors",
    "memory": "Device memory and copies",
    "host_memory": "Page-locked memory",
    "code": "Loading of code",
    "launch": "Launches",
    "queue": "Queues",
    "callback": "Host functions",
    "thread": "Threads of a kernel",
    "misuse": "Handles used after their end",
    "graph_misuse": "Graphs and captures against the rules",
    "graph_cost": "What graphs cost",
    "graph_shape": "Graphs in the shape of plans",
    "footprint": "What handles take of the device's memory",
    "transfer": "Rates",
    "clock": "Clocks",
}

VERDICTS = {"PASS": "as the rule says", "FAIL": "**otherwise**", "FIGURE": "figure", "UNMEASURED": "*not measured*"}


def number(value):
    return "%d" % value if value == int(value) and abs(value) < 1e15 else "%.4g" % value


def seen(row):
    """The reading, and what a person wrote about it, for a cell of a table: figures with their units, codes without CUDA_ in front."""
    text = row["seen"]
    for name, value in row.get("figures", {}).items():
        text = text.replace("%s %.6g" % (name, value), "%s %s" % (name, number(value)))
    for long, short in (("CUDA_ERROR_", ""), ("CUDA_SUCCESS", "SUCCESS"), ("\n", " "), ("|", "\\|"), ("<", "&lt;")):
        text = text.replace(long, short)
    return text + (" **%s**" % row["note"] if "note" in row else "")


def source(row):
    return "" if row["source"] == "none" else row["source"].replace("none: ", "").replace("|", "\\|")


def table(rows):
    lines = ["| fact | rule | source | reading | seen |", "|---|---|---|---|---|"]
    for row in rows:
        expected = "" if row["expected"].startswith("figure") else " (%s)" % row["expected"]
        lines.append("| `%s` | %s%s | %s | %s | %s |" % (
            row["id"].split(".", 1)[1], row["rule"].replace("|", "\\|"), expected.replace("|", "\\|"), source(row),
            VERDICTS[row["verdict"]], seen(row)))
    return lines


def codes(row):
    """What was seen, without figures: codes and words."""
    text = row["seen"]
    for name, value in row.get("figures", {}).items():
        text = text.replace("%s %.6g" % (name, value), name)
    return text


def other(facts, rows):
    """Where another GPU gave other codes or verdicts than `rows`; figures always differ."""
    run = facts["run"]
    first = {row["id"]: row for row in rows}
    if list(first) != [row["id"] for row in facts["rows"]]:
        raise ValueError("%(gpu)s, %(date)s: found other facts than the first file has; expected the same" % run)
    lines = ["%(gpu)s, driver %(driver)s, CUDA %(cuda)s, measured on %(date)s at commit %(commit)s:" % run]
    compared = [row for row in facts["rows"] if row["id"] != "device.name"]
    differing = [row for row in compared if
                 (row["verdict"], codes(row)) != (first[row["id"]]["verdict"], codes(first[row["id"]]))]
    lines[0] += " the codes and verdicts of %d of %d facts are the same%s" % (
        len(compared) - len(differing), len(compared), "; others:" if differing else ".")
    return lines + [""] + ["* `%s`, %s: %s" % (row["id"], VERDICTS[row["verdict"]], seen(row)) for row in differing]


def page(facts, others):
    rows = facts["rows"]
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    head = dict(facts["run"], others="\n".join(line for run in others for line in other(run, rows)),
                counts="%d facts: %d as the rule says, %d otherwise, %d figures, %d not measured." % (
                    len(rows), *(counts[verdict] for verdict in ("PASS", "FAIL", "FIGURE", "UNMEASURED"))))
    lines = [HEAD % head]
    names = list(dict.fromkeys(row["id"].split(".")[0] for row in rows))
    for name in names:
        if name not in GROUPS:
            raise ValueError("found a group %s; expected one of GROUPS in gpu_facts_page.py" % name)
        lines += ["## " + GROUPS[name], ""]
        lines += table([row for row in rows if row["id"].split(".")[0] == name]) + [""]
    return "\n".join(lines).rstrip()


def main(paths):
    runs = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    print(page(runs[0], runs[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
