// How an op's operands and results may be cut into pieces that are computed
// apart.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_DIMENSION_RULE_H_
#define PARTITA_GRAPH_DIMENSION_RULE_H_

#include <cstdint>
#include <optional>
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

// A factor that is divided among members, `unit` of it staying together.
struct FactorCut {
  int factor = 0;
  int64_t unit = 1;
};

// The cut of a factor that divides a value of these dimensions as `split` says,
// which must be along the outermost factor of a dimension. Nothing where no
// pieces of the factor make up those of the dimension.
std::optional<FactorCut> CutAs(const DimensionRule& rule,
                               const DimensionRule::Dims& dims,
                               const Sharding& split, int members);

// The cut that a node's shardings are, by its first result that is split, or
// else its first operand; nothing if none is.
std::optional<FactorCut> CutOfNode(const DimensionRule& rule,
                                   const Placement& placement);

// How a value of these dimensions lies under the cut: replicated if it does not
// have the factor.
Sharding ShardingUnder(const DimensionRule& rule,
                       const DimensionRule::Dims& dims, const FactorCut& cut,
                       int members);

// Where a value is cut by a factor, or -1: the dimension whose outermost factor
// it is.
int DimensionOf(const DimensionRule::Dims& dims, int factor);

}  // namespace partita

#endif  // PARTITA_GRAPH_DIMENSION_RULE_H_
