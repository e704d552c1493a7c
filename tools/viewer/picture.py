#!/usr/bin/env python3
# Takes the README's picture of a page that `partita view` wrote.
# SPDX-License-Identifier: Apache-2.0
"""usage: picture.py PAGE.html PICTURE.png [NODE]    (needs chromium; NODE is selected)"""

import os
import sys
import tempfile
import urllib.parse

import browser

WIDTH, HEIGHT = 1400, 900


def main(page, picture, node=""):
    fragment = "#select=" + urllib.parse.quote(node, safe="") if node else ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chromium = browser.Browser(folder, WIDTH, HEIGHT)
        try:
            chromium.open(os.path.abspath(page), fragment)
            chromium.screenshot(picture)
        finally:
            chromium.close()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
