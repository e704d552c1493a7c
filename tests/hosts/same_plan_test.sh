#!/usr/bin/env bash
# A plan for a machine file is the same, byte for byte, whatever instructions and
# threads the compiling process may use; and it runs correctly with those that it
# is for.
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
# oneDNN needs more workspace for it with more threads.
cat > strided.graph <<'GRAPH'
graph @strided(%x: f32[2, 16, 20, 20], %w: f32[16, 16, 3, 3], %v: f32[32, 16, 1, 1], %r: f32[2, 32, 10, 10], %u: f32[32, 10]) -> f32[2, 10] {
  %a = conv %x, %w {pads_before = [1, 1], pads_after = [1, 1]} : f32[2, 16, 20, 20]
  %b = relu %a : f32[2, 16, 20, 20]
  %c = conv %b, %v {strides = [2, 2]} : f32[2, 32, 10, 10]
  %d = add %c, %r : f32[2, 32, 10, 10]
  %e = sigmoid %d : f32[2, 32, 10, 10]
  %g = reduce_mean %e {axes = [2, 3], keep_dims = false} : f32[2, 32]
  %y = matmul %g, %u : f32[2, 10]
  return %y
}
GRAPH
models=(convolutions.graph strided.graph "$source/examples/mlp.graph"
  "$source/examples/linear_training.graph"
  "$source/examples/two_layer_training.graph"
  builtin:mnist builtin:gpt builtin:lstm)
# Without AVX-512, each plan waits while oneDNN's start is emulated.
models_for_avx512=(convolutions.graph strided.graph "$source/examples/mlp.graph")

(printf '\0\0\10\3\0\0\0\4\0\0\0\34\0\0\0\34'; head -c 3136 /dev/zero) > images.idx
printf '\0\0\10\1\0\0\0\4\1\2\3\4' > labels.idx
printf 'place it, prove it, run it, see it. %.0s' {1..20} > text.txt

# make_plan MODEL PLAN: for machine.json.
make_plan() {
  local small=(--machine machine.json --batch 4 --plan "$2")
  case $1 in
    builtin:mnist) "$partita" train "$1" --images images.idx --labels labels.idx "${small[@]}" ;;
    builtin:gpt) "$partita" train "$1" --text text.txt --layers 1 --width 16 --heads 2 --context 8 "${small[@]}" ;;
    builtin:lstm) "$partita" train "$1" --text text.txt --width 16 --context 4 "${small[@]}" ;;
    *) "$partita" compile "$1" --machine machine.json --output "$2" ;;
  esac
}

run_plan() {
  local entry=()
  [[ $1 == builtin:* ]] && entry=(--entry train)
  "$partita" run ALL.plan --virtual --trust-code --reference "${entry[@]}"
}

failed=0
fail() {
  echo "$*"
  failed=1
}

# few_threads COMMAND...: in an environment with fewer OpenMP threads and other
# settings of oneDNN.
few_threads() {
  (export OMP_THREAD_LIMIT=1 OMP_NUM_THREADS=1 OMP_DYNAMIC=true \
    ONEDNN_CPU_ISA_HINTS=PREFER_YMM ONEDNN_DEFAULT_FPMATH_MODE=BF16; "$@")
}

# same_plans MODEL ISA: in every environment of the compiling process.
same_plans() {
  for compiling in ALL AVX2 SSE41; do
    ONEDNN_MAX_CPU_ISA=$compiling make_plan "$1" $compiling.plan > report.txt 2>&1 ||
      fail "$1 for $2 with $compiling: $(cat report.txt)"
  done
  few_threads make_plan "$1" FEW.plan > report.txt 2>&1 ||
    fail "$1 for $2 with one thread: $(cat report.txt)"
  cp ALL.plan "$(basename "$1").$2.plan"
  for other in AVX2 SSE41 FEW; do
    cmp ALL.plan $other.plan || fail "$1 for $2 differs with $other"
  done
}

# runs_as_planned MODEL ISA CAP: the kernels that it names are bound.
runs_as_planned() {
  ONEDNN_MAX_CPU_ISA=$3 run_plan "$1" > ran.txt 2>&1 ||
    fail "$1 for $2 does not run: $(cat ran.txt)"
  grep -q 'bit for bit' ran.txt || fail "$1 for $2: $(cat ran.txt)"
  ! grep -q 'instead of' ran.txt ||
    fail "$1 for $2 binds other kernels: $(cat ran.txt)"
}

# has_isa ISA CAP: with the limit this processor has exactly that.
has_isa() { ONEDNN_MAX_CPU_ISA=$2 "$partita" devices --output - | grep -q "\"isa\": \"$1\""; }

# If OpenMP grants fewer threads, they do all the work of the plan's.
runs_with_few_threads() {
  few_threads run_plan "$1" > ran.txt 2>&1 ||
    fail "$1 for $2 does not run with one thread: $(cat ran.txt)"
  grep -q 'bit for bit' ran.txt || fail "$1 for $2 with one thread: $(cat ran.txt)"
}

# runs_on_lesser_hosts MODEL ISA CAP...: other kernels take the places of those that
# the host lacks.
runs_on_lesser_hosts() {
  for cap in "${@:3}"; do
    for threads in 1 2; do
      ONEDNN_MAX_CPU_ISA=$cap OMP_THREAD_LIMIT=$threads run_plan "$1" > ran.txt 2>&1 ||
        fail "$1 for $2 with $cap and $threads threads does not run: $(cat ran.txt)"
      grep -q 'bit for bit' ran.txt || fail "$1 for $2 with $cap and $threads threads: $(cat ran.txt)"
    done
  done
}

declare -A cap_of=([sse4]=SSE41 [avx2]=AVX2 [avx512]=AVX512_CORE)
declare -A lesser_caps_of=([sse4]='' [avx2]=SSE41 [avx512]='SSE41 AVX2')
for isa in sse4 avx2 avx512; do
  sed "s/\"isa\": \".*\"/\"isa\": \"$isa\"/" \
    "$source/examples/machines/cpu_2_cores.json" > machine.json
  [[ $isa == avx512 ]] && models=("${models_for_avx512[@]}")
  for model in "${models[@]}"; do
    same_plans "$model" $isa
    if has_isa $isa ${cap_of[$isa]}; then
      runs_as_planned "$model" $isa ${cap_of[$isa]}
      runs_with_few_threads "$model" $isa
    else
      echo "skipped: running $model for $isa, which this processor lacks"
    fi
    runs_on_lesser_hosts "$model" $isa ${lesser_caps_of[$isa]}
  done
done

# Strategies on several devices compare predictions, prices and bounds.
for machine in two_small_cpus cpu_two_small_gpus; do
  cp "$source/examples/machines/$machine.json" machine.json
  for model in "$source"/examples/{mlp,two_layer_training}.graph; do
    same_plans "$model" $machine
    # The functions of the C library round differently.
    GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA make_plan "$model" LIBM.plan > report.txt 2>&1 ||
      fail "$model for $machine with another libm: $(cat report.txt)"
    cmp ALL.plan LIBM.plan || fail "$model for $machine differs with another libm"
  done
done

# runs_as_made_here COMMAND...: a plan compiled on this host for itself binds the
# chosen kernels.
runs_as_made_here() {
  "$partita" "$@" > ran.txt 2>&1 || fail "$cap: $* does not run: $(cat ran.txt)"
  ! grep -q 'instead of' ran.txt || fail "$cap: $* binds other kernels: $(cat ran.txt)"
}

# All of oneDNN's limits, also those between two instruction sets of devices.
for cap in SSE41 AVX AVX2 AVX2_VNNI AVX512_MIC AVX512_MIC_4OPS AVX512_CORE \
  AVX512_CORE_VNNI AVX512_CORE_BF16 AVX512_CORE_AMX ALL; do
  export DNNL_MAX_CPU_ISA=$cap
  runs_as_made_here run convolutions.graph
  runs_as_made_here train builtin:mnist --images images.idx --labels labels.idx --batch 4 --epochs 1
done

unset DNNL_MAX_CPU_ISA

# A training with kernels that are not the plan's reports them, with the remedy.
sed 's/"isa": ".*"/"isa": "avx2"/' \
  "$source/examples/machines/cpu_2_cores.json" > machine.json
training=(train builtin:mnist --images images.idx --labels labels.idx --batch 4
  --epochs 1 --machine machine.json --virtual)
ONEDNN_MAX_CPU_ISA=SSE41 "$partita" "${training[@]}" > ran.txt 2>&1 ||
  fail "training for avx2 without it: $(cat ran.txt)"
grep -q '^note: may be slower .*instead of .*; `partita train` without --machine plans for this host$' ran.txt ||
  fail "training for avx2 without it says nothing of other kernels: $(cat ran.txt)"
ONEDNN_MAX_CPU_ISA=SSE41 "$partita" "${training[@]}" --json > ran.txt 2>&1 ||
  fail "training for avx2 without it: $(cat ran.txt)"
grep -q '"planned": "onednn' ran.txt || fail "no replaced_kernels in $(cat ran.txt)"

# The compared plans do depend on the machine file.
cmp -s mlp.graph.sse4.plan mlp.graph.avx2.plan &&
  fail "plans for sse4 and avx2 are the same"
cmp -s mlp.graph.avx2.plan mlp.graph.avx512.plan &&
  fail "plans for avx2 and avx512 are the same"
exit $failed
