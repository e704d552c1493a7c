#!/bin/bash
# Every file that the program writes is whole or missing, however full the disk is,
# and UTF-8, whatever bytes a name has.
# SPDX-License-Identifier: Apache-2.0
set -u
partita=$PWD/$1
cpus=$PWD/$2
. tools/partita/expect.sh
export PYTHONPATH=$PWD/tools/partita
cd "${TEST_TMPDIR:-$(mktemp -d)}" || exit 1

# A model with weights, a text to train on, and a graph with its plan.
python3 - << 'END'
from tiny_onnx import f32, field, node, write_model

weights = field(5, field(1, 8) + field(1, 1) + field(2, 1) + field(8, "w") + field(9, bytes(32)))
write_model("product.onnx", [node("MatMul", ["x", "w"], "y")], [("x", f32(4, 8))], [("y", f32(4, 1))], weights)
END
yes "what is written is read" | head -4 > text.txt
cat > square.graph << 'END'
graph @square(%x: f32[8, 8]) -> f32[8, 8] {
  %y = matmul %x, %x : f32[8, 8]
  return %y
}
END
expect 0 "proved form" "$partita" compile square.graph --machine "$cpus" --output square.plan

# keeps FILE COMMAND...: if no file may have more than `room` KiB, the command
# fails, names the file, does not change it, and leaves no other file.
room=0
keeps() {
  local file=$1 folder output found
  shift
  folder=$(dirname "$file")
  cp "$file" before
  output=$( (ulimit -f "$room"; "$@") 2>&1)
  found=$?
  if [[ $found -ne 1 || $output != *"$file: cannot be written: File too large"* ]]; then
    fail "$*"
    echo "  found exit code $found and: $output"
    echo "  expected exit code 1 and: $file: cannot be written: File too large"
  fi
  cmp -s "$file" before || fail "$file is not what it was after: $*"
  [[ $(ls -A "$folder") == "$(basename "$file")" ]] || fail "$folder has $(ls -A "$folder") after: $*"
}
keeps_old() {
  mkdir -p "$(dirname "$1")"
  echo old > "$1"
  keeps "$@"
}

# train EPOCHS FLAG...: more numbers than fit below.
train() {
  "$partita" train builtin:gpt --text text.txt --layers 1 --width 256 --heads 2 --context 8 --batch 8 \
    --machine "$cpus" --strategy single --virtual --epochs "$@"
}
keeps_old plan/f.plan "$partita" compile square.graph --machine "$cpus" --output plan/f.plan
keeps_old reference/f.plan "$partita" compile product.onnx --machine "$cpus" --weights reference --output reference/f.plan
keeps_old text/f.txt "$partita" compile square.graph --machine "$cpus" --stop-after plan --output text/f.txt
keeps_old dump/01_remove_dead.square.graph "$partita" compile square.graph --machine "$cpus" --dump dump
keeps_old devices/f.json "$partita" devices --output devices/f.json
keeps_old outputs/y.npy "$partita" run square.plan --virtual --output outputs
keeps_old trace/f.json "$partita" run square.plan --virtual --trace trace/f.json
keeps_old memory/f.json "$partita" run square.plan --virtual --memory-snapshot memory/f.json
mkdir profile
measure=("$partita" profile square.graph --machine "$cpus" --time-budget 2 --output profile/f.profile)
expect 0 "measured" "${measure[@]}"
keeps profile/f.profile "${measure[@]}"
keeps_old predicted/f.json "$partita" simulate square.plan --trace predicted/f.json
keeps_old page/f.html "$partita" view square.plan --output page/f.html
keeps_old diff/f.html "$partita" diff square.plan square.plan --page diff/f.html
keeps_old board/f.html "$partita" leaderboard square.graph --machine "$cpus" --page board/f.html
keeps_old page_dot/f.dot "$partita" view square.plan --output page_dot/f.dot
# (Native code has room, and what it is linked for has none.)
room=1024
keeps_old training/f.plan train 1 --plan training/f.plan
keeps_old export/f.onnx train 1 --export export/f.onnx
mkdir checkpoint
expect 0 "" train 1 --checkpoint checkpoint/f.safetensors
keeps checkpoint/f.safetensors train 2 --resume checkpoint/f.safetensors --checkpoint checkpoint/f.safetensors

# The same for a full device, which is named and stays a device.
if [[ -c /dev/full ]]; then
  for command in "compile square.graph --machine $cpus --output" "devices --output" \
    "run square.plan --virtual --trace" "run square.plan --virtual --memory-snapshot" "simulate square.plan --trace" "view square.plan --output" \
    "leaderboard square.graph --machine $cpus --page"; do
    expect 1 "/dev/full: cannot be written: No space left on device" "$partita" $command /dev/full
  done
  for flag in --checkpoint --export --csv --trace --memory-snapshot --plan; do
    expect 1 "/dev/full: cannot be written: No space left on device" train 1 $flag /dev/full
  done
  [[ -c /dev/full ]] || fail "/dev/full was replaced"
fi

# No name can break the page's and the trace's programs, or JSON readers; all get
# UTF-8.
cat > hostile.graph << 'END'
graph @"\xff</script>\"\x01\n"(%"\xffin</script>": f32[4]) -> f32[4] {
  %"c\x01\xc0</script>\"" = constant f32[4] [1, 2, 3, 4]
  %"y\xff\n]]>\"</script>\x1b[2J" = add %"\xffin</script>", %"c\x01\xc0</script>\"" : f32[4]
  return %"y\xff\n]]>\"</script>\x1b[2J"
}
END
says() { "$partita" "$@" > said 2>&1 || fail "$* ended by exit code $?"; cat said >> texts; }
reports() { "$partita" "$@" --json > "$1.report" || fail "$* ended by exit code $?"; }
says compile hostile.graph --machine "$cpus" --output h.plan --times --dump dumped
says compile hostile.graph --machine "$cpus" --stop-after plan
says check h.plan
says check h.plan --text
says run h.plan --virtual --trace measured.json --output results --reference
says simulate h.plan --trace predicted.json
says view h.plan --output h.html --trace measured.json
says leaderboard hostile.graph --machine "$cpus" --page board.html
reports compile hostile.graph --machine "$cpus"
reports leaderboard hostile.graph --machine "$cpus"
reports check h.plan
reports run h.plan --virtual --reference
reports simulate h.plan
"$partita" run h.plan --virtual --input $'\xff'=h.plan > texts.wrong 2>&1 && fail "an input that is not there is taken"
"$partita" run $'\x1b[2J\xff.plan' > texts.wrong2 2>&1 && fail "a plan that is not there is run"
python3 - << 'END' || fail "names lead readers astray"
import glob, json

def text_of(path):
    with open(path, "rb") as file:
        return file.read().decode()

for path in ["texts", "texts.wrong", "texts.wrong2"]:
    odd = {c for c in text_of(path) if ord(c) < 32 and c not in "\n\t"}
    assert not odd, f"{path} has {odd}"
for path in glob.glob("*.report"):
    json.loads(text_of(path))
for path in ["measured.json", "predicted.json"]:
    events = json.loads(text_of(path))["traceEvents"]
    assert any("y\ufffd" in e["name"] and "</script>" in e["name"] for e in events), path
text_of("board.html")
page = text_of("h.html")
assert "\x1b" not in page and page.count("</script>") == page.count("<script"), "a name ends a script"
END

report_failures
