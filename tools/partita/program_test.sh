#!/bin/bash
# Exit codes and messages of the program for wrong input.
# SPDX-License-Identifier: Apache-2.0
set -u
partita=$1
model=$2
cpus=$3
gpus=$4
scratch=${TEST_TMPDIR:-$(mktemp -d)}
. tools/partita/expect.sh

# Two ONNX models: one with weights in a file beside it, one with an open extent.
PYTHONPATH=tools/partita python3 - "$scratch" << 'END'
import struct, sys
from tiny_onnx import f32, field, node, write_model

folder = sys.argv[1]
ends = f32("n", 64)
write_model(folder + "/open.onnx", [node("Relu", ["x"], "y")], [("x", ends)], [("y", ends)])
outside = field(13, field(1, "location") + field(2, "w.bin")) + field(14, 1)
weights = field(5, field(1, 64) + field(2, 1) + field(8, "w") + outside)
ends = f32(64)
write_model(folder + "/outside.onnx", [node("Add", ["x", "w"], "y")], [("x", ends)], [("y", ends)], weights)
with open(folder + "/w.bin", "wb") as file:
    file.write(struct.pack("<64f", *range(64)))
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 64), }\n"
with open(folder + "/three.npy", "wb") as file:
    file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * 3 * 64))
END

plan=$scratch/mlp.plan
expect 0 "proved form" "$partita" compile "$model" --machine "$cpus" --output "$plan"
expect 0 "proved by partita checker" "$partita" check "$plan"
expect 0 "bit for bit" "$partita" run "$plan" --virtual --reference
expect 0 "every output of every step equals" \
  "$partita" run "$plan" --virtual --reference --chaos 1 --repeat 3

# Commands accept plans as text; changed ones are reported.
text=$scratch/mlp.txt
"$partita" compile "$model" --machine "$cpus" --strategy single --stop-after plan > "$text"
expect 0 "proved by partita checker" "$partita" check "$text"
expect 0 "bit for bit" "$partita" run "$text" --virtual --reference
expect 0 "step " "$partita" simulate "$text" --machine "$cpus"
expect 2 "--strategy: found with a plan" "$partita" run "$text" --strategy list
sed 's/memory [0-9]*/&0/' "$text" > "$scratch/changed.txt"
for command in check run simulate; do
  expect 1 "found a certificate over the hash" "$partita" "$command" "$scratch/changed.txt"
done
sed '/certificate/,/^}/{/^}/!d}' "$scratch/changed.txt" > "$scratch/bare.txt"
expect 0 "proved by partita checker" "$partita" check "$scratch/bare.txt"

# Plans compared, explained and held against machines; fits answers by its code.
expect 0 "no difference" "$partita" diff "$plan" "$plan"
expect 0 '"equal": ' "$partita" diff "$plan" "$text" --json --machine "$cpus"
expect 0 "on cpu:1: " "$partita" explain "$plan" h --model "$model"
expect 2 "found no node %q" "$partita" explain "$plan" q
expect 0 ": fits" "$partita" fits "$plan" --machine "$cpus"
expect 0 ": fits" "$partita" fits "$model" --machine "$cpus"
sed 's/64 MiB/64 KiB/' "$cpus" > "$scratch/small.json"
expect 1 ": does not fit" "$partita" fits "$plan" --machine "$scratch/small.json"
expect 1 ": does not fit" "$partita" fits "$model" --machine "$scratch/small.json"
expect 2 "cannot be opened" "$partita" fits "$scratch/nothing.plan" --machine "$cpus"
expect 2 "found a certificate over the hash" "$partita" fits "$scratch/changed.txt" --machine "$cpus"

# Measured prices: a profile, a machine that names it, and steps that teach.
"$partita" devices --output - | sed '1a "profile": "here.profile",' > "$scratch/here.json"
here=("$model" --machine "$scratch/here.json")
expect 1 "measure one with \`partita profile" "$partita" compile "${here[@]}"
expect 0 "and the kernels of 1 model, not compiled yet; a longer --time-budget" \
  "$partita" profile "${here[@]}" --output "$scratch/none.profile" --time-budget 0.000000001
expect 0 "measured" "$partita" profile "${here[@]}" --output "$scratch/here.profile" --time-budget 1
single=(--strategy single --device cpu:0 --output "$scratch/here.plan")
expect 0 "proved form" "$partita" compile "${here[@]}" "${single[@]}"
expect 0 "step " "$partita" simulate "$scratch/here.plan"
expect 0 "ran 3 steps" "$partita" run "$scratch/here.plan" --repeat 3 --learn "$scratch/here.profile"
expect 0 "\"steps\": 2" grep -o '"steps": [0-9]*' "$scratch/here.profile"
expect 0 "proved form" "$partita" compile "${here[@]}" "${single[@]}"
cp "$scratch/here.plan" "$scratch/first.plan"
expect 0 "proved form" "$partita" compile "${here[@]}" "${single[@]}"
expect 0 "" cmp "$scratch/first.plan" "$scratch/here.plan"
# As on a host without fused multiply-add, where the C library rounds otherwise.
expect 0 "proved form" env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA "$partita" compile "${here[@]}" "${single[@]}"
expect 0 "" cmp "$scratch/first.plan" "$scratch/here.plan"
sed -i 's/"steps": 2/"steps": 3/' "$scratch/here.profile"
expect 1 "found measurements that were changed or damaged" "$partita" compile "${here[@]}"
expect 1 "found measurements that were changed or damaged" "$partita" profile "${here[@]}" --output "$scratch/here.profile"
expect 1 "found measurements that were changed or damaged" \
  "$partita" run "$scratch/here.plan" --learn "$scratch/here.profile"

# A given input sets the model's open extents.
open=$scratch/open.onnx
expect 0 "ran 1 step" "$partita" run "$open" --input "x=$scratch/three.npy" --output "$scratch/three"
expect 0 "'shape': (3,64" grep -ao "'shape': ([^)]*)" "$scratch/three/y.npy"
expect 0 "ran 1 step" "$partita" run "$open" --input "x=$scratch/three.npy" --dim n=3
expect 2 "partita: --input x=$scratch/three.npy: input x: found f32[3, 64]; expected f32[4, 64]; reshape or convert it" \
  "$partita" run "$open" --input "x=$scratch/three.npy" --shape x=4,64
expect 2 "partita: --input z=$scratch/three.npy: $open: input z: found no such input; expected one of: x" \
  "$partita" run "$open" --input "z=$scratch/three.npy"
mkdir "$scratch/lr=0.1"
cp "$scratch/three.npy" "$scratch/lr=0.1/x.npy"
expect 0 "ran 1 step" "$partita" run "$open" --input "x=$scratch/lr=0.1/x.npy"
expect 2 "--input: found x, which --bind gives too; expected one of them" \
  "$partita" run "$open" --input "x=$scratch/three.npy" --bind x=1

# Kernels that are not the plan's are reported, in one line, and the reference
# uses the bound ones.
sed -E 's/arithmetic = "[^"]*"/arithmetic = "another 1"/' "$scratch/bare.txt" > "$scratch/another.txt"
expect 0 "note: may be slower than a plan for this host, and differ in rounding: " \
  "$partita" run "$scratch/another.txt" --virtual --reference
expect 0 ") instead of onednn.matmul (another 1)" "$partita" run "$scratch/another.txt" --virtual
expect 0 "; \`partita compile\` without --machine plans for this host" \
  "$partita" run "$scratch/another.txt" --virtual
expect 0 "bit for bit" "$partita" run "$scratch/another.txt" --virtual --reference
expect 0 '"planned_arithmetic": "another 1"' "$partita" run "$scratch/another.txt" --virtual --json
# Nodes that use a library's reference loops are named.
sed -E 's/arithmetic = "(onednn [0-9.]+) [^"]*"/arithmetic = "\1 ref:any"/' "$scratch/bare.txt" > "$scratch/loops.txt"
expect 0 "note: slow reference loops run nodes of the plan: " "$partita" run "$scratch/loops.txt" --virtual
expect 0 " by onednn.matmul" "$partita" run "$scratch/loops.txt" --virtual
expect 0 '"slow_nodes": [
    "' "$partita" run "$scratch/loops.txt" --virtual --json
expect 0 "proved form" "$partita" compile "$model" --output "$scratch/own.plan"
expect 0 '"replaced_kernels": []' "$partita" run "$scratch/own.plan" --json

# Nodes with different pins are not merged; a pin whose nodes are gone is reported.
expect 0 "%a  because pinned" "$partita" compile "$model" --machine "$cpus" \
  --pin a=cpu:0 --pin h=cpu:1
sed 's/^  return/  %unread = relu %y : f32[32, 10] on cpu:1\n&/' "$model" > "$scratch/unread.graph"
expect 0 "pin relu %unread on cpu:1 has no effect" \
  "$partita" compile "$scratch/unread.graph" --machine "$cpus" --pin a=cpu:0
expect 0 '"idle_pins": [
    "relu %unread on cpu:1"' "$partita" compile "$scratch/unread.graph" --machine "$cpus" --json

# The remedy for a model that does not fit is a command that fits.
sed 's/64 MiB/512 KiB/' "$gpus" > "$scratch/tiny machine.json"
remedy=$("$partita" compile "$model" --machine "$scratch/tiny machine.json" --pin '*=gpu:0' --device gpu:0 \
  --strategy single 2>&1 | tail -1)
ready() { (PATH=$(dirname "$partita"):$PATH && eval "$remedy"); }
expect 0 "proved form" ready

# If only memory helps, the remedy is a smaller extent, or a larger machine file
# in the same folder; without either, the message says so.
mkdir "$scratch/machines"
sed 's/64 MiB/64 KiB/' "$cpus" > "$scratch/machines/tiny.json"
refusal=$("$partita" compile "$model" --machine "$scratch/machines/tiny.json" --depth 2 2>&1)
expect 0 "no command line helps: tried every strategy, steps that do not overlap, the larger machines beside \
$scratch/machines/tiny.json; only more memory or a smaller model does" echo "$refusal"
sed 's/64 MiB/2 MiB/' "$cpus" > "$scratch/machines/small.json"
cp "$cpus" "$scratch/machines/large.json"
remedy=$("$partita" compile "$model" --machine "$scratch/machines/tiny.json" 2>&1 | tail -1)
expect 0 "--machine $scratch/machines/small.json" echo "$remedy"
expect 0 "proved form" ready
for extent in "--dim n=4000" "--shape x=4000,64"; do
  remedy=$("$partita" compile "$scratch/open.onnx" $extent --machine "$scratch/machines/tiny.json" 2>&1 | tail -1)
  expect 0 "${extent/4000/250}" echo "$remedy"
  expect 0 "proved form" ready
done

# Constants are compared with their hashes whenever a plan is read, in the plan
# and in the model's file; the report says where they are.
cat > "$scratch/add.graph" << 'END'
graph @add(%x: f32[4]) -> f32[4] {
  %w = constant f32[4] [1, 2, 3, 4]
  %y = add %x, %w : f32[4]
  return %y
}
END
damaged=$scratch/add.plan
expect 0 "weights 16 B in the plan file, 0 B left in the model's files" \
  "$partita" compile "$scratch/add.graph" --machine "$cpus" --output "$damaged"
expect 0 '"embedded_bytes": 16' \
  "$partita" compile "$scratch/add.graph" --machine "$cpus" --output "$damaged" --json
expect 0 "ran 1 step," "$partita" run "$damaged" --virtual
printf U | dd of="$damaged" bs=1 seek=64 conv=notrunc 2> /dev/null
for command in check run simulate "view --output=$scratch/view.html"; do
  expect 1 "the file was changed since the plan was compiled: compile again" "$partita" $command "$damaged"
done

# Called wrongly.
expect 2 "usage: partita COMMAND" "$partita"
expect 2 "found no command frobnicate" "$partita" frobnicate
expect 2 "--machin: found no such flag; expected one of those that --help lists; did you mean --machine?" \
  "$partita" compile "$model" --machin "$cpus"
expect 2 "--divided-updates: found the former name of --sharded-updates; expected --sharded-updates" \
  "$partita" compile "$model" --machine "$cpus" --divided-updates 64
expect 2 "; did you mean list?" \
  "$partita" compile "$model" --machine "$cpus" --strategy lst
expect 2 "--pin a=cpu:0,: found cpu:0,; expected devices" \
  "$partita" compile "$model" --machine "$cpus" --pin a=cpu:0,
expect 2 "run: found 0 operands; expected one model or plan" "$partita" run
expect 2 "--input: found no value; expected NAME=FILE" "$partita" run "$plan" --input --virtual
expect 2 "--repeat: found nan; expected an integer" "$partita" run "$plan" --repeat nan
for number in nan inf -1 1e999 many; do
  expect 2 "--rtol: found $number; expected a finite number that f32 has, not negative" "$partita" run "$plan" --virtual --test-data . "--rtol=$number"
done
for number in 0 -1 99999999999999999999; do
  expect 2 "--depth: found $number; expected an integer in 1..64" "$partita" compile "$model" "--depth=$number"
done

# Missing files.
gone=$scratch/gone
for command in check run simulate; do
  expect 1 "$gone.plan: cannot be opened: No such file or directory" "$partita" "$command" "$gone.plan"
done
expect 1 "$gone.onnx: cannot be opened: No such file or directory" \
  "$partita" compile "$gone.onnx" --machine "$cpus"
expect 1 "$gone.json: cannot be opened: No such file or directory" \
  "$partita" compile "$model" --machine "$gone.json"

# A truncated plan is refused.
size=$(stat -c %s "$plan")
for bytes in 0 1; do
  head -c "$bytes" "$plan" > "$scratch/cut.plan"
  expect 1 "found no plan; expected" "$partita" check "$scratch/cut.plan"
  expect 1 "found no plan; expected" "$partita" run "$scratch/cut.plan" --virtual
done
for bytes in 100 1000 $((size / 2)) $((size - 1)); do
  head -c "$bytes" "$plan" > "$scratch/cut.plan"
  expect 1 "found $bytes bytes; expected" "$partita" check "$scratch/cut.plan"
  expect 1 "found $bytes bytes; expected" "$partita" run "$scratch/cut.plan" --virtual
done

# A plan for devices that this host lacks.
expect 0 "proved form" "$partita" compile "$model" --machine "$gpus" --strategy single \
  --device gpu:0 --output "$scratch/gpu.plan"
CUDA_VISIBLE_DEVICES= expect 1 "is for another machine than this host" "$partita" run "$scratch/gpu.plan"
sed 's/threads [0-9]*/threads 4096/' "$text" | sed '/certificate/,/^}/{/^}/!d}' > "$scratch/threads.txt"
expect 1 "found a plan for 4096 threads; expected at most the" "$partita" run "$scratch/threads.txt"
# OpenMP grants at most this many threads, whatever a kernel was made for.
OMP_THREAD_LIMIT=1 expect 1 "expected at most the 1 that this process may use" \
  "$partita" run "$scratch/threads.txt"
OMP_THREAD_LIMIT=1 expect 0 "bit for bit" "$partita" run "$scratch/threads.txt" --virtual --reference

# Input files are not overwritten, by any name or link.
own_graph=$scratch/own.graph
own_machine=$scratch/own.json
own_plan=$scratch/own.plan
cp "$model" "$own_graph"
cp "$cpus" "$own_machine"
cp "$plan" "$own_plan"
ln "$own_plan" "$scratch/hard.plan"
ln -s own.graph "$scratch/soft.graph"
unharmed() {
  cmp -s "$own_graph" "$model" && cmp -s "$own_machine" "$cpus" && cmp -s "$own_plan" "$plan" && return
  echo "FAILED: an input was overwritten by: $*"
  failures=$((failures + 1))
}
keeps() {
  local text=$1
  shift
  expect 2 "and would be overwritten; expected another file" "$partita" "$@"
  expect 2 "$text" "$partita" "$@"
  unharmed "$@"
}
keeps "--output: found $own_graph, which is the operand" compile "$own_graph" --output "$own_graph"
keeps "--output: found $scratch/soft.graph, which is the operand" \
  compile "$own_graph" --stop-after imported --output "$scratch/soft.graph"
keeps "--output: found $own_machine, which is the file of --machine" \
  compile "$own_graph" --machine "$own_machine" --output "$own_machine"
keeps "--trace: found $own_graph, which is the operand" run "$own_graph" --trace "$own_graph"
keeps "--output: found $scratch/hard.plan, which is the operand" view "$own_plan" --output "$scratch/hard.plan"
keeps "--trace: found $own_plan, which is the operand" simulate "$own_plan" --trace "$own_plan"
expect 0 "ran 1 step," "$partita" run "$plan" --virtual --output "$scratch/outputs"
output=$(basename "$(ls "$scratch/outputs")" .npy)
cat > "$scratch/self.graph" << END
graph @self(%$output: f32[32, 10]) -> f32[32, 10] {
  %z = relu %$output : f32[32, 10]
  return %z
}
END
mv "$scratch/outputs/$output.npy" "$scratch/outputs/z.npy"
expect 2 "--output: found $scratch/outputs/z.npy, which is the file of --input and would be overwritten" \
  "$partita" run "$scratch/self.graph" --machine "$cpus" --virtual \
  --input "$output=$scratch/outputs/z.npy" --output "$scratch/outputs"
expect 2 "--input: found $output twice; expected one value for it" \
  "$partita" run "$scratch/self.graph" --machine "$cpus" --virtual \
  --input "$output=$scratch/outputs/z.npy" --input "$output=$scratch/outputs/z.npy"

# An output that cannot be written is reported before the run, and no other is
# written; a name that is too long for a file is shortened.
long=$(printf 'n%.0s' {1..300})
cat > "$scratch/outputs.graph" << END
graph @f(%x: f32[4]) -> (f32[4], f32[4]) {
  %a = relu %x : f32[4]
  %z = neg %x : f32[4]
  return %a as $long, %z as z
}
END
mkdir -p "$scratch/taken/z.npy"
expect 1 "output z: $scratch/taken/z.npy: cannot be written" \
  "$partita" run "$scratch/outputs.graph" --machine "$cpus" --virtual --output "$scratch/taken"
rmdir "$scratch/taken/z.npy"
[[ -z $(ls "$scratch/taken") ]] || failures=$((failures + 1))
expect 0 "ran 1 step," \
  "$partita" run "$scratch/outputs.graph" --machine "$cpus" --virtual --output "$scratch/taken"
[[ $(ls "$scratch/taken") == "${long:0:160}%-"*.npy*z.npy ]] || failures=$((failures + 1))

# The same for files that the operand refers to: a model's external data, and a
# plan's weights.
outside() { "$partita" "$1" "$scratch/outside.$2" "${@:3}"; }
expect 0 "256 B left in the model's files" \
  outside compile onnx --machine "$cpus" --weights reference --output "$scratch/outside.plan"
cp "$scratch/w.bin" "$scratch/w.copy"
for arguments in "compile onnx --output" "run onnx --virtual --trace" "run plan --virtual --trace" \
  "simulate plan --trace" "view plan --output"; do
  expect 2 "found $scratch/w.bin, which is a file of the operand's weights and would be overwritten" \
    outside $arguments "$scratch/w.bin"
done
mkdir "$scratch/outputs_over"
ln -s ../w.bin "$scratch/outputs_over/y.npy"
expect 2 "--output: found $scratch/outputs_over/y.npy, which is a file of the operand's weights" \
  outside run onnx --machine "$cpus" --virtual --output "$scratch/outputs_over"
cmp "$scratch/w.bin" "$scratch/w.copy" || failures=$((failures + 1))

# A plan of several functions runs the one that is named.
cat > "$scratch/two.graph" << 'END'
graph @small(%x: f32[4]) -> f32[4] {
  %y = relu %x : f32[4]
  return %y
}
graph @large(%x: f32[64, 64]) -> f32[64, 64] {
  %y = matmul %x, %x : f32[64, 64]
  return %y
}
END
two() { "$partita" "$1" "$scratch/two.graph" --machine "$cpus" "${@:2}"; }
expect 0 "proved form" two compile --dump "$scratch/dumps"
without_room() { (ulimit -f 0; two "$@"); }
expect 1 "01_remove_dead.small.graph: cannot be written: File too large" without_room compile --dump "$scratch/no_dumps"
expect 0 "" find "$scratch/no_dumps" -type d -empty
if [[ -n $(find "$scratch/no_dumps" -type f) ]]; then
  echo "FAILED: a dump without room leaves no file"
  failures=$((failures + 1))
fi
for entry in small large; do
  expect 0 "graph @$entry" cat "$scratch/dumps/01_remove_dead.$entry.graph"
done
expect 2 "run: found 2 entries; expected --entry NAME, one of small, large" two run --virtual
expect 2 "--entry huge: found no such entry in plan @small; expected one of small, large" two run --virtual --entry huge
for entry in small large; do
  expect 0 "bit for bit" two run --virtual --reference --entry "$entry"
done
expect 0 "ran 1 step," two run --virtual --entry large --output "$scratch/large"
# A model says what will happen before its steps, but not to a program.
expect 0 "@large by single on cpu:0: 2 steps; predicted " two run --virtual --entry large --strategy single --repeat 2
expect 0 "" bash -c "\"$partita\" run \"$scratch/two.graph\" --machine \"$cpus\" --virtual --entry large --json | head -c 1 | grep -q '{'"
expect 0 "(64,64,)" grep -a -m 1 -o "([0-9, ]*)" "$scratch/large/y.npy"

# A plan's text is a plan, even with the verdict of check after it.
"$partita" check "$plan" --text > "$scratch/checked.txt"
expect 0 "proved by partita checker" "$partita" check "$scratch/checked.txt"
expect 0 "// plan @mlp: proved by partita checker" cat "$scratch/checked.txt"

# If a device was the best, the report does not say that it was the only one.
expect 0 "because best_device" "$partita" compile "$model" --machine "$cpus" --strategy single
expect 0 "because only_device" "$partita" compile "$model" --machine "$cpus" --strategy single --device cpu:1

# A full disk leaves no partial plan.
full_disk() {
  (
    trap '' XFSZ
    ulimit -f 1
    exec "$partita" compile "$model" --machine "$cpus" --output "$scratch/full.plan"
  )
}
expect 1 "$scratch/full.plan: cannot be written: File too large" full_disk
if [[ -e $scratch/full.plan ]]; then
  echo "FAILED: a full disk left $scratch/full.plan"
  failures=$((failures + 1))
fi

# Folders, devices and pipes.
mkdir "$scratch/folder"
for command in compile check run simulate; do
  expect 1 "$scratch/folder: found no regular file; expected one; name a file" "$partita" "$command" "$scratch/folder"
done
expect 1 "$scratch/folder: cannot be written: Is a directory" \
  "$partita" compile "$model" --machine "$cpus" --output "$scratch/folder"
expect 1 "$model: cannot be made a folder: Not a directory; name another folder" "$partita" run "$plan" --virtual --output "$model"
mkfifo "$scratch/pipe"
"$partita" devices --output "$scratch/pipe" &
if ! grep -q '"devices"' "$scratch/pipe" || ! wait $! || [[ ! -p $scratch/pipe ]]; then
  echo "FAILED: a pipe is written to and stays a pipe"
  failures=$((failures + 1))
fi

# Standard output that is full, closed, or no longer read.
to_full() { "$@" > /dev/full; }
to_nobody() { "$@" >&-; }
to_head() { "$@" | head -1; return "${PIPESTATUS[1]}"; }
if [[ -c /dev/full ]]; then
  for command in "--help" "compile --help" "devices" "check $plan" "simulate $plan"; do
    expect 1 "standard output: found it closed or full" to_full "$partita" $command
  done
  expect 1 "/dev/full: cannot be written: No space left on device" \
    "$partita" compile "$model" --machine "$cpus" --output /dev/full
  expect 2 "standard output: found it closed or full" to_full "$partita" fits "$plan" --machine "$cpus"
  [[ -c /dev/full ]] || { echo "FAILED: /dev/full was replaced"; failures=$((failures + 1)); }
fi
expect 1 "standard output: found it closed or full" \
  to_nobody "$partita" compile "$model" --machine "$cpus" --output "$scratch/alone.plan"
expect 0 "proved by partita checker" "$partita" check "$scratch/alone.plan"
expect 0 "graph @mlp" to_head "$partita" check "$plan" --text

# Reports for programs.
json() { "$@" --json | python3 -c 'import json, sys; print(sorted(json.load(sys.stdin)))'; }
expect 0 "'strategy'" json "$partita" compile "$model" --machine "$cpus"
expect 0 '"step_seconds"' "$partita" compile "$model" --machine "$cpus" --predict --json
expect 0 "['assumed', 'checker', 'plan', 'proved']" json "$partita" check "$plan"
expect 0 "['mlp']" json "$partita" simulate "$plan"
expect 0 "'equals_reference'" json "$partita" run "$plan" --virtual --reference
expect 2 "check: found --text with --json; expected one of them" "$partita" check "$plan" --text --json

# Every listed command has a help text.
commands=$("$partita" --help | sed -n 's/^  \([a-z]\+\) .*/\1/p')
for command in compile check simulate run; do
  [[ $commands == *$command* ]] || { echo "FAILED: --help leaves out $command"; failures=$((failures + 1)); }
done
for command in $commands; do
  expect 0 "usage: partita $command" "$partita" "$command" --help
  expect 0 "usage: partita $command" "$partita" help "$command"
  expect 0 "\"name\": \"$command\"" "$partita" help --json
done

report_failures
