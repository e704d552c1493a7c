#!/usr/bin/env bash
# ./demo, ./test and tools/package refuse arguments that they do not know, before they install anything.
# SPDX-License-Identifier: Apache-2.0
set -u
root=$(dirname "$(realpath README.md)")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# A copy has no tools/ to install with.
cp "$root/demo" "$root/test" "$root/tools/package" "$scratch"
failures=0

# refuses USAGE COMMAND...: exit code 2, and the usage alone.
refuses() {
  local usage=$1 printed code
  shift
  printed=$("$@" 2>&1)
  code=$?
  [ $code -eq 2 ] && [ "$printed" = "$usage" ] && return
  echo "FAILED: $*: found exit code $code and: $printed"
  failures=$((failures + 1))
}

for arguments in --help "--full now" fast; do
  # shellcheck disable=SC2086
  refuses "usage: ./demo [--installed]" "$scratch/demo" $arguments
  # shellcheck disable=SC2086
  refuses "usage: ./test [--full]" "$scratch/test" $arguments
done
refuses "usage: tools/package [FOLDER]" "$scratch/package" --help
refuses "usage: tools/package [FOLDER]" "$scratch/package" one two
[ $failures -eq 0 ]
