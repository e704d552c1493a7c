// Compares the paths of all outputs with those of the inputs.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/keep_model_files.h"

#include "graph/status_macros.h"
#include "partita/options/input_files.h"
#include "passes/pipeline.h"

namespace partita {

absl::Status KeepModelFiles(const Module& module, const CompileOptions& options,
                            const Arguments& arguments,
                            absl::Span<const FlagDef> flags) {
  InputFiles inputs(arguments, flags);
  inputs.AddWeights(module.literals());
  PARTITA_RETURN_IF_ERROR(inputs.Keep());
  if (options.passes.dump_folder.empty()) return absl::OkStatus();
  int number = 0;
  for (const Pass& pass : SourcePasses()) {
    ++number;
    for (const auto& function : module.functions()) {
      PARTITA_RETURN_IF_ERROR(inputs.Keep(
          "dump", DumpPath(options.passes, number, pass, *function)));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
