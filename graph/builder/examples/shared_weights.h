// Weights of a network that several functions of a module read.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_EXAMPLES_SHARED_WEIGHTS_H_
#define PARTITA_GRAPH_BUILDER_EXAMPLES_SHARED_WEIGHTS_H_

#include <cstdint>
#include <set>
#include <string>

#include "graph/builder/graph_builder.h"

namespace partita {

// The first use of a weight declares it as an f32 variable; later uses read it.
class SharedWeights {
 public:
  SharedWeights(GraphBuilder& b, uint64_t seed) : b_(b), seed_(seed << 16) {}

  // Uniform in [-bound, bound).
  Tensor Uniform(const std::string& name, Shape dims, double bound);
  Tensor Filled(const std::string& name, Shape dims, double value);
  // Not trainable.
  Tensor Statistic(const std::string& name, Shape dims, double value);

 private:
  bool IsNew(const std::string& name) { return declared_.insert(name).second; }

  GraphBuilder& b_;
  uint64_t seed_;  // of the next weight
  std::set<std::string> declared_;
};

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_EXAMPLES_SHARED_WEIGHTS_H_
