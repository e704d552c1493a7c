#!/usr/bin/env bash
# hello prints relu([1 2 3] w - 20) of w = [[1 2] [3 4] [5 6]].
# SPDX-License-Identifier: Apache-2.0
set -eu
printed=$(examples/hello)
[ "$printed" = "y = [2, 8]" ] || { echo "hello printed: $printed" >&2; exit 1; }
