#!/usr/bin/env python3
# Lists the error messages of the sources that no test, golden file or page shows.
# SPDX-License-Identifier: Apache-2.0
"""usage: tests/docs/errors_listed.py [FOLDER...]   (from the root of the tree)

A message is a string literal (its neighbours joined) with the word `found` or
`expected`; it is shown if a test contains its longest part. Prints
    FILE:LINE  literal
for the others, and last how many there are of how many.
"""

import os
import re
import sys

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|R"\((.*?)\)"', re.S)
WORDS = re.compile(r"\b(found|expected)\b")
SHOWN_IN = re.compile(r"(_test\.(cc|py)|\.golden|\.md)$")


def unescaped(text):
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def literals(text):
    """(line, literal) with adjacent literals joined."""
    found, end = [], None
    for match in LITERAL.finditer(text):
        literal = match.group(2) if match.group(1) is None else unescaped(match.group(1))
        if end is not None and not text[end:match.start()].strip():
            found[-1] = (found[-1][0], found[-1][1] + literal)
        else:
            found.append((text.count("\n", 0, match.start()) + 1, literal))
        end = match.end()
    return found


def longest_piece(message):
    """The longest text between format directives and line ends."""
    return max(re.split(r"%[-+.\d]*[a-z]|\n", message), key=len).strip(" ;,:")


def files(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "bazel-")))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name))


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def shown_text():
    """The text of all tests, followed by their joined literals."""
    parts = []
    for path in files("."):
        if SHOWN_IN.search(path) or path.startswith("tests/"):
            if not path.endswith((".cc", ".py", ".golden", ".md", ".txt")):
                continue
            text = text_of(path)
            parts.append(text)
            parts += [literal for _, literal in literals(text)]
    return "\n".join(parts)


def main(folders):
    shown, messages, missing = shown_text(), 0, 0
    for folder in folders:
        for path in files(folder):
            if not path.endswith(".cc") or SHOWN_IN.search(path):
                continue
            for line, message in literals(text_of(path)):
                if not WORDS.search(message):
                    continue
                messages += 1
                if longest_piece(message) not in shown:
                    missing += 1
                    print("%s:%d  %s" % (path, line, message.strip()))
    print("%d of %d messages are in no test" % (missing, messages))


if __name__ == "__main__":
    main(sys.argv[1:] or ["graph", "kernels", "partita", "passes", "placement",
                          "runtime", "tools"])
