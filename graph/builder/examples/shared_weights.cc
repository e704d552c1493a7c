// Declares or reads a variable.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/examples/shared_weights.h"

#include <utility>

#include "graph/builder/random_tensor.h"

namespace partita {
namespace {

HostTensor FilledTensor(Shape dims, double value) {
  HostTensor tensor({DType::kF32, std::move(dims), {}});
  for (float& element : tensor.data<float>()) {
    element = static_cast<float>(value);
  }
  return tensor;
}

}  // namespace

Tensor SharedWeights::Uniform(const std::string& name, Shape dims,
                              double bound) {
  if (!IsNew(name)) return b_.ReadVariable(name);
  return b_.Variable(name, RandomTensor({DType::kF32, std::move(dims), {}},
                                        seed_++, -bound, bound));
}

Tensor SharedWeights::Filled(const std::string& name, Shape dims,
                             double value) {
  if (!IsNew(name)) return b_.ReadVariable(name);
  return b_.Variable(name, FilledTensor(std::move(dims), value));
}

Tensor SharedWeights::Statistic(const std::string& name, Shape dims,
                                double value) {
  if (!IsNew(name)) return b_.ReadVariable(name);
  return b_.Variable(name, FilledTensor(std::move(dims), value),
                     /*trainable=*/false);
}

}  // namespace partita
