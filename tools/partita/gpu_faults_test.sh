#!/bin/bash
# GPUs that are missing, hidden, apart, or of an old driver, damaged plans, and a killed run: a sentence each, and
# work on CPUs goes on.
# SPDX-License-Identifier: Apache-2.0
set -u
partita=$PWD/$1
model=$PWD/$2
gpus=$PWD/$3
driver=$(cd "$(dirname "$4")" && pwd)
old_driver=$(cd "$(dirname "$5")" && pwd)
. tools/partita/expect.sh
export PARTITA_LIBRARY_PATH=$PWD/kernels/codegen
unset LD_LIBRARY_PATH
cd "${TEST_TMPDIR:-$(mktemp -d)}" || exit 1

# The model is small, as software runs it.
cat > small.graph << 'END'
graph @small(%x: f32[4, 8], %w: f32[8, 8]) -> f32[4, 8] {
  %a = matmul %x, %w : f32[4, 8]
  %h = relu %a : f32[4, 8]
  %p = softmax %h {axis = 1} : f32[4, 8]
  return %p
}
END
compile() {
  expect 0 "proved form" "$partita" compile "$@"
}
compile small.graph --machine "$gpus" --strategy single --device gpu:0 --output one.plan
compile small.graph --machine "$gpus" --strategy single --device gpu:1 --output second.plan
compile small.graph --machine "$gpus" --strategy pinned --pin a=gpu:0 --pin h=gpu:1 --pin p=gpu:1 --output two.plan
compile small.graph --machine "$gpus" --strategy single --device cpu:0 --output cpu.plan

equal="every output equals the plan's reference bit for bit"
cpu_goes_on() {
  expect 0 "$equal" "$partita" run cpu.plan --reference
}

# Without a driver.
if ! /sbin/ldconfig -p | grep -q "libcuda.so.1 "; then
  expect 1 "gpu:0: found no CUDA driver: tried " "$partita" run one.plan --trust-code
  expect 1 "libcuda.so.1 by the system's loader (cannot open shared object file: No such file or directory); install NVIDIA's driver, or name its folder with --cuda-libs" \
    "$partita" run one.plan --trust-code
  expect 1 "found no CUDA driver: tried $PWD/libcuda.so.1 (no such file)" \
    "$partita" run one.plan --trust-code --cuda-libs "$PWD"
  expect 0 "no GPU: found no CUDA driver: tried $PWD/libcuda.so.1 (no such file)" "$partita" devices --cuda-libs "$PWD"
  cpu_goes_on
fi

# With one that is too old.
export LD_LIBRARY_PATH=$old_driver
expect 1 "gpu:0: libcuda.so.1: found a driver for CUDA 11.8; expected 12.8 or later; update NVIDIA's driver" \
  "$partita" run one.plan --trust-code
cpu_goes_on
expect 0 "no GPU: libcuda.so.1: found a driver for CUDA 11.8; expected 12.8 or later; update NVIDIA's driver" \
  "$partita" devices
expect 0 "$equal" "$partita" run small.graph --reference

# What CUDA_VISIBLE_DEVICES shows of two GPUs.
export LD_LIBRARY_PATH=$driver PARTITA_EMULATED_GPUS=2
none="gpu:0: found no usable GPU (cuInit: CUDA_ERROR_NO_DEVICE (100), no CUDA-capable device is detected); expected those of nvidia-smi"
hidden="gpu:1: found 1 GPU; expected a GPU of number 1, from 0 on"
first=GPU-e0e0e0e0-e0e0-e0e0-e0e0-e0e0e0e0e000
second=GPU-e0e0e0e0-e0e0-e0e0-e0e0-e0e0e0e0e001
for shown in "" 7 -1 GPU-ffffffff no_number; do
  CUDA_VISIBLE_DEVICES=$shown expect 1 "$none; CUDA_VISIBLE_DEVICES=$shown may hide them" \
    "$partita" run one.plan --trust-code
  CUDA_VISIBLE_DEVICES=$shown cpu_goes_on
done
for shown in 0 1 0,7,1 "$second"; do
  CUDA_VISIBLE_DEVICES=$shown expect 0 "$equal" "$partita" run one.plan --trust-code --reference
  CUDA_VISIBLE_DEVICES=$shown expect 1 "$hidden; CUDA_VISIBLE_DEVICES=$shown may hide it" "$partita" run second.plan --trust-code
done
for shown in 1,0 "$second,$first"; do
  CUDA_VISIBLE_DEVICES=$shown expect 0 "$equal" "$partita" run two.plan --trust-code --reference
done

expect 0 '"gpu:1"' "$partita" devices --output -
for shown in "" 7; do
  [[ $(CUDA_VISIBLE_DEVICES=$shown "$partita" devices --output -) == *'"cpu:0"'* ]] || fail "devices: found no CPU"
  [[ $(CUDA_VISIBLE_DEVICES=$shown "$partita" devices --output -) == *'"gpu:'* ]] && fail "devices: found a hidden GPU"
  CUDA_VISIBLE_DEVICES=$shown expect 0 "no GPU: the driver shows no GPU (cuInit: CUDA_ERROR_NO_DEVICE (100)); CUDA_VISIBLE_DEVICES=$shown may hide them" \
    "$partita" devices
done
[[ $(CUDA_VISIBLE_DEVICES=1 "$partita" devices --output -) == *'"gpu:1"'* ]] && fail "devices: found two GPUs"

# GPUs that no code is generated for: models are planned for the CPU.
PARTITA_EMULATED_CAPABILITY=7.5 expect 0 "compute capability 7.5, PCIe 0000:01:00.0; no plan runs on it: expected 8.0 or later" \
  "$partita" devices
PARTITA_EMULATED_CAPABILITY=7.5 expect 0 "$equal" "$partita" run small.graph --reference

# Two GPUs that are no peers.
for peers in all none; do
  PARTITA_EMULATED_PEERS=$peers expect 0 "$equal" "$partita" run two.plan --trust-code --reference
  found=$(PARTITA_EMULATED_PEERS=$peers "$partita" run two.plan --trust-code 2>&1 | grep "emulated GPU:")
  [[ -z $found ]] || fail "the driver found, with peers $peers: $found"
done

# Memory that does not suffice.
PARTITA_EMULATED_BYTES=4194304 PARTITA_EMULATED_CONTEXT_BYTES=4194000 \
  expect 1 "expected at most the 304 bytes that are free of its 4194304" "$partita" run one.plan --trust-code

# A file whose code is not what was written.
LC_ALL=C sed 's/ld\.global/ld.glabal/' one.plan > damaged.plan
cmp -s one.plan damaged.plan && fail "found no ld.global in the plan"
expect 1 "found other bytes than were written; the file is damaged: copy or compile it again" \
  "$partita" run damaged.plan --trust-code
cpu_goes_on

# A run that is killed while a step is at work leaves no file, and the next one works. Emulated, the steps take minutes.
compile "$model" --machine "$gpus" --strategy single --device gpu:0 --output long.plan
mkdir -p written temporary
# Clock ticks that process $1 has used, and has.
used() {
  awk '{ print $14 + $15 }' "/proc/$1/stat" 2> /dev/null || echo 0
}
before=$(ls -A . temporary)
TMPDIR=$PWD/temporary "$partita" run long.plan --trust-code --repeat 1000 --output written/out --trace written/trace.json \
  > /dev/null 2>&1 &
run=$!
until grep -q "libcuda.so.1" "/proc/$run/maps" 2> /dev/null; do
  kill -0 $run 2> /dev/null || break
  sleep 0.05
done
start=$(used $run)
# What it does after loading takes less than a second.
while (($(used $run) < start + $(getconf CLK_TCK))) && kill -0 $run 2> /dev/null; do sleep 0.05; done
kill -KILL $run 2> /dev/null
wait $run 2> /dev/null
[[ $? -eq 137 ]] || fail "the run ended before it was killed"
[[ -z $(find written -type f) ]] || fail "a killed run left $(find written -type f)"
[[ $(ls -A . temporary) == "$before" ]] || fail "a killed run left files: $(ls -A . temporary)"
expect 0 "$equal" "$partita" run one.plan --trust-code --reference

report_failures
