// Human-readable sizes in bytes: "8 GiB".
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_MACHINE_BYTE_SIZE_H_
#define PARTITA_PLACEMENT_MACHINE_BYTE_SIZE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace partita {

// Larger sizes (above 1 PiB) are errors.
inline constexpr int64_t kMaxByteSize = int64_t{1} << 50;

// Parses "8 GiB", "1.5GiB", "512 MiB", "80 GB", "4096 B" or "4096". Nothing if
// the unit is unknown, or the size is negative, not whole or above
// kMaxByteSize.
std::optional<int64_t> ParseByteSize(absl::string_view text);

// In the largest binary unit that is exact: "8 GiB", "1536 MiB", "4097 B".
std::string ExactByteSize(int64_t bytes);

// One digit after the point, for messages: "9.4 GiB", "512 B".
std::string RoundedByteSize(int64_t bytes);
// The same in the largest unit that distinguishes it from `other`, a size
// beside it: "4.0 MiB" and 40 KiB less would look equal in MiB.
std::string RoundedByteSize(int64_t bytes, int64_t other);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_MACHINE_BYTE_SIZE_H_
