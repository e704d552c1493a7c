// Changes the parts of an ONNX model at random, so that it stays one.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_FUZZ_MUTATE_MODEL_H_
#define PARTITA_TESTS_FUZZ_MUTATE_MODEL_H_

#include <random>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"

namespace partita {

// What models seen before are made of, which others get parts of.
struct ModelParts {
  static constexpr size_t kMost = 4096;  // of each

  void Learn(const onnx::ModelProto& model);

  std::vector<onnx::NodeProto> nodes;
  std::vector<onnx::AttributeProto> attributes;
};

// Changes one to four of: attributes, also of other nodes; ops; operands;
// nodes, which come, go and change places; initializers and extents; opsets.
// Nodes are put into functions, which may come to call themselves, and into the
// branches of an If.
void MutateModel(const ModelParts& parts, std::mt19937_64& random,
                 onnx::ModelProto& model);

}  // namespace partita

#endif  // PARTITA_TESTS_FUZZ_MUTATE_MODEL_H_
