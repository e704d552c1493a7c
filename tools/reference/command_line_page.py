# Prints docs/reference/command_line.md: every command's --help.
# SPDX-License-Identifier: Apache-2.0
"""usage: command_line_page.py PROGRAM"""

import re
import subprocess
import sys

HEAD = """# Command line

Generated from `partita --help` and `partita COMMAND --help` by
`bazel run --config=opt //tests/docs:reference_test -- --update`; a test compares. The program ends with 0 if it did what was
asked, with 1 if it refused or failed, and with 2 if it was called wrongly ([errors](../guide/errors.md)).

"""


def help_of(*command):
    return subprocess.run([sys.argv[1], *command, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout


def commands(summary):
    """Their names, in the order of the summary."""
    return re.findall(r"^  (\w+) .*\n      ", summary, re.M)


def section(title, text):
    return "## %s\n```\n%s```\n\n" % (title, text)


def main():
    summary = help_of()
    page = HEAD + section("partita", summary)
    page += "".join(section("partita " + name, help_of(name)) for name in commands(summary))
    print(page.rstrip())


main()
