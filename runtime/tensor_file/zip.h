// The members of a zip archive (PKWARE's APPNOTE), stored or deflated.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_ZIP_H_
#define PARTITA_RUNTIME_TENSOR_FILE_ZIP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/tensor_file/file_bytes.h"

namespace partita {

struct ZipMember {
  std::string name;
  bool deflated = false;
  absl::Span<const std::byte> packed;  // bytes of the archive
  int64_t size = 0;                    // decompressed; possible for `packed`
  uint32_t checksum = 0;               // CRC-32 of the decompressed bytes
};

// The members of an archive, in its own order. Refuses what Partita does not
// read (zip64, several disks, encryption, other methods), repeated names and
// overlapping members. So all members together decompress to at most
// MostUnpackedBytes of the archive. Any bytes are safe.
absl::StatusOr<std::vector<ZipMember>> ListZip(const FileBytes& archive);

// The member's bytes: those of the archive if they are stored, else
// decompressed into new memory. Verifies the checksum.
absl::StatusOr<FileBytes> UnpackMember(const FileBytes& archive,
                                       const ZipMember& member);

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_ZIP_H_
