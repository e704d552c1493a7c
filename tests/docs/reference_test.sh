#!/usr/bin/env bash
# The generated pages equal the tools' output; --update rewrites them.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
# The tree that README.md is stored in.
root=$(dirname "$(readlink -f README.md)")
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
tools/reference/ops_page >"$new/ops.md"
python3 tools/reference/passes_page.py "$root" >"$new/passes.md"
python3 tools/reference/gradients_page.py "$new/ops.md" "$root/tests/gradients/torch_ops.txt" >"$new/gradients.md"
python3 tools/reference/gpu_facts_page.py "$root/tests/bench/results/gpu_facts/"{h100,h200}.json >"$new/gpu_facts.md"
tools/reference/gpu_kernels_page >"$new/gpu_kernels.md"
python3 tools/reference/own_kernels_page.py "$root" >"$new/own_kernels.md"
python3 tools/reference/command_line_page.py tools/partita/partita >"$new/command_line.md"

failures=0
for path in docs/reference/{ops,passes,gradients,gpu_facts,gpu_kernels,command_line}.md docs/internals/own_kernels.md; do
  page=$(basename "$path")
  [ "$(wc -l <"$new/$page")" -gt 50 ] || { echo "$path: found next to nothing printed; expected a page" >&2; exit 1; }
  if [ "${1-}" = --update ]; then
    cp "$new/$page" "$root/$path"
  elif ! diff -u "$root/$path" "$new/$page"; then
    echo "$path: found another text than its tool prints; run: bazel run --config=opt //tests/docs:reference_test -- --update" >&2
    failures=1
  fi
done
exit $failures
