// Tests of the paths by which plans name weights.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/weight_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"

namespace partita {
namespace {

constexpr char kWayOut[] =
    "; expected a file in the plan's folder or below; put the file below the "
    "plan's folder and compile the model there, or compile it with --weights "
    "embed";

TEST(WeightPath, FilesBelowThePlanAreStoredRelative) {
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/b/w.bin"), "w.bin");
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/b/c/../d/w.bin"), "d/w.bin");
  EXPECT_EQ(StoredWeightPath("m.plan", "d/w.bin"), "d/w.bin");
}

TEST(WeightPath, FilesElsewhereAreNotStored) {
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/w.bin"), std::nullopt);
  EXPECT_EQ(StoredWeightPath("/a/b/m.plan", "/a/bc/w.bin"), std::nullopt);
}

TEST(WeightPath, OpensBesideThePlan) {
  EXPECT_EQ(*OpenedWeightPath("/a/b/m.plan", "d/w.bin"), "/a/b/d/w.bin");
  EXPECT_EQ(*OpenedWeightPath("/a/m.plan", "d/../w.bin"), "/a/w.bin");
}

TEST(WeightPath, RefusesToLeaveTheFolder) {
  EXPECT_EQ(OpenedWeightPath("/a/m.plan", "d/../../w.bin").status().message(),
            absl::StrCat(
                "weights: found d/../../w.bin, which leaves the plan's folder",
                kWayOut));
  EXPECT_EQ(OpenedWeightPath("/a/m.plan", "/a/w.bin").status().message(),
            absl::StrCat("weights: found /a/w.bin, an absolute path", kWayOut));
  EXPECT_FALSE(OpenedWeightPath("/a/m.plan", "../ab/w.bin").ok());
  EXPECT_FALSE(OpenedWeightPath("/a/m.plan", std::string("w\0x", 3)).ok());
}

// plans/m.plan; plans/w.bin, plans/folder and linked/m.plan are links.
TEST(WeightPath, LinksAreFollowedFirst) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(fs::canonical(testing::TempDir())) /
                        absl::StrCat("weight_path_", getpid());
  fs::create_directories(root / "plans" / "below");
  fs::create_directories(root / "outside");
  fs::create_directories(root / "linked");
  for (const char* name :
       {"plans/m.plan", "plans/below/w.bin", "outside/w.bin"}) {
    std::ofstream(root / name) << "x";
  }
  fs::create_symlink("../outside/w.bin", root / "plans" / "w.bin");
  fs::create_symlink("../outside", root / "plans" / "folder");
  fs::create_symlink("below/w.bin", root / "plans" / "inside.bin");
  fs::create_symlink("../plans/m.plan", root / "linked" / "m.plan");
  const std::string plan = root / "plans" / "m.plan";
  const std::string outside = root / "outside" / "w.bin";
  EXPECT_EQ(OpenedWeightPath(plan, "w.bin").status().message(),
            absl::StrCat("weights: found w.bin, a link to ", outside,
                         ", outside", kWayOut));
  EXPECT_FALSE(OpenedWeightPath(plan, "folder/w.bin").ok());
  const std::string below = root / "plans" / "below" / "w.bin";
  EXPECT_EQ(*OpenedWeightPath(plan, "inside.bin"), below);
  EXPECT_EQ(*OpenedWeightPath(root / "linked" / "m.plan", "below/w.bin"),
            below);
  EXPECT_EQ(StoredWeightPath(plan, root / "plans" / "w.bin"), std::nullopt);
  EXPECT_EQ(StoredWeightPath(plan, root / "plans" / "inside.bin"),
            "below/w.bin");
  EXPECT_EQ(StoredWeightPath(root / "linked" / "m.plan", below), "below/w.bin");
  fs::remove_all(root);
}

}  // namespace
}  // namespace partita
