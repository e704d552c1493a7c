// partita devices: the CPU and the GPUs of this host.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/gpu_split.h"
#include "graph/status_macros.h"
#include "partita/options/placing_flags.h"
#include "partita/profile/measure_gpus.h"
#include "placement/machine/detect_gpus.h"
#include "placement/machine/detect_host.h"
#include "third_party/cuda_search/library_path.h"
#include "tools/partita/cuda_libs_flag.h"
#include "tools/partita/device_list.h"
#include "tools/partita/output.h"
#include "tools/partita/subcommand.h"

namespace partita {
namespace {

constexpr double kUsualBudget = 20;  // seconds

constexpr FlagDef kFlags[] = {
    {kSplitGpuFlag, "N",
     "list each GPU as N devices, for `partita run --split-gpu N` (default 1)"},
    kCudaLibsFlag,
    {"measure", nullptr,
     "measure the copies between the host and each GPU and between each two, "
     "and what the driver takes of their memory"},
    {"time-budget", "SECONDS",
     "of --measure: begin no measurement after this (default 20)"},
    {"output", "FILE",
     "write the machine file there, instead of the list; with --measure, both",
     nullptr, FileUse::kWrites},
    {"json", nullptr, "the list as JSON, beside a machine file too"},
};

absl::Status CheckFlags(const Arguments& arguments, GpuSplit split) {
  if (arguments.has("time-budget") && !arguments.has("measure")) {
    return CalledWrongly(
        "--time-budget: found it without --measure; expected --measure with "
        "it");
  }
  if (arguments.has("measure") && split.splits()) {
    return CalledWrongly(
        "--measure: found --split-gpu beside it; expected it alone, as shares "
        "of a GPU do not take the time of devices");
  }
  if (arguments.has("json") && arguments.Get("output", "") == "-") {
    return CalledWrongly(
        "--json: found --output - beside it, and both write to standard "
        "output; expected one of them, or the name of a file");
  }
  return absl::OkStatus();
}

// Writes what is measured into the machine.
absl::Status Measure(const Arguments& arguments, DeviceList& list) {
  if (list.gpus.gpus.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--measure: found no GPU to measure (",
                     list.gpus.why_no_gpus, "); expected at least one"));
  }
  MeasureOptions options;
  PARTITA_ASSIGN_OR_RETURN(options.seconds,
                           arguments.GetDouble("time-budget", kUsualBudget));
  const std::string path = arguments.Get("output", "-");
  if (path != "-") PARTITA_RETURN_IF_ERROR(CheckWritable(path));
  Progress progress("devices");
  options.progress = [&](absl::string_view what) { progress.Stage(what); };
  PARTITA_ASSIGN_OR_RETURN(list.measured, MeasureGpus(list.machine, options));
  UseMeasurements(*list.measured, list.machine);
  return absl::OkStatus();
}

// To standard output, unless the machine file is there, or all that is asked
// for.
absl::Status WriteList(const Arguments& arguments, const DeviceList& list) {
  if (arguments.has("json")) return WriteText("-", DeviceListJson(list));
  if (arguments.Get("output", "") == "-") {
    if (!list.measured.has_value()) return absl::OkStatus();
    for (const std::string& reason : list.measured->skipped) {
      WriteWarning(absl::StrCat("not measured: ", reason));
    }
    return absl::OkStatus();
  }
  if (arguments.has("output") && !arguments.has("measure")) {
    return absl::OkStatus();
  }
  return WriteText("-", DeviceListText(list));
}

absl::Status Run(const Arguments& arguments) {
  DeviceList list;
  PARTITA_ASSIGN_OR_RETURN(list.split, ReadSplitGpuFlag(arguments));
  PARTITA_RETURN_IF_ERROR(CheckFlags(arguments, list.split));
  list.gpus = DetectGpus(ProcessCudaPath());
  list.machine = HostMachine(list.gpus, list.split);
  if (arguments.has("measure")) {
    PARTITA_RETURN_IF_ERROR(Measure(arguments, list));
  }
  if (arguments.has("output")) {
    PARTITA_RETURN_IF_ERROR(
        WriteText(arguments.Get("output", ""), MachineToJson(list.machine)));
  }
  return WriteList(arguments, list);
}

}  // namespace

const Subcommand kDevicesCommand = {
    .name = "devices",
    .usage = "devices [--measure] [--output FILE]",
    .doc =
        "Lists the devices of this host, and writes its machine file.\n"
        "The CPU, and the NVIDIA GPUs that the driver shows (within "
        "CUDA_VISIBLE_DEVICES): name,\n"
        "memory, compute capability, PCIe address, and for each two GPUs "
        "NVLink, PCIe or no\n"
        "peer access. The figures of the machine file come from tables; with "
        "--measure, those\n"
        "of links and the memory that the driver takes are measured. Measure "
        "on a quiet machine.",
    .operand = nullptr,
    .flags = kFlags,
    .run = Run,
};

}  // namespace partita
