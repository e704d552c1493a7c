// Models as users name them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PARTITA_OPTIONS_MODEL_FILE_H_
#define PARTITA_PARTITA_OPTIONS_MODEL_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/onnx/import_options.h"
#include "partita/options/arguments.h"

namespace partita {

// "builtin:resnet50" and others.
std::vector<std::string> BuiltInModels();
// CalledWrongly if a model is named like one of the built-in ones but without
// its prefix, and no file has that name.
absl::Status CheckPrefix(const std::string& model,
                         absl::Span<const std::string> built_in);

// Reads an ONNX model.
using OnnxImporter = absl::FunctionRef<absl::StatusOr<Module>(
    const std::string& path, const ImportOptions& options)>;

// The operand: an ONNX model, a module as text, by the file's bytes
// (recognize_file.h), or builtin:resnet50 and similar (graph/builder/examples).
// An ONNX model is read by `import` with the options of kModelFlags;
// `warn`, if set, gets its warnings, without the path. CalledWrongly for an
// unknown built-in model, and for flags of ONNX models with another one;
// InvalidArgument for a file that is no model, a plan included; other errors
// are those of the readers, with the flag that helps.
absl::StatusOr<Module> ReadModelFile(
    const Arguments& arguments,
    const std::function<void(absl::string_view)>& warn, OnnxImporter import);

}  // namespace partita

#endif  // PARTITA_PARTITA_OPTIONS_MODEL_FILE_H_
