# Reads --help of the program and of its commands.
# SPDX-License-Identifier: Apache-2.0

import re
import subprocess
from typing import NamedTuple


class Flag(NamedTuple):
    name: str  # without dashes
    value: str  # "FILE"; "" for a switch
    doc: str


class Command(NamedTuple):
    name: str
    usage: str  # "check PLAN"
    doc: str
    groups: list  # of (heading, flags)

    def flags(self):
        return [flag for _, flags in self.groups for flag in flags]


class Program(NamedTuple):
    summary: str  # its first line
    commands: list


def flag_of(line):
    """"  --depth N   steps that may overlap" """
    found = re.match(r"  --([\w-]+) ?(.*)", line)
    name, rest = found.group(1), found.group(2)
    # A switch's text begins after spaces that fill the column. If its name is longer than that, the text begins with a
    # lower-case letter, as a value does only where it lists the choices: "stop|continue".
    if rest.startswith(" "):
        return Flag(name, "", rest.strip())
    value, _, doc = rest.partition(" ")
    if not value or (value[0].islower() and "|" not in value):
        return Flag(name, "", rest.strip())
    return Flag(name, value, doc.strip())


def command_of(name, text):
    usage, _, rest = text.partition("\n\n")
    sections = re.split(r"^(\S.*):\n(?=  --)", rest, flags=re.M)
    doc, groups = sections[0].strip(), []
    for heading, lines in zip(sections[1::2], sections[2::2]):
        groups.append((heading, [flag_of(line) for line in lines.splitlines() if line.startswith("  --")]))
    if not usage.startswith("usage: partita %s" % name):
        raise ValueError("partita %s --help: found %r; expected its usage" % (name, usage))
    return Command(name, usage[len("usage: partita "):], doc, groups)


def read(program):
    def help_of(*command):
        return subprocess.run([program, *command, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout

    text = help_of()
    names = re.findall(r"^  (\w+) .*\n      ", text, re.M)
    if not names:
        raise ValueError("%s --help: found no command; expected lines `  NAME ...`" % program)
    return Program(text.splitlines()[0], [command_of(name, help_of(name)) for name in names])
