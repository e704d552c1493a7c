// Copies operands before results overwrite them.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/unaliased_kernel.h"

#include <cstring>
#include <optional>
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
        copies_(node.num_operands()),
        operands_(node.num_operands()) {
    for (int i = 0; i < node.num_operands(); ++i) {
      types_.push_back(node.operand_type(i));
    }
  }

  absl::Status Launch(const LaunchArgs& args) override {
    operands_.assign(args.operands.begin(), args.operands.end());
    for (const InPlacePair& pair : in_place_) {
      if (operands_[pair.operand] == args.results[pair.result]) {
        CopyAway(pair.operand);
      }
    }
    LaunchArgs unaliased = args;
    unaliased.operands = operands_;
    return kernel_->Launch(unaliased);
  }

 private:
  // Allocates the copy at its first use: a plan uses few of the pairs that it
  // allows.
  void CopyAway(int operand) {
    std::optional<HostTensor>& copy = copies_[operand];
    if (!copy.has_value()) copy.emplace(types_[operand]);
    std::memcpy(copy->bytes(), operands_[operand], copy->byte_span().size());
    operands_[operand] = copy->bytes();
  }

  std::unique_ptr<BoundKernel> kernel_;
  const std::vector<InPlacePair> in_place_;
  std::vector<TensorType> types_;                  // by operand
  std::vector<std::optional<HostTensor>> copies_;  // by operand
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
