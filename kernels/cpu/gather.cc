// cpu.gather: slices along one axis, chosen by integer indices.
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

bool Accepts(const OpView& node) {
  return node.is(kGather) && HasIndexOperand(node);
}

class GatherKernel : public Kernel {
 public:
  GatherKernel(const OpView& node, int threads)
      : lines_(node.operand_type(0).dims, AxisOf(node)),
        indices_(node, lines_.extent, /*from_end=*/true),
        bytes_(lines_.inner * BitsOf(node.result_type(0).dtype) / 8),
        threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const void* indices = args.operands[1];
    if (absl::Status status = indices_.Check(indices); !status.ok()) {
      return status;
    }
    const char* from = static_cast<const char*>(args.operands[0]);
    char* to = static_cast<char*>(args.results[0]);
    const int64_t slices = lines_.outer * indices_.count();
    const int threads = slices * bytes_ < (64 << 10) ? 1 : threads_;
    ParallelFor(threads, slices, [&](int64_t slice) {
      const int64_t outer = slice / indices_.count();
      const int64_t index = indices_.At(indices, slice % indices_.count());
      std::memcpy(to + slice * bytes_,
                  from + (outer * lines_.extent + index) * bytes_,
                  static_cast<size_t>(bytes_));
    });
    return absl::OkStatus();
  }

 private:
  AxisLines lines_;  // operand 0's
  IndexOperand indices_;
  int64_t bytes_;  // of a slice
  int threads_;
};

}  // namespace

extern const CpuFamily kCpuGather = {
    .kernel = "cpu.gather",
    .bandwidth = 0.4,
    .exact = true,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<GatherKernel>,
};

}  // namespace partita
