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
PARTITA_LAUNCH_BLOCKING=on expect 1 "session: found PARTITA_LAUNCH_BLOCKING=on; expected 0 or 1" \
  "$partita" run "$plan" --emulated-gpus --trust-code
PARTITA_EMULATED_FAIL_CALL=8 expect 1 "gpu:0: cuDevicePrimaryCtxRetain: CUDA_ERROR_UNKNOWN (999)" \
  "$partita" run "$plan" --emulated-gpus --trust-code
expect 2 "--emulated-gpus: found --virtual beside it" "$partita" run "$plan" --emulated-gpus --virtual

# The program opens the driver's library, and does not know what is behind it.
export LD_LIBRARY_PATH=$driver PARTITA_EMULATED_GPUS=2
expect 0 "every output equals the plan's reference bit for bit" "$partita" run "$plan" --trust-code --reference
found=$("$partita" run "$plan" --trust-code 2>&1 | grep "emulated GPU:")
[[ -z $found ]] || fail "the driver found: $found"
CUDA_VISIBLE_DEVICES=1 expect 0 "ran 1 step" "$partita" run "$plan" --trust-code
CUDA_VISIBLE_DEVICES="" expect 1 "gpu:0: found no usable GPU (cuInit: CUDA_ERROR_NO_DEVICE (100)" \
  "$partita" run "$plan" --trust-code
PARTITA_EMULATED_CAPABILITY=8.0 expect 1 "gpu:0: found a GPU of sm_80; expected sm_90 or later" \
  "$partita" run "$plan" --trust-code

report_failures
