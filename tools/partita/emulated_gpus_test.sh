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
PARTITA_EMULATED_GPUS=1 expect 1 "gpu:1: found 1 GPU; expected a GPU of number 1, from 0 on; CUDA_VISIBLE_DEVICES may hide it" \
  "$partita" run "$two" --emulated-gpus --trust-code

# The program opens the driver's library, and does not know what is behind it.
export LD_LIBRARY_PATH=$driver PARTITA_EMULATED_GPUS=2
expect 0 "every output equals the plan's reference bit for bit" "$partita" run "$plan" --trust-code --reference
PARTITA_EMULATED_GPUS=1 expect 0 "every output equals the plan's reference bit for bit" \
  "$partita" run "$two" --split-gpu 2 --trust-code --reference
for split in 1 2 4; do
  listed=$(PARTITA_EMULATED_GPUS=1 "$partita" devices --split-gpu $split | grep -c '"kind": "cuda"')
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
