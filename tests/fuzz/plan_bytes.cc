// Writes headers of plan files again.
// SPDX-License-Identifier: Apache-2.0

#include "tests/fuzz/plan_bytes.h"

#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"
#include "runtime/plan/plan_format.h"

namespace partita {

bool FixHash(std::string& bytes) {
  const absl::Span<const std::byte> span(
      reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
  absl::StatusOr<PlanHeader> header = DecodeHeader(span);
  if (!header.ok()) return false;
  header->metadata_hash =
      HashBytes(span.subspan(static_cast<size_t>(header->metadata_offset),
                             static_cast<size_t>(header->metadata_size)));
  const auto encoded = EncodeHeader(*header);
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  return true;
}

void FixSizes(std::string& bytes) {
  if (bytes.size() < kPlanHeaderBytes) return;
  int64_t offset;
  std::memcpy(&offset, bytes.data() + 16, sizeof(offset));
  const int64_t size = static_cast<int64_t>(bytes.size());
  if (offset < kPlanHeaderBytes || offset > size) return;
  const int64_t rest = size - offset;
  std::memcpy(bytes.data() + 24, &rest, sizeof(rest));
  std::memcpy(bytes.data() + 32, &size, sizeof(size));
}

}  // namespace partita
