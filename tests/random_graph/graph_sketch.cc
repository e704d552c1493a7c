// Random choices, and adding nodes that the ops accept.
// SPDX-License-Identifier: Apache-2.0

#include "tests/random_graph/graph_sketch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/random_tensor.h"
#include "graph/op_def.h"

namespace partita {

int64_t GraphSketch::Below(int64_t limit) {
  return static_cast<int64_t>(RandomWord(seed_, counter_++) %
                              static_cast<uint64_t>(limit));
}

ValueId GraphSketch::Pick(absl::FunctionRef<bool(const TensorType&)> fits) {
  std::vector<ValueId> candidates;
  for (ValueId value : values_) {
    if (fits(type(value))) candidates.push_back(value);
  }
  if (candidates.empty()) return {};
  const int64_t count = static_cast<int64_t>(candidates.size());
  return candidates[std::max(Below(count), Below(count))];
}

ValueId GraphSketch::PickFloat(int min_rank, int max_rank) {
  return Pick([&](const TensorType& type) {
    return type.dtype == DType::kF32 && type.rank() >= min_rank &&
           type.rank() <= max_rank;
  });
}

ValueId GraphSketch::Constant(DType dtype, Shape dims, double low,
                              double high) {
  const uint64_t seed = RandomWord(seed_, counter_++);
  return graph_->AddConstant(graph_->literals().Add(
      RandomTensor({dtype, std::move(dims), {}}, seed, low, high)));
}

ValueId GraphSketch::IndexConstant(Ints values) {
  const int64_t count = static_cast<int64_t>(values.size());
  return graph_->AddConstant(
      graph_->literals().Add(HostTensor::Of<int64_t>({count}, values)));
}

ValueId GraphSketch::Add(const OpDef& op, absl::Span<const ValueId> operands,
                         Attributes attributes) {
  const ValueId first = AddHidden(op, operands, std::move(attributes));
  if (!first.valid()) return first;
  for (ValueId result :
       graph_->node(graph_->value(first).defining_node).results) {
    values_.push_back(result);
  }
  return first;
}

ValueId GraphSketch::AddHidden(const OpDef& op,
                               absl::Span<const ValueId> operands,
                               Attributes attributes) {
  NodeSpec spec{.op = &op, .attributes = std::move(attributes)};
  for (ValueId operand : operands) {
    if (!operand.valid()) return {};
    spec.operands.push_back(operand);
  }
  absl::StatusOr<NodeId> node = graph_->AddNode(std::move(spec));
  if (!node.ok()) return {};
  const ValueIds results = graph_->node(*node).results;
  for (ValueId result : results) {
    if (type(result).num_elements() <= options_.max_elements) continue;
    graph_->Erase(*node);
    return {};
  }
  if (OneIn(2)) {  // some values have names
    graph_->value(results[0]).name = absl::StrCat(op.name, results[0].index);
  }
  return results[0];
}

}  // namespace partita
