"""How planning grows with nodes and devices: the rows of scale_bench as tables and as a picture."""
# SPDX-License-Identifier: Apache-2.0

import figures
import plot
from prediction_table import hosts

LEAST_POINTS = 3  # of a series
ACROSS = (("nodes", "devices"), ("devices", "nodes"))


def seconds_text(cell):
    return f"{float(cell):.2f} s" if cell else ""


def line(row):
    what = [row["model"], row["strategy"], f"{int(row['nodes']):,}", f"{row['devices']} {row['device kind']}",
            row["micro-batches"]]
    if row["failure"]:
        return [*what, row["failure"], "", "", "", row["peak MiB"]]
    return [*what, f"{int(row['commands']):,}", *(seconds_text(row[c]) for c in ("compile s", "simulate s", "prove s")),
            f"{int(row['peak MiB']):,}"]


def series(rows, along, fixed):
    """Points (size, compile seconds) by a name, of rows that differ in `along` only; those with enough points."""
    found = {}
    for row in rows:
        if row["failure"] or row["simulate s"] or float(row["compile s"]) <= 0:
            continue
        micro_batches = f", {row['micro-batches']} micro-batches" if row["micro-batches"] != "1" else ""
        at = f"{int(row[fixed]):,} {row['device kind'] if fixed == 'devices' else fixed}"
        name = f"{row['model']} by {row['strategy']}{micro_batches}, {at}"
        found.setdefault((name, row["device kind"]), []).append((int(row[along]), float(row["compile s"])))
    return {name: sorted(points) for (name, _), points in found.items() if len({x for x, _ in points}) >= LEAST_POINTS}


def exponent_lines(rows):
    return [[name, along, f"{points[0][0]:,} to {points[-1][0]:,}", f"{figures.exponent(points):.2f}"]
            for along, fixed in ACROSS for name, points in series(rows, along, fixed).items()]


def picture(rows):
    return plot.svg([plot.Panel(f"compile, by {along}", along, "seconds", series(rows, along, fixed))
                     for along, fixed in ACROSS])


def tables(rows):
    text = [f"On {hosts(rows)}:\n",
            figures.table(["model", "strategy", "nodes", "devices", "micro-batches", "commands", "compile", "simulate",
                           "prove", "peak MiB"], [line(row) for row in rows])]
    exponents = exponent_lines(rows)
    if exponents:
        text.append("Exponents: compile seconds grow as the number of nodes or devices to this power.\n")
        text.append(figures.table(["series", "along", "from, to", "exponent"], exponents))
    return "\n".join(text)
