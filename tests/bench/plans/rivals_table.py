"""What users could choose in place of auto: the rows of rivals_bench as tables."""
# SPDX-License-Identifier: Apache-2.0

import figures

MARGIN = 0.98  # of auto's step: less beats it


def contests(rows):
    """The rows by model and machine, in the order in which they come first."""
    found = {}
    for row in rows:
        found.setdefault((row["model"], row["machine"]), []).append(row)
    return found


def best(rows):
    """The rival with the least step; None if none has a plan."""
    planned = [row for row in rows if row["rival us"]]
    return min(planned, key=lambda row: float(row["rival us"]), default=None)


def ratio(row):
    """The rival's step over auto's; 0 if auto has no plan."""
    return float(row["rival us"]) / float(row["auto us"]) if row["auto us"] else 0.0


def cell(rows):
    rival = best(rows)
    if rival is None:
        return "no plan"
    return f"{ratio(rival):.2f}" if rival["auto us"] else "refused"


def beaten_line(row):
    by_auto = figures.time_text(float(row["auto us"]) * 1e-6) if row["auto us"] else "refused"
    return [row["model"], row["machine"], row["rival"], by_auto, figures.time_text(float(row["rival us"]) * 1e-6),
            f"{ratio(row):.2f}"]


def tables(rows):
    found = contests(rows)
    models = list(dict.fromkeys(model for model, _ in found))
    machines = list(dict.fromkeys(machine for _, machine in found))
    grid = [[model, *(cell(found[model, machine]) if (model, machine) in found else "" for machine in machines)]
            for model in models]
    winners = [best(contest) for contest in found.values()]
    beaten = sorted((row for row in winners if row and ratio(row) < MARGIN), key=ratio)
    planned = sum(bool(row["rival us"]) for row in rows)
    text = [figures.table(["best rival's step over auto's", *machines], grid),
            f"{len(rows):,} rivals, {planned:,} with a plan; in {len(beaten)} of {len(found)} pairs of model and "
            "machine one is more than 2 % faster than auto.\n"]
    if beaten:
        text.append(figures.table(["model", "machine", "fastest rival", "auto", "rival", "rival over auto"],
                                  [beaten_line(row) for row in beaten]))
    return "\n".join(text)
