// The text of a refusal.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/refusal.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "placement/machine/byte_size.h"

namespace partita {
namespace {

constexpr size_t kMostHolders = 5;

std::string HoldersText(const std::vector<RefusalHolder>& holders) {
  std::vector<std::string> texts;
  for (const RefusalHolder& holder : holders) {
    if (texts.size() == kMostHolders) break;
    texts.push_back(absl::StrCat(holder.name, " ",
                                 RoundedByteSize(holder.bytes), " (",
                                 holder.kind, ")"));
  }
  if (texts.empty()) return "";
  return absl::StrCat("; largest: ", absl::StrJoin(texts, ", "));
}

}  // namespace

std::string RefusalText(const Refusal& refusal) {
  const std::string at =
      refusal.at.empty() ? "" : absl::StrCat(" at ", refusal.at);
  const std::string remedies =
      refusal.remedies.empty()
          ? ""
          : absl::StrCat("; try ", absl::StrJoin(refusal.remedies, ", or "));
  return absl::StrCat(
      refusal.where, ": found ", RoundedByteSize(refusal.needed), " needed on ",
      refusal.device, at, ", ", RoundedByteSize(refusal.needed - refusal.limit),
      " too much; expected at most ", RoundedByteSize(refusal.limit),
      HoldersText(refusal.largest), remedies);
}

absl::Status RefusalError(const Refusal& refusal) {
  return absl::ResourceExhaustedError(RefusalText(refusal));
}

std::string MemoryRemedy(int64_t needed, absl::string_view device) {
  // Seven binary digits: at most 1/64 more than is needed.
  int64_t step = 1;
  while (needed / step >= 128) step *= 2;
  const int64_t rounded = (needed + step - 1) / step * step;
  return absl::StrCat("a machine with at least ", ExactByteSize(rounded),
                      " free on ", device);
}

std::string ValueText(const Graph& graph, ValueId value) {
  const std::string& name = graph.value(value).name;
  if (!name.empty()) return absl::StrCat("%", name);
  return absl::StrCat("%", value.index);
}

}  // namespace partita
