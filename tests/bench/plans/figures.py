"""Percentiles, correlations and exponents, and how tables write them."""
# SPDX-License-Identifier: Apache-2.0

import math


def percentile(values, percent):
    """The least value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def ranks(values):
    """From 1; equal values have the mean of their ranks."""
    ordered = sorted(values)
    first = {}
    for i, value in enumerate(ordered):
        first.setdefault(value, i)
    return [first[value] + (ordered.count(value) + 1) / 2 for value in values]


def correlation(a, b):
    """Pearson's; 0 if all values of one side are equal."""
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    product = sum((x - mean_a) * (y - mean_b) for x, y in zip(a, b))
    squares = sum((x - mean_a) ** 2 for x in a) * sum((y - mean_b) ** 2 for y in b)
    return product / math.sqrt(squares) if squares else 0.0


def spearman(a, b):
    return correlation(ranks(a), ranks(b))


def exponent(points):
    """The e of y ~ x^e that fits best, by least squares of logarithms; points (x, y) with two or more different x."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x, mean_y = (sum(p[i] for p in logs) / len(logs) for i in (0, 1))
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def time_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}" if seconds / scale < 1000 else f"{seconds / scale:.0f} {unit}"
    return f"{seconds * 1e6:.3g} us"


def percent_text(ratio, digits=1):
    return f"{100 * ratio:.{digits}f} %"


def table(columns, lines):
    """In Markdown."""
    rule = ["---"] * len(columns)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [columns, rule, *lines]) + "\n"
