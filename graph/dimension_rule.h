// How an op's operands and results may be cut into pieces that are computed
// apart.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DIMENSION_RULE_H_
#define PARTITA_GRAPH_DIMENSION_RULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/placement.h"

namespace partita {

// An extent that operands and results share, as m, n and k of a matmul.
struct Factor {
  enum class Kind : uint8_t {
    kKept,     // results are cut along it too; pieces are independent
    kReduced,  // summed over: each piece gives a partial result of full size
    kHalo,     // like kKept, but a piece reads neighbours of its own rows
    kWhole,    // must not be cut
  };
  std::string name;
  int64_t size = 1;
  Kind kind = Kind::kKept;
  Reduction reduction = Reduction::kSum;  // kReduced
  // kHalo: result rows [b, e) read operand rows
  // [b * stride - before, (e - 1) * stride + after + 1), clipped to those that
  // exist. `size` counts result rows.
  int64_t stride = 1;
  int64_t before = 0;
  int64_t after = 0;
};

// For each operand and result, for each of its dimensions, the factors whose
// product is its extent, outermost first; only the outermost may be cut. An
// empty list is an extent of 1 (or one that broadcasts), which is never cut. A
// value that does not have a factor is needed whole by every piece.
struct DimensionRule {
  using Dims = std::vector<absl::InlinedVector<int, 2>>;  // factor indices
  std::vector<Factor> factors;
  std::vector<Dims> operands;
  std::vector<Dims> results;
};

// Where a value is cut by a factor, or -1: the dimension whose outermost factor
// it is.
int DimensionOf(const DimensionRule::Dims& dims, int factor);

}  // namespace partita

#endif  // PARTITA_GRAPH_DIMENSION_RULE_H_
