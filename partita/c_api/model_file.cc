// Reads ONNX models, modules as text, and built-in models.
// SPDX-License-Identifier: Apache-2.0

#include "partita/c_api/model_file.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "graph/builder/examples/models.h"
#include "graph/literal_pool.h"
#include "graph/onnx/import.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "graph/verifier.h"
#include "partita/c_api/option_values.h"
#include "runtime/plan/plan_file.h"

namespace partita::c_api {
namespace {

absl::StatusOr<Module> ReadGraphText(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  const absl::Span<const std::byte> bytes = file->bytes();
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size());
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ParseModule(text, path, OpSet::BuiltIn()));
  // Faults that no line of the text has.
  const absl::Status valid = VerifyModule(module);
  if (valid.ok()) return module;
  return absl::Status(valid.code(), absl::StrCat(path, ": ", valid.message()));
}

absl::StatusOr<Module> BuiltInModel(absl::string_view name) {
  if (name == "resnet50") return ResNet50();
  if (name == "small_conv_net") return SmallConvNet();
  if (name == "two_layer_perceptron") return TwoLayerPerceptron();
  return absl::NotFoundError(absl::StrCat(
      "builtin:", name, ": found no such model; expected resnet50, ",
      "small_conv_net or two_layer_perceptron",
      NearestName(name,
                  {"resnet50", "small_conv_net", "two_layer_perceptron"})));
}

absl::Status RefuseImportKeys(const std::string& name,
                              const CompileSettings& settings) {
  if (settings.import_keys.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(settings.import_keys[0], ": found with ", name,
                   ", whose shapes are fixed; expected an ONNX model"));
}

// The key of the options that the error is about.
absl::string_view KeyOf(ImportOption option) {
  switch (option) {
    case ImportOption::kDims:
      return "dim";
    case ImportOption::kShapes:
      return "shape";
    case ImportOption::kValues:
      return "bind";
    case ImportOption::kGivenExtents:
      return "dim";
    case ImportOption::kStrictTypes:
      return "strict-types";
    case ImportOption::kInputs:
      return "";
  }
  return "";
}

absl::string_view HintOf(ImportOption option) {
  switch (option) {
    case ImportOption::kDims:
      return "; bind them by dim=NAME=N or shape=INPUT=N,N,..";
    case ImportOption::kShapes:
      return "; bind it by shape=INPUT=N,N,..";
    case ImportOption::kValues:
      return "; bind it by bind=INPUT=V,V,..";
    case ImportOption::kGivenExtents:
      return "; the inputs' extents were given: if the model computes with "
             "others only, give those by dim=NAME=N or shape=INPUT=N,N,..";
    case ImportOption::kStrictTypes:
      return "; without strict-types=true it is a warning";
    case ImportOption::kInputs:
      return "";
  }
  return "";
}

bool IsPlanFile(const std::string& path) {
  const absl::StatusOr<std::shared_ptr<const MappedFile>> file =
      MappedFile::Open(path);
  return file.ok() && LooksLikePlanFile((*file)->bytes());
}

// In terms of options.
absl::Status WithHint(const std::string& path, const absl::Status& status) {
  if (const auto given = GivenOptionOf(status); given.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        KeyOf(given->option), "=", given->name, ": ", status.message()));
  }
  if (absl::IsInvalidArgument(status) && IsPlanFile(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found a plan, which is compiled already; ",
                     "expected a model; load it by partita_plan_load"));
  }
  const std::optional<ImportOption> option = RemedyOption(status);
  if (!option.has_value()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), HintOf(*option)));
}

absl::StatusOr<Module> ReadOnnx(const std::string& path,
                                const CompileSettings& settings,
                                std::string& warnings) {
  ImportOptions options = settings.import;
  options.warn = [&](absl::string_view text) {
    absl::StrAppend(&warnings, warnings.empty() ? "" : "\n", path, ": ", text);
  };
  absl::StatusOr<Module> module = ImportOnnx(path, options);
  if (!module.ok()) return WithHint(path, module.status());
  return module;
}

}  // namespace

absl::StatusOr<Module> ReadModelFile(const std::string& name,
                                     const CompileSettings& settings,
                                     std::string& warnings) {
  absl::string_view model = name;
  if (absl::ConsumePrefix(&model, "builtin:")) {
    PARTITA_RETURN_IF_ERROR(RefuseImportKeys(name, settings));
    return BuiltInModel(model);
  }
  if (absl::EndsWith(name, ".graph")) {
    PARTITA_RETURN_IF_ERROR(RefuseImportKeys(name, settings));
    return ReadGraphText(name);
  }
  return ReadOnnx(name, settings, warnings);
}

}  // namespace partita::c_api
