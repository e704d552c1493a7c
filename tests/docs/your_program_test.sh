#!/usr/bin/env bash
# Runs your_program_test.py with the program that a page shows.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
export OMP_WAIT_POLICY=passive  # as tests run beside each other
exec python3 tests/docs/your_program_test.py "$@"
