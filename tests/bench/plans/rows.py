"""Rows of a benchmark in a file: a line of column names, then a row a line, cells between tabs, the first one its key."""
# SPDX-License-Identifier: Apache-2.0


def cells_of(line):
    return line.rstrip("\n").split("\t")


def read(path):
    """The rows, as dictionaries by column; none if there is no such file. Checks their form."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    lines = text.removesuffix("\n").split("\n")
    columns = cells_of(lines[0])
    if columns[:1] != ["key"]:
        raise ValueError(f"{path}:1: found no column `key` first; expected rows of tests/bench/plans/run")
    rows = {}
    for number, line in enumerate(lines[1:], start=2):
        cells = cells_of(line)
        if len(cells) != len(columns):
            raise ValueError(f"{path}:{number}: found {len(cells)} cells; expected {len(columns)}, as in line 1")
        if cells[0] in rows:
            raise ValueError(f"{path}:{number}: found a second row {cells[0]}; expected one; remove the older one")
        rows[cells[0]] = dict(zip(columns, cells))
    return list(rows.values())


def drop_unfinished(path):
    """Removes a last line without an end, which a killed run leaves."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return
    whole = text.rfind(b"\n") + 1
    if whole == len(text):
        return
    with open(path, "r+b") as file:
        file.truncate(whole)


class Appender:
    """Adds lines to a file, each at once. Its first line, or that of the file, is the header of all."""

    def __init__(self, path):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        drop_unfinished(path)
        self.file = open(path, "a+", encoding="utf-8")
        self.file.seek(0)
        self.header = self.file.readline()

    def add_header(self, line):
        if self.header == line:
            return
        if self.header:
            raise ValueError(f"{self.path}:1: found other columns than the benchmark's; expected {' '.join(cells_of(line))}; "
                             "move the file away, or give another --results")
        self.header = line
        self.add(line)

    def add(self, line):
        self.file.write(line)
        self.file.flush()

    def close(self):
        self.file.close()
