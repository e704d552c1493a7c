// Hashes attributes by their bits, and compares nodes field by field.
// SPDX-License-Identifier: Apache-2.0

#include "binding/compare_nodes.h"

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/hash/hash.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/shard.h"

namespace partita {
namespace {

bool SameShardings(const std::vector<Sharding>& a,
                   const std::vector<Sharding>& b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (ShardingOf(a, static_cast<int>(i)) !=
        ShardingOf(b, static_cast<int>(i))) {
      return false;
    }
  }
  return true;
}

bool SameExtents(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.dims == b.dims;
}

size_t HashOfValue(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> size_t {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, double>) {
          return absl::HashOf(std::bit_cast<uint64_t>(held));
        } else if constexpr (std::is_same_v<Held, std::vector<double>>) {
          size_t hash = held.size();
          for (double number : held) {
            hash = absl::HashOf(hash, std::bit_cast<uint64_t>(number));
          }
          return hash;
        } else if constexpr (std::is_same_v<Held, Number>) {
          return absl::HashOf(std::bit_cast<uint64_t>(held.ToDouble()));
        } else {
          return absl::HashOf(held);
        }
      },
      value);
}

// Equal attributes have equal hashes.
size_t HashOfAttributes(const Attributes& attributes) {
  size_t hash = 0;
  for (const auto& [name, value] : attributes.entries()) {
    hash = absl::HashOf(hash, name, HashOfValue(value));
  }
  return hash;
}

}  // namespace

NodeKey KeyOf(const NormalNode& node, std::vector<ValueNumber> operands,
              int elements) {
  NodeKey key{std::move(operands), elements};
  const size_t attributes =
      node.op.is(kConstant) ? 0 : HashOfAttributes(node.op.node().attributes);
  key.hash = absl::HashOf(&node.op.op(), key.operands, key.elements,
                          node.placement.devices, attributes);
  return key;
}

std::string DifferenceOf(const NormalNode& found, const NormalNode& expected) {
  const Node& a = found.op.node();
  const Node& b = expected.op.node();
  if (a.op != b.op || a.operands.size() != b.operands.size() ||
      a.results.size() != b.results.size()) {
    return "another op";
  }
  // Only fused nodes have bodies, and they are expanded.
  if (!a.regions.empty() || !b.regions.empty()) return "a body";
  if (!found.op.is(kConstant) && !(a.attributes == b.attributes)) {
    return "other attributes";
  }
  for (int i = 0; i < found.op.num_results(); ++i) {
    if (!SameExtents(found.op.result_type(i), expected.op.result_type(i))) {
      return found.op.result_type(i).ToString();
    }
  }
  if (found.placement.devices != expected.placement.devices) {
    return absl::StrJoin(found.placement.devices, ", ");
  }
  if (!SameShardings(found.placement.operands, expected.placement.operands,
                     a.operands.size()) ||
      !SameShardings(found.placement.results, expected.placement.results,
                     a.results.size())) {
    return "another sharding";
  }
  return "";
}

}  // namespace partita
