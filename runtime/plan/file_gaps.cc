// Iterates over the parts of a plan file in the order of their bytes.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/file_gaps.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/plan/plan_format.h"

namespace partita {
namespace {

// First byte, and one past the last.
using Part = std::pair<int64_t, int64_t>;

// A constant without a literal is not read, so it is not a part.
void AddConstants(const fb::Plan& plan, std::vector<Part>& parts) {
  if (plan.literals() == nullptr) return;
  for (const fb::Literal* literal : *plan.literals()) {
    const fb::Constant& constant =
        *plan.constants()->Get(static_cast<uint32_t>(literal->constant()));
    if (constant.file() >= 0) continue;
    parts.emplace_back(constant.offset(), constant.offset() + constant.size());
  }
}

void AddCode(const fb::Plan& plan, std::vector<Part>& parts) {
  if (plan.code_objects() == nullptr) return;
  for (const fb::CodeObject* code : *plan.code_objects()) {
    if (code->declared()) continue;
    parts.emplace_back(code->offset(), code->offset() + code->size());
  }
}

absl::Status CheckZero(absl::Span<const std::byte> file, int64_t begin,
                       int64_t end) {
  const auto gap = file.subspan(static_cast<size_t>(begin),
                                static_cast<size_t>(end - begin));
  const auto found =
      absl::c_find_if(gap, [](std::byte b) { return b != std::byte{0}; });
  if (found == gap.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("found byte ", begin + (found - gap.begin()),
                   ", which is between the parts of the file, not zero; the "
                   "file is damaged: copy or compile it again"));
}

}  // namespace

absl::Status CheckGaps(const fb::Plan& plan,
                       absl::Span<const std::byte> metadata,
                       absl::Span<const std::byte> file) {
  const int64_t size = static_cast<int64_t>(file.size());
  const int64_t start = metadata.data() - file.data();
  std::vector<Part> parts = {
      {0, kPlanHeaderBytes},
      {start, start + static_cast<int64_t>(metadata.size())},
      {size, size}};
  AddConstants(plan, parts);
  AddCode(plan, parts);
  absl::c_sort(parts);
  int64_t end = 0;
  for (const Part& part : parts) {
    if (part.first > end) {
      PARTITA_RETURN_IF_ERROR(CheckZero(file, end, part.first));
    }
    end = std::max(end, part.second);
  }
  return absl::OkStatus();
}

}  // namespace partita
