// Tests the uses of files.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/file_uses.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(FileUses, EveryKindHasOne) {
  for (int i = 0; i <= static_cast<int>(kLastFileKind); ++i) {
    EXPECT_FALSE(UseOf(static_cast<FileKind>(i), "x").empty()) << i;
  }
  EXPECT_EQ(UseOf(FileKind::kPlan, "a.plan"),
            "it is compiled already: partita simulate a.plan shows its "
            "figures, partita run a.plan runs it");
}

}  // namespace
}  // namespace partita
