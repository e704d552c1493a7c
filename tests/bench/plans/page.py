"""Writes the tables of docs/benchmarks.md that are made of rows."""
# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import re

import prediction_table
import quality_table
import rivals_table
import rows
import scale_table
import search_speed_table

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "tests" / "bench" / "results" / "plans"
PICTURE = "scale.svg"
TABLES = {
    "quality": quality_table.tables,
    "rivals": rivals_table.tables,
    "prediction": prediction_table.tables,
    "scale": scale_table.tables,
    "search_speed": search_speed_table.tables,
}


def rows_file(results, name):
    return results / f"{name}.tsv"


def markers(name):
    return f"<!-- {name}: written by tests/bench/plans/run page -->\n", f"<!-- end of {name} -->\n"


def fill(page, name, text):
    """The page with this text between the markers of the name."""
    begin, end = markers(name)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise ValueError(f"found not one block {name}; expected a line {begin.strip()} and after it {end.strip()}")
    before, rest = page.split(begin)
    return before + begin + text + end + rest.split(end)[1]


def block(name, measured, results, page_folder):
    """What stands between the markers."""
    text = "\n" + TABLES[name](measured) + "\n"
    link = os.path.relpath(rows_file(results, name), page_folder)
    text += f"[Rows]({link})"
    if name == "scale":
        text += f", and [a picture]({os.path.relpath(results / PICTURE, page_folder)})"
    return re.sub("\n{3,}", "\n\n", text + ".\n\n")


def write(path, text):
    """To a temporary name first."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def update(page=PAGE, results=RESULTS):
    """Writes the blocks of all benchmarks that have rows, and the picture. Returns the names of the others."""
    text = page.read_text(encoding="utf-8")
    without = []
    for name in TABLES:
        measured = rows.read(rows_file(results, name))
        if not measured:
            without.append(name)
            continue
        text = fill(text, name, block(name, measured, results, page.parent))
        if name == "scale":
            write(results / PICTURE, scale_table.picture(measured))
    write(page, text)
    return without
