// cpu.gather: slices of one axis, chosen by integer indices.
// SPDX-License-Identifier: Apache-2.0

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/cpu/cpu_family.h"

namespace partita {
namespace {

std::vector<std::string> Layouts(const OpView& node) {
  if (!node.is(kGather)) return {};
  const DType indices = node.operand_type(1).dtype;
  if (indices != DType::kI64 && indices != DType::kI32) return {};
  return {""};
}

class GatherKernel : public BoundKernel {
 public:
  explicit GatherKernel(const OpView& node)
      : name_(node.ToString()),
        wide_(node.operand_type(1).dtype == DType::kI64),
        count_(node.operand_type(1).num_elements()),
        bytes_(BitsOf(node.result_type(0).dtype) / 8) {
    const Shape& dims = node.operand_type(0).dims;
    int64_t axis = node.attr_int("axis");
    if (axis < 0) axis += static_cast<int64_t>(dims.size());
    for (int64_t i = 0; i < axis; ++i) outer_ *= dims[i];
    extent_ = dims[axis];
    for (size_t i = axis + 1; i < dims.size(); ++i) bytes_ *= dims[i];
  }

  absl::Status Launch(const LaunchArgs& args) override {
    return wide_ ? Gather<int64_t>(args) : Gather<int32_t>(args);
  }

 private:
  template <typename T>
  absl::Status Gather(const LaunchArgs& args) {
    const T* indices = static_cast<const T*>(args.operands[1]);
    for (int64_t i = 0; i < count_; ++i) {
      if (indices[i] < -extent_ || indices[i] >= extent_) {
        return absl::InvalidArgumentError(
            absl::StrCat(name_, ": found index ", indices[i], "; expected ",
                         -extent_, "..", extent_ - 1, "; correct the indices"));
      }
    }
    const char* from = static_cast<const char*>(args.operands[0]);
    char* to = static_cast<char*>(args.results[0]);
    for (int64_t o = 0; o < outer_; ++o, from += extent_ * bytes_) {
      for (int64_t i = 0; i < count_; ++i, to += bytes_) {
        const int64_t index = indices[i] + (indices[i] < 0 ? extent_ : 0);
        std::memcpy(to, from + index * bytes_, static_cast<size_t>(bytes_));
      }
    }
    return absl::OkStatus();
  }

  std::string name_;  // for messages
  bool wide_;
  int64_t outer_ = 1;
  int64_t extent_ = 1;
  int64_t count_;
  int64_t bytes_;  // of a slice
};

std::unique_ptr<BoundKernel> Bind(const OpView& node, int) {
  return std::make_unique<GatherKernel>(node);
}

}  // namespace

extern const CpuFamily kCpuGather = {
    .kernel = "cpu.gather",
    .bandwidth = 0.4,
    .exact = true,
    .layouts = Layouts,
    .bind = Bind,
};

}  // namespace partita
