// partita devices: the machine file of this host.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/detect_host.h"
#include "tools/partita/output.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr FlagDef kFlags[] = {
    {"output", "FILE", "where to write it; standard output if left out",
     nullptr, FileUse::kWrites},
};

absl::Status Run(const Arguments& arguments) {
  return WriteText(arguments.Get("output", "-"), MachineToJson(DetectHost()));
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
