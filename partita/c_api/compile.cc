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
#include "graph/status_macros.h"
#include "partita/c_api.h"
#include "partita/c_api/border.h"
#include "partita/c_api/compile_options.h"
#include "partita/c_api/model_file.h"
#include "partita/c_api/plan_handle.h"
#include "placement/machine/detect_host.h"
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

StatusOr<Machine> MachineOf(const CompileSettings& settings) {
  if (settings.machine_file.empty()) return DetectHost();
  return ReadMachine(settings.machine_file);
}

// The name of the model's file without folder and extension.
std::string StemOf(const std::string& model) {
  const std::string file = model.substr(model.find_last_of("/:") + 1);
  return file.substr(0, file.rfind('.'));
}

StatusOr<partita_plan*> CompileModel(const std::string& model,
                                     CompileSettings settings) {
  auto plan = std::make_unique<partita_plan>();
  PARTITA_ASSIGN_OR_RETURN(const Machine machine, MachineOf(settings));
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ReadModelFile(model, settings, plan->warnings));
  settings.compile.plan_name = StemOf(model);
  PARTITA_ASSIGN_OR_RETURN(
      Compiled compiled, Compile(std::move(module), machine, settings.compile));
  plan->compiled = std::make_shared<const Plan>(std::move(compiled.plan));
  plan->file_options = settings.file;
  return plan.release();
}

}  // namespace
}  // namespace partita::c_api

using partita::c_api::AtBorder;
using partita::c_api::CheckGiven;
using partita::c_api::CompileModel;
using partita::c_api::CompileSettings;
using partita::c_api::ReadCompileOptions;
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
      PARTITA_ASSIGN_OR_RETURN(CompileSettings settings,
                               ReadCompileOptions(texts));
      return CompileModel(model, std::move(settings));
    });
  });
}
