# Reads what the program says of its commands: `partita help --json`.
# SPDX-License-Identifier: Apache-2.0

import json
import subprocess
from typing import NamedTuple


class Flag(NamedTuple):
    name: str  # without dashes
    value: str  # "FILE"; "" for a switch
    doc: str
    values: list  # that it may have, for completion; may be empty
    file: bool  # True: its value may be the name of a file


class Command(NamedTuple):
    name: str
    usage: str  # "check PLAN"
    doc: str
    operands: list  # that are no files: "builtin:resnet50"
    groups: list  # of (heading, flags)

    def flags(self):
        return [flag for _, flags in self.groups for flag in flags]


class Program(NamedTuple):
    summary: str  # its first line
    commands: list


def flag_of(said):
    return Flag(said["name"], said["value"] or "", said["doc"], said["values"], said["file"])


def command_of(said):
    groups = [(group["heading"], [flag_of(flag) for flag in group["flags"]]) for group in said["groups"]]
    return Command(said["name"], said["usage"], said["doc"], said["operands"], groups)


def read(program):
    done = subprocess.run([program, "help", "--json"], check=True, text=True, stdout=subprocess.PIPE)
    said = json.loads(done.stdout)
    return Program(said["summary"], [command_of(command) for command in said["commands"]])
