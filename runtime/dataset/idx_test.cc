// Tests of files in MNIST's format, whole and damaged.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/idx.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "runtime/tensor_file/testing/deflate_text.h"

namespace partita {
namespace {

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// The header for an element type and one-byte extents, then `elements`.
std::string File(char type, const std::string& extents,
                 const std::string& elements) {
  std::string text = {0, 0, type, static_cast<char>(extents.size())};
  for (char extent : extents) text += std::string(3, '\0') + extent;
  return text + elements;
}

std::string Fault(const std::string& text) {
  return std::string(OpenIdx(BorrowedBytes(text, "t")).status().message());
}

// The type and the elements, from the plain file and from the compressed one.
void ExpectRead(const std::string& plain, const std::string& type,
                const std::vector<double>& elements) {
  for (const std::string& text : {plain, GzipOf(plain)}) {
    const auto tensor = OpenIdx(BorrowedBytes(text, "t"));
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->type.ToString(), type);
    const HostTensor copy = tensor->Copy();
    ASSERT_EQ(copy.type().num_elements(), elements.size());
    for (size_t i = 0; i < elements.size(); ++i) {
      EXPECT_EQ(GetAsDouble(copy, i), elements[i]);
    }
  }
}

TEST(Idx, EveryElementTypeIsReadInTheHostsOrder) {
  using namespace std::string_literals;
  ExpectRead(File(0x08, "\2\2", "\1\2\3\xff"), "u8[2, 2]", {1, 2, 3, 255});
  ExpectRead(File(0x09, "\2", "\1\xff"), "i8[2]", {1, -1});
  ExpectRead(File(0x0b, "\2", "\1\2\xff\xfe"), "i16[2]", {258, -2});
  ExpectRead(File(0x0c, "\1", "\1\2\3\4"), "i32[1]", {16909060});
  ExpectRead(File(0x0d, "\2", "\x3f\x80\0\0\xc0\x20\0\0"s), "f32[2]",
             {1, -2.5});
  ExpectRead(File(0x0e, "\1", "\x3f\xf0\0\0\0\0\0\0"s), "f64[1]", {1});
}

TEST(Idx, BytesOfAPlainFileStayInTheFile) {
  const std::string text = File(0x08, "\3", "abc");
  const auto tensor = OpenIdx(BorrowedBytes(text, "t"));
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(reinterpret_cast<const char*>(tensor->elements.bytes.data()),
            text.data() + 8);
}

TEST(Idx, APackedFileCutShortAnywhereIsAnError) {
  const std::string whole =
      Content("runtime/tensor_file/recorded/images.idx.gz");
  EXPECT_EQ(Fault(whole), "");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(Fault(whole.substr(0, size)), "") << size;
  }
  EXPECT_EQ(Fault(whole.substr(0, whole.size() - 1)),
            "t: found a packed stream that ends early after 46 bytes; expected "
            "its end; the file was cut short; fetch it again");
}

TEST(Idx, FaultsAreReported) {
  const std::string good = File(0x08, "\2\2", "abcd");
  EXPECT_EQ(Fault(good.substr(0, 3)),
            "t: found 3 bytes; expected at least 4 of an IDX file; the file "
            "was cut short; fetch it again");
  EXPECT_EQ(Fault(good.substr(0, 11)),
            "t: found 11 bytes; expected at least 12 of an IDX file; the file "
            "was cut short; fetch it again");
  EXPECT_EQ(Fault(good.substr(0, 15)),
            "t: found 3 bytes of elements; expected 4 for u8[2, 2]; the file "
            "was cut short; fetch it again");
  EXPECT_EQ(Fault(good + "e"),
            "t: found 5 bytes of elements; expected 4 for u8[2, 2]; it is "
            "damaged; fetch it again");
  EXPECT_EQ(Fault(File(0x0a, "\2", "ab")),
            "t: found first bytes 00 00 0a; expected 00 00 and an element type "
            "(08, 09, 0b, 0c, 0d or 0e) of IDX");
  EXPECT_EQ(Fault(File(0x08, "", "a")), "t: found rank 0; expected 1 to 12");
  EXPECT_EQ(Fault(GzipOf(File(0x08, "\2\2", "abc"))),
            "t: found only 15 bytes in it; expected 16; the file was cut "
            "short; fetch it again");
  EXPECT_EQ(Fault(GzipOf(File(0x08, "\2\2", "abcde"))),
            "t: found more than 16 bytes in it; expected 16; it is damaged or "
            "of another format; fetch it again");
}

TEST(Idx, NothingIsAllocatedForExtentsThatTheFileCannotFill) {
  const std::string extents(12, '\x7f');
  EXPECT_NE(Fault(File(0x0e, extents, "")).find("t: found"), std::string::npos);
  // 127^4 bytes: more than any 40 compressed bytes can hold.
  const std::string packed = GzipOf(File(0x08, extents.substr(0, 4), "a"));
  EXPECT_NE(Fault(packed).find(" packed bytes for u8[127, 127, 127, 127]; "
                               "expected elements of at most "),
            std::string::npos)
      << Fault(packed);
}

}  // namespace
}  // namespace partita
