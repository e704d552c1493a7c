// partita devices: the machine file of this host.
// SPDX-License-Identifier: Apache-2.0

#include "graph/gpu_split.h"
#include "graph/status_macros.h"
#include "placement/machine/detect_host.h"
#include "tools/partita/output.h"
#include "tools/partita/placing_flags.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {kSplitGpuFlag, "N",
     "list each GPU as N devices, for `partita run --split-gpu N` (default 1)"},
    {"output", "FILE", "where to write it; standard output if left out",
     nullptr, FileUse::kWrites},
};

absl::Status Run(const Arguments& arguments) {
  PARTITA_ASSIGN_OR_RETURN(const GpuSplit split, ReadSplitGpuFlag(arguments));
  return WriteText(arguments.Get("output", "-"),
                   MachineToJson(DetectHost({.split = split})));
}

}  // namespace

const Subcommand kDevicesCommand = {
    .name = "devices",
    .usage = "devices [--output FILE]",
    .doc =
        "Writes the machine file of this host as JSON.\n"
        "Lists the CPU and the NVIDIA GPUs that its driver shows; honours "
        "CUDA_VISIBLE_DEVICES.",
    .operand = nullptr,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
