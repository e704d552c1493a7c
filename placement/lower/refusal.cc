// The text of a refusal, and its payload in a status.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/refusal.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "graph/round_up.h"
#include "placement/machine/byte_size.h"

namespace partita {
namespace {

constexpr size_t kMostHolders = 5;
constexpr char kPayload[] = "partita/memory_shortage";

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
  return absl::StrCat(
      refusal.where, ": found ", RoundedByteSize(refusal.needed), " needed on ",
      refusal.device, at, ", ",
      RoundedByteSize(refusal.needed - refusal.limit, refusal.needed),
      " too much; expected at most ", RoundedByteSize(refusal.limit),
      HoldersText(refusal.largest));
}

absl::Status RefusalError(const Refusal& refusal) {
  absl::Status status = absl::ResourceExhaustedError(RefusalText(refusal));
  SetShortage({.device = refusal.device,
               .needed = refusal.needed,
               .limit = refusal.limit},
              status);
  return status;
}

void SetShortage(const MemoryShortage& shortage, absl::Status& status) {
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(
                                  shortage.needed, " ", shortage.limit, " ",
                                  shortage.strategy, " ", shortage.device)));
}

std::optional<MemoryShortage> ShortageOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(*payload), absl::MaxSplits(' ', 3));
  MemoryShortage shortage;
  if (parts.size() != 4 || !absl::SimpleAtoi(parts[0], &shortage.needed) ||
      !absl::SimpleAtoi(parts[1], &shortage.limit)) {
    return std::nullopt;
  }
  shortage.strategy = parts[2];
  shortage.device = parts[3];
  return shortage;
}

std::string MemoryRemedy(const MemoryShortage& shortage) {
  // Seven binary digits: at most 1/64 more than is needed.
  int64_t step = 1;
  while (shortage.needed / step >= 128) step *= 2;
  const int64_t rounded = RoundUp(shortage.needed, step);
  return absl::StrCat("a machine with at least ", ExactByteSize(rounded),
                      " free on ", shortage.device,
                      shortage.strategy.empty()
                          ? ""
                          : absl::StrCat(" for strategy ", shortage.strategy));
}

}  // namespace partita
