#!/usr/bin/env bash
# A plan for a machine file is the same, byte for byte, whatever instructions the
# process that compiles it may use; and it runs right with those that it is for.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail

partita=$PWD/$1
source=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > convolutions.graph <<'GRAPH'
graph @convolutions(%x: f32[2, 3, 16, 16], %w: f32[24, 3, 3, 3], %v: f32[40, 24, 1, 1], %b: f32[40, 1, 1], %u: f32[640, 10]) -> f32[2, 10] {
  %a = conv %x, %w {pads_before = [1, 1], pads_after = [1, 1], strides = [2, 2]} : f32[2, 24, 8, 8]
  %c = relu %a : f32[2, 24, 8, 8]
  %d = conv %c, %v : f32[2, 40, 8, 8]
  %e = add %d, %b : f32[2, 40, 8, 8]
  %f = sigmoid %e : f32[2, 40, 8, 8]
  %g = max_pool %f {kernel = [2, 2], strides = [2, 2]} : f32[2, 40, 4, 4]
  %h = reshape %g {shape = [2, 640]} : f32[2, 640]
  %i = matmul %h, %u : f32[2, 10]
  %y = softmax %i : f32[2, 10]
  return %y
}
GRAPH
models=(convolutions.graph "$source/examples/mlp.graph"
  "$source/examples/linear_training.graph"
  "$source/examples/two_layer_training.graph")

failed=0
fail() {
  echo "$*"
  failed=1
}

for isa in sse4 avx2; do
  sed "s/\"isa\": \".*\"/\"isa\": \"$isa\"/" \
    "$source/examples/machines/cpu_2_cores.json" > machine.json
  cap=AVX2
  [[ $isa == sse4 ]] && cap=SSE41
  for model in "${models[@]}"; do
    for compiling in ALL AVX2 SSE41; do
      ONEDNN_MAX_CPU_ISA=$compiling "$partita" compile "$model" \
        --machine machine.json --output "$compiling.plan" > report.txt 2>&1 ||
        fail "$model for $isa with $compiling: $(cat report.txt)"
    done
    cp ALL.plan "$(basename "$model").$isa.plan"
    for other in AVX2 SSE41; do
      cmp ALL.plan $other.plan || fail "$model for $isa differs with $other"
    done
    # The kernels that it names are bound: none is replaced.
    ONEDNN_MAX_CPU_ISA=$cap "$partita" run ALL.plan --virtual --trust-code \
      --reference > ran.txt 2>&1 ||
      fail "$model for $isa does not run: $(cat ran.txt)"
    grep -q 'bit for bit' ran.txt || fail "$model for $isa: $(cat ran.txt)"
    ! grep -q 'instead of' ran.txt ||
      fail "$model for $isa binds other kernels: $(cat ran.txt)"
  done
done

# What is compared does depend on the machine file.
cmp -s mlp.graph.sse4.plan mlp.graph.avx2.plan &&
  fail "plans for sse4 and avx2 are the same"
exit $failed
