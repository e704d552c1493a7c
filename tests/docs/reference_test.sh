#!/usr/bin/env bash
# The reference pages of the tree are what their tools print; --update writes them anew.
# SPDX-License-Identifier: Apache-2.0
set -eu
export PYTHONDONTWRITEBYTECODE=1
# The tree that docs/ really lies in.
root=$(dirname "$(dirname "$(readlink -f docs/layers.txt)")")
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
tools/reference/ops_page >"$new/ops.md"
python3 tools/reference/passes_page.py "$root" >"$new/passes.md"
python3 tools/reference/gradients_page.py "$new/ops.md" "$root/tests/gradients/torch_ops.txt" >"$new/gradient_table.md"

failures=0
for page in ops passes gradient_table; do
  [ "$(wc -l <"$new/$page.md")" -gt 50 ] || { echo "docs/$page.md: found next to nothing printed; expected a page" >&2; exit 1; }
  if [ "${1-}" = --update ]; then
    cp "$new/$page.md" "$root/docs/$page.md"
  elif ! diff -u "$root/docs/$page.md" "$new/$page.md"; then
    echo "docs/$page.md: found another text than its tool prints; run: bazel run --config=opt //tests/docs:reference_test -- --update" >&2
    failures=1
  fi
done
exit $failures
