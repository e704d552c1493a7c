// How operands and results of an op may be split into shards that are computed
// independently.
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

// An extent that operands and results share, such as m, n and k of a matmul.
struct Factor {
  enum class Kind : uint8_t {
    kKept,     // results are split along it too; shards are independent
    kReduced,  // summed over: each shard gives a partial result of full size
    kHalo,     // like kKept, but a shard also reads neighbouring rows
    kWhole,    // must not be split
  };
  std::string name;
  int64_t size = 1;
  Kind kind = Kind::kKept;
  Reduction reduction = Reduction::kSum;  // kReduced
  // kHalo: result rows [b, e) read operand rows
  // [b * stride - before, (e - 1) * stride + after + 1), clipped to existing
  // rows. `size` counts result rows.
  int64_t stride = 1;
  int64_t before = 0;
  int64_t after = 0;
};

// For each dimension of each operand and result: the factors whose product is
// its extent, outermost first. Only the outermost factor may be split. An empty
// list is an extent of 1 (or one that broadcasts), which is never split. Every
// shard reads the whole of a value that does not have the factor.
struct DimensionRule {
  using Dims = std::vector<absl::InlinedVector<int, 2>>;  // factor indices
  std::vector<Factor> factors;
  std::vector<Dims> operands;
  std::vector<Dims> results;
};

// A factor that is split over ranks in blocks of `unit` indices.
struct FactorSharding {
  int factor = 0;
  int64_t unit = 1;
};

// The factor sharding that splits a value with dimensions `dims` as `split`
// does, along the outermost factor of a dimension. Nothing if shards of the
// factor do not match those of the dimension.
std::optional<FactorSharding> FactorShardingOf(const DimensionRule& rule,
                                               const DimensionRule::Dims& dims,
                                               const Sharding& split,
                                               int ranks);

// The factor sharding of a node, from its first split result or, without one,
// its first split operand. Nothing if no value is split.
std::optional<FactorSharding> FactorShardingOfNode(const DimensionRule& rule,
                                                   const Placement& placement);

// The sharding of a value with dimensions `dims`: replicated if it does not
// have the factor.
Sharding ShardingUnder(const DimensionRule& rule,
                       const DimensionRule::Dims& dims,
                       const FactorSharding& sharding, int ranks);

// The dimension whose outermost factor is `factor`, or -1.
int DimensionOf(const DimensionRule::Dims& dims, int factor);

}  // namespace partita

#endif  // PARTITA_GRAPH_DIMENSION_RULE_H_
