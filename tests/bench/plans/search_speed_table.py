"""How many drafts a second the search estimates: the rows of search_speed_bench as tables."""
# SPDX-License-Identifier: Apache-2.0

import figures
from prediction_table import hosts

LEAST_SIZES = 3  # of a series


def line(row):
    return [row["model"], f"{int(row['computing nodes']):,}", row["devices"], f"{float(row['evaluations/s']):,.0f}",
            figures.time_text(float(row["begin s"]))]


def series(rows):
    """Points (computing nodes, seconds of an evaluation) by model and number of devices; those with enough sizes."""
    found = {}
    for row in rows:
        found.setdefault((row["model"], row["devices"]), []).append(
            (int(row["computing nodes"]), 1 / float(row["evaluations/s"])))
    return {name: sorted(points) for name, points in found.items() if len({x for x, _ in points}) >= LEAST_SIZES}


def exponent_lines(rows):
    return [[f"{model}, {devices} devices", f"{points[0][0]:,} to {points[-1][0]:,}", f"{figures.exponent(points):.2f}"]
            for (model, devices), points in series(rows).items()]


def tables(rows):
    text = [f"On {hosts(rows)}:\n",
            figures.table(["model", "computing nodes", "devices", "evaluations a second", "begin"],
                          [line(row) for row in rows])]
    exponents = exponent_lines(rows)
    if exponents:
        text.append("Exponents: the seconds of an evaluation grow as the number of nodes to this power.\n")
        text.append(figures.table(["series", "from, to", "exponent"], exponents))
    return "\n".join(text)
