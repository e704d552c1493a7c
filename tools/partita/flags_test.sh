#!/bin/bash
# Flags for a model's open dimensions, its batch and its sharding, and the
# messages if they are missing or contradict each other.
# SPDX-License-Identifier: Apache-2.0
set -u
partita=$1
model=$2
cpus=$3
scratch=${TEST_TMPDIR:-$(mktemp -d)}
. tools/partita/expect.sh

PYTHONPATH=tools/partita python3 - "$scratch" << 'END'
import sys
from tiny_onnx import f32, i64, node, without_shape, write_model

folder = sys.argv[1]
relu = [node("Relu", ["x"], "y")]
write_model(folder + "/stale.onnx", relu, [("x", f32(8))], [("y", f32(9))])
write_model(folder + "/scalar.onnx", relu, [("x", f32(8))], [("y", f32())])
write_model(folder + "/shapeless.onnx", relu, [("x", without_shape())], [("y", without_shape())])
write_model(folder + "/unnamed.onnx", [node("Add", ["x", "z"], "y")],
            [("x", f32(None)), ("z", f32(None))], [("y", f32(None))])
write_model(folder + "/empty.onnx", [node("Reshape", ["x", "s"], "y")],
            [("x", f32(1)), ("s", i64(0))], [("y", without_shape())])
END

compile() { "$partita" compile "$1" --machine "$cpus" "${@:2}"; }
onnx() { compile "$scratch/$1.onnx" "${@:2}"; }

# A declared output type that differs from the computed one is a warning.
for declared in "stale [9]" "scalar []"; do
  name=${declared% *}
  found="$name.onnx: output y (node y): found f32[8]; expected f32${declared#* }, as the model declares it"
  expect 0 "partita: warning: $scratch/$found; goes on with what the nodes compute" onnx "$name"
  expect 0 "proved form" onnx "$name"
  expect 0 "%x: f32[8] on cpu:0) -> f32[8]" onnx "$name" --stop-after plan
  expect 0 "ran 1 step," "$partita" run "$scratch/$name.onnx" --machine "$cpus" --virtual
  expect 1 "$found; fix the declaration or the node; without --strict-types it is a warning" \
    onnx "$name" --strict-types
  expect 1 "without --strict-types it is a warning" \
    "$partita" run "$scratch/$name.onnx" --machine "$cpus" --virtual --strict-types
done
expect 2 "--strict-types: found with $model, whose shapes are fixed; expected an ONNX model" \
  compile "$model" --strict-types

# An input without a shape is not a scalar, unless a flag says so.
expect 1 "found inputs without a shape: x; expected the whole shape of each input without one; bind it by --shape" \
  onnx shapeless
expect 0 "%x: f32[] on cpu:0) -> f32[]" onnx shapeless --shape x=scalar --stop-after plan
expect 0 "%x: f32[2, 3] on cpu:0) -> f32[2, 3]" onnx shapeless --shape x=2,3 --stop-after plan
expect 2 "--shape: found x=; expected NAME=VALUE" onnx shapeless --shape x=
# A shape without elements is that of a scalar.
expect 0 "%x: f32[1] on cpu:0) -> f32[]" onnx empty --bind s= --stop-after plan
expect 2 "--shape: found" onnx shapeless --shape x=scale

# Two dimensions without a name are distinct.
expect 1 "found symbolic dimensions without a value: x.0, z.0; expected an extent for each" onnx unnamed
expect 1 "found symbolic dimensions without a value: z.0;" onnx unnamed --shape x=4
expect 0 "%x: f32[4] on cpu:0, %z: f32[1] on cpu:0) -> f32[4]" \
  onnx unnamed --shape x=4 --shape z=1 --stop-after plan
expect 0 "%x: f32[4] on cpu:0, %z: f32[1] on cpu:0) -> f32[4]" \
  onnx unnamed --dim x.0=4 --dim z.0=1 --stop-after plan

# A name that the model does not have is a wrong call.
expect 2 "partita: --dim q=1: $scratch/unnamed.onnx: extent of q: found no such symbolic dimension; expected one of: x.0, z.0" \
  onnx unnamed --dim q=1
expect 2 "partita: --shape q=1: $scratch/unnamed.onnx: shape of q: found no such input; expected one of: x, z" \
  onnx unnamed --shape q=1
expect 2 "partita: --bind q=1: $scratch/unnamed.onnx: value of q: found no such input; expected one of: x, z" \
  onnx unnamed --bind q=1
expect 2 "partita: --bind x=1: $scratch/stale.onnx: value of x: found 1 number; expected 8 for f32[8]" onnx stale --bind x=1

# A flag that implies a strategy suffices, and contradicts others.
expect 0 "placement @mlp by data" compile "$model" --replicas 2
expect 0 "placement @mlp by data" compile "$model" --replicas 2 --strategy data
expect 0 "placement @mlp by pipeline" compile "$model" --stages 2
expect 0 "placement @mlp by single" compile "$model" --device cpu:1
expect 2 "--stages: found with --replicas; expected one of them, as they mean --strategy pipeline and --strategy data" \
  compile "$model" --stages 2 --replicas 2
expect 2 "--stages: found with strategy data, which does not read it; expected --strategy pipeline" \
  compile "$model" --stages 2 --strategy data
expect 2 "--replicas: found with strategy auto, which does not read it; expected --strategy data" \
  compile "$model" --replicas 2 --strategy auto
expect 2 "--objective: found with --replicas, which means --strategy data, which does not read it; expected --strategy auto or search" \
  compile "$model" --replicas 2 --objective latency

# A weight as long as the batch is not a batch; flags name the inputs that are.
cat > "$scratch/weight.graph" << 'END'
graph @f(%x: f32[8, 8], %w: f32[8, 3]) -> f32[8, 3] {
  %y = matmul %x, %w : f32[8, 3]
  return %y
}
END
cat > "$scratch/table.graph" << 'END'
graph @f(%table: f32[6, 3], %ids: i32[4]) -> f32[4, 3] {
  %y = gather %table, %ids {axis = 0} : f32[4, 3]
  return %y
}
END
graph() { compile "$scratch/$1.graph" "${@:2}"; }
expect 0 "%x: f32[2, 8] on cpu:0, %w: f32[8, 3] on cpu:0" graph weight --micro-batches 4 --strategy single --stop-after placed
expect 0 "%w: f32[8, 3] on {cpu:0, cpu:1}) ->" graph weight --replicas 2 --stop-after placed
expect 0 "bit for bit" "$partita" run "$scratch/weight.graph" --machine "$cpus" --virtual --micro-batches 4 --reference
expect 1 "the batch was taken for the first extent of table f32[6, 3]; if it is not, name the inputs that hold the samples by --batch-input" \
  graph table --micro-batches 2
expect 2 "take 3 or 6, or name the inputs that hold the samples by --batch-input" graph table --micro-batches 4
expect 0 "%table: f32[6, 3] on cpu:0, %ids: i32[2] on cpu:0" \
  graph table --micro-batches 2 --batch-input ids --strategy single --stop-after placed
expect 0 "%ids: i32[4] on {cpu:0, cpu:1} -> (split 0)" graph table --replicas 2 --batch-input ids --stop-after placed
expect 2 "partita: --batch-input: found rows, which is no input; expected one of: table, ids" graph table --batch-input rows
expect 2 "partita: --batch-input of @f: found ids i32[4] with table f32[6, 3]; expected inputs of one first extent, the batch" \
  graph table --batch-input table --batch-input ids

# A value that the model or the machine does not have is a wrong call, like one
# that the flag does not have; each message begins with the flag.
wrongly() { expect 2 "partita: --$1: found" graph weight "${@:2}"; }
wrongly "device cpu:7" --device cpu:7
wrongly "output-device cpu:7" --output-device cpu:7
wrongly stages --stages 9
wrongly replicas --replicas 9
wrongly "pin q=cpu:0" --pin q=cpu:0
wrongly "pin *=cpu:7" --pin '*=cpu:7'
wrongly "pin *=cpu:0" --pin '*=cpu:0' --pin '?*=cpu:1'
wrongly strategy --strategy nope
wrongly bucket-size --strategy list --bucket-size 4
wrongly stages --stages 2 --strategy data
expect 2 "partita: --micro-batches of @f: found 4 for a batch of 6" graph table --micro-batches 4

# Threads that the host does not have are not started.
sed 's/"threads": 1/"threads": 4096/' "$cpus" > "$scratch/threads.json"
cat > "$scratch/three.graph" << 'END'
graph @a(%x: f32[64, 64]) -> f32[64, 64] {
  %y = matmul %x, %x : f32[64, 64]
  return %y
}
graph @b(%x: f32[64, 64]) -> f32[64, 64] {
  %y = matmul %x, %x : f32[64, 64]
  return %y
}
graph @c(%x: f32[64, 64]) -> f32[64, 64] {
  %y = matmul %x, %x : f32[64, 64]
  return %y
}
END
three() { "$partita" run "$scratch/three.graph" --machine "$scratch/threads.json" --virtual --strategy single --entry a; }
many_threads() { (unset OMP_THREAD_LIMIT; three); }
expect 1 "that take 12288 threads; expected at most the " many_threads
few_threads() { (export OMP_THREAD_LIMIT=2; three); }
expect 0 "ran 1 step," few_threads

report_failures
