// Each element of the operand goes through the positions of the result that may
// blend it.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "graph/ops/resample.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/resample_taps.h"

namespace partita {
namespace {

// The positions of one axis that may blend element j: `count` of them, from
// j * to / from + first on.
struct Reach {
  int64_t first = 0;
  int64_t count = 1;
};

// Computed positions may be rounded to a neighbour, so there is one more on
// each side.
Reach ReachOf(const OpView& op, const AxisMap& map) {
  if (IsIdentity(map)) return {};
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
  for (int64_t i = 0; i < map.to; ++i) {
    const Sample sample = SampleAt(op, map, i);
    for (size_t n = 0; n < sample.index.size(); ++n) {
      if (sample.weight[n] == 0) continue;
      const int64_t from = i - sample.index[n] * map.to / map.from;
      first = std::min(first, from - 1);
      last = std::max(last, from + 1);
    }
  }
  return {first, last - first + 1};
}

class Gradient {
 public:
  Gradient(const OpView& op, std::vector<AxisMap> maps)
      : op_(op), maps_(std::move(maps)) {
    for (const AxisMap& map : maps_) reach_.push_back(ReachOf(op, map));
  }

  std::vector<int64_t> steps() const {
    std::vector<int64_t> steps;
    for (const Reach& reach : reach_) steps.push_back(reach.count);
    return steps;
  }

  // What a step adds to the element at `point`.
  Register Add(const IndexReader& read, const std::vector<Register>& point,
               const std::vector<Register>& step) const {
    const Register sum = read.State(0);
    Conditions exists;
    std::vector<Register> from;
    Register weight = Like(sum, 1);
    for (size_t d = 0; d < maps_.size(); ++d) {
      if (IsIdentity(maps_[d])) {
        from.push_back(point[d]);
        continue;
      }
      from.push_back(Position(d, point[d], step[d]));
      exists.Add(read.IsInside(from[d], maps_[d].to));
      weight = weight * Weight(d, point[d], from[d], sum.type);
    }
    exists.Add(NotEqual(weight, Like(weight, 0)));
    const Register dy = read.Number(
        0, read.Offset(from, RowMajorStrides(op_.operand_type(0).dims)),
        exists.all());
    return exists.Choose(Fma(weight, dy, sum), sum);
  }

 private:
  Register Position(size_t d, Register element, Register step) const {
    const AxisMap& map = maps_[d];
    const Register scaled =
        Quotient(element * static_cast<double>(map.to), map.from);
    return scaled + step + static_cast<double>(reach_[d].first);
  }

  // The weight with which position i blends the element.
  Register Weight(size_t d, Register element, Register i,
                  ScalarType type) const {
    const AxisMap& map = maps_[d];
    const Register none = i.builder->Constant(type, 0);
    if (op_.attr_string("mode") == "nearest") {
      return Select(Equal(NearestInside(op_, map, i), element), Like(none, 1),
                    none);
    }
    Register total = none;
    for (const ResampleTap& tap : BlendedTaps(op_, map, i)) {
      const Register weight = Cast(tap.weight, type);
      total = total + Select(Equal(tap.index, element), weight, none);
    }
    return total;
  }

  const OpView& op_;
  const std::vector<AxisMap> maps_;
  std::vector<Reach> reach_;
};

// From the operand of the resize, which has the sizes, to dy.
std::vector<AxisMap> MapsOf(const OpView& op) {
  std::vector<AxisMap> maps;
  const Shape& dy = op.operand_type(0).dims;
  for (size_t d = 0; d < dy.size(); ++d) {
    maps.push_back(
        MapOf(op, static_cast<int>(d), op.attr_ints("sizes")[d], dy[d]));
  }
  return maps;
}

}  // namespace

absl::Status BuildResizeGradient(IndexNode& node) {
  const OpView& op = node.op();
  std::vector<AxisMap> maps = MapsOf(op);
  PARTITA_RETURN_IF_ERROR(CheckResampling(node, maps));
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  for (const AxisMap& map : maps) {
    // Their product is an index of 32 bits.
    if (map.to <= (int64_t{1} << 15) && map.from <= (int64_t{1} << 15))
      continue;
    return node.NotGenerated("an extent beyond 32768");
  }
  const ScalarType type = node.program().operands[0].type;
  const Gradient gradient(op, std::move(maps));
  node.SetPoints(op.result_type(0).dims);
  node.SetSteps(op.operand_type(0).num_elements() == 0 ? std::vector<int64_t>{0}
                                                       : gradient.steps());
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0), 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    return {gradient.Add(read, node.Point(read), node.Step(read))};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, read.State(0))};
  });
  return absl::OkStatus();
}

}  // namespace partita
