#!/usr/bin/env bash
# Runs errors_test.py with the program on the tree that README.md is stored in.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=tests/docs
exec python3 tools/partita/errors/errors_test.py tools/partita/partita README.md "$@"
