# Checks every #include and header of a source tree against docs/internals/layers.txt.
# SPDX-License-Identifier: Apache-2.0
"""Faults are lines such as
passes/foo.cc:7 includes placement/cost.h; passes may include only graph
"""

import os
import re

TYPE = re.compile(r"(?:struct|class|enum class) ([A-Z]\w+)(?: final)?\s*(?::[^:]|\{).*")
# A file with one is in it to its end.
INNER_NAMESPACE = re.compile(r"(?:namespace partita::|inline namespace )([\w:]+) \{")
SOURCE = re.compile(r"\.(h|hpp|cc|cu|inc)$")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')
SPDX = "// SPDX-License-Identifier: Apache-2.0"
EVERYWHERE = "absl"

# The prefixes of each library's headers.
LIBRARIES = {
    "absl": ("absl/",),
    "benchmark": ("benchmark/",),
    "cuda": ("cuda", "cublas", "cudnn", "cufft", "nccl"),
    "flatbuffers": ("flatbuffers/",),
    "gtest": ("gtest/", "gmock/"),
    "llvm": ("llvm/", "llvm-c/", "lld/"),
    "nlohmann": ("nlohmann/",),
    "onednn": ("oneapi/", "dnnl"),
    "onnx": ("onnx/",),
    "protobuf": ("google/protobuf/",),
    "xxhash": ("xxhash",),
    "zlib": ("zlib.h",),
}

# Words that say nothing about the thing they name (docs/reference/glossary.md).
EMPTY_WORDS = {
    "manager", "helper", "helpers", "util", "utils", "handler", "info", "data",
    "impl", "common", "misc", "process",
}


class Layers:
    """The lines of layers.txt: folder -> set of names it may include."""

    def __init__(self, text):
        self.allowed = {}
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            folder, arrow, names = line.partition("->")
            folder = folder.strip()
            if arrow != "->" or not folder or folder in self.allowed:
                raise ValueError(
                    "layers.txt:%d: found %r; expected FOLDER -> NAMES, each "
                    "folder once" % (number, line))
            self.allowed[folder] = names.split()
        circles = shortest_circles({
            folder: {name: "its line" for name in names} for folder, names in self.allowed.items()})
        if circles:
            raise ValueError("layers.txt: found a circle: %s" % " -> ".join(circles[0]))
        self.test_names = set(self.allowed.pop("*_test.cc", []))
        for folder, names in self.allowed.items():
            for name in names:
                if name != "*" and name not in self.allowed and name not in LIBRARIES:
                    raise ValueError(
                        "layers.txt: %s -> %s: found neither a folder with a "
                        "line nor a library" % (folder, name))

    def folder_of(self, path):
        """The longest folder with a line that `path` is in, or None."""
        folder = os.path.dirname(path)
        while folder and folder not in self.allowed:
            folder = os.path.dirname(folder)
        return folder or None

    def fault(self, path, line, header, quoted):
        """Why the file `path` may not include `header`, or None."""
        library = library_of(header)
        target = library or self.folder_of(header)
        if target is None:
            if not quoted:
                return None  # the system's
            return ("%s:%d includes %s; found neither a folder of "
                    "docs/internals/layers.txt nor a library" % (path, line, header))
        source = self.folder_of(path)
        names = self.allowed[source]
        if target in (source, EVERYWHERE) or target in names:
            return None
        if "*" in names and library is None and target not in ("tests", "tools"):
            return None
        if "*" in names and (target == "gtest" or (source, target) == ("tests", "tools")):
            return None
        if path.endswith("_test.cc") and target in self.test_names:
            return None
        return "%s:%d includes %s; %s may include only %s" % (
            path, line, header, source, " ".join(names) or "itself")


def library_of(header):
    for library, starts in LIBRARIES.items():
        if header.startswith(starts):
            return library
    return None


def guard_of(path):
    return "PARTITA_" + re.sub(r"[^A-Za-z0-9]", "_", path).upper() + "_"


def header_faults(path, lines):
    guard = guard_of(path)
    if "#ifndef " + guard not in lines or "#define " + guard not in lines:
        return ["%s: found no include guard %s" % (path, guard)]
    return []


def opening_faults(path, lines):
    """The first line says what the file is; the licence follows it."""
    if not lines or not re.match(r"// (?!SPDX)\w", lines[0]):
        return ["%s:1: found no sentence; expected `// What this file is.`" % path]
    for line in lines:
        if line == SPDX:
            return []
        if not line.startswith("//"):
            break
    return ["%s: found no %s below the first sentence" % (path, SPDX[3:])]


def name_faults(path):
    words = re.split(r"[_./]", path)
    return ["%s: found the word %r in its name; expected one that says what "
            "it is (docs/reference/glossary.md)" % (path, word)
            for word in words if word in EMPTY_WORDS]


def includes_of(text):
    """Line number, header, and whether it is in quotes."""
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            yield number, include.group(2), include.group(1) == '"'


def add_folder_edges(layers, edges, path, text):
    """Adds to edges[folder][other folder] the first include that makes it. Nobody includes a test, so it makes none."""
    if path.endswith("_test.cc"):
        return
    source = os.path.dirname(path)
    for number, header, quoted in includes_of(text):
        target = os.path.dirname(header)
        if quoted and library_of(header) is None and layers.folder_of(header) and target != source:
            edges.setdefault(source, {}).setdefault(target, "%s:%d includes %s" % (path, number, header))


def shortest_circles(edges):
    """A shortest way back to each folder that has one, as [folder, .., folder]; each set of folders once."""
    circles = {}
    for start in sorted(edges):
        ways, seen = [[start]], set()
        for way in ways:  # grows while it is read
            for target in sorted(edges.get(way[-1], ())):
                if target == start:
                    circles.setdefault(frozenset(way), way + [start])
                    break
                if target not in seen:
                    seen.add(target)
                    ways.append(way + [target])
    return list(circles.values())


def circle_faults(edges):
    return ["%s: found a circle of folders: %s; expected arrows of one direction; move what both use into one of them, "
            "or below them" % (" -> ".join(circle),
                               ", ".join(edges[a][b] for a, b in zip(circle, circle[1:])))
            for circle in shortest_circles(edges)]


def file_faults(layers, path, text):
    if layers.folder_of(path) is None:
        return ["%s: found no line for its folder in docs/internals/layers.txt" % path]
    lines = text.splitlines()
    faults = opening_faults(path, lines) + name_faults(path)
    if path.endswith((".h", ".hpp")):
        faults += header_faults(path, lines)
    for number, header, quoted in includes_of(text):
        fault = layers.fault(path, number, header, quoted)
        faults += [fault] if fault else []
    return faults


def source_files(root):
    for folder, folders, names in os.walk(root):
        # bazel-* are links to outputs; third_party has other people's code.
        folders[:] = sorted(f for f in folders if not f.startswith((".", "bazel-"))
                            and (folder != root or f != "third_party"))
        for name in sorted(names):
            if SOURCE.search(name):
                yield os.path.relpath(os.path.join(folder, name), root)


def types_of(path, text):
    """The names, from namespace partita on, of types that a file defines where every other file sees them."""
    if path.endswith("_test.cc"):
        return  # a program of its own
    anonymous = False
    inner = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line == "namespace {":
            anonymous = True
        elif line == "}  // namespace":
            anonymous = False
        opened = INNER_NAMESPACE.fullmatch(line)
        if opened:
            inner = opened.group(1) + "::"
        match = TYPE.match(line)
        if match and not anonymous:
            yield inner + match.group(1), number


def same_name_faults(seen, path, text):
    """Two types of one name are one type to the linker, which keeps either (the one definition rule)."""
    faults = []
    for name, number in types_of(path, text):
        first = seen.setdefault(name, f"{path}:{number}")
        if first != f"{path}:{number}":
            faults.append(f"{path}:{number} defines partita::{name}, which {first} defines too; rename one")
    return faults


def tree_faults(root):
    with open(os.path.join(root, "docs/internals/layers.txt")) as f:
        layers = Layers(f.read())
    faults, count, seen, edges = [], 0, {}, {}
    for path in source_files(root):
        count += 1
        with open(os.path.join(root, path), encoding="utf-8") as f:
            text = f.read()
        faults += file_faults(layers, path, text)
        faults += same_name_faults(seen, path, text)
        add_folder_edges(layers, edges, path, text)
    return faults + circle_faults(edges), count
