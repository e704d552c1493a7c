// Tests decompression, and the errors for incomplete streams.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/tensor_file/inflate.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/tensor_file/testing/deflate_text.h"

namespace partita {
namespace {

using Format = Inflater::Format;

// The first `size` bytes of the stream, which must then end, or the error.
std::string Unpacked(Format format, const std::string& packed, size_t size) {
  Inflater inflater(
      format,
      {reinterpret_cast<const std::byte*>(packed.data()), packed.size()},
      "f.gz");
  std::string text(size, '?');
  const absl::Span<char> to = absl::MakeSpan(text);
  absl::Status status =
      inflater.Read({reinterpret_cast<std::byte*>(to.data()), to.size()});
  if (status.ok()) status = inflater.ExpectEnd();
  return status.ok() ? text : std::string(status.message());
}

TEST(Inflate, StreamsOfBothFormatsUnpack) {
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf("some text"), 9), "some text");
  EXPECT_EQ(Unpacked(Format::kRaw, RawDeflateOf("some text"), 9), "some text");
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf(""), 0), "");
}

TEST(Inflate, TheMembersOfAGzipFileFollowOneAnother) {
  EXPECT_EQ(
      Unpacked(Format::kGzip, GzipOf("one ") + GzipOf("") + GzipOf("two"), 7),
      "one two");
}

TEST(Inflate, ZerosMayFollowAGzipFile) {
  const std::string zeros(512, '\0');
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf("one ") + GzipOf("two") + zeros, 7),
            "one two");
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf("one") + zeros + "x", 3),
            "f.gz: found a damaged packed stream after 3 bytes (incorrect "
            "header check); expected what zlib can unpack; fetch the file "
            "again");
  EXPECT_EQ(Unpacked(Format::kRaw, RawDeflateOf("one") + zeros, 3),
            "f.gz: found 512 bytes after the end of its deflate stream; "
            "expected none; it is damaged; fetch it again");
}

TEST(Inflate, AStreamThatIsTooShortIsReportedWithBothSizes) {
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf("some text"), 12),
            "f.gz: found only 9 bytes in it; expected 12; the file was cut "
            "short; fetch it again");
}

TEST(Inflate, AStreamThatIsLongerIsNotUnpackedFurther) {
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf("some text"), 4),
            "f.gz: found more than 4 bytes in it; expected 4; it is damaged or "
            "of another format; fetch it again");
}

TEST(Inflate, AFileCutShortAnywhereIsAnError) {
  const std::string whole = GzipOf("some text that is packed");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(Unpacked(Format::kGzip, whole.substr(0, size), 24)
                  .find("found a packed stream that ends early after"),
              std::string::npos)
        << size;
  }
  EXPECT_EQ(Unpacked(Format::kGzip, whole.substr(0, whole.size() - 1), 24),
            "f.gz: found a packed stream that ends early after 24 bytes; "
            "expected its end; the file was cut short; fetch it again");
}

TEST(Inflate, AWrongChecksumIsAnError) {
  std::string damaged = GzipOf("some text");
  damaged[damaged.size() - 8] ^= 1;
  EXPECT_EQ(Unpacked(Format::kGzip, damaged, 9),
            "f.gz: found a damaged packed stream after 9 bytes (incorrect data "
            "check); expected what zlib can unpack; fetch the file again");
}

TEST(Inflate, BytesAfterTheEndAreAnError) {
  EXPECT_EQ(Unpacked(Format::kGzip, GzipOf("some text") + "tail", 9),
            "f.gz: found a damaged packed stream after 9 bytes (incorrect "
            "header check); expected what zlib can unpack; fetch the file "
            "again");
  EXPECT_EQ(Unpacked(Format::kRaw, RawDeflateOf("some text") + "tail", 9),
            "f.gz: found 4 bytes after the end of its deflate stream; "
            "expected none; it is damaged; fetch it again");
}

TEST(Inflate, TheSizeOfAStreamBoundsItsContent) {
  const std::string zeros(1 << 22, '\0');
  const std::string packed = RawDeflateOf(zeros);
  EXPECT_GE(MostUnpackedBytes(packed.size()),
            static_cast<int64_t>(zeros.size()));
  // The bound is close: zlib almost reaches it.
  EXPECT_LT(MostUnpackedBytes(packed.size()),
            static_cast<int64_t>(zeros.size()) * 102 / 100);
}

}  // namespace
}  // namespace partita
