// Tests of counting live bytes, task by task.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/live_bytes.h"

#include "gtest/gtest.h"

namespace partita {
namespace {

// Shard i is all of storage i, of 10, 20, 40 and 80 bytes on devices 0, 0, 1
// and 0. The last is persistent.
class FourStorages {
 public:
  FourStorages() {
    devices_.names.Add("cpu:0");
    devices_.names.Add("cpu:1");
    draft.devices = &devices_;
    for (int i = 0; i < 4; ++i) {
      const MachineDeviceId device(i == 2 ? 1 : 0);
      draft.shards.Add({.device = device,
                        .bytes = 10 << i,
                        .storage = draft.AddStorage(device, 10 << i)});
    }
    draft.storages[StorageId(3)].source = NodeId(0);
  }
  void Add(const std::vector<int>& reads, const std::vector<int>& writes,
           StorageId workspace = {}) {
    Task& task = draft.tasks[draft.tasks.Add({})];
    for (int shard : reads) {
      task.reads.push_back(draft.Whole(ShardId(shard)));
    }
    for (int shard : writes) {
      task.writes.push_back(draft.Whole(ShardId(shard)));
    }
    task.workspace = workspace;
  }

  PlanDraft draft;

 private:
  DeviceTable devices_;
};

TEST(LiveBytesTest, AStorageIsLiveFromItsFirstTaskToItsLast) {
  FourStorages s;
  s.Add({}, {0});
  s.Add({0, 3}, {1});
  s.Add({1}, {2});
  LiveBytes live(s.draft);
  EXPECT_EQ(live.Growth(TaskId(0)), 10);
  live.Start(TaskId(0));
  live.End(TaskId(0));
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 10);
  EXPECT_EQ(live.Growth(TaskId(1)), 20 - 10);  // persistent bytes do not count
  live.Start(TaskId(1));
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 30);
  EXPECT_TRUE(live.is_live(StorageId(0)));
  live.End(TaskId(1));
  EXPECT_FALSE(live.is_live(StorageId(0)));
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 20);
  EXPECT_EQ(live.Growth(TaskId(2)), -20);  // its result is freed at once
  live.Start(TaskId(2));
  EXPECT_EQ(live.bytes(MachineDeviceId(1)), 40);
  live.End(TaskId(2));
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 0);
  EXPECT_EQ(live.bytes(MachineDeviceId(1)), 0);
  EXPECT_EQ(live.peak(), 40);
}

TEST(LiveBytesTest, AWorkspaceIsLiveWhileItsTaskRuns) {
  FourStorages s;
  s.Add({}, {0}, StorageId(1));
  s.Add({0}, {});
  LiveBytes live(s.draft);
  live.Start(TaskId(0));
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 30);
  live.End(TaskId(0));
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 10);
}

TEST(LiveBytesTest, ATaskThatAccessesAStorageTwiceCountsOnce) {
  FourStorages s;
  s.Add({}, {0});
  s.Add({0, 0}, {0});
  LiveBytes live(s.draft);
  for (TaskId task : {TaskId(0), TaskId(1)}) {
    live.Start(task);
    live.End(task);
  }
  EXPECT_EQ(live.peak(), 10);
  EXPECT_EQ(live.bytes(MachineDeviceId(0)), 0);
}

}  // namespace
}  // namespace partita
