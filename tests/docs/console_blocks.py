# Runs the commands of a page's or a golden file's console blocks and compares their output.
# SPDX-License-Identifier: Apache-2.0
"""A block is
    ```console
    $ partita ...
    output
    ```
A line `...` matches any lines. Other blocks are ignored.

In a golden file a block has no fences: it begins with its first command and ends at an empty line. Comments begin with #.
"""

import fnmatch
import os
import re
import subprocess
import tempfile

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)
GOLDEN_BLOCK = re.compile(r"^\$ .*\n(?:.+\n)*", re.M)


def commands_of(block):
    """[(command, [expected line])] of a block's text."""
    commands, continued = [], False
    for line in block.splitlines():
        if continued:
            commands[-1] = (commands[-1][0] + "\n" + line, [])
        elif line.startswith("$ "):
            commands.append((line[2:], []))
        elif not commands:
            raise ValueError("a console block begins with %r; expected `$ command`" % line)
        else:
            commands[-1][1].append(line)
            continue
        continued = line.endswith("\\")
    return commands


def matches(expected, printed):
    """Whether `printed` matches `expected`, in which a line `...` matches any lines."""
    if "..." not in expected:
        return expected == printed
    cut = expected.index("...")
    if expected[:cut] != printed[:cut]:
        return False
    rest = expected[cut + 1:]
    return any(matches(rest, printed[i:]) for i in range(cut, len(printed) + 1))


def renewed(expected, printed):
    """`printed`, shortened like `expected`, with as many lines at both ends."""
    if "..." not in expected:
        return printed
    first = expected.index("...")
    last = len(expected) - 1 - expected[::-1].index("...")
    tail = len(expected) - 1 - last
    return printed[:first] + ["..."] + (printed[-tail:] if tail else [])


class Console:
    """A temporary folder with `partita` and `examples/`."""

    GIVEN = ("examples", "docs", "tests")

    def __init__(self, program, root):
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(self.folder.name, ".bin"))
        os.symlink(program, os.path.join(self.folder.name, ".bin/partita"))
        for name in self.GIVEN:
            os.symlink(os.path.join(root, name), os.path.join(self.folder.name, name))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, command):
        path = os.path.join(self.folder.name, ".bin") + os.pathsep + os.environ["PATH"]
        environment = dict(os.environ, PATH=path, LC_ALL="C")
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder.name, text=True, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return [line.rstrip() for line in done.stdout.splitlines()]

    def written(self):
        """The names of what the commands left in the folder."""
        return sorted(set(os.listdir(self.folder.name)) - set(self.GIVEN) - {".bin"})


def renewed_block(block, run, faults):
    """The text of a block with what its commands print; the differences are added to `faults`."""
    lines = []
    for command, expected in commands_of(block):
        printed = run(command)
        if not matches(expected, printed):
            faults.append("$ %s\nexpected:\n%s\nit prints:\n%s" % (
                command, "\n".join(expected), "\n".join(printed)))
        lines += ["$ " + command] + (
            expected if matches(expected, printed) else renewed(expected, printed))
    return "".join(line + "\n" for line in lines)


def page_faults(text, run):
    """The differences in the page's blocks, and the corrected page."""
    faults = []
    new_text = BLOCK.sub(lambda block: "```console\n" + renewed_block(block.group(1), run, faults) + "```", text)
    return faults, new_text


def golden_faults(text, run):
    """The same for a golden file."""
    faults = ["%r belongs to no command; expected `$ command`, or a comment" % line
              for line in GOLDEN_BLOCK.sub("", text).splitlines() if line and not line.startswith("#")]
    new_text = GOLDEN_BLOCK.sub(lambda block: renewed_block(block.group(), run, faults), text)
    return faults, new_text


def ignores(gitignore, name):
    """Whether the text of a root's .gitignore names the root's entry `name`. It has no negated patterns."""
    return any(fnmatch.fnmatchcase(name, pattern.strip("/"))
               for pattern in gitignore.splitlines() if pattern and not pattern.startswith("#"))


LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def links_of(text):
    """The files that a page links to, without web addresses."""
    return LINK.findall(text)
