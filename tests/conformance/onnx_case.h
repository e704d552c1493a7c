// One case of the ONNX test data: a model, inputs and expected outputs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_CONFORMANCE_ONNX_CASE_H_
#define PARTITA_TESTS_CONFORMANCE_ONNX_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

struct OnnxCase {
  std::string name;    // "node/test_relu"
  std::string folder;  // holds model.onnx and test_data_set_0/
};

// Why the data of a case contradict its own model or the standard, or null.
const char* KnownBadData(absl::string_view case_name);

// All cases below `root`, in alphabetical order.
std::vector<OnnxCase> FindOnnxCases(const std::string& root);

struct LoadedCase {
  Module module;
  std::vector<HostTensor> inputs;   // of the function, in its order
  std::vector<HostTensor> outputs;  // expected
};

// Reads data set 0 and imports the model for inputs of those shapes. An input
// whose value decides a shape is bound to its value if the importer asks for
// it.
absl::StatusOr<LoadedCase> LoadOnnxCase(const OnnxCase& c);

}  // namespace partita

#endif  // PARTITA_TESTS_CONFORMANCE_ONNX_CASE_H_
