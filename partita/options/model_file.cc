// Reads modules as text and built-in models; ONNX models by an importer.
// SPDX-License-Identifier: Apache-2.0

#include "partita/options/model_file.h"

#include <unistd.h>

#include <memory>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "graph/builder/examples/models.h"
#include "graph/literal_pool.h"
#include "graph/ops/op_set.h"
#include "graph/status_macros.h"
#include "graph/text/parser.h"
#include "graph/verifier.h"
#include "partita/options/import_flags.h"
#include "partita/options/recognize_file.h"

namespace partita {
namespace {

absl::StatusOr<Module> ReadGraphText(const std::string& path) {
  PARTITA_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           MappedFile::Open(path));
  absl::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                         file->bytes().size());
  absl::ConsumePrefix(&text, kByteOrderMark);
  PARTITA_ASSIGN_OR_RETURN(Module module,
                           ParseModule(text, path, OpSet::BuiltIn()));
  // Faults that no line of the text has: no function, or variables that it
  // does not declare.
  const absl::Status valid = VerifyModule(module);
  if (valid.ok()) return module;
  return absl::Status(
      valid.code(),
      absl::StrCat(
          path, ": ",
          absl::StrReplaceAll(valid.message(),
                              {{"\n", absl::StrCat("\n", path, ": ")}})));
}

// Examples with seeded random weights, for use without a model file.
struct BuiltIn {
  const char* name;
  absl::StatusOr<Module> (*build)();
};
constexpr BuiltIn kBuiltIn[] = {
    {"resnet50", [] { return ResNet50(); }},
    {"small_conv_net", [] { return SmallConvNet(); }},
    {"two_layer_perceptron", [] { return TwoLayerPerceptron(); }},
};

absl::StatusOr<Module> BuiltInModel(absl::string_view name) {
  std::vector<std::string> names;
  for (const BuiltIn& model : kBuiltIn) {
    if (name == model.name) return model.build();
    names.push_back(model.name);
  }
  return CalledWrongly(absl::StrCat(
      "builtin:", name,
      ": found no such model; expected one of: ", absl::StrJoin(names, ", "),
      "; for the plan of a model to train: partita train MODEL --plan FILE",
      NearestText(name, names)));
}

// Of a text or JSON: mostly a page of an error that was saved in place of a
// model.
absl::Status NoModel(const std::string& path, FileKind kind) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": found ", NameOf(kind),
      "; expected an ONNX model, or a graph as text, which begins with `graph "
      "@NAME` or `variable @NAME`; fetch or export the model again"));
}

absl::StatusOr<Module> ReadOnnx(
    const std::string& path, const Arguments& arguments,
    const std::function<void(absl::string_view)>& warn, OnnxImporter import) {
  PARTITA_ASSIGN_OR_RETURN(ImportOptions options, ReadImportOptions(arguments));
  options.warn = warn;
  absl::StatusOr<Module> module = import(path, options);
  if (!module.ok()) return WithFlagHint(arguments, module.status());
  return module;
}

}  // namespace

absl::Status CheckPrefix(const std::string& model,
                         absl::Span<const std::string> built_in) {
  const std::string prefixed = absl::StrCat("builtin:", model);
  if (!absl::c_linear_search(built_in, prefixed) ||
      access(model.c_str(), F_OK) == 0) {
    return absl::OkStatus();
  }
  return CalledWrongly(absl::StrCat(
      model, ": found no such file; expected a model; did you mean ", prefixed,
      "?"));
}

std::vector<std::string> BuiltInModels() {
  std::vector<std::string> names;
  for (const BuiltIn& model : kBuiltIn) {
    names.push_back(absl::StrCat("builtin:", model.name));
  }
  return names;
}

absl::StatusOr<Module> ReadModelFile(
    const Arguments& arguments,
    const std::function<void(absl::string_view)>& warn, OnnxImporter import) {
  const std::string& path = arguments.positional()[0];
  absl::string_view name = path;
  const bool is_built_in = absl::ConsumePrefix(&name, "builtin:");
  PARTITA_RETURN_IF_ERROR(CheckPrefix(path, BuiltInModels()));
  const FileKind kind = KindOfFile(path);
  if (is_built_in || kind == FileKind::kGraphText) {
    PARTITA_RETURN_IF_ERROR(RefuseImportFlags(path, arguments));
    return is_built_in ? BuiltInModel(name) : ReadGraphText(path);
  }
  // What is damaged or missing is for the importer to report.
  if (kind != FileKind::kOnnxModel && kind != FileKind::kUnknown) {
    return NoModel(path, kind);
  }
  return ReadOnnx(path, arguments, warn, import);
}

}  // namespace partita
