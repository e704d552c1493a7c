// Matches backwards from the product with the values to queries and keys.
// SPDX-License-Identifier: Apache-2.0

#include "passes/recognise_attention.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "passes/joint_placement.h"
#include "passes/matching.h"

namespace partita {
namespace {

// A condition that selects scores or a number that hides them.
struct Choice {
  ValueId condition;
  bool hides_where_true;
  double hidden;  // the number in place of a hidden score
};

struct Attention {
  ValueId q, k, v;
  bool transposed_keys = false;   // k is [.., size, keys]
  std::optional<Shape> key_dims;  // the shape that k needs
  double scale = 1;
  double softcap = 0;
  bool zero_blind = false;
  std::optional<ValueId> mask;
  std::optional<Choice> choice;
  Shape scores;
  std::vector<OpView> members;  // the replaced nodes
};

bool IsFloats(const ValueView& value) {
  const TensorType& type = value.type();
  return type.dtype == DType::kF32 && (type.rank() == 3 || type.rank() == 4);
}

// x and the factor c of x * c, c * x or x / c.
struct Scaled {
  ValueView x;
  double factor;
};
std::optional<Scaled> ScaledOf(const ValueView& value) {
  if (const std::optional<OpView> mul = MadeBy(value, kMul)) {
    for (int side : {0, 1}) {
      const std::optional<double> factor = NumberIn(mul->operand(1 - side));
      if (factor.has_value() &&
          mul->operand_type(side).dims == value.type().dims) {
        return Scaled{mul->operand(side), *factor};
      }
    }
  }
  if (const std::optional<OpView> div = MadeBy(value, kDiv)) {
    const std::optional<double> divisor = NumberIn(div->operand(1));
    if (divisor.has_value() && *divisor != 0 &&
        div->operand_type(0).dims == value.type().dims) {
      return Scaled{div->operand(0), 1 / *divisor};
    }
  }
  return std::nullopt;
}

// Walks from a softmax's operand to the product of queries and keys.
class ScoreWalk {
 public:
  explicit ScoreWalk(Attention& attention) : a_(attention) {}

  // False if the value does not match; the attention is then invalid.
  bool Take(const ValueView& value) {
    if (!value.has_one_reader() || value.type().dims != a_.scores) return false;
    const std::optional<OpView> op = value.defining_op();
    if (!op.has_value()) return false;
    a_.members.push_back(*op);
    if (op->is(kMatmul)) return TakeProduct(*op);
    if (op->is(kAdd)) return TakeMask(*op);
    if (op->is(kWhere)) return TakeChoice(*op);
    if (TakeSoftcap(*op)) return true;
    const std::optional<Scaled> scaled = ScaledOf(value);
    if (!scaled.has_value()) return false;
    a_.scale *= scaled->factor;
    return Take(scaled->x);
  }

 private:
  // Only the softmax may be outside of a mask.
  bool IsOutermost() const {
    return a_.scale == 1 && a_.softcap == 0 && !a_.mask.has_value() &&
           !a_.choice.has_value();
  }

  bool TakeMask(const OpView& add) {
    if (!IsOutermost()) return false;
    const Attention before = a_;
    for (int side : {0, 1}) {
      a_.mask = add.operand(1 - side).id();
      if (Take(add.operand(side))) return true;
      a_ = before;
    }
    return false;
  }

  bool TakeChoice(const OpView& where) {
    if (!IsOutermost()) return false;
    for (int side : {1, 2}) {
      const std::optional<double> hidden = NumberIn(where.operand(3 - side));
      if (!hidden.has_value() || !Hides(*hidden)) continue;
      a_.choice = Choice{where.operand(0).id(), side == 2, *hidden};
      return Take(where.operand(side));
    }
    return false;
  }

  // c tanh(x / c)
  bool TakeSoftcap(const OpView& mul) {
    if (a_.scale != 1 || a_.softcap != 0) return false;
    const std::optional<Scaled> outer = ScaledOf(mul.result(0));
    if (!outer.has_value() || !outer->x.has_one_reader()) return false;
    const std::optional<OpView> tanh = MadeBy(outer->x, kTanh);
    if (!tanh.has_value() || outer->factor <= 0) return false;
    a_.members.push_back(*tanh);
    a_.softcap = outer->factor;
    a_.scale = outer->factor;  // the factor of x / c times c
    return Take(tanh->operand(0));
  }

  bool TakeProduct(const OpView& product) {
    if (product.attr_bool("transpose_a")) return false;
    const ValueView q = WithoutFactors(product.operand(0));
    const ValueView k = WithoutFactors(product.operand(1));
    a_.q = q.id();
    a_.k = k.id();
    a_.transposed_keys = !product.attr_bool("transpose_b");
    if (a_.transposed_keys) TakeFlatTranspose(k);
    return IsFloats(q) && IsFloats(k);
  }

  ValueView WithoutFactors(ValueView value) {
    while (const std::optional<Scaled> scaled = ScaledOf(value)) {
      a_.members.push_back(*value.defining_op());
      a_.scale *= scaled->factor;
      value = scaled->x;
    }
    return value;
  }

  // Keys that were transposed with their leading dimensions merged.
  void TakeFlatTranspose(const ValueView& k) {
    const std::optional<OpView> reshape = MadeBy(k, kReshape);
    if (!reshape.has_value()) return;
    const std::optional<OpView> transpose =
        MadeBy(reshape->operand(0), kTranspose);
    if (!transpose.has_value() ||
        transpose->attr_ints("perm") != std::vector<int64_t>{0, 2, 1}) {
      return;
    }
    Shape flat = transpose->result_type(0).dims;
    Shape dims = k.type().dims;
    if (flat[1] != dims[dims.size() - 2] || flat[2] != dims.back()) return;
    std::swap(dims[dims.size() - 2], dims[dims.size() - 1]);
    a_.key_dims = std::move(dims);
    a_.k = transpose->operand(0).id();
    a_.transposed_keys = false;
    a_.members.push_back(*reshape);
    a_.members.push_back(*transpose);
  }

  Attention& a_;
};

// where(is_nan(p), 0, p): p
std::optional<ValueView> Guarded(const ValueView& shares,
                                 std::vector<OpView>& members) {
  const std::optional<OpView> where = MadeBy(shares, kWhere);
  if (!where.has_value() || NumberIn(where->operand(1)) != 0.0) {
    return std::nullopt;
  }
  const std::optional<OpView> is_nan = MadeBy(where->operand(0), kIsNan);
  const ValueView guarded = where->operand(2);
  if (!is_nan.has_value() || is_nan->operand(0).id() != guarded.id() ||
      !where->operand(0).has_one_reader() || guarded.num_uses() != 2 ||
      guarded.graph().is_output(guarded.id())) {
    return std::nullopt;
  }
  members.push_back(*where);
  members.push_back(*is_nan);
  return guarded;
}

// True if leading extents are not broadcast.
bool SameLeading(const Graph& graph, const Attention& a) {
  const auto leading = [](const Shape& dims) {
    return Shape(dims.begin(), dims.end() - 2);
  };
  const Shape& k = a.key_dims.has_value() ? *a.key_dims : graph.type(a.k).dims;
  const Shape q = leading(graph.type(a.q).dims);
  return q == leading(k) && q == leading(graph.type(a.v).dims);
}

// As f32, the dtype of kernels.
bool HasFiniteNumbers(const Attention& a) {
  return std::isfinite(static_cast<float>(a.scale)) &&
         std::isfinite(static_cast<float>(a.softcap));
}

std::optional<Attention> Match(const OpView& product) {
  if (product.attr_bool("transpose_a") || product.attr_bool("transpose_b") ||
      !IsFloats(product.operand(0)) || !IsFloats(product.operand(1))) {
    return std::nullopt;
  }
  Attention a;
  a.members.push_back(product);
  a.v = product.operand(1).id();
  ValueView shares = product.operand(0);
  if (!shares.has_one_reader()) return std::nullopt;
  if (const std::optional<ValueView> inner = Guarded(shares, a.members)) {
    a.zero_blind = true;
    shares = *inner;
  }
  const std::optional<OpView> softmax = MadeBy(shares, kSoftmax);
  const int64_t last = shares.type().rank() - 1;
  if (!softmax.has_value() ||
      (softmax->attr_int("axis") != last && softmax->attr_int("axis") != -1)) {
    return std::nullopt;
  }
  a.members.push_back(*softmax);
  a.scores = shares.type().dims;
  if (!ScoreWalk(a).Take(softmax->operand(0))) return std::nullopt;
  if (!HasFiniteNumbers(a) || !SameLeading(product.graph(), a)) {
    return std::nullopt;
  }
  return a;
}

// Adds the op and the nodes that it needs before the product.
class Writer {
 public:
  Writer(Graph& graph, const OpView& product, const Placement& placement)
      : graph_(graph),
        before_(product.id()),
        scope_(product.node().scope),
        location_(product.node().location),
        placement_(placement) {}

  absl::StatusOr<ValueId> Write(const Attention& a) {
    ValueIds operands;
    PARTITA_ASSIGN_OR_RETURN(const ValueId k, Keys(a));
    for (ValueId id : {a.q, k, a.v}) {
      PARTITA_ASSIGN_OR_RETURN(const ValueId operand, InFour(id));
      operands.push_back(operand);
    }
    PARTITA_RETURN_IF_ERROR(AddMask(a, operands));
    return Add(kAttention, std::move(operands),
               {{"scale", a.scale},
                {"softcap", a.softcap},
                {"zero_blind", a.zero_blind}});
  }

  absl::StatusOr<ValueId> Reshaped(ValueId x, const Shape& dims) {
    if (graph_.type(x).dims == dims) return x;
    return Add(kReshape, {x},
               {{"shape", std::vector<int64_t>(dims.begin(), dims.end())}});
  }

 private:
  absl::StatusOr<ValueId> Add(const OpDef& op, ValueIds operands,
                              Attributes attributes) {
    return graph_.AddValue({.op = &op,
                            .operands = std::move(operands),
                            .attributes = std::move(attributes),
                            .scope = scope_,
                            .location = location_,
                            .placement = placement_},
                           before_);
  }

  // With the last two dimensions swapped.
  absl::StatusOr<ValueId> Transposed(ValueId x) {
    std::vector<int64_t> perm(graph_.type(x).rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return Add(kTranspose, {x}, {{"perm", std::move(perm)}});
  }

  absl::StatusOr<ValueId> Keys(const Attention& a) {
    if (a.transposed_keys) return Transposed(a.k);
    return a.key_dims.has_value() ? Reshaped(a.k, *a.key_dims) : a.k;
  }

  // [n, positions, size] with one head, and its scores' masks.
  absl::StatusOr<ValueId> InFour(ValueId x) {
    Shape dims = graph_.type(x).dims;
    if (dims.size() == 3) dims.insert(dims.begin() + 1, 1);
    return Reshaped(x, dims);
  }

  absl::Status AddMask(const Attention& a, ValueIds& operands) {
    std::optional<ValueId> mask = a.mask;
    if (a.choice.has_value()) {
      PARTITA_ASSIGN_OR_RETURN(mask, Added(*a.choice));
    }
    if (!mask.has_value()) return absl::OkStatus();
    if (a.scores.size() == 3) {
      PARTITA_ASSIGN_OR_RETURN(mask, InFour(*mask));
    }
    operands.push_back(*mask);
    return absl::OkStatus();
  }

  ValueId Scalar(double value) {
    HostTensor tensor(TensorType{DType::kF32, {}, {}});
    SetFromDouble(tensor, 0, value);
    return graph_.AddConstant(graph_.literals().Add(std::move(tensor)), "",
                              before_);
  }

  // Its extents are smaller than those of scores, so it has no sharding from
  // pins.
  absl::StatusOr<ValueId> Added(const Choice& choice) {
    const ValueId nothing = Scalar(0), hidden = Scalar(choice.hidden);
    ValueIds operands = {choice.condition, nothing, hidden};
    if (choice.hides_where_true) std::swap(operands[1], operands[2]);
    return graph_.AddValue(
        {.op = &kWhere,
         .operands = std::move(operands),
         .scope = scope_,
         .location = location_,
         .placement = placement_.results.empty() ? placement_ : Placement()},
        before_);
  }

  Graph& graph_;
  NodeId before_;
  std::string scope_;
  std::string location_;
  const Placement& placement_;
};

// A split by samples or heads, which scores and results have at the same
// dimensions, is valid for the op.
bool KeepsDivision(const JointPlacement& joint, const Attention& a) {
  if (!joint.is_sharded()) return true;
  const std::vector<Sharding>& results = joint.get().results;
  return a.scores.size() == 4 && results.size() == 1 && results[0].dim < 2 &&
         joint.get().operands.empty();
}

absl::Status Replace(Graph& graph, const OpView& product, const Attention& a) {
  JointPlacement joint;
  for (const OpView& member : a.members) {
    if (!joint.Admit(member.node())) return absl::OkStatus();
  }
  if (!KeepsDivision(joint, a)) return absl::OkStatus();
  Writer writer(graph, product, joint.get());
  const ValueId old = product.result(0).id();
  PARTITA_ASSIGN_OR_RETURN(ValueId result, writer.Write(a));
  PARTITA_ASSIGN_OR_RETURN(result,
                           writer.Reshaped(result, graph.type(old).dims));
  graph.value(result).name = graph.value(old).name;
  graph.ReplaceAllUses(old, result);
  graph.Erase(product.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status RecogniseAttention(Graph& graph) {
  for (OpView product : graph.ops(kMatmul)) {
    const std::optional<Attention> attention = Match(product);
    if (!attention.has_value()) continue;
    PARTITA_RETURN_IF_ERROR(Replace(graph, product, *attention));
  }
  return absl::OkStatus();
}

}  // namespace partita
