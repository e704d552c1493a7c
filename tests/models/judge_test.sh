#!/usr/bin/env bash
# What judge.py accepts.
# SPDX-License-Identifier: Apache-2.0
set -eu
exec python3 tests/models/judge_test.py
