"""How far auto is from the best placement: the rows of quality_bench as tables."""
# SPDX-License-Identifier: Apache-2.0

import figures

NEAR = 1.05
COLUMNS = ["machine, memory", "problems", "within 5 %", "median", "90 %", "99 %", "worst", "refused"]


def ratio(row):
    """auto's step over the best one."""
    return float(row["auto us"]) / float(row["best us"])


def line(name, rows):
    """Of problems that some placement solves. A refusal counts as not near."""
    solvable = [row for row in rows if int(row["lowered"]) > 0]
    answered = [row for row in solvable if row["auto us"]]
    if not answered:
        return [name, len(solvable), *["-"] * 5, len(solvable)]
    ratios = [ratio(row) for row in answered]
    near = sum(r <= NEAR for r in ratios) / len(solvable)
    worst = max(answered, key=ratio)
    return [name, len(solvable), figures.percent_text(near),
            *(f"{figures.percentile(ratios, p):.2f}" for p in (50, 90, 99)),
            f"{ratio(worst):.2f} ({worst['key']})", len(solvable) - len(answered)]


def groups(rows):
    """By machine and memory, in the order of the rows; all of them last."""
    names = {}
    for row in rows:
        names.setdefault((row["machine"], row["memory"]), []).append(row)
    lines = [line(", ".join(name), group) for name, group in sorted(names.items())]
    return lines + [line("all", rows)] if rows else lines


def unsolvable(rows):
    count = sum(int(row["lowered"]) == 0 for row in rows)
    return f"No placement fits in {count} more problems.\n" if count else ""


def tables(rows):
    text = []
    for prefix, title in (("whole/", "Each node whole on one device"), ("split/", "Nodes whole, split, or on several devices")):
        chosen = [row for row in rows if row["key"].startswith(prefix)]
        if not chosen:
            continue
        seeds = [int(row["seed"]) for row in chosen]
        tried = sum(int(row["placements"]) for row in chosen)
        text.append(f"{title}: seeds {min(seeds)} to {max(seeds)}, {tried:,} placements tried.\n\n"
                    + figures.table(COLUMNS, groups(chosen)))
        text.append(unsolvable(chosen))
    return "\n".join(filter(None, text))
