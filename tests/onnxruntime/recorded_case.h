// Small models with inputs and results computed elsewhere, in the format of
// cases.py.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_ONNXRUNTIME_RECORDED_CASE_H_
#define PARTITA_TESTS_ONNXRUNTIME_RECORDED_CASE_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/host_tensor.h"
#include "graph/onnx/testing/sketched_model.h"
#include "gtest/gtest.h"

namespace partita {

using NamedTensor = std::pair<std::string, HostTensor>;

struct RecordedNode {
  std::string op;
  std::vector<std::string> inputs, outputs;  // empty: missing
  std::vector<std::string> attributes;       // "alpha f 0.5"
};

struct RecordedCase {
  std::string name;
  int opset = 0;
  // of |found - expected| / max(1, |expected|); 0: equal bits, except those of
  // NaN
  double bound = 0;
  std::vector<NamedTensor> inputs, constants, outputs;
  std::vector<RecordedNode> nodes;

  SketchedModel Model() const;
  // The same with each float input and output multiplied by an input "one", so
  // that the nodes become part of larger kernels.
  SketchedModel ModelInChain() const;
  std::vector<HostTensor> InputTensors() const;
};

// From a file beside this one. Fails the test if it cannot be read.
std::vector<RecordedCase> ReadCases(const std::string& file);

// Whether outputs equal the case's, in its order.
testing::AssertionResult AreAsRecorded(const std::vector<HostTensor>& found,
                                       const RecordedCase& expected);

}  // namespace partita

#endif  // PARTITA_TESTS_ONNXRUNTIME_RECORDED_CASE_H_
