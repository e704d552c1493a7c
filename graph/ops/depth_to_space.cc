// Depth to space and back: channels become blocks of the plane.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

bool IsDcr(const OpView& op) { return op.attr_string("mode") == "dcr"; }

absl::Status CheckBlock(const OpView& op) {
  const int64_t block = op.attr_int("block");
  if (block >= 1 && block <= (int64_t{1} << 20)) return absl::OkStatus();
  return BadOp(op, absl::StrCat("block ", block), "1..1048576",
               "correct block");
}

absl::Status InferDepthToSpace(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 4, 4));
  const int64_t block = op.attr_int("block");
  TensorType type = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(CheckBlock(op));
  if (!IsDcr(op) && op.attr_string("mode") != "crd") {
    return BadOp(op, absl::StrCat("mode \"", op.attr_string("mode"), "\""),
                 "\"dcr\" or \"crd\"", "name one of them");
  }
  if (type.dims[1] % (block * block) != 0) {
    return BadExtents(
        op, Describe(op, 0),
        absl::StrCat("a multiple of ", block * block, " in dimension 1"),
        "correct block");
  }
  type.dims[1] /= block * block;
  for (int d : {2, 3}) {
    // No overflow: at most 2^46 elements times 2^20.
    if (type.dims[d] > kMaxTensorBytes / block) {
      return BadExtents(op, Describe(op, 0), "smaller extents",
                        "correct block");
    }
    type.dims[d] *= block;
  }
  return results.Set(0, type);
}

absl::Status InferSpaceToDepth(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 4, 4));
  const int64_t block = op.attr_int("block");
  TensorType type = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(CheckBlock(op));
  for (int d : {2, 3}) {
    if (type.dims[d] % block != 0) {
      return BadExtents(
          op, Describe(op, 0),
          absl::StrCat("a multiple of ", block, " in dimension ", d),
          "correct block");
    }
    type.dims[d] /= block;
  }
  if (type.dims[1] > kMaxTensorBytes / (block * block)) {
    return BadExtents(op, Describe(op, 0), "fewer channels", "correct block");
  }
  type.dims[1] *= block * block;
  return results.Set(0, type);
}

// The move of both ops: the dimensions [n, c, h, block, w, block] of the plane
// side, with the strides of the depth side.
struct Sides {
  Shape dims;
  Shape plane;
  Shape depth;
};
Sides SidesOf(const OpView& op, const TensorType& depth, bool dcr) {
  const int64_t b = op.attr_int("block");
  const int64_t c = depth.dims[1] / (b * b);
  const int64_t h = depth.dims[2];
  const int64_t w = depth.dims[3];
  Sides sides;
  sides.dims = {depth.dims[0], c, h, b, w, b};
  sides.plane = RowMajorStrides(sides.dims);
  const int64_t channel = dcr ? 1 : b * b;
  const int64_t down = dcr ? b * c : b;
  const int64_t right = dcr ? c : 1;
  sides.depth = {depth.dims[1] * h * w, channel * h * w, w, down * h * w, 1,
                 right * h * w};
  return sides;
}

std::vector<StridedMove> DepthToSpaceMoves(const OpView& op) {
  const Sides sides = SidesOf(op, op.operand_type(0), IsDcr(op));
  return {{.dims = sides.dims,
           .from_strides = sides.depth,
           .to_strides = sides.plane}};
}
std::vector<StridedMove> SpaceToDepthMoves(const OpView& op) {
  const Sides sides = SidesOf(op, op.result_type(0), /*dcr=*/true);
  return {{.dims = sides.dims,
           .from_strides = sides.plane,
           .to_strides = sides.depth}};
}

template <std::vector<StridedMove> (*moves)(const OpView&)>
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  return DoMoves(moves(op), in, out);
}
template <std::vector<StridedMove> (*moves)(const OpView&)>
std::optional<std::vector<ByteMove>> Moves(const OpView& op) {
  return AsByteMoves(op, moves(op));
}

// depth [n, (b b) c or c (b b), h, w]; plane [n, c, h b, w b]
DimensionRule RuleOf(const OpView& op, bool dcr, bool depth_is_operand) {
  RuleBuilder rule(op);
  const TensorType& depth =
      depth_is_operand ? op.operand_type(0) : op.result_type(0);
  const int64_t b = op.attr_int("block");
  const auto put = [&](bool on_depth, int dim, int factor) {
    if (on_depth == depth_is_operand) {
      rule.Operand(0, dim, factor);
    } else {
      rule.Result(0, dim, factor);
    }
  };
  rule.Keep("n", 0, 0);
  const int c = rule.Kept("c", depth.dims[1] / (b * b));
  const int blocks = rule.Whole("blocks", b * b);
  put(true, 1, dcr ? blocks : c);
  put(true, 1, dcr ? c : blocks);
  put(false, 1, c);
  for (int d : {2, 3}) {
    const int rows = rule.Kept(absl::StrCat("s", d - 2), depth.dims[d]);
    put(true, d, rows);
    put(false, d, rows);
    put(false, d, rule.Whole(absl::StrCat("b", d - 2), b));
  }
  return rule.Finish();
}
DimensionRule DepthToSpaceRule(const OpView& op) {
  return RuleOf(op, IsDcr(op), /*depth_is_operand=*/true);
}
DimensionRule SpaceToDepthRule(const OpView& op) {
  return RuleOf(op, /*dcr=*/true, /*depth_is_operand=*/false);
}

// "crd" channels [c, b b] are "dcr" channels [b b, c] transposed.
Term OuterToInnerChannels(Term depth, int64_t block) {
  const Shape d = depth.dims();
  const int64_t blocks = block * block;
  return ReshapeTo(
      TransposeTo(ReshapeTo(depth, {d[0], blocks, d[1] / blocks, d[2], d[3]}),
                  {0, 2, 1, 3, 4}),
      d);
}

absl::Status DepthToSpaceGradient(GradBuilder& b) {
  const int64_t block = b.op().attr_int("block");
  const bool dcr = IsDcr(b.op());
  const Term depth = Apply(kSpaceToDepth, {b.grad(0)}, {{"block", block}});
  if (!depth.valid()) return b.status();
  b.Yield(0, dcr ? depth : OuterToInnerChannels(depth, block));
  return b.status();
}

absl::Status SpaceToDepthGradient(GradBuilder& b) {
  const int64_t block = b.op().attr_int("block");
  b.Yield(0, Apply(kDepthToSpace, {b.grad(0)}, {{"block", block}}));
  return b.status();
}

std::vector<OpSample> DepthToSpaceSamples() {
  return {
      {{F32({3, 12, 2, 3})}, {{"block", 2}}},
      {{F32({3, 12, 2, 3})}, {{"block", 2}, {"mode", "crd"}}},
  };
}

std::vector<OpSample> SpaceToDepthSamples() {
  return {{{F32({3, 2, 6, 4})}, {{"block", 2}}}};
}

}  // namespace

extern constinit const OpDef kDepthToSpace = {
    .name = "depth_to_space",
    .doc =
        "Channels of x [n, c, h, w] become blocks of the plane: \"dcr\" "
        "takes the block from the outer channels, \"crd\" from the inner.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("block", AttributeKind::kInt),
               StringAttr("mode", "dcr")}},
    .infer = InferDepthToSpace,
    .eval = Evaluate<DepthToSpaceMoves>,
    .gradient = DepthToSpaceGradient,
    .cost = MoveCost,
    .dimension_rule = DepthToSpaceRule,
    .moves = Moves<DepthToSpaceMoves>,
    .samples = DepthToSpaceSamples,
};

extern constinit const OpDef kSpaceToDepth = {
    .name = "space_to_depth",
    .doc = "Blocks of the plane of x [n, c, h, w] become outer channels.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("block", AttributeKind::kInt)}},
    .infer = InferSpaceToDepth,
    .eval = Evaluate<SpaceToDepthMoves>,
    .gradient = SpaceToDepthGradient,
    .cost = MoveCost,
    .dimension_rule = SpaceToDepthRule,
    .moves = Moves<SpaceToDepthMoves>,
    .samples = SpaceToDepthSamples,
};

}  // namespace partita
