// The payload of a memory shortage.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/memory_shortage.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace partita {
namespace {

constexpr char kPayload[] = "partita/missing_bytes";

}  // namespace

absl::Status ShortageError(const Refusal& refusal) {
  absl::Status status = RefusalError(refusal);
  status.SetPayload(kPayload,
                    absl::Cord(absl::StrCat(refusal.needed - refusal.limit, " ",
                                            refusal.device)));
  return status;
}

std::optional<MissingBytes> MissingBytesOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(*payload), absl::MaxSplits(' ', 1));
  MissingBytes missing;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &missing.bytes)) {
    return std::nullopt;
  }
  missing.device = parts[1];
  return missing;
}

}  // namespace partita
