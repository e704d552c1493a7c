#!/usr/bin/env bash
# What tools/fetch_wheel and tools/fetch_cuda_header leave behind.
# SPDX-License-Identifier: Apache-2.0
set -eu
exec python3 tests/setup/fetch_test.py "$(dirname "$(realpath README.md)")"
