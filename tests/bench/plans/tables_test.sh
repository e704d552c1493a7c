#!/usr/bin/env bash
# Rows in, tables out.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/bench/plans/tables_test.py
