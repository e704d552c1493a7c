// Copies operands out of the way of results.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/unaliased_kernel.h"

#include <cstring>
#include <utility>
#include <vector>

namespace partita {
namespace {

class UnaliasedKernel : public BoundKernel {
 public:
  UnaliasedKernel(std::unique_ptr<BoundKernel> kernel, const OpView& node,
                  absl::Span<const InPlacePair> in_place)
      : kernel_(std::move(kernel)),
        in_place_(in_place.begin(), in_place.end()),
        operands_(node.num_operands()) {
    for (const InPlacePair& pair : in_place_) {
      copies_.emplace_back(node.operand_type(pair.operand));
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    operands_.assign(args.operands.begin(), args.operands.end());
    for (size_t i = 0; i < in_place_.size(); ++i) {
      void*& operand = operands_[in_place_[i].operand];
      if (operand != args.results[in_place_[i].result]) continue;
      std::memcpy(copies_[i].bytes(), operand, copies_[i].byte_span().size());
      operand = copies_[i].bytes();
    }
    LaunchArgs unaliased = args;
    unaliased.operands = operands_;
    return kernel_->Launch(unaliased);
  }

 private:
  std::unique_ptr<BoundKernel> kernel_;
  const std::vector<InPlacePair> in_place_;
  std::vector<HostTensor> copies_;  // by pair
  std::vector<void*> operands_;
};

}  // namespace

std::unique_ptr<BoundKernel> UnaliasOperands(
    std::unique_ptr<BoundKernel> kernel, const OpView& node,
    absl::Span<const InPlacePair> in_place) {
  if (in_place.empty()) return kernel;
  return std::make_unique<UnaliasedKernel>(std::move(kernel), node, in_place);
}

}  // namespace partita
