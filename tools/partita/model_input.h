// Models as the command line names them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_PARTITA_MODEL_INPUT_H_
#define PARTITA_TOOLS_PARTITA_MODEL_INPUT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "tools/partita/arguments.h"

namespace partita {

// The flags of ReadModel.
inline constexpr FlagDef kModelFlags[] = {
    {"dim", "NAME=N", "the extent of a symbolic dimension; repeatable", nullptr,
     FileUse::kNone, true},
    {"shape", "INPUT=N,N,..",
     "the shape of an input, or INPUT=scalar; repeatable", nullptr,
     FileUse::kNone, true},
    {"bind", "INPUT=V,V,..",
     "the value of an input that decides a shape; repeatable", nullptr,
     FileUse::kNone, true},
    {"strict-types", nullptr,
     "refuse a model that declares other shapes of its outputs and values than "
     "its nodes compute; default: a warning. Another element type is always "
     "refused"},
};

// "builtin:resnet50" and others.
std::vector<std::string> BuiltInModels();
// CalledWrongly if a model is named like one of the built-in ones but without
// its prefix, and no file has that name.
absl::Status CheckPrefix(const std::string& model,
                         absl::Span<const std::string> built_in);

// By name; nullopt if the files give inputs an order but no names.
using TestInputs = std::optional<std::map<std::string, HostTensor>>;

// The command's operand: an ONNX model, a module as text, by the file's bytes
// (recognize_file.h), or builtin:resnet50 and similar (graph/builder/examples).
// Warnings go to standard error. An ONNX model is read for the data of
// --test-data or
// --input, which are stored in `inputs`.
absl::StatusOr<Module> ReadModel(const Arguments& arguments,
                                 TestInputs& inputs);
absl::StatusOr<Module> ReadModel(const Arguments& arguments);
// The same without repeating warnings.
absl::StatusOr<Module> ReadModelAgain(const Arguments& arguments);
// An ONNX model as the function "train", with its weights as variables.
absl::StatusOr<Module> ReadTrainedOnnx(const std::string& path,
                                       const Arguments& arguments);
// The same with another batch. InvalidArgument if the file has a fixed one.
absl::StatusOr<Module> ReadRebatchedOnnx(const std::string& path,
                                         const Arguments& arguments,
                                         int64_t batch);

}  // namespace partita

#endif  // PARTITA_TOOLS_PARTITA_MODEL_INPUT_H_
