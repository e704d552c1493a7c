// Evaluation and inference of elementwise ops.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/elementwise.h"

#include <algorithm>
#include <array>
#include <vector>

#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

constexpr size_t kMaxOperands = 3;
constexpr int64_t kLine = 512;  // elements computed at a time

template <typename W>
using Function = W (*)(absl::Span<const W> x, const OpView& op);

// The loop: extents, and the strides of operands and result.
struct Walk {
  Shape dims;
  std::array<Shape, kMaxOperands + 1> strides;  // the result's is the last
};

bool CanMerge(const Walk& walk, size_t inner) {
  for (const Shape& strides : walk.strides) {
    if (strides[inner - 1] != strides[inner] * walk.dims[inner]) return false;
  }
  return true;
}

// Merges dimensions that are contiguous on all sides, so that lines are long.
void MergeContiguous(Walk& walk) {
  for (size_t i = walk.dims.size(); i-- > 1;) {
    if (!CanMerge(walk, i)) continue;
    walk.dims[i - 1] *= walk.dims[i];
    walk.dims.erase(walk.dims.begin() + i);
    for (Shape& strides : walk.strides) {
      strides[i - 1] = strides[i];
      strides.erase(strides.begin() + i);
    }
  }
}

Walk MakeWalk(absl::Span<const HostTensor> operands, const TensorType& result) {
  Walk walk;
  walk.dims = result.dims;
  for (size_t i = 0; i < kMaxOperands; ++i) {
    walk.strides[i] =
        i < operands.size()
            ? BroadcastStrides(operands[i].type().dims, result.dims)
            : Shape(result.dims.size(), 0);
  }
  walk.strides[kMaxOperands] = RowMajorStrides(result.dims);
  if (walk.dims.empty()) {
    walk.dims.push_back(1);
    for (Shape& strides : walk.strides) strides.push_back(0);
  }
  MergeContiguous(walk);
  return walk;
}

// Converts `count` elements from `offset` on into every `width`-th slot of
// `line`.
template <typename W>
void Load(const HostTensor& from, int64_t offset, int64_t stride, int64_t count,
          size_t width, W* line) {
  VisitDType(from.type().dtype, [&]<typename T>(TypeTag<T>) {
    const T* data = reinterpret_cast<const T*>(from.bytes()) + offset;
    for (int64_t i = 0; i < count; ++i) {
      line[i * width] = static_cast<W>(data[i * stride]);
    }
  });
}

template <typename W>
void Store(const W* line, int64_t offset, int64_t count, HostTensor& to) {
  VisitDType(to.type().dtype, [&]<typename T>(TypeTag<T>) {
    T* data = reinterpret_cast<T*>(to.bytes()) + offset;
    for (int64_t i = 0; i < count; ++i) data[i] = Narrow<T>(line[i]);
  });
}

template <typename W>
void Run(const OpView& op, Function<W> function,
         absl::Span<const HostTensor> operands, HostTensor& result) {
  const Walk walk = MakeWalk(operands, result.type());
  const size_t width = operands.size();
  std::vector<W> line(kLine * width);
  std::vector<W> values(kLine);
  const int64_t extent = walk.dims.back();
  // Iterates over lines; the loop below handles the innermost dimension.
  Shape lines = walk.dims;
  lines.back() = extent == 0 ? 0 : 1;
  ForEachOffset<kMaxOperands + 1>(lines, walk.strides, [&](const auto& at) {
    for (int64_t begin = 0; begin < extent; begin += kLine) {
      const int64_t count = std::min(kLine, extent - begin);
      for (size_t i = 0; i < width; ++i) {
        const int64_t stride = walk.strides[i].back();
        Load(operands[i], at[i] + begin * stride, stride, count, width,
             &line[i]);
      }
      for (int64_t i = 0; i < count; ++i) {
        values[i] = function({&line[i * width], width}, op);
      }
      Store(values.data(), at[kMaxOperands] + begin, count, result);
    }
  });
}

}  // namespace

ScalarPath PathOf(const OpView& op) {
  ScalarPath path = ScalarPath::kUint;
  for (int i = 0; i < op.num_operands(); ++i) {
    const DType dtype = op.operand_type(i).dtype;
    if (IsFloat(dtype)) return ScalarPath::kDouble;
    if (IsSignedInteger(dtype)) path = ScalarPath::kInt;
  }
  return path;
}

absl::Status EvalElementwise(const OpView& op,
                             absl::Span<const HostTensor> operands,
                             absl::Span<HostTensor> results) {
  const ScalarFunction& scalar = *op.op().scalar;
  switch (PathOf(op)) {
    case ScalarPath::kDouble:
      Run<double>(op, scalar.on_double, operands, results[0]);
      break;
    case ScalarPath::kInt:
      Run<int64_t>(op, scalar.on_int, operands, results[0]);
      break;
    case ScalarPath::kUint:
      Run<uint64_t>(op, scalar.on_uint, operands, results[0]);
      break;
  }
  return absl::OkStatus();
}

Cost ElementwiseCost(const OpView& op) {
  return {.flops = 1.0 * op.result_type(0).num_elements(),
          .bytes = BytesAccessedOnce(op)};
}

absl::Status InferElementwise(const OpView& op, int accepted, bool is_test,
                              Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, accepted));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  PARTITA_ASSIGN_OR_RETURN(Shape dims, BroadcastOperands(op));
  const DType dtype = is_test ? DType::kBool : op.operand_type(0).dtype;
  return results.Set(0, {dtype, dims, {}});
}

}  // namespace partita
