#!/usr/bin/env bash
# The tests named as arguments, as oneDNN's kernels and ours serve processors of
# less than this one's instructions.
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail

failed=0
for isa in SSE41 AVX AVX2; do
  for test in "$@"; do
    report=$(env -u XML_OUTPUT_FILE ONEDNN_MAX_CPU_ISA=$isa "$test" 2>&1) && continue
    printf 'with %s only:\n%s\n' "$isa" "$report"
    failed=1
  done
done
exit $failed
