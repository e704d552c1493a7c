// Deflate, by zlib.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/inflate.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/tensor_file/bad_file.h"

namespace partita {
namespace {

// zlib counts input in 32 bits.
constexpr size_t kMostPerCall = size_t{1} << 30;
constexpr int kGzipOnly = 16;  // added to the window's bits

}  // namespace

Inflater::Inflater(Format format, absl::Span<const std::byte> packed,
                   std::string source)
    : format_(format), packed_(packed), source_(std::move(source)) {
  opened_ = inflateInit2(
      &stream_, format == Format::kGzip ? MAX_WBITS + kGzipOnly : -MAX_WBITS);
}

Inflater::~Inflater() { inflateEnd(&stream_); }

absl::Status Inflater::Read(absl::Span<std::byte> to) {
  while (!to.empty()) {
    PARTITA_ASSIGN_OR_RETURN(const size_t made, ReadSome(to));
    if (made == 0) {
      return BadFile(source_, absl::StrCat("only ", unpacked_, " bytes in it"),
                     absl::StrCat(unpacked_ + to.size()),
                     "the file was cut short; fetch it again");
    }
    to.remove_prefix(made);
  }
  return absl::OkStatus();
}

absl::Status Inflater::ExpectEnd() {
  std::byte more;
  const int64_t expected = unpacked_;
  PARTITA_ASSIGN_OR_RETURN(const size_t made,
                           ReadSome(absl::MakeSpan(&more, 1)));
  if (made == 0) return absl::OkStatus();
  return BadFile(source_, absl::StrCat("more than ", expected, " bytes in it"),
                 absl::StrCat(expected),
                 "it is damaged or of another format; fetch it again");
}

absl::StatusOr<size_t> Inflater::ReadSome(absl::Span<std::byte> to) {
  if (opened_ != Z_OK) return Failure(opened_);
  while (!ended_) {
    Feed();
    const size_t room = std::min(to.size(), kMostPerCall);
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    const size_t made = room - stream_.avail_out;
    unpacked_ += static_cast<int64_t>(made);
    if (code == Z_STREAM_END) {
      PARTITA_RETURN_IF_ERROR(EndMember());
    } else if (code != Z_OK) {
      return Failure(code);
    }
    if (made > 0) return made;
  }
  return 0;
}

void Inflater::Feed() {
  if (stream_.avail_in > 0) return;
  const size_t size = std::min(packed_.size(), kMostPerCall);
  // zlib only reads through this pointer, although its type is not const.
  stream_.next_in =
      reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed_.data()));
  stream_.avail_in = static_cast<uInt>(size);
  packed_.remove_prefix(size);
}

// Padding of tapes and disks after the last member; gzip ignores it, too.
bool Inflater::OnlyZerosFollow() const {
  return std::all_of(stream_.next_in, stream_.next_in + stream_.avail_in,
                     [](Bytef byte) { return byte == 0; }) &&
         absl::c_all_of(packed_,
                        [](std::byte byte) { return byte == std::byte{0}; });
}

absl::Status Inflater::EndMember() {
  const bool at_end = stream_.avail_in == 0 && packed_.empty();
  if (at_end || (format_ == Format::kGzip && OnlyZerosFollow())) {
    ended_ = true;
    return absl::OkStatus();
  }
  if (format_ == Format::kGzip) {  // another member
    const int code = inflateReset(&stream_);
    return code == Z_OK ? absl::OkStatus() : Failure(code);
  }
  return BadFile(source_,
                 absl::StrCat(stream_.avail_in + packed_.size(),
                              " bytes after the end of its deflate stream"),
                 "none", "it is damaged; fetch it again");
}

absl::Status Inflater::Failure(int code) const {
  switch (code) {
    case Z_BUF_ERROR:  // zlib needs more input, and there is none
      return BadFile(source_,
                     absl::StrCat("a packed stream that ends early after ",
                                  unpacked_, " bytes"),
                     "its end", "the file was cut short; fetch it again");
    case Z_MEM_ERROR:
      return absl::ResourceExhaustedError(absl::StrCat(
          source_, ": found no memory for zlib; expected some 50 KiB"));
    default:
      return BadFile(
          source_,
          absl::StrCat("a damaged packed stream after ", unpacked_, " bytes (",
                       stream_.msg == nullptr ? zError(code) : stream_.msg,
                       ")"),
          "what zlib can unpack", "fetch the file again");
  }
}

}  // namespace partita
