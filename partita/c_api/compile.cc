// Compiles models for the C API.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/onnx/import.h"
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "partita/c_api/plan_handle.h"
#include "partita/options/arguments.h"
#include "partita/options/compilation_flags.h"
#include "partita/options/keep_model_files.h"
#include "partita/options/model_file.h"
#include "partita/options/placing_flags.h"
#include "partita/options/recognize_file.h"
#include "placement/machine/machine.h"

namespace partita::c_api {
namespace {

using absl::StatusOr;

StatusOr<std::vector<absl::string_view>> TextsOf(const char* const* options,
                                                 size_t num_options) {
  std::vector<absl::string_view> texts;
  if (num_options == 0) return texts;
  PARTITA_RETURN_IF_ERROR(CheckGiven(options, "options", "strings KEY=VALUE"));
  for (size_t i = 0; i < num_options; ++i) {
    PARTITA_RETURN_IF_ERROR(CheckGiven(options[i], absl::StrCat("option ", i),
                                       "a string KEY=VALUE"));
    texts.push_back(options[i]);
  }
  return texts;
}

// A plan is the one kind of file that another call takes.
absl::Status RefusePlan(const std::string& model) {
  if (!kPlanFiles.has(KindOfFile(model))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(model, ": found a plan, which is compiled already; ",
                   "expected a model; load it by partita_plan_load"));
}

StatusOr<partita_plan*> CompileModel(const Arguments& arguments) {
  const std::string& model = arguments.positional()[0];
  PARTITA_RETURN_IF_ERROR(RefusePlan(model));
  PARTITA_ASSIGN_OR_RETURN(CompileOptions options,
                           ReadCompileOptions(arguments));
  options.plan_name = PlanNameOf(model);
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, ReadMachineFlag(arguments));
  auto plan = std::make_unique<partita_plan>();
  const auto warn = [&](absl::string_view text) {
    absl::StrAppend(&plan->warnings, plan->warnings.empty() ? "" : "\n", model,
                    ": ", text);
  };
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ReadModelFile(arguments, warn, ImportOnnx));
  PARTITA_RETURN_IF_ERROR(
      KeepModelFiles(module, options, arguments, kCompilationFlags));
  PARTITA_ASSIGN_OR_RETURN(Compiled compiled,
                           Compile(std::move(module), machine, options));
  plan->compiled = std::make_shared<const Plan>(std::move(compiled.plan));
  plan->file_options = ReadPlanFileOptions(arguments);
  return plan.release();
}

}  // namespace
}  // namespace partita::c_api

using partita::Arguments;
using partita::kCompilationFlags;
using partita::c_api::AtBorder;
using partita::c_api::CheckGiven;
using partita::c_api::CompileModel;
using partita::c_api::Return;
using partita::c_api::TextsOf;

partita_code partita_compile(const char* model, const char* const* options,
                             size_t num_options, partita_plan** plan,
                             partita_status* status) {
  return AtBorder(status, [&] {
    return Return(plan, "plan", [&]() -> absl::StatusOr<partita_plan*> {
      PARTITA_RETURN_IF_ERROR(
          CheckGiven(model, "model", "the name of a model"));
      PARTITA_ASSIGN_OR_RETURN(const std::vector<absl::string_view> texts,
                               TextsOf(options, num_options));
      PARTITA_ASSIGN_OR_RETURN(
          const Arguments arguments,
          Arguments::ParseKeys(model, texts, kCompilationFlags));
      return CompileModel(arguments);
    });
  });
}
