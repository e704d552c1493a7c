#!/usr/bin/env bash
# Runs page_test.py, which uses the page in a browser, by the Python of Debian that has its packages.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tools/viewer/page_test.py "$@"
