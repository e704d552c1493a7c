// cpu.gather_elements and cpu.scatter_elements: single elements along one axis,
// with an index for each.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>

#include "graph/op_def.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/strided.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/index_operand.h"
#include "kernels/thread_pool/parallel_for.h"

namespace partita {
namespace {

// True if the indices have the extents of x except along the axis, so that
// their lines correspond.
bool HaveSameLines(const OpView& node) {
  Shape x = node.operand_type(0).dims;
  x[AxisOf(node)] = node.operand_type(1).dims[AxisOf(node)];
  return x == node.operand_type(1).dims;
}

// The elements that indices name: their positions in x and in the indices.
class Elements {
 public:
  Elements(const OpView& node, int threads)
      : x_(node.operand_type(0).dims, AxisOf(node)),
        named_(node.operand_type(1).dims, AxisOf(node)),
        indices_(node, x_.extent, node.attr_bool("from_end")),
        threads_(indices_.count() < (8 << 10) ? 1 : threads) {}

  absl::Status Check(const void* indices) const {
    return indices_.Check(indices);
  }

  // Calls visit(position in x, position of the index) in the order of the
  // indices of each line.
  template <typename Visit>
  void ForEach(const void* indices, Visit visit) const {
    ParallelFor(threads_, x_.outer, [&](int64_t o) {
      for (int64_t k = 0; k < named_.extent; ++k) {
        const int64_t first = (o * named_.extent + k) * x_.inner;
        for (int64_t i = 0; i < x_.inner; ++i) {
          const int64_t index = indices_.At(indices, first + i);
          visit((o * x_.extent + index) * x_.inner + i, first + i);
        }
      }
    });
  }

 private:
  AxisLines x_;
  AxisLines named_;
  IndexOperand indices_;
  int threads_;
};

template <typename T>
class GatherElementsKernel : public Kernel {
 public:
  GatherElementsKernel(const OpView& node, int threads)
      : elements_(node, threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const void* indices = args.operands[1];
    absl::Status status = elements_.Check(indices);
    if (!status.ok()) return status;
    const T* x = static_cast<const T*>(args.operands[0]);
    T* y = static_cast<T*>(args.results[0]);
    elements_.ForEach(indices,
                      [=](int64_t from, int64_t to) { y[to] = x[from]; });
    return absl::OkStatus();
  }

 private:
  Elements elements_;
};

// Updates replace the element or are added to it.
template <typename T, bool adds>
class ScatterElementsKernel : public Kernel {
 public:
  ScatterElementsKernel(const OpView& node, int threads)
      : elements_(node, threads),
        bytes_(node.result_type(0).num_elements() * sizeof(T)) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const void* indices = args.operands[1];
    absl::Status status = elements_.Check(indices);
    if (!status.ok()) return status;
    const T* updates = static_cast<const T*>(args.operands[2]);
    T* y = static_cast<T*>(args.results[0]);
    if (y != args.operands[0]) std::memcpy(y, args.operands[0], bytes_);
    elements_.ForEach(indices, [=](int64_t to, int64_t from) {
      if constexpr (adds) {
        y[to] += updates[from];
      } else {
        y[to] = updates[from];
      }
    });
    return absl::OkStatus();
  }

 private:
  Elements elements_;
  size_t bytes_;
};

// Values are only moved, so their size decides.
template <template <typename> typename KernelOf>
std::unique_ptr<Kernel> BySize(const OpView& node, int threads) {
  switch (BitsOf(node.result_type(0).dtype)) {
    case 8:
      return std::make_unique<KernelOf<uint8_t>>(node, threads);
    case 16:
      return std::make_unique<KernelOf<uint16_t>>(node, threads);
    case 32:
      return std::make_unique<KernelOf<uint32_t>>(node, threads);
    default:
      return std::make_unique<KernelOf<uint64_t>>(node, threads);
  }
}

bool HasWholeBytes(const OpView& node) {
  const int bits = BitsOf(node.result_type(0).dtype);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

bool AcceptsGather(const OpView& node) {
  return node.is(kGatherElements) && HasIndexOperand(node) &&
         HaveSameLines(node) && HasWholeBytes(node);
}

bool Adds(const OpView& node) { return node.attr_string("reduction") == "add"; }

bool AcceptsScatter(const OpView& node) {
  if (!node.is(kScatterElements) || !HasIndexOperand(node) ||
      !HaveSameLines(node)) {
    return false;
  }
  return Adds(node)
             ? node.result_type(0).dtype == DType::kF32
             : node.attr_string("reduction") == "none" && HasWholeBytes(node);
}

template <typename T>
using Replacing = ScatterElementsKernel<T, false>;

std::unique_ptr<Kernel> BindScatter(const OpView& node, int threads) {
  if (!Adds(node)) return BySize<Replacing>(node, threads);
  return std::make_unique<ScatterElementsKernel<float, true>>(node, threads);
}

}  // namespace

extern const CpuFamily kCpuGatherElements = {
    .kernel = "cpu.gather_elements",
    .bandwidth = 0.1,
    .exact = true,
    .layouts = RowMajorIf<AcceptsGather>,
    .bind = BySize<GatherElementsKernel>,
};

extern const CpuFamily kCpuScatterElements = {
    .kernel = "cpu.scatter_elements",
    .bandwidth = 0.1,
    .exact = true,
    .layouts = RowMajorIf<AcceptsScatter>,
    .bind = BindScatter,
    .in_place = true,
};

}  // namespace partita
