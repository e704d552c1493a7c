#!/usr/bin/env bash
# Exports of PyTorch over one device and three.
# SPDX-License-Identifier: Apache-2.0
set -eu
exec python3 tests/models/recorded_exports_test.py tools/partita/partita
