#!/usr/bin/env bash
# Runs pages_test.py with the program on the tree that README.md is stored in.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/docs/pages_test.py tools/partita/partita README.md "$@"
