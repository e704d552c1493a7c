#!/usr/bin/python3
# Takes a picture of a page that `partita view` or `partita diff --page` wrote.
# SPDX-License-Identifier: Apache-2.0
"""usage: picture.py PAGE.html PICTURE.png [FRAGMENT] [dark]

FRAGMENT is what the page's address ends with, as select=%25y&tab=memory. Needs what browser.py says.
"""

import os
import sys
import tempfile

import browser

WIDTH, HEIGHT = 1400, 900


def main(page, picture, fragment="", scheme="light"):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        chromium = browser.Browser(folder, WIDTH, HEIGHT)
        try:
            chromium.prefer(scheme)
            chromium.open(os.path.abspath(page), "#" + fragment if fragment else "")
            chromium.screenshot(picture)
        finally:
            chromium.close()


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
