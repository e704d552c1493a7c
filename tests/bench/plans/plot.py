"""Curves over logarithmic axes, as an SVG picture."""
# SPDX-License-Identifier: Apache-2.0

import dataclasses
import html
import math

WIDTH, HEIGHT, LEFT, TOP, GAP = 420, 300, 60, 30, 30
LEGEND_LINE = 16
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999"]


@dataclasses.dataclass
class Panel:
    title: str
    x_name: str
    y_name: str
    series: dict  # name -> [(x, y)], positive


def decades(values):
    """Powers of ten that include all values; two or more."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0 ** e for e in range(low, max(high, low + 1) + 1)]


class Axis:
    """From a value to a position, in pixels."""

    def __init__(self, values, begin, end):
        self.ticks = decades(values)
        self.begin, self.end = begin, end

    def at(self, value):
        low, high = math.log10(self.ticks[0]), math.log10(self.ticks[-1])
        return self.begin + (self.end - self.begin) * (math.log10(value) - low) / (high - low)


def text(x, y, words, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def line(x1, y1, x2, y2, colour):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def frame(panel, x, y):
    """Titles, and a line and a number for each decade."""
    shapes = [text((x.begin + x.end) / 2, y.end - 10, panel.title), text((x.begin + x.end) / 2, y.begin + 34, panel.x_name),
             text(x.begin - 8, y.end - 10, panel.y_name, "end")]
    for tick in x.ticks:
        shapes += [line(x.at(tick), y.begin, x.at(tick), y.end, "#ddd"), text(x.at(tick), y.begin + 16, f"{tick:,g}")]
    for tick in y.ticks:
        shapes += [line(x.begin, y.at(tick), x.end, y.at(tick), "#ddd"), text(x.begin - 6, y.at(tick) + 4, f"{tick:g}", "end")]
    return shapes


def curves(panel, x, y):
    """With a legend below the axis."""
    shapes = []
    for i, (name, points) in enumerate(panel.series.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)
        shapes.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        shapes += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3" fill="{colour}"/>' for a, b in points]
        below = y.begin + 56 + i * LEGEND_LINE
        shapes += [line(x.begin, below - 4, x.begin + 20, below - 4, colour), text(x.begin + 26, below, name, "start")]
    return shapes


def draw(panel, left):
    points = [point for series in panel.series.values() for point in series]
    x = Axis([a for a, _ in points], left + LEFT, left + LEFT + WIDTH)
    y = Axis([b for _, b in points], TOP + HEIGHT, TOP)
    return frame(panel, x, y) + curves(panel, x, y)


def svg(panels):
    """The panels that have points, side by side."""
    panels = [panel for panel in panels if panel.series]
    width = len(panels) * (LEFT + WIDTH + GAP)
    height = TOP + HEIGHT + 60 + LEGEND_LINE * max((len(panel.series) for panel in panels), default=0)
    shapes = [shape for i, panel in enumerate(panels) for shape in draw(panel, i * (LEFT + WIDTH + GAP))]
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
                      'font-size="12">', f'<rect width="{width}" height="{height}" fill="white"/>', *shapes, "</svg>\n"])
