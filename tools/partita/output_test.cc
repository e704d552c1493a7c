// Text made safe for a terminal.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/output.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(Printable, TextIsAsItIs) {
  EXPECT_EQ(Printable("a\tb\n"), "a\tb\n");
  EXPECT_EQ(Printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac");
  EXPECT_EQ(Printable(""), "");
}

TEST(Printable, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(Printable("a\xff\xc0"), "a\\xff\\xc0");
  EXPECT_EQ(Printable("\xe2\x80"), "\\xe2\\x80");
}

TEST(Printable, NoCharacterReordersTheText) {
  EXPECT_EQ(Printable("a\xe2\x80\xae"
                      "b\xe2\x81\xa6"),
            "a\\u202eb\\u2066");
}

TEST(Printable, ATerminalGetsNoOrders) {
  EXPECT_EQ(Printable("\x1b[2J\r\x7f"), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(Printable(absl::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");
}

}  // namespace
}  // namespace partita
