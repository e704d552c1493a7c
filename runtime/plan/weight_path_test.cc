// Tests of the paths by which plans name weights.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/weight_path.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

TEST(WeightPath, FilesBelowThePlanAreStoredRelative) {
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/b/w.bin"), "w.bin");
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/b/c/../d/w.bin"), "d/w.bin");
  EXPECT_EQ(StoredWeightPath("m.plan", "d/w.bin"), "d/w.bin");
}

TEST(WeightPath, FilesElsewhereAreStoredAbsolute) {
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/w.bin"), "/a/w.bin");
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/bc/w.bin"), "/a/bc/w.bin");
}

TEST(WeightPath, OpensBesideThePlan) {
  EXPECT_EQ(*OpenedWeightPath("/a/b/m.plan", "d/w.bin", false), "/a/b/d/w.bin");
  EXPECT_EQ(*OpenedWeightPath("m.plan", "w.bin", false), "w.bin");
  EXPECT_EQ(*OpenedWeightPath("m.plan", "/x/w.bin", false), "/x/w.bin");
  EXPECT_EQ(*OpenedWeightPath("/a/m.plan", "../w.bin", true), "/a/../w.bin");
}

TEST(WeightPath, RefusesToLeaveTheFolder) {
  EXPECT_EQ(
      OpenedWeightPath("/a/m.plan", "d/../../w.bin", false).status().message(),
      "weights: found d/../../w.bin; expected a path without `..`; put "
      "the file below the plan's folder, or allow parent folders if you "
      "trust the plan");
  EXPECT_FALSE(OpenedWeightPath("/a/m.plan", "/a/../w.bin", false).ok());
  EXPECT_FALSE(
      OpenedWeightPath("/a/m.plan", std::string("w\0x", 3), false).ok());
}

}  // namespace
}  // namespace partita
