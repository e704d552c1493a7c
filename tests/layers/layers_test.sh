#!/usr/bin/env bash
# Runs layers_test.py on the tree that README.md is stored in.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/layers/layers_test.py README.md
