// Unpacking of deflate streams (RFC 1951), alone or in gzip files (RFC 1952).
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_TENSOR_FILE_INFLATE_H_
#define PARTITA_RUNTIME_TENSOR_FILE_INFLATE_H_

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace partita {

// No stream of `packed` bytes holds more: its shortest code, two bits, stands
// for 258 bytes. Whoever reads a size from a file holds it against this before
// anything is allocated.
inline constexpr int64_t MostUnpackedBytes(size_t packed) {
  return static_cast<int64_t>(packed) * 1032;
}

// Unpacks piece by piece, into memory of the caller only. Any bytes are safe.
class Inflater {
 public:
  // A gzip file may have several members, which follow one another, and their
  // checksums are verified; zeros may follow the last. A raw stream has none.
  enum class Format { kGzip, kRaw };

  // `packed` is kept by the caller; messages begin with `source`.
  Inflater(Format format, absl::Span<const std::byte> packed,
           std::string source);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `to`. An error if the stream ends before, or is damaged.
  absl::Status Read(absl::Span<std::byte> to);
  // An error unless the stream ends here, whole.
  absl::Status ExpectEnd();

 private:
  // Unpacks at least one byte into `to`; none at the end of the stream.
  absl::StatusOr<size_t> ReadSome(absl::Span<std::byte> to);
  void Feed();
  bool OnlyZerosFollow() const;
  absl::Status EndMember();
  absl::Status Failure(int code) const;

  const Format format_;
  absl::Span<const std::byte> packed_;  // what zlib has not been given yet
  const std::string source_;
  int64_t unpacked_ = 0;
  bool ended_ = false;
  int opened_;  // zlib's answer
  z_stream stream_ = {};
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_INFLATE_H_
