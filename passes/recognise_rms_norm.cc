// Matches backwards from the normalised value, then finds its scale.
// SPDX-License-Identifier: Apache-2.0

#include "passes/recognise_rms_norm.h"

#include <optional>
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

struct Norm {
  ValueId x;
  int64_t axis = 0;
  double epsilon = 0;
  std::optional<ValueId> scale;
  std::vector<OpView> members;
};

class NormWalk {
 public:
  // False if `normalised` is not a norm of x; the other fields are then
  // invalid.
  bool Take(const OpView& normalised) {
    if (normalised.result_type(0).dtype != DType::kF32) return false;
    norm_.members.push_back(normalised);
    if (normalised.is(kDiv)) {
      return TakeX(normalised, 0) && TakeRoot(normalised.operand(1));
    }
    const size_t members = norm_.members.size();
    for (int side : {0, 1}) {
      norm_.members.resize(members, normalised);
      if (TakeX(normalised, side) && TakeRate(normalised.operand(1 - side))) {
        return true;
      }
    }
    return false;
  }
  const Norm& norm() const { return norm_; }

 private:
  // Numbers with more dimensions than x would add dimensions to the result.
  bool TakeX(const OpView& normalised, int operand) {
    norm_.x = normalised.operand(operand).id();
    return normalised.operand_type(operand) == normalised.result_type(0);
  }

  // The node that makes the value, if it has one reader.
  std::optional<OpView> Inner(const ValueView& value, const OpDef& op) {
    const std::optional<OpView> made = InnerOp(value, op);
    if (made.has_value()) norm_.members.push_back(*made);
    return made;
  }

  // 1 / sqrt(mean + epsilon)
  bool TakeRate(const ValueView& rate) {
    if (const auto reciprocal = Inner(rate, kReciprocal)) {
      return TakeRoot(reciprocal->operand(0));
    }
    if (const auto div = Inner(rate, kDiv)) {
      return NumberIn(div->operand(0)) == 1.0 && TakeRoot(div->operand(1));
    }
    const auto pow = Inner(rate, kPow);
    return pow.has_value() && NumberIn(pow->operand(1)) == -0.5 &&
           TakeShifted(pow->operand(0));
  }

  bool TakeRoot(const ValueView& root) {
    if (const auto sqrt = Inner(root, kSqrt)) {
      return TakeShifted(sqrt->operand(0));
    }
    const auto pow = Inner(root, kPow);
    return pow.has_value() && NumberIn(pow->operand(1)) == 0.5 &&
           TakeShifted(pow->operand(0));
  }

  bool TakeShifted(const ValueView& shifted) {
    const auto add = Inner(shifted, kAdd);
    if (!add.has_value()) return false;
    for (int side : {0, 1}) {
      const std::optional<double> epsilon = NumberIn(add->operand(1 - side));
      if (!epsilon.has_value() || !(*epsilon >= 0)) continue;
      norm_.epsilon = *epsilon;
      return TakeMean(add->operand(side));
    }
    return false;
  }

  // The mean of squares, or their sum divided by their number.
  bool TakeMean(const ValueView& mean) {
    if (const auto reduced = Inner(mean, kReduceMean)) {
      return TakeAxes(*reduced) && TakeSquare(reduced->operand(0));
    }
    const auto div = Inner(mean, kDiv);
    if (!div.has_value()) return false;
    const auto sum = Inner(div->operand(0), kReduceSumSquare);
    if (!sum.has_value() || !TakeAxes(*sum)) return false;
    const double count =
        static_cast<double>(sum->operand_type(0).num_elements()) /
        static_cast<double>(sum->result_type(0).num_elements());
    return NumberIn(div->operand(1)) == count &&
           sum->operand(0).id() == norm_.x;
  }

  bool TakeSquare(const ValueView& square) {
    if (const auto mul = Inner(square, kMul)) {
      return mul->operand(0).id() == norm_.x && mul->operand(1).id() == norm_.x;
    }
    const auto pow = Inner(square, kPow);
    return pow.has_value() && NumberIn(pow->operand(1)) == 2.0 &&
           pow->operand(0).id() == norm_.x;
  }

  // True for all last dimensions from some axis on, kept with extent 1.
  bool TakeAxes(const OpView& reduced) {
    const std::vector<int64_t>& axes = reduced.attr_ints("axes");
    const int rank = reduced.operand_type(0).rank();
    if (!reduced.attr_bool("keep_dims") || axes.empty() ||
        reduced.operand_type(0).num_elements() == 0) {
      return false;
    }
    std::vector<bool> summed(rank, false);
    for (int64_t axis : axes) summed[axis < 0 ? axis + rank : axis] = true;
    norm_.axis = rank;
    while (norm_.axis > 0 && summed[norm_.axis - 1]) --norm_.axis;
    return rank - norm_.axis == static_cast<int64_t>(axes.size());
  }

  Norm norm_;
};

Shape Normalised(const Graph& graph, const Norm& norm) {
  const Shape& dims = graph.type(norm.x).dims;
  return Shape(dims.begin() + norm.axis, dims.end());
}

// A product of the norm and a scale with the norm's extents, which may have
// more dimensions of extent 1.
void TakeScale(const OpView& normalised, Norm& norm) {
  const std::optional<OpView> product = normalised.result(0).only_reader();
  if (!product.has_value() || !product->is(kMul) ||
      product->result_type(0) != normalised.result_type(0)) {
    return;
  }
  const bool second = product->operand(0).id() == normalised.result(0).id();
  const ValueView scale = product->operand(second ? 1 : 0);
  const Shape wanted = Normalised(normalised.graph(), norm);
  const Shape& dims = scale.type().dims;
  if (dims.size() < wanted.size()) return;
  const size_t more = dims.size() - wanted.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != (i < more ? 1 : wanted[i - more])) return;
  }
  norm.scale = scale.id();
  norm.members.push_back(*product);
}

absl::StatusOr<ValueId> Scale(Graph& graph, const OpView& last,
                              const Placement& placement, const Norm& norm) {
  const Shape dims = Normalised(graph, norm);
  if (!norm.scale.has_value()) {
    HostTensor ones(TensorType{DType::kF32, dims, {}});
    for (int64_t i = 0; i < ones.type().num_elements(); ++i) {
      SetFromDouble(ones, i, 1);
    }
    return graph.AddConstant(graph.literals().Add(std::move(ones)), "",
                             last.id());
  }
  if (graph.type(*norm.scale).dims == dims) return *norm.scale;
  return graph.AddValue(
      SpecLike(last, placement, kReshape, {*norm.scale},
               {{"shape", std::vector<int64_t>(dims.begin(), dims.end())}}),
      last.id());
}

// `normalised` makes the norm's value; a product may scale it.
absl::Status Replace(Graph& graph, const OpView& normalised, const Norm& norm) {
  JointPlacement joint;
  for (const OpView& member : norm.members) {
    if (!joint.Admit(member.node())) return absl::OkStatus();
  }
  if (joint.is_sharded()) return absl::OkStatus();
  const OpView last = norm.scale.has_value() ? norm.members.back() : normalised;
  const ValueId old = last.result(0).id();
  PARTITA_ASSIGN_OR_RETURN(const ValueId scale,
                           Scale(graph, last, joint.get(), norm));
  PARTITA_ASSIGN_OR_RETURN(
      const ValueId result,
      graph.AddValue(SpecLike(last, joint.get(), kLayerNorm, {norm.x, scale},
                              {{"axis", norm.axis},
                               {"epsilon", norm.epsilon},
                               {"center", false}}),
                     last.id()));
  graph.value(result).name = graph.value(old).name;
  graph.ReplaceAllUses(old, result);
  graph.Erase(last.id());
  if (norm.scale.has_value()) graph.Erase(normalised.id());
  return absl::OkStatus();
}

}  // namespace

absl::Status RecogniseRmsNorm(Graph& graph) {
  for (OpView op : graph.ops()) {
    if (!graph.alive(op.id()) || (!op.is(kMul) && !op.is(kDiv))) continue;
    NormWalk walk;
    if (!walk.Take(op)) continue;
    Norm norm = walk.norm();
    TakeScale(op, norm);
    PARTITA_RETURN_IF_ERROR(Replace(graph, op, norm));
  }
  return absl::OkStatus();
}

}  // namespace partita
