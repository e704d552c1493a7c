// Steps that only move bytes.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "graph/ops/op_list.h"
#include "tests/random_graph/graph_sketch.h"

namespace partita {
namespace {

// `count` as a product of a few extents.
Ints Factors(GraphSketch& s, int64_t count) {
  Ints factors;
  while (count > 1 && factors.size() < 4) {
    Ints divisors;
    for (int64_t d = 2; d <= std::min<int64_t>(count, 16); ++d) {
      if (count % d == 0) divisors.push_back(d);
    }
    if (divisors.empty()) break;
    factors.push_back(divisors[s.Below(static_cast<int64_t>(divisors.size()))]);
    count /= factors.back();
  }
  if (count > 1 || s.OneIn(4)) factors.push_back(count);
  return factors;
}

int64_t Axis(GraphSketch& s, ValueId x) {
  return s.Below(static_cast<int64_t>(s.dims(x).size()));
}

}  // namespace

void ReshapeStep(GraphSketch& s) {
  ValueId x = s.PickFloat();
  if (!x.valid()) return;
  const int64_t count = s.type(x).num_elements();
  if (s.OneIn(3)) {  // two in sequence, for merge_reshapes
    x = s.AddHidden(kReshape, {x}, {{"shape", Factors(s, count)}});
  }
  s.Add(kReshape, {x}, {{"shape", Factors(s, count)}});
}

void TransposeStep(GraphSketch& s) {
  ValueId x = s.PickFloat(2);
  if (!x.valid()) return;
  Ints perm(s.dims(x).size());
  for (size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<int64_t>(i);
  for (size_t i = perm.size(); i-- > 1;) {
    std::swap(perm[i], perm[s.Below(static_cast<int64_t>(i) + 1)]);
  }
  const ValueId y = s.Add(kTranspose, {x}, {{"perm", perm}});
  if (!s.OneIn(3)) return;
  Ints back(perm.size());  // the pair that cancels
  for (size_t i = 0; i < perm.size(); ++i) {
    back[perm[i]] = static_cast<int64_t>(i);
  }
  s.Add(kTranspose, {y}, {{"perm", back}});
}

void SliceStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  Ints starts;
  Ints sizes;
  Ints steps;
  for (int64_t extent : s.dims(x)) {
    const int64_t step = s.OneOf<int64_t>({1, 1, 1, 2, -1});
    const int64_t most = (extent + std::abs(step) - 1) / std::abs(step);
    const int64_t size = most == 0 ? 0 : s.Between(1, most);
    const int64_t reach = size == 0 ? 0 : (size - 1) * std::abs(step);
    const int64_t low = size == 0 ? 0 : s.Below(extent - reach);
    starts.push_back(step > 0 ? low : low + reach);
    sizes.push_back(size);
    steps.push_back(step);
  }
  s.Add(kSlice, {x}, {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
}

void ConcatStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  const int64_t axis = Axis(s, x);
  const Shape dims = s.dims(x);
  const ValueId y = s.Pick([&](const TensorType& type) {
    if (type.dtype != DType::kF32 || type.dims.size() != dims.size()) {
      return false;
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      if (static_cast<int64_t>(i) != axis && type.dims[i] != dims[i]) {
        return false;
      }
    }
    return true;
  });
  ValueIds parts = {x, y};
  if (s.OneIn(3)) parts.push_back(s.Constant(DType::kF32, dims, -1, 1));
  s.Add(kConcat, parts, {{"axis", axis}});
}

void SplitStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  const int64_t axis = Axis(s, x);
  const int64_t extent = s.dims(x)[axis];
  if (extent < 2) return;
  const int64_t first = s.Between(1, extent - 1);
  s.Add(kSplit, {x}, {{"axis", axis}, {"sizes", Ints{first, extent - first}}});
}

void PadStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  Ints before;
  Ints after;
  for (size_t i = 0; i < s.dims(x).size(); ++i) {
    before.push_back(s.Below(2));
    after.push_back(s.Below(2));
  }
  const std::string mode = s.OneOf({"constant", "constant", "edge", "reflect"});
  s.Add(kPad, {x}, {{"before", before}, {"after", after}, {"mode", mode}});
}

void GatherStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  const int64_t axis = Axis(s, x);
  const int64_t extent = s.dims(x)[axis];
  Ints indices;
  for (int64_t i = s.Between(1, 4); i > 0; --i) {
    indices.push_back(s.Below(extent));
  }
  s.Add(kGather, {x, s.IndexConstant(std::move(indices))}, {{"axis", axis}});
}

void ExpandStep(GraphSketch& s) {
  const ValueId x = s.PickFloat();
  if (!x.valid()) return;
  Ints shape(s.dims(x).begin(), s.dims(x).end());
  for (int64_t& extent : shape) {
    if (extent == 1) extent = s.Extent();
  }
  if (shape.size() < 4 && s.OneIn(2)) shape.insert(shape.begin(), s.Extent());
  s.Add(kExpand, {x}, {{"shape", shape}});
}

void TileStep(GraphSketch& s) {
  const ValueId x = s.PickFloat(1);
  if (!x.valid()) return;
  Ints repeats(s.dims(x).size());
  for (int64_t& repeat : repeats) repeat = s.Between(1, 2);
  s.Add(kTile, {x}, {{"repeats", repeats}});
}

}  // namespace partita
