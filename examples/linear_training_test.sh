#!/usr/bin/env bash
# Two devices have two and three of five examples, the losses of one device, and the weights that were to be found.
# SPDX-License-Identifier: Apache-2.0
set -eu
export OMP_WAIT_POLICY=passive  # as tests run beside each other
printed=$(examples/linear_training examples/machines/two_small_cpus.json)
fail() { printf '%s\n%s\n' "$1" "$printed" >&2; exit 1; }
grep -qx "parts of the batch of 5: 2 3" <<< "$printed" || fail "other parts"
[ "$(grep -cx "w = \[0.500, -1.000, 2.000\]" <<< "$printed")" -eq 2 ] || fail "other weights, or not on both"
awk '/^largest/ { exit !($NF < 1e-5) }' <<< "$printed" || fail "other losses than one device has"
