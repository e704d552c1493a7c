// Writes a node as text, without names.
// SPDX-License-Identifier: Apache-2.0

#include "graph/node_key.h"

#include <bit>
#include <variant>

#include "absl/strings/str_cat.h"
#include "graph/host_tensor.h"
#include "graph/op_def.h"

namespace partita {
namespace {

void AppendAttribute(const AttributeValue& value, std::string& key) {
  const auto append = [&](auto&& element) {
    using T = std::decay_t<decltype(element)>;
    if constexpr (std::is_same_v<T, double>) {
      absl::StrAppend(&key, std::bit_cast<uint64_t>(element), ",");
    } else if constexpr (std::is_same_v<T, Number>) {
      absl::StrAppend(&key,
                      element.is_integer()
                          ? element.ToWrapped()
                          : std::bit_cast<uint64_t>(element.ToDouble()),
                      "/", element.held().index(), ",");
    } else if constexpr (std::is_same_v<T, DType>) {
      absl::StrAppend(&key, static_cast<int>(element), ",");
    } else if constexpr (std::is_same_v<T, LiteralId>) {
      // Its type is that of the node's result.
    } else if constexpr (std::is_same_v<T, std::string>) {
      absl::StrAppend(&key, element.size(), ":", element);
    } else {
      absl::StrAppend(&key, element, ",");
    }
  };
  std::visit(
      [&](const auto& stored) {
        using T = std::decay_t<decltype(stored)>;
        if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                      std::is_same_v<T, std::vector<double>>) {
          for (auto element : stored) append(element);
        } else {
          append(stored);
        }
      },
      value);
}

void AppendType(const TensorType& type, std::string& key) {
  absl::StrAppend(&key, "|", static_cast<int>(type.dtype));
  for (int64_t extent : type.dims) absl::StrAppend(&key, ",", extent);
}

void AppendOp(const OpView& op, std::string& key) {
  absl::StrAppend(&key, op.op().name);
  for (const Attributes::Entry& entry : op.node().attributes.entries()) {
    absl::StrAppend(&key, " ", entry.first, "=");
    AppendAttribute(entry.second, key);
  }
  if (op.num_results() == 1) {
    const ValueView result = op.result(0);
    if (result.is_constant() && result.type().num_elements() == 1) {
      absl::StrAppend(
          &key, "#",
          std::bit_cast<uint64_t>(GetAsDouble(*result.constant(), 0)));
    }
  }
  for (int i = 0; i < op.num_operands(); ++i) {
    AppendType(op.operand_type(i), key);
  }
  key += "->";
  for (int i = 0; i < op.num_results(); ++i) {
    AppendType(op.result_type(i), key);
  }
}

void AppendBody(const Graph& body, std::string& key) {
  std::vector<int> number(body.value_id_bound(), -1);
  int next = 0;
  for (ValueId input : body.inputs()) number[input.index] = next++;
  key += "{";
  for (const OpView& op : body.ops()) {
    AppendOp(op, key);
    for (ValueId operand : op.node().operands) {
      absl::StrAppend(&key, " ", number[operand.index]);
    }
    for (const auto& region : op.node().regions) AppendBody(*region, key);
    for (ValueId result : op.node().results) number[result.index] = next++;
    key += ";";
  }
  for (ValueId output : body.outputs()) {
    absl::StrAppend(&key, " ", number[output.index]);
  }
  key += "}";
}

}  // namespace

std::string NodeKey(const OpView& node) {
  std::string key;
  AppendOp(node, key);
  for (const auto& region : node.node().regions) AppendBody(*region, key);
  return key;
}

}  // namespace partita
