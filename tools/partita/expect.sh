# Shared by tests of the program: commands, and their expected output.
# SPDX-License-Identifier: Apache-2.0
failures=0

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect CODE TEXT COMMAND...: exit code, and a text somewhere in the output.
expect() {
  local code=$1 text=$2 output found
  shift 2
  output=$("$@" 2>&1)
  found=$?
  if [[ $found -eq $code && $output == *"$text"* ]]; then return; fi
  fail "$*"
  echo "  found exit code $found and: $output"
  echo "  expected exit code $code and: $text"
}

# Call it last.
report_failures() {
  echo "$failures failures"
  [[ $failures -eq 0 ]]
}
