// Post-ops: eltwise steps, scalars, broadcast operands, and the sum.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/post_ops.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"
#include "kernels/cpu/memory_desc.h"

namespace partita {
namespace {

using dnnl::algorithm;

// One of oneDNN's elementwise functions.
struct EltwiseStep {
  algorithm kind;
  float alpha;
  float beta;
};

struct PlainEltwise {
  const OpDef* op;
  algorithm kind;
  float alpha;
};

// Ops without attributes.
const PlainEltwise kPlain[] = {
    {&kRelu, algorithm::eltwise_relu, 0},
    {&kTanh, algorithm::eltwise_tanh, 0},
    {&kSigmoid, algorithm::eltwise_logistic, 0},
    {&kAbs, algorithm::eltwise_abs, 0},
    {&kSqrt, algorithm::eltwise_sqrt, 0},
    {&kSilu, algorithm::eltwise_swish, 1},
    {&kHardSwish, algorithm::eltwise_hardswish, 0},
    {&kRound, algorithm::eltwise_round, 0},
};

// True if the steps of the op have eval's bits for every NaN and infinity.
bool IsIeee(const OpView& op) {
  if (op.is(kLeakyRelu)) return op.attr_float("alpha") != 0;
  return !op.is(kRelu) && !op.is(kClip) && !op.is(kHardSigmoid) &&
         !op.is(kSigmoid) && !op.is(kSilu);
}

float Float(const OpView& op, absl::string_view name) {
  return static_cast<float>(op.attr_float(name));
}

std::vector<EltwiseStep> GateSteps(const OpView& gate) {
  if (gate.is(kSigmoid)) return {{algorithm::eltwise_swish, 1, 0}};
  if (gate.is(kHardSigmoid) && std::abs(Float(gate, "alpha") * 6 - 1) < 1e-6 &&
      Float(gate, "beta") == 0.5f) {
    return {{algorithm::eltwise_hardswish, 0, 0}};
  }
  return {};
}

struct BinaryOp {
  const OpDef* op;
  algorithm binary;
  bool commutes;
};
const BinaryOp kBinaries[] = {
    {&kAdd, algorithm::binary_add, true},
    {&kMul, algorithm::binary_mul, true},
    {&kSub, algorithm::binary_sub, false},
    {&kDiv, algorithm::binary_div, false},
};

std::optional<algorithm> BinaryOf(const ChainLink& link) {
  for (const BinaryOp& binary : kBinaries) {
    if (!link.op.is(*binary.op)) continue;
    if (link.running == 1 && !binary.commutes) break;
    return binary.binary;
  }
  return std::nullopt;
}

// x op s or s op x as a linear function.
std::vector<EltwiseStep> ScalarSteps(const ChainLink& link) {
  const float s = static_cast<float>(*link.scalar);
  const bool first = link.running == 0;
  if (link.op.is(kAdd)) return {{algorithm::eltwise_linear, 1, s}};
  if (link.op.is(kMul)) return {{algorithm::eltwise_linear, s, 0}};
  if (link.op.is(kSub) && first) return {{algorithm::eltwise_linear, 1, -s}};
  if (link.op.is(kSub)) return {{algorithm::eltwise_linear, -1, s}};
  // Division is multiplication only for powers of two.
  int exponent = 0;
  if (link.op.is(kDiv) && first && std::abs(std::frexp(s, &exponent)) == 0.5f &&
      std::isfinite(1 / s)) {
    return {{algorithm::eltwise_linear, 1 / s, 0}};
  }
  return {};
}

// oneDNN multiplies alpha by 0 too, and does not support NaN bounds.
bool HasPlainAttributes(const OpView& op) {
  if (op.is(kClip)) {
    return !std::isnan(op.attr_float("min")) &&
           !std::isnan(op.attr_float("max"));
  }
  const bool has_alpha =
      op.is(kElu) || op.is(kLeakyRelu) || op.is(kHardSigmoid);
  return !has_alpha || std::isfinite(op.attr_float("alpha"));
}

// Empty if there is no such post-op.
std::vector<EltwiseStep> EltwiseSteps(const OpView& op) {
  if (!HasPlainAttributes(op)) return {};
  for (const PlainEltwise& plain : kPlain) {
    if (op.is(*plain.op)) return {{plain.kind, plain.alpha, 0}};
  }
  if (op.is(kNeg)) return {{algorithm::eltwise_linear, -1, 0}};
  if (op.is(kGelu)) {
    return {{op.attr_bool("tanh") ? algorithm::eltwise_gelu_tanh
                                  : algorithm::eltwise_gelu_erf,
             0, 0}};
  }
  if (op.is(kElu)) return {{algorithm::eltwise_elu, Float(op, "alpha"), 0}};
  if (op.is(kLeakyRelu)) {
    return {{algorithm::eltwise_relu, Float(op, "alpha"), 0}};
  }
  // Infinite bounds have no effect, on infinities either.
  if (op.is(kClip)) {
    return {{algorithm::eltwise_clip, Float(op, "min"), Float(op, "max")}};
  }
  if (op.is(kHardSigmoid)) {
    return {{algorithm::eltwise_linear, Float(op, "alpha"), Float(op, "beta")},
            {algorithm::eltwise_clip, 0, 1}};
  }
  return {};
}

int64_t Count(const Shape& dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

class PostOpMaker {
 public:
  PostOpMaker(const OpView& node, const PostOpTarget& target)
      : node_(node), target_(target) {}

  absl::Status Add(const ChainLink& link, bool is_first) {
    if (link.other_operand >= 0) return AddBinary(link, is_first);
    std::vector<EltwiseStep> steps = link.gates    ? GateSteps(link.op)
                                     : link.scalar ? ScalarSteps(link)
                                                   : EltwiseSteps(link.op);
    if (steps.empty()) {
      return NotOffered(absl::StrCat("no post-op for ", link.op.op_name()));
    }
    for (const EltwiseStep& step : steps) {
      post_.ops.append_eltwise(1.0f, step.kind, step.alpha, step.beta);
    }
    if (!link.gates && !IsIeee(link.op)) post_.ieee = false;
    return absl::OkStatus();
  }

  PostOps Take() { return std::move(post_); }

 private:
  absl::Status AddBinary(const ChainLink& link, bool is_first) {
    const TensorType& type = node_.operand_type(link.other_operand);
    if (link.is_read_again) {
      if (!target_.allow_read_again || type.dims != target_.result.dims) {
        return NotOffered("an operand that is read twice");
      }
      post_.read_again.push_back(link.other_operand);
      return AppendBinary(link, type);
    }
    if (link.op.is(kAdd) && is_first && target_.is_bias != nullptr &&
        target_.is_bias(type.dims)) {
      post_.bias_operand = link.other_operand;
      return absl::OkStatus();
    }
    const bool whole = type.dims == target_.result.dims;
    if (link.op.is(kAdd) && whole && target_.allow_sum &&
        !post_.summed_operand.has_value()) {
      post_.summed_operand = link.other_operand;
      post_.ops.append_sum(1.0f);
      return absl::OkStatus();
    }
    return AppendBinary(link, type);
  }

  absl::Status AppendBinary(const ChainLink& link, const TensorType& type) {
    const std::optional<algorithm> binary = BinaryOf(link);
    if (!binary.has_value()) {
      return NotOffered(
          absl::StrCat("no binary post-op for ", link.op.op_name()));
    }
    const std::optional<Shape> extents = target_.extents(type.dims);
    if (!extents.has_value() || Count(*extents) != type.num_elements()) {
      return NotOffered("an operand that does not broadcast to the result");
    }
    dnnl::memory::desc desc = RowMajorDesc(*extents);
    if (type.num_elements() == target_.result.num_elements()) {
      if (!target_.result_layout.has_value()) {
        return NotOffered("an operand whose layout follows the result's");
      }
      if (!target_.result_layout->is_row_major()) {
        if (type.dims != target_.result.dims) {
          return NotOffered("an operand of fewer dimensions in a layout");
        }
        desc = *DescOf({type.dtype, *extents, *target_.result_layout});
      }
    }
    post_.arguments.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_.ops.len()) | DNNL_ARG_SRC_1,
         false, link.other_operand, desc});
    post_.ops.append_binary(*binary, desc);
    return absl::OkStatus();
  }

  OpView node_;
  const PostOpTarget& target_;
  PostOps post_;
};

}  // namespace

void AddArguments(const PostOps& post, const ProductMemory& memory,
                  OnednnRecipe& recipe) {
  recipe.arguments = post.arguments;
  recipe.arguments.push_back({DNNL_ARG_SRC, false, memory.a, memory.source});
  recipe.arguments.push_back(
      {DNNL_ARG_WEIGHTS, false, memory.b, memory.weights});
  if (post.bias_operand.has_value()) {
    recipe.arguments.push_back(
        {DNNL_ARG_BIAS, false, *post.bias_operand, memory.bias});
  }
  recipe.arguments.push_back({DNNL_ARG_DST, true, 0, memory.result});
  recipe.summed_operand = post.summed_operand;
  if (post.summed_operand.has_value()) {
    recipe.in_place.push_back({*post.summed_operand, 0});
  }
}

absl::Status CheckReadAgain(const PostOps& post, const OnednnRecipe& recipe) {
  for (int operand : post.read_again) {
    if (recipe.operands[operand] != recipe.results[0]) {
      return NotOffered("an operand that is read in two layouts");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PostOps> MakePostOps(const OpView& node, const FusedChain& chain,
                                    const PostOpTarget& target) {
  PostOpMaker maker(node, target);
  bool is_first = true;
  for (const ChainLink& link : chain.links) {
    // Every step of the chain keeps the extents of the root's result.
    if (link.op.result_type(0).dims != target.result.dims ||
        link.op.result_type(0).dtype != DType::kF32) {
      return NotOffered("a link that changes the type");
    }
    PARTITA_RETURN_IF_ERROR(maker.Add(link, is_first));
    is_first = false;
  }
  return maker.Take();
}

std::optional<Shape> PaddedToRank(const Shape& dims, int rank) {
  if (static_cast<int>(dims.size()) > rank) return std::nullopt;
  Shape padded(rank - dims.size(), 1);
  padded.insert(padded.end(), dims.begin(), dims.end());
  return padded;
}

bool IsPerChannel(const Shape& dims, int rank, int channel_dim,
                  int64_t channels) {
  const std::optional<Shape> padded = PaddedToRank(dims, rank);
  if (!padded.has_value()) return false;
  for (int i = 0; i < rank; ++i) {
    if ((*padded)[i] != (i == channel_dim ? channels : 1)) return false;
  }
  return true;
}

}  // namespace partita
