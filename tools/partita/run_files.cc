// Checks and writes files.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/run_files.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/atomic_file.h"
#include "graph/status_macros.h"
#include "graph/text/names.h"
#include "runtime/tensor_file/npy.h"
#include "tools/partita/memory_report.h"
#include "tools/partita/output.h"

namespace partita {
namespace {

std::string OutputPath(const Session& session, const Arguments& arguments,
                       int output) {
  return absl::StrCat(arguments.Get("output", ""), "/",
                      FileName(session.output_name(output)), ".npy");
}

absl::Status KeepInputs(const Session& session, const InputFiles& inputs,
                        const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  if (!arguments.has("output")) return absl::OkStatus();
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_RETURN_IF_ERROR(
        inputs.Keep("output", OutputPath(session, arguments, i)));
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const Session& session, const Arguments& arguments) {
  for (const char* flag : {"trace", "learn", kMemorySnapshotFlag.name}) {
    const std::string path = arguments.Get(flag, "-");
    if (path != "-") PARTITA_RETURN_IF_ERROR(CheckWritable(path));
  }
  if (!arguments.has("output")) return absl::OkStatus();
  PARTITA_RETURN_IF_ERROR(MakeFolder(arguments.Get("output", "")));
  for (int i = 0; i < session.num_outputs(); ++i) {
    const absl::Status status =
        CheckWritable(OutputPath(session, arguments, i));
    if (status.ok()) continue;
    return absl::Status(
        status.code(),
        absl::StrCat("output ", NameText(session.output_name(i)), ": ",
                     status.message(), "; or give --output another folder"));
  }
  return absl::OkStatus();
}

absl::Status WriteOutputs(const Session& session, const Arguments& arguments) {
  for (int i = 0; i < session.num_outputs(); ++i) {
    PARTITA_ASSIGN_OR_RETURN(const HostTensor* tensor, session.GetOutput(i));
    PARTITA_RETURN_IF_ERROR(
        WriteText(OutputPath(session, arguments, i), NpyText(*tensor)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRunFiles(const Session& session, const InputFiles& inputs,
                           const Arguments& arguments) {
  PARTITA_RETURN_IF_ERROR(KeepInputs(session, inputs, arguments));
  return CheckOutputs(session, arguments);
}

absl::Status WriteRunFiles(const Session& session, const Arguments& arguments) {
  if (arguments.has("trace")) {
    PARTITA_ASSIGN_OR_RETURN(const std::string trace, session.LastTraceJson());
    PARTITA_RETURN_IF_ERROR(WriteText(arguments.Get("trace", ""), trace));
  }
  if (arguments.has(kMemorySnapshotFlag.name)) {
    PARTITA_ASSIGN_OR_RETURN(const std::vector<MemorySnapshot> memory,
                             session.SnapshotMemory());
    PARTITA_RETURN_IF_ERROR(
        WriteText(arguments.Get(kMemorySnapshotFlag.name, ""),
                  MemorySnapshotText(memory)));
  }
  if (!arguments.has("output")) return absl::OkStatus();
  return WriteOutputs(session, arguments);
}

}  // namespace partita
