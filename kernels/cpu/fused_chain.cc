// Walks a fused body from its heavy op to its output.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/fused_chain.h"

#include <utility>

#include "graph/core_ops.h"
#include "graph/host_tensor.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

bool HasOperand(const OpView& op, ValueId value) {
  for (ValueId operand : op.node().operands) {
    if (operand == value) return true;
  }
  return false;
}

// The chain's first op: the first that is neither a constant nor elementwise,
// or else the first op.
std::optional<OpView> RootOf(const Graph& body) {
  std::optional<OpView> first;
  for (const OpView& op : body.ops()) {
    if (op.is(kConstant)) continue;
    if (!op.op().traits.elementwise) return op;
    if (!first.has_value()) first = op;
  }
  return first;
}

class ChainReader {
 public:
  explicit ChainReader(const Graph& body) : body_(body) {}

  std::optional<FusedChain> Read() {
    const std::optional<OpView> root = RootOf(body_);
    if (!root.has_value() || body_.outputs().size() != 1 ||
        root->num_results() != 1) {
      return std::nullopt;
    }
    FusedChain chain{*root, {}, {}};
    for (int i = 0; i < root->num_operands(); ++i) {
      if (!root->operand(i).is_input()) return std::nullopt;
      chain.root_operands.push_back(InputIndex(root->operand(i)));
    }
    ValueId value = root->result(0).id();
    covered_ = 1;
    while (value != body_.outputs()[0]) {
      std::optional<ChainLink> link = Next(value);
      if (!link.has_value()) return std::nullopt;
      chain.links.push_back(*std::move(link));
    }
    for (const OpView& op : body_.ops()) covered_ -= !op.is(kConstant);
    if (covered_ != 0 || !ValueView(&body_, value).has_one_reader()) {
      return std::nullopt;
    }
    return chain;
  }

 private:
  int InputIndex(const ValueView& value) const {
    return body_.value(value.id()).index;
  }

  OpView Reader(ValueId value, int use) const {
    return body_.view(body_.value(value).uses[use].node);
  }

  // The link that reads `value`; sets `value` to the link's result.
  std::optional<ChainLink> Next(ValueId& value) {
    const ValueView view(&body_, value);
    if (body_.is_output(value)) return std::nullopt;
    if (view.num_uses() == 2) return NextGate(value);
    if (view.num_uses() != 1) return std::nullopt;
    const OpView op = Reader(value, 0);
    if (!op.op().traits.elementwise || op.num_operands() > 2) {
      return std::nullopt;
    }
    ChainLink link{op, body_.value(value).uses[0].operand, -1, std::nullopt};
    if (op.num_operands() == 2) {
      const ValueView other = op.operand(1 - link.running);
      if (other.is_input()) {
        link.other_operand = InputIndex(other);
        link.is_read_again = !other.has_one_reader();
      } else if (other.is_constant() && other.type().num_elements() == 1) {
        link.scalar = GetAsDouble(*other.constant(), 0);
      } else {
        return std::nullopt;
      }
    }
    ++covered_;
    value = op.result(0).id();
    return link;
  }

  // v * f(v): one reader of v is the mul, the other is f, which only the mul
  // reads.
  std::optional<ChainLink> NextGate(ValueId& value) {
    for (int use : {0, 1}) {
      const OpView gate = Reader(value, use);
      const OpView mul = Reader(value, 1 - use);
      if (!mul.is(kMul) || !gate.op().traits.elementwise ||
          gate.num_operands() != 1) {
        continue;
      }
      const ValueView opened = gate.result(0);
      if (!opened.has_one_reader() || !HasOperand(mul, opened.id())) continue;
      covered_ += 2;
      value = mul.result(0).id();
      return ChainLink{gate, 0, -1, std::nullopt, true};
    }
    return std::nullopt;
  }

  const Graph& body_;
  int covered_ = 0;
};

}  // namespace

std::optional<FusedChain> ReadChain(const OpView& node) {
  if (node.is(kFused)) return ChainReader(node.region(0)).Read();
  FusedChain chain{node, {}, {}};
  for (int i = 0; i < node.num_operands(); ++i) {
    chain.root_operands.push_back(i);
  }
  return chain;
}

}  // namespace partita
