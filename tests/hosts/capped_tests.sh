#!/usr/bin/env bash
# capped_tests.sh PARTITA CAP TEST[=FILTER]...: the tests as on a processor that
# has only the instruction set CAP, by oneDNN's name.
# SPDX-License-Identifier: Apache-2.0
set -uo pipefail

partita=$1
cap=$2
shift 2

# The limit applies to our own kernels too: graph/instruction_set.h.
usable_isa() { "$partita" devices --output - | sed -n 's/.*"isa": "\(.*\)".*/\1/p'; }
here=$(usable_isa)
export ONEDNN_MAX_CPU_ISA=$cap
capped=$(usable_isa)
[[ -n $here && -n $capped ]] || { echo "found isa '$here', and '$capped' under $cap"; exit 1; }
if [[ $here == "$capped" ]]; then
  echo "skipped: $cap takes nothing away from this processor, which has $here: $*"
  exit 0
fi

failed=0
for test in "$@"; do
  [[ $test == *=* ]] && filter=${test#*=} || filter='*'
  if report=$(env -u XML_OUTPUT_FILE GTEST_FILTER="$filter" "${test%%=*}" 2>&1); then
    echo "passed under $cap: $test"
    grep -q 'PASSED  . 0 tests' <<< "$report" || continue
    report="found no test that $filter names"
  fi
  printf 'failed under %s: %s\n%s\n' "$cap" "$test" "$report"
  failed=1
done
exit $failed
