// Names of kernels and of their libraries.
// SPDX-License-Identifier: Apache-2.0

#include "graph/kernel_id.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

TEST(KernelId, IsALibraryAndAName) {
  const KernelId id = "upcast.onednn.conv";
  EXPECT_EQ(id.library, "upcast");
  EXPECT_EQ(id.name, "onednn.conv");
  EXPECT_EQ(id.ToString(), "upcast.onednn.conv");
  EXPECT_EQ(KernelId("onednn").library, "onednn");
  EXPECT_EQ(KernelId("onednn").name, "");
  EXPECT_EQ(KernelId("onednn").ToString(), "onednn");
}

TEST(KernelId, AnyTextIsKept) {
  for (const char* text : {"", ".", "a.", ".a", "a..b", "a.b."}) {
    EXPECT_EQ(KernelId(text).ToString(), text);
  }
}

TEST(KernelId, VariantsAreTheKernel) {
  const KernelId id = "a.b.c";
  EXPECT_TRUE(id.Is("a.b.c"));
  EXPECT_TRUE(id.Is("a.b"));
  EXPECT_TRUE(id.Is("a"));
  EXPECT_FALSE(id.Is("a.b.c.d"));
  EXPECT_FALSE(id.Is("a.b.cc"));
  EXPECT_FALSE(id.Is("a.bb"));
  EXPECT_FALSE(id.Is("b"));
  EXPECT_FALSE(KernelId("a.bb").Is("a.b"));
}

}  // namespace
}  // namespace partita
