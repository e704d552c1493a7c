// Checks indices before they are used.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/index_operand.h"

#include "absl/strings/str_cat.h"

namespace partita {

std::string NameForMessages(const OpView& node) {
  const std::string& location = node.node().location;
  return absl::StrCat(location, location.empty() ? "" : ": ", node.ToString());
}

IndexOperand::IndexOperand(const OpView& node, int64_t extent, bool from_end)
    : name_(NameForMessages(node)),
      wide_(node.operand_type(1).dtype == DType::kI64),
      count_(node.operand_type(1).num_elements()),
      extent_(extent),
      least_(from_end ? -extent : 0) {}

absl::Status IndexOperand::Check(const void* indices) const {
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t index = Given(indices, i);
    if (index >= least_ && index < extent_) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": found index ", index, "; expected ", least_,
                     "..", extent_ - 1, "; correct the indices"));
  }
  return absl::OkStatus();
}

bool HasIndexOperand(const OpView& node) {
  const DType indices = node.operand_type(1).dtype;
  return indices == DType::kI64 || indices == DType::kI32;
}

}  // namespace partita
