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

TEST(Printable, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Printable("a\xff\xc0"), "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Printable, ATerminalGetsNoOrders) {
  EXPECT_EQ(Printable("\x1b[2J\r\x7f"), "\\x1b[2J\\x0d\\x7f");
  EXPECT_EQ(Printable(absl::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");
}

}  // namespace
}  // namespace partita
