// Decompresses deflate streams (RFC 1951), raw or in gzip files (RFC 1952).
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

// The largest size of a stream of `packed` bytes: its shortest code, two bits,
// stands for 258 bytes. Readers compare a size in a file with this before they
// allocate.
inline constexpr int64_t MostUnpackedBytes(size_t packed) {
  return static_cast<int64_t>(packed) * 1032;
}

// Decompresses in steps, into the caller's memory only. Any bytes are safe.
class Inflater {
 public:
  // A gzip file may have several members in sequence, whose checksums are
  // verified; zeros may follow the last. A raw stream has no checksum.
  enum class Format { kGzip, kRaw };

  // The caller keeps `packed` alive. Messages begin with `source`.
  Inflater(Format format, absl::Span<const std::byte> packed,
           std::string source);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills `to`. An error if the stream ends before, or is damaged.
  absl::Status Read(absl::Span<std::byte> to);
  // An error unless the stream ends here, complete.
  absl::Status ExpectEnd();

 private:
  // Decompresses at least one byte into `to`; none at the end of the stream.
  absl::StatusOr<size_t> ReadSome(absl::Span<std::byte> to);
  void Feed();
  bool OnlyZerosFollow() const;
  absl::Status EndMember();
  absl::Status Failure(int code) const;

  const Format format_;
  absl::Span<const std::byte> packed_;  // not yet passed to zlib
  const std::string source_;
  int64_t unpacked_ = 0;
  bool ended_ = false;
  int opened_;  // zlib's result
  z_stream stream_ = {};
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_TENSOR_FILE_INFLATE_H_
