// Draws operands and sizes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/random_sample.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kLine = 16;  // f32 elements of 64 bytes

}  // namespace

RandomSample::RandomSample(int nodes, std::mt19937& random) {
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  std::vector<ValueId> values = {Input("x", 2 * kLine), Input("y", kLine)};
  std::vector<ValueId> weights;
  for (int i = 0; i < 4; ++i) {
    weights.push_back(Weight(absl::StrCat("w", i), draw(1, 6) * kLine));
  }
  for (int i = 0; i < nodes; ++i) {
    std::vector<ValueId> operands;
    for (int k = draw(1, 3); k > 0; --k) {
      const int reach = std::min<int>(8, values.size());
      operands.push_back(values[values.size() - draw(1, reach)]);
    }
    if (draw(0, 2) == 0) operands.push_back(weights[draw(0, 3)]);
    values.push_back(Work(absl::StrCat("n", i), operands, draw(1, 8) * kLine));
  }
  Return({values.back(), values[values.size() / 2]});
}

Machine UnequalCpus(int count, int unequal, int64_t memory) {
  Machine machine = EqualCpus(count, memory);
  for (int d = 0; d < unequal; ++d) {
    machine.devices[d].traits.memory_bandwidth += d;
  }
  return machine;
}

}  // namespace partita
