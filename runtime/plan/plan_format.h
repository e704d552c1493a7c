// The layout of a plan file around its metadata.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_PLAN_PLAN_FORMAT_H_
#define PARTITA_RUNTIME_PLAN_PLAN_FORMAT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/literal_pool.h"

namespace partita {

// Header (64 bytes), constants, native code, metadata (plan.fbs). Every part
// starts at a multiple of 64 bytes, parts of a page or more at a multiple of
// 4096. The gaps are zero. Numbers are little-endian.
//
//   0  magic "PARTITA\n"        32  size of the file
//   8  format version, u32      40  hash of the metadata, high, low
//  12  zero, u32                56  zero, u64
//  16  offset of the metadata
//  24  size of the metadata
inline constexpr uint32_t kPlanFormatVersion = 1;
inline constexpr int64_t kPlanHeaderBytes = 64;

struct PlanHeader {
  int64_t metadata_offset = 0;
  int64_t metadata_size = 0;
  int64_t file_size = 0;
  ContentHash metadata_hash;
};

std::array<std::byte, kPlanHeaderBytes> EncodeHeader(const PlanHeader& header);

// Checks magic, version, zeros and sizes against the whole file, and that the
// metadata is inside it. Messages do not name the file.
absl::StatusOr<PlanHeader> DecodeHeader(absl::Span<const std::byte> file);

// The first offset at or after `end` where a part of `size` bytes may start.
int64_t AlignedOffset(int64_t end, int64_t size);

// OK if `size` bytes at `offset` are inside a file of `file_size` bytes.
absl::Status CheckFileRange(int64_t offset, int64_t size, int64_t file_size);

}  // namespace partita

#endif  // PARTITA_RUNTIME_PLAN_PLAN_FORMAT_H_
