#!/bin/bash
# A plan for GPUs on emulated ones: in the program, and as the driver that it opens.
# SPDX-License-Identifier: Apache-2.0
set -u
partita=$1
model=$2
gpus=$3
driver=$(cd "$(dirname "$4")" && pwd)
scratch=${TEST_TMPDIR:-$(mktemp -d)}
. tools/partita/expect.sh

plan=$scratch/gpu.plan
expect 0 "proved form" "$partita" compile "$model" --machine "$gpus" --strategy single --device gpu:0 --output "$plan"
expect 0 "every output equals the plan's reference bit for bit" \
  "$partita" run "$plan" --emulated-gpus --trust-code --reference
expect 0 "software runs the commands of the GPUs, slowly" "$partita" run "$plan" --emulated-gpus --trust-code
expect 0 " in 1 graph" "$partita" run "$plan" --emulated-gpus --trust-code
expect 0 '"in_graphs": ' "$partita" run "$plan" --emulated-gpus --trust-code --json
PARTITA_LAUNCH_BLOCKING=1 expect 0 "issued one by one, as PARTITA_LAUNCH_BLOCKING is set" \
  "$partita" run "$plan" --emulated-gpus --trust-code
PARTITA_LAUNCH_BLOCKING=on expect 1 "PARTITA_LAUNCH_BLOCKING: found on; expected 0 or 1; set it to one of them, or unset it" \
  "$partita" run "$plan" --emulated-gpus --trust-code
PARTITA_EMULATED_FAIL_CALL=8 expect 1 "gpu:0: cuDevicePrimaryCtxRetain: CUDA_ERROR_UNKNOWN (999)" \
  "$partita" run "$plan" --emulated-gpus --trust-code
expect 0 "the plan uses no GPU, so none is emulated" "$partita" run "$model" --emulated-gpus --strategy single --device cpu:0
expect 2 "--emulated-gpus: found --virtual beside it" "$partita" run "$plan" --emulated-gpus --virtual

# Viewers see that the times are not a GPU's. The CPU, which feeds it, is no emulated one.
expect 0 "software runs the commands of the GPUs, slowly" \
  "$partita" run "$plan" --emulated-gpus --trust-code --trace "$scratch/trace.json"
labels=$(python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
print([(names[e["pid"]], e["args"]["labels"]) for e in events if e["name"] == "process_labels"])
' "$scratch/trace.json")
[[ $labels == "[('gpu:0 (measured)', 'emulated')]" ]] || fail "the trace has the labels: $labels"

# Two devices of a plan on one GPU.
two=$scratch/two.plan
expect 0 "proved form" "$partita" compile "$model" --machine "$gpus" --strategy data --replicas 2 --output "$two"
expect 0 "every output equals the plan's reference bit for bit" \
  "$partita" run "$two" --emulated-gpus --split-gpu 2 --trust-code --reference --memory-snapshot "$scratch/memory.json"
expect 0 "2 devices share each GPU" "$partita" run "$two" --emulated-gpus --split-gpu 2 --trust-code
kinds=$(python3 -c '
import json, sys
devices = json.load(open(sys.argv[1]))["devices"]
print(sorted(devices), sorted({block["kind"] for device in devices.values() for block in device["blocks"]}))
' "$scratch/memory.json")
[[ $kinds == "['gpu:0', 'gpu:1'] ['activation', 'code', 'staging']" ]] ||
  fail "the snapshot has: $kinds"
PARTITA_EMULATED_BYTES=4194304 expect 1 "(one of 4 shares of GPU 0)" \
  "$partita" run "$two" --emulated-gpus --split-gpu 4 --trust-code
PARTITA_EMULATED_GPUS=1 expect 1 "gpu:1: found 1 GPU; expected a GPU of number 1, from 0 on" \
  "$partita" run "$two" --emulated-gpus --trust-code

# More memory than an emulated GPU has: it has less.
sed 's/"memory": "[^"]*"/"memory": "300 GiB"/' "$gpus" > "$scratch/large.json"
expect 0 "proved form" "$partita" compile "$model" --machine "$scratch/large.json" --strategy data --replicas 2 --output "$scratch/large.plan"
for split in 1 2; do
  expect 0 "every output equals the plan's reference bit for bit" \
    "$partita" run "$scratch/large.plan" --emulated-gpus --split-gpu $split --trust-code --reference
done

# The driver's library in a folder that only --cuda-libs, CUDA_HOME or a Python environment names.
unset CUDA_HOME VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH
only=$scratch/only
packages=$scratch/env/lib/python3.11/site-packages/nvidia/driver/lib
for folder in "$only" "$scratch/cuda/lib64" "$packages" "$scratch/empty"; do
  mkdir -p "$folder"
  [[ $folder == "$scratch/empty" ]] || cp -L "$driver/libcuda.so.1" "$folder"
done
expect 0 "ran 1 step" "$partita" run "$plan" --trust-code --cuda-libs "$only"
expect 0 "ran 1 step" "$partita" run "$plan" --trust-code --cuda-libs "$scratch/empty:$only"
CUDA_HOME=$scratch/cuda expect 0 "ran 1 step" "$partita" run "$plan" --trust-code
VIRTUAL_ENV=$scratch/env expect 0 "ran 1 step" "$partita" run "$plan" --trust-code
for command in "devices --output -" "compile $model --strategy single --device gpu:0"; do
  expect 0 "gpu:0" "$partita" $command --cuda-libs "$only"
done
if ! /sbin/ldconfig -p | grep -q "libcuda.so.1 "; then
  expect 1 "found no CUDA driver: tried $scratch/empty/libcuda.so.1 (no such file)" \
    "$partita" run "$plan" --trust-code --cuda-libs "$scratch/empty"
  # Nothing is opened from the current folder, or a relative one.
  here=$PWD
  cd "$only" || exit 1
  expect 1 "found no CUDA driver" "$here/$partita" run "$plan" --trust-code
  LD_LIBRARY_PATH=: expect 1 "LD_LIBRARY_PATH has it in the relative folder ." "$here/$partita" run "$plan" --trust-code
  cd "$scratch" || exit 1
  CUDA_HOME=cuda VIRTUAL_ENV=env expect 1 "found no CUDA driver" "$here/$partita" run "$plan" --trust-code
  cd "$here" || exit 1
fi
expect 2 "--cuda-libs: found no such folder, $scratch/none; expected absolute folders, separated by colons" \
  "$partita" run "$plan" --cuda-libs "$only:$scratch/none"
expect 2 "--cuda-libs: found a relative folder, only; expected absolute folders, separated by colons" \
  "$partita" devices --cuda-libs only

# What is listed of GPUs.
listed() {
  PARTITA_EMULATED_GPUS=3 PARTITA_EMULATED_PEERS=0-1,1-2 PARTITA_EMULATED_NVLINKS=0-1 PARTITA_EMULATED_NAME="A GPU" \
    "$partita" devices --cuda-libs "$only" "$@"
}
expect 0 "  gpu:1  A GPU, 1.0 GiB, compute capability 9.0, PCIe 0000:02:00.0" listed
expect 0 "  gpu:0 - gpu:1  NVLink, number of links unknown, performance rank 0, native atomics" listed
expect 0 "  gpu:1 - gpu:2  PCIe, peer access, performance rank 1" listed
expect 0 "  gpu:0 - gpu:2  no peer access: copies go through the host's memory" listed
expect 0 "NVLinks are not counted: " listed
expect 0 "in the machine file" listed
expect 0 '"route": "nvlink"' listed --json
listed --output "$scratch/three.json"
[[ $(grep -c '"kind": "cuda"' "$scratch/three.json") -eq 3 ]] || fail "the machine file has not three GPUs"

# What is measured, and written into the machine file.
measured=$scratch/measured.json
PARTITA_EMULATED_GPUS=2 PARTITA_EMULATED_CONTEXT_BYTES=10485760 expect 0 '"measured_outside_arenas"' \
  "$partita" devices --cuda-libs "$only" --measure --output "$measured" --json
[[ $(grep -c '"reserve": "1[0-9] MiB"' "$measured") -eq 2 ]] || fail "the machine file has no measured reserve"
PARTITA_EMULATED_GPUS=2 expect 0 "proved form" "$partita" compile "$model" --machine "$measured" --strategy single --device gpu:1
expect 0 "left, as the time was over: 2 measurements" \
  "$partita" devices --cuda-libs "$only" --measure --time-budget 0.000001
expect 2 "--measure: found --split-gpu beside it" "$partita" devices --measure --split-gpu 2
expect 2 "--time-budget: found it without --measure" "$partita" devices --time-budget 5
expect 2 "time-budget: found 0 seconds; expected more than 0" "$partita" devices --cuda-libs "$only" --measure --time-budget 0
CUDA_VISIBLE_DEVICES="" expect 1 "found no GPU to measure" "$partita" devices --cuda-libs "$only" --measure
found=$(PARTITA_EMULATED_GPUS=2 "$partita" devices --cuda-libs "$only" --measure 2>&1 | grep "emulated GPU:")
[[ -z $found ]] || fail "the driver found, as it was measured: $found"

# The program opens the driver's library, and does not know what is behind it.
export LD_LIBRARY_PATH=$driver PARTITA_EMULATED_GPUS=2
expect 0 "every output equals the plan's reference bit for bit" "$partita" run "$plan" --trust-code --reference
PARTITA_EMULATED_GPUS=1 expect 0 "every output equals the plan's reference bit for bit" \
  "$partita" run "$two" --split-gpu 2 --trust-code --reference
for split in 1 2 4; do
  listed=$(PARTITA_EMULATED_GPUS=1 "$partita" devices --split-gpu $split --output - | grep -c '"kind": "cuda"')
  [[ $listed -eq $split ]] || fail "devices --split-gpu $split lists $listed GPUs"
done
shares=$scratch/shares.json
PARTITA_EMULATED_GPUS=1 expect 0 "" "$partita" devices --split-gpu 2 --output "$shares"
expect 0 "proved form" "$partita" compile "$model" --machine "$shares" --strategy data --replicas 2 --output "$two"
PARTITA_EMULATED_GPUS=1 expect 0 "ran 1 step" "$partita" run "$two" --split-gpu 2 --trust-code
found=$("$partita" run "$plan" --trust-code 2>&1 | grep "emulated GPU:")
[[ -z $found ]] || fail "the driver found: $found"
CUDA_VISIBLE_DEVICES=1 expect 0 "ran 1 step" "$partita" run "$plan" --trust-code
CUDA_VISIBLE_DEVICES="" expect 1 "gpu:0: found no usable GPU (cuInit: CUDA_ERROR_NO_DEVICE (100)" \
  "$partita" run "$plan" --trust-code
PARTITA_EMULATED_CAPABILITY=8.0 expect 1 "gpu:0: found a GPU of sm_80; expected sm_90 or later" \
  "$partita" run "$plan" --trust-code

report_failures
