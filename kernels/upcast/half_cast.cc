// A conversion as a node's kernel.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/upcast/half_cast.h"

#include <memory>

#include "graph/device_rates.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "kernels/upcast/half_arrays.h"

namespace partita {
namespace {

constexpr char kKernel[] = "upcast.cast";

Arithmetic CastArithmetic() {
  return {.source = "rounded to", .implementation = "nearest even"};
}

class HalfCast : public Kernel {
 public:
  HalfCast(const OpView& node, int threads)
      : from_(node.operand_type(0).dtype),
        to_(node.result_type(0).dtype),
        elements_(node.result_type(0).num_stored_elements()),
        threads_(threads) {}

  absl::Status Launch(const LaunchArgs& args) override {
    const void* from = args.operands[0];
    void* to = args.results[0];
    if (IsHalf(to_)) {
      Narrow(to_, static_cast<const float*>(from), to, elements_, threads_);
    } else {
      Upcast(from_, from, static_cast<float*>(to), elements_, threads_);
    }
    return absl::OkStatus();
  }

 private:
  DType from_;
  DType to_;
  int64_t elements_;
  int threads_;
};

}  // namespace

bool IsHalf(DType dtype) {
  return dtype == DType::kBF16 || dtype == DType::kF16;
}

bool IsHalfCast(const OpView& node) {
  if (!node.is(kCast)) return false;
  const DType from = node.operand_type(0).dtype;
  const DType to = node.result_type(0).dtype;
  return (from == DType::kF32 && IsHalf(to)) ||
         (IsHalf(from) && to == DType::kF32);
}

KernelChoice ChooseHalfCast(const OpView& node, const DeviceTraits& device) {
  KernelChoice choice;
  choice.kernel = kKernel;
  choice.operands.resize(1);
  choice.results.resize(1);
  choice.any_layout = true;
  choice.seconds = device.launch_seconds +
                   static_cast<double>(node.operand_type(0).num_bytes() +
                                       node.result_type(0).num_bytes()) /
                       MemoryBandwidth(device);
  choice.arithmetics = {CastArithmetic()};
  return choice;
}

BoundKernel BindHalfCast(const OpView& node, const DeviceTraits& device) {
  BoundKernel bound;
  bound.id = kKernel;
  bound.arithmetic = CastArithmetic();
  bound.kernel = std::make_unique<HalfCast>(node, device.threads);
  return bound;
}

}  // namespace partita
