// Compares dependencies with those of all pairs of accesses.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/dependencies.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace partita {
namespace {

constexpr int kStorages = 3;
constexpr int64_t kBytes = 256;

// Kernels that access random ranges of a few storages; the last storage is a
// variable's. Shard i is the whole storage i; shard kStorages is the new value
// of the variable.
PlanDraft RandomDraft(int tasks, std::mt19937& random) {
  PlanDraft draft;
  draft.shards = IdVector<ShardId, Shard>(kStorages + 1);
  for (Shard& shard : draft.shards) shard.bytes = kBytes;
  for (int s = 0; s < kStorages; ++s) {
    draft.shards[ShardId(s)].storage = draft.AddStorage({}, kBytes);
  }
  const StorageId variable(kStorages - 1);
  draft.storages[variable].source = NodeId(0);
  draft.shards[ShardId(kStorages)].storage = variable;
  draft.shards[ShardId(kStorages)].updated = true;
  const auto access = [&](int shards) {
    const int64_t begin = random() % kBytes;
    const int64_t end = begin + random() % (kBytes - begin);
    return ShardAccess{ShardId(static_cast<int>(random() % shards)),
                       {.offset = begin, .block = end - begin}};
  };
  for (int t = 0; t < tasks; ++t) {
    Task task;
    for (int i = 0; i < 2; ++i) task.reads.push_back(access(kStorages + 1));
    task.writes = {access(kStorages + 1)};
    draft.tasks.Add(task);
  }
  return draft;
}

// A read follows writes of its bytes; but a read of a variable's old value is
// followed by them.
bool Follows(const PlanDraft& draft, const Task& task, const Task& before) {
  const auto is_old = [&](const ShardAccess& read) {
    return read.shard == ShardId(kStorages - 1);
  };
  const auto overlap = [&](const ShardAccess& a, const ShardAccess& b) {
    return ExtentOf(draft, a).overlaps(ExtentOf(draft, b));
  };
  for (const ShardAccess& read : task.reads) {
    for (const ShardAccess& write : before.writes) {
      if (!is_old(read) && overlap(read, write)) return true;
    }
  }
  for (const ShardAccess& write : task.writes) {
    for (const ShardAccess& read : before.reads) {
      if (is_old(read) && overlap(read, write)) return true;
    }
  }
  return false;
}

TEST(FindDependence, ATaskFollowsTheWritersOfWhatItReads) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const PlanDraft draft = RandomDraft(40, random);
    const Dependence dependence = FindDependence(draft);
    for (TaskId task : draft.tasks.ids()) {
      std::vector<TaskId> expected;
      for (TaskId before : draft.tasks.ids()) {
        if (before != task &&
            Follows(draft, draft.tasks[task], draft.tasks[before])) {
          expected.push_back(before);
        }
      }
      ASSERT_EQ(dependence.before[task], expected)
          << "task " << task.index << " of round " << round;
    }
  }
}

}  // namespace
}  // namespace partita
