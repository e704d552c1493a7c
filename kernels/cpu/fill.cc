// cpu.fill: tensors of one value, of any dtype.
// SPDX-License-Identifier: Apache-2.0

#include "graph/host_tensor.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"
#include "kernels/cpu/fill_elements.h"

namespace partita {
namespace {

bool Accepts(const OpView& node) { return node.is(kFill); }

class FillKernel : public Kernel {
 public:
  FillKernel(const OpView& node, int)
      : element_(TensorType{node.result_type(0).dtype, {}, {}}),
        count_(node.result_type(0).num_elements()) {
    SetNumber(element_, 0, node.attr_number("value"));
  }

  absl::Status Launch(const LaunchArgs& args) override {
    FillElements(element_.byte_span(), count_,
                 static_cast<std::byte*>(args.results[0]));
    return absl::OkStatus();
  }

 private:
  HostTensor element_;
  int64_t count_;
};

}  // namespace

extern const CpuFamily kCpuFill = {
    .kernel = "cpu.fill",
    .bandwidth = 0.4,
    .exact = true,
    .layouts = RowMajorIf<Accepts>,
    .bind = NewKernel<FillKernel>,
};

}  // namespace partita
