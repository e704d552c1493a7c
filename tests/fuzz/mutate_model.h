// Mutates the parts of an ONNX model at random, so that it stays a model.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_MUTATE_MODEL_H_
#define PARTITA_TESTS_FUZZ_MUTATE_MODEL_H_

#include <random>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace partita {

// Parts of previous models, for use in others.
struct ModelParts {
  static constexpr size_t kMost = 4096;  // of each

  void Learn(const onnx::ModelProto& model);

  std::vector<onnx::NodeProto> nodes;
  std::vector<onnx::AttributeProto> attributes;
};

// One to four mutations of: attributes, also of other nodes; ops; operands;
// nodes, which are added, removed and swapped; initializers and extents;
// opsets. Nodes are moved into functions, which may call themselves, and into
// the branches of an If.
void MutateModel(const ModelParts& parts, std::mt19937_64& random,
                 onnx::ModelProto& model);

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_MUTATE_MODEL_H_
