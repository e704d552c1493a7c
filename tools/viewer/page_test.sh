#!/usr/bin/env bash
# Loads the page in a browser without a window: no script error, and a node that is searched for and selected shows.
# SPDX-License-Identifier: Apache-2.0
# usage: page_test.sh PARTITA GRAPH MACHINE
set -euo pipefail

command -v chromium >/dev/null || {
  echo "page_test: found no chromium; expected it on PATH; install the package chromium (tools/install_packages does)" >&2
  exit 1
}
partita=$PWD/$1 graph=$PWD/$2 machine=$PWD/$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A model may call its values what it likes.
sed 's|%l\b|%"</script><img onerror=alert(1)>"|g' "$graph" >"$folder/mlp.graph"
"$partita" compile "$folder/mlp.graph" --machine "$machine" --pin hidden=cpu:0 --pin classifier=cpu:1 --output "$folder/mlp.plan" >/dev/null
"$partita" run "$folder/mlp.plan" --virtual --trace "$folder/mlp.json" >/dev/null
"$partita" view "$folder/mlp.plan" --trace "$folder/mlp.json" --output "$folder/page.html"

# The page's elements after its script has run.
dump() {
  HOME=$folder timeout 50 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$folder/profile" \
    --window-size=1400,900 --virtual-time-budget=2000 --dump-dom "file://$folder/page.html$1" 2>/dev/null
}
fail() { echo "page_test: found $1; expected $2" >&2; exit 1; }
has() { grep -qF -- "$2" <<<"$1" || fail "no $2 in the page" "$3"; }
lacks() { ! grep -qF -- "$2" <<<"$1" || fail "$2 in the page" "$3"; }

plain=$(dump '')
has "$plain" 'data-ready="yes"' 'a script that ends'
has "$plain" '<pre id="errors" hidden="">' 'no script error'
has "$plain" 'class="edge cut"' 'an edge between the devices'
has "$plain" '>measured<' 'the measured step'
lacks "$plain" '<img' 'hostile names to stay text'
has "$plain" '&lt;/script&gt;&lt;img' 'hostile names to show'
lacks "$plain" 'data-selected="' 'nothing selected yet'

chosen=$(dump '#search=softmax&select=%25p')
has "$chosen" '<pre id="errors" hidden="">' 'no script error'
has "$chosen" 'data-hit="%p"' 'the search to find %p'
lacks "$chosen" 'data-hit="%g"' 'the search not to find %g'
has "$chosen" 'data-selected="%p"' 'the panel of %p'
has "$chosen" 'class="box on hit" data-box="5"' 'its box marked'
has "$chosen" 'class="command on" data-command="9"' 'its command marked on the timeline'
has "$chosen" '<dd>pinned</dd>' 'its reason'
has "$chosen" ' measured</dd>' 'its measured time'
