"""Predicted steps beside measured ones: the rows of prediction_bench as tables."""
# SPDX-License-Identifier: Apache-2.0

import figures

WAYS = (("by rooflines", "roofline us"), ("by the profile", "profile us"))


def hosts(rows):
    return "; ".join(dict.fromkeys(row["host"] for row in rows))


def error(row, column):
    """|predicted - measured| / measured."""
    measured = float(row["measured us"])
    return abs(float(row[column]) - measured) / measured


def line(row):
    least, most = (figures.time_text(float(row[c]) * 1e-6) for c in ("least us", "most us"))
    cells = [row["model"], row["strategy"], row["devices"],
             f"{figures.time_text(float(row['measured us']) * 1e-6)} ({least} to {most})"]
    for _, column in WAYS:
        cells += [figures.time_text(float(row[column]) * 1e-6), figures.percent_text(error(row, column), 0)]
    return cells


def summary_line(name, column, rows):
    errors = [error(row, column) for row in rows]
    worst = max(rows, key=lambda row: error(row, column))
    ranked = figures.spearman([float(row[column]) for row in rows], [float(row["measured us"]) for row in rows])
    return [name, figures.percent_text(sum(errors) / len(errors)),
            f"{figures.percent_text(error(worst, column))} ({worst['key']})", f"{ranked:.3f}"]


def spread(rows):
    """The median over the plans of most over least."""
    return figures.percentile([float(row["most us"]) / float(row["least us"]) for row in rows], 50)


def tables(rows):
    measured = [row for row in rows if row["measured us"]]
    refused = [row["key"] for row in rows if not row["measured us"]]
    text = [f"On {hosts(rows)}: {len(measured)} plans.\n"]
    if measured:
        text += [figures.table(["predicted", "mean error", "worst", "Spearman"],
                               [summary_line(*way, measured) for way in WAYS]),
                 f"Rounds of one plan differ by a factor of {spread(measured):.2f} (median of most over least).\n",
                 figures.table(["model", "strategy", "devices", "measured (least to most)",
                                *(c for way, _ in WAYS for c in (way, "error"))], [line(row) for row in measured])]
    if refused:
        text.append(f"Without a plan: {', '.join(refused)}.\n")
    return "\n".join(text)
