#!/usr/bin/env bash
# The GPU has no room for the table; with it on the CPU the loss falls to a tenth.
# SPDX-License-Identifier: Apache-2.0
set -eu
export OMP_WAIT_POLICY=passive  # as tests run beside each other
printed=$(examples/hybrid_training examples/machines/cpu_two_tiny_gpus.json)
fail() { printf '%s\n%s\n' "$1" "$printed" >&2; exit 1; }
grep -q "all on gpu:0: .* too much; expected at most 24.0 MiB" <<< "$printed" || fail "no refusal"
grep -q "^cpu:0: arena" <<< "$printed" && grep -q "^gpu:0: arena" <<< "$printed" || fail "not over both"
awk '/^step/ { sub(/:/, "", $2); loss[$2] = $4 } END { exit !(loss[80] < loss[1] / 10) }' <<< "$printed" ||
  fail "the loss did not fall"
