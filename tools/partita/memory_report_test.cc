// The words and the JSON of a session's memory.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/memory_report.h"

#include <gtest/gtest.h>

namespace partita {
namespace {

DeviceMemory OfCpu() {
  return {.device = "cpu:0",
          .arena = 4096,
          .persistent = 1024,
          .allocated = 1024,
          .peak = 3 * 1024,
          .reserved = 4096 + (2 << 20)};
}

DeviceMemory OfGpu() {
  return {.device = "gpu:0",
          .arena = 4096,
          .persistent = 1024,
          .allocated = 1024,
          .peak = 4096,
          .reserved = 4096,
          .staging = 128,
          .limit = 8192,
          .total = 1 << 30,
          .free = 1 << 29,
          .outside = (1 << 29) - 4096};
}

TEST(MemoryReport, AGpuAlsoHasPageLockedAndFreeBytes) {
  EXPECT_EQ(MemoryText({OfCpu(), OfGpu()}),
            "  cpu:0 arena 4096 bytes, as the plan states; allocated 1.0 KiB, "
            "peak 3.0 KiB, reserved 2.0 MiB\n"
            "  gpu:0 arena 4096 bytes, as the plan states; allocated 1.0 KiB, "
            "peak 4.0 KiB, reserved 4.0 KiB, page-locked 128 B; 512.0 MiB of "
            "1.0 GiB free\n");
}

TEST(MemoryReport, JsonHasTheFiguresByDevice) {
  const auto json = MemoryJson({OfCpu(), OfGpu()});
  EXPECT_EQ(json["cpu:0"]["peak"], 3072);
  EXPECT_EQ(json["gpu:0"]["page_locked"], 128);
  EXPECT_EQ(json["gpu:0"]["outside"], (1 << 29) - 4096);
}

TEST(MemoryReport, ASnapshotHasEachBlockWithItsOwners) {
  MemorySnapshot snapshot = {.memory = OfGpu()};
  snapshot.blocks = {
      {.kind = MemoryKind::kVariable, .bytes = 1024, .owners = {"@w"}},
      {.entry = "mlp",
       .kind = MemoryKind::kActivation,
       .offset = 1024,
       .bytes = 512,
       .copies = 2,
       .first_command = 3,
       .last_command = 7,
       .owners = {"%h", "%y"}}};
  const auto json =
      nlohmann::ordered_json::parse(MemorySnapshotText({snapshot}));
  const auto& device = json["devices"]["gpu:0"];
  EXPECT_EQ(device["allocated"], 1024);
  ASSERT_EQ(device["blocks"].size(), 2u);
  EXPECT_EQ(device["blocks"][0]["kind"], "variable");
  EXPECT_FALSE(device["blocks"][0].contains("commands"));
  EXPECT_EQ(device["blocks"][1]["owners"],
            (nlohmann::ordered_json{"%h", "%y"}));
  EXPECT_EQ(device["blocks"][1]["commands"], (nlohmann::ordered_json{3, 7}));
  EXPECT_EQ(device["blocks"][1]["copies"], 2);
}

}  // namespace
}  // namespace partita
