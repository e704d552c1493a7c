// Checks before a training, in terms of flags.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/train_checks.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/status_macros.h"
#include "partita/options/input_files.h"
#include "partita/options/placing_flags.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/report_text.h"

namespace partita {
namespace {

// A flag that qualifies another one.
absl::Status CheckTogether(const Arguments& arguments) {
  for (const auto& [flag, about] :
       {std::pair("every", "checkpoint"), std::pair("another-plan", "resume"),
        std::pair("temperature", "sample"),
        std::pair("export-batch", "export")}) {
    if (!arguments.has(flag) || arguments.has(about)) continue;
    return CalledWrongly(absl::StrCat("--", flag, ": found without --", about,
                                      "; expected both"));
  }
  for (const auto& [flag, why] :
       {std::pair("emulated-gpus", "by its own kernels"),
        std::pair(kSplitGpuFlag, "each with memory of its own")}) {
    if (!arguments.has(flag) || !arguments.has("virtual")) continue;
    return CalledWrongly(absl::StrCat(
        "--", flag,
        ": found --virtual beside it; expected it alone, as the host then "
        "emulates all devices, ",
        why));
  }
  // No trainable model has pins of its own.
  if (arguments.Get("strategy", "") != "pinned" || arguments.has("pin")) {
    return absl::OkStatus();
  }
  return CalledWrongly("--strategy: found pinned without --pin; expected both");
}

// Flags of the steps, if there are none.
absl::Status CheckBesidePlan(const Arguments& arguments) {
  if (!arguments.has("plan")) return absl::OkStatus();
  for (const char* flag : {"checkpoint", "resume", "export", "csv", "trace",
                           kMemorySnapshotFlag.name, "sample"}) {
    if (!arguments.has(flag)) continue;
    return CalledWrongly(absl::StrCat(
        "--", flag,
        ": found with --plan, which ends before the first step; expected "
        "one of them"));
  }
  if (arguments.Get("plan", "") != "-") return absl::OkStatus();
  return CalledWrongly(
      "--plan: found -, and standard output has the report; expected the name "
      "of a file");
}

// Standard output has the lines of the epochs.
absl::Status CheckNoDash(const Arguments& arguments) {
  for (const char* flag :
       {"checkpoint", "export", "csv", "trace", kMemorySnapshotFlag.name}) {
    if (arguments.Get(flag, "") != "-") continue;
    return CalledWrongly(absl::StrCat("--", flag,
                                      ": found -, and standard output has the "
                                      "progress; expected the name of a file"));
  }
  return absl::OkStatus();
}

// Prevents losing a long training to one that was started anew by mistake.
absl::Status KeepOtherTraining(const Arguments& arguments) {
  const std::string path = arguments.Get("checkpoint", "");
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown) ||
      std::filesystem::file_size(path, unknown) == 0) {
    return absl::OkStatus();
  }
  if (arguments.has("resume") &&
      std::filesystem::equivalent(path, arguments.Get("resume", ""), unknown)) {
    return absl::OkStatus();
  }
  return CalledWrongly(
      absl::StrCat("--checkpoint: found ", path,
                   ", which this training would replace; expected a new file, "
                   "or the one that --resume continues; add --resume ",
                   path, ", or remove the file, or give another name"));
}

// A checkpoint may replace the one that it continues, and no other input.
absl::Status KeepInputs(const Arguments& arguments,
                        absl::Span<const FlagDef> flags) {
  if (!arguments.has("checkpoint")) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(
      InputFiles(arguments.With("resume", {}), flags)
          .Keep("checkpoint", arguments.Get("checkpoint", "")));
  return KeepOtherTraining(arguments);
}

// Tries early what is written last.
absl::Status CheckWrites(const Arguments& arguments) {
  for (const char* flag : {"plan", "trace", kMemorySnapshotFlag.name}) {
    if (!arguments.has(flag)) continue;
    PARTITA_RETURN_IF_ERROR(CheckWritable(arguments.Get(flag, "")));
  }
  return absl::OkStatus();
}

// The devices that have a variable.
int ReplicasOf(const Module& placed) {
  size_t replicas = 1;
  for (const OpView& variable : placed.main().ops(kVariable)) {
    replicas = std::max(replicas, variable.node().placement.devices.size());
  }
  return static_cast<int>(replicas);
}

}  // namespace

absl::Status CheckTrainFlags(const Arguments& arguments,
                             absl::Span<const FlagDef> flags) {
  PARTITA_RETURN_IF_ERROR(CheckTogether(arguments));
  PARTITA_RETURN_IF_ERROR(CheckBesidePlan(arguments));
  PARTITA_RETURN_IF_ERROR(CheckNoDash(arguments));
  PARTITA_RETURN_IF_ERROR(KeepInputs(arguments, flags));
  return CheckWrites(arguments);
}

absl::Status CheckDropLast(const Arguments& arguments,
                           const TrainableModel& model,
                           const TrainableKind& kind) {
  const int64_t samples = model.train.samples->num_samples();
  // Without samples, the file is at fault.
  if (!arguments.has("drop-last") || samples == 0 || samples >= model.batch) {
    return absl::OkStatus();
  }
  const bool reads_batch = absl::c_linear_search(kind.flags, "batch");
  return CalledWrongly(absl::StrCat(
      "--drop-last: found ", CountText(samples, model.sample_noun),
      ", less than a batch of ", model.batch,
      "; expected a whole one; leave it out, or ",
      reads_batch ? "lower --batch" : "bind a smaller batch by --dim NAME=N"));
}

absl::Status CheckReplicas(const Module& placed, int batch_norm_shards,
                           const Arguments& arguments) {
  if (batch_norm_shards == 1) return absl::OkStatus();
  const int replicas = ReplicasOf(placed);
  if (replicas == batch_norm_shards) return absl::OkStatus();
  return CalledWrongly(absl::StrCat(
      "--replicas: found ", batch_norm_shards, ", and the plan has ", replicas,
      "; expected as many for --batch-norm per-replica; ",
      arguments.has("pin")
          ? "leave out --pin"
          : absl::StrCat("take ", replicas, ", or a machine with ",
                         batch_norm_shards, " equal devices"),
      ", or take --batch-norm synchronised"));
}

}  // namespace partita
