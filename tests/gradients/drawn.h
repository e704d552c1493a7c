// The inputs of recorded gradients, and the tables of the results
// (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTS_GRADIENTS_DRAWN_H_
#define PARTITA_TESTS_GRADIENTS_DRAWN_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"

namespace partita {

using Numbers = std::vector<double>;

// Numbers between -2 and 2, all different, for input `number`: f64.
HostTensor Drawn(Shape dims, int number);
// A quarter of them: f32.
HostTensor DrawnWeights(Shape dims, int number);
// i64, from 0 to below - 1.
HostTensor DrawnIndices(Shape dims, int64_t below);

Numbers ToNumbers(const HostTensor& tensor);
// Of all tensors, concatenated.
Numbers ToNumbers(absl::Span<const HostTensor> tensors);

// Fails the test unless all are equal except for rounding.
void ExpectNear(const Numbers& found, const Numbers& expected);

// The file beside this one; fails the test if it cannot be read.
std::string ReadTable(const std::string& name);
// "name: 1 2 3" lines.
std::map<std::string, Numbers> ReadLists(const std::string& name);
Numbers ParseNumbers(const std::string& text);

// The variables of a module, starting from their initial values.
class State {
 public:
  explicit State(const Module& module);
  // The outputs of a step of this function; updates the variables.
  std::vector<HostTensor> Step(const Graph& function,
                               absl::Span<const HostTensor> inputs);
  const HostTensor& operator[](const std::string& variable) const {
    return values_.at(variable);
  }
  // Of the variable's type.
  void Set(const std::string& variable, HostTensor value) {
    values_[variable] = std::move(value);
  }

 private:
  std::map<std::string, HostTensor> values_;
};

}  // namespace partita

#endif  // PARTITA_TESTS_GRADIENTS_DRAWN_H_
