// JSON that other programs can read, for any names.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/json_text.h"

#include "gtest/gtest.h"
#include "tools/partita/output.h"

namespace partita {
namespace {

TEST(JsonText, ControlCharactersAreEscapedAsJsonHasIt) {
  const std::string name = "a\x7f\xc2\x85\x1b\n\xc3\xa9";
  const std::string text = JsonText({{"name", name}});
  EXPECT_EQ(text, "{\n  \"name\": \"a\\u007f\\u0085\\u001b\\n\xc3\xa9\"\n}\n");
  EXPECT_EQ(Printable(text), text);
  EXPECT_EQ(nlohmann::json::parse(text)["name"], name);
}

TEST(JsonText, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(JsonText({"\xff"}), "[\n  \"\xef\xbf\xbd\"\n]\n");
}

}  // namespace
}  // namespace partita
