// Compares layouts of operands and results.
// SPDX-License-Identifier: Apache-2.0

#include "graph/check_layouts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/shard.h"

namespace partita {
namespace {

bool ChangesShards(const OpView& node, int i) {
  const Placement& placement = node.node().placement;
  const Sharding from = ShardingOf(placement.operands, i);
  const Sharding to = ShardingOf(placement.results, i);
  return from != to && (from.kind == Sharding::Kind::kSplit ||
                        to.kind == Sharding::Kind::kSplit);
}

}  // namespace

absl::Status CheckLayouts(const OpView& node) {
  const OpTraits& traits = node.op().traits;
  if (!traits.placed_only || !traits.keeps_layout) return absl::OkStatus();
  const int count = std::min(node.num_operands(), node.num_results());
  for (int i = 0; i < count; ++i) {
    const TensorType& operand = node.operand_type(i);
    const TensorType& result = node.result_type(i);
    if (operand.layout != result.layout) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found operand ", i, " as ", operand.ToString(), " and result ", i,
          " as ", result.ToString(),
          "; expected one layout for both, as no kernel converts it"));
    }
    if (ChangesShards(node, i) && !operand.layout.is_row_major()) {
      return absl::InvalidArgumentError(
          absl::StrCat("found operand ", i, " as ", operand.ToString(),
                       "; expected it row-major, as its sharding changes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
