#!/usr/bin/env bash
# The demo's model on its machine's GPUs, emulated behind the driver's library, if it can be fetched.
# SPDX-License-Identifier: Apache-2.0
set -eu
exec python3 tests/models/demo_on_gpus_test.py tools/partita/partita testing/emulated_gpu/driver/libcuda.so.1
