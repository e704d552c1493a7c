// Reads a model for given inputs, and the ONNX standard's test data.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_ONNX_TESTED_MODEL_H_
#define PARTITA_GRAPH_ONNX_TESTED_MODEL_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "graph/onnx/import_options.h"

namespace partita {

// "FOLDER/input_2.pb"; kind is "input" or "output".
std::string TestDataPath(const std::string& folder, const char* kind,
                         int index);

// InvalidArgument if the folder has more than `count` files of a kind.
absl::Status ExpectNoMoreTestData(const std::string& folder, const char* kind,
                                  int count);

// The tensor as one of this type. Data from before ONNX 1.13 store bf16 as u16
// bits; nothing else is changed.
HostTensor AsDeclared(HostTensor tensor, const TensorType& declared);

struct TestedModel {
  Module module;
  // By name, those that `module` has: one whose value decides a shape or a
  // branch is bound to the data and is no longer an input.
  std::map<std::string, HostTensor> inputs;
};

// ImportOnnx with what `options` leave open taken from `inputs`, by name:
// shapes, and values of those that decide a shape or a branch. Errors: those of
// ImportOnnx; a name that is not an input of the model.
absl::StatusOr<TestedModel> ImportForInputs(
    const std::string& path, ImportOptions options,
    std::map<std::string, HostTensor> inputs);

// The same for FOLDER/input_0.pb and so on. An input that options.values binds
// needs no file. Errors: files that are missing, too many, not tensors, or
// of another type than the model declares.
absl::StatusOr<TestedModel> ImportForTestData(const std::string& path,
                                              ImportOptions options,
                                              const std::string& folder);

}  // namespace partita

#endif  // PARTITA_GRAPH_ONNX_TESTED_MODEL_H_
