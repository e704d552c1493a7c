#!/usr/bin/env bash
# Runs a test of this folder: python_test.sh TEST.py ARGUMENT...
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
# Debian's, which sees Debian's cffi and numpy.
exec /usr/bin/python3 "tests/packages/$1" "${@:2}"
