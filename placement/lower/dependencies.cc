// Dependencies from the bytes that tasks touch.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/dependencies.h"

#include <algorithm>

namespace partita {
namespace {

struct TouchOfTask {
  int task;
  Extent extent;
};

struct StorageTouches {
  std::vector<TouchOfTask> writes;
  std::vector<TouchOfTask> old_reads;  // of a variable, before its update
};

// By task, the first part of its collective; other tasks stand for themselves.
std::vector<int> FirstParts(const PlanDraft& draft) {
  std::vector<int> first;
  for (size_t i = 0; i < draft.tasks.size(); ++i) {
    const bool goes_on =
        i > 0 && DoTogether(draft.tasks[i - 1], draft.tasks[i]);
    first.push_back(goes_on ? first.back() : static_cast<int>(i));
  }
  return first;
}

void JoinParts(const std::vector<int>& first,
               std::vector<std::vector<int>>& dependencies) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] == static_cast<int>(i)) continue;
    std::vector<int>& joined = dependencies[first[i]];
    joined.insert(joined.end(), dependencies[i].begin(), dependencies[i].end());
    std::sort(joined.begin(), joined.end());
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    dependencies[i].clear();
  }
}

}  // namespace

// Until memory is laid out every byte of a storage is written once, except a
// variable's, which an update writes once more.
std::vector<std::vector<int>> FindDependencies(const PlanDraft& draft) {
  std::vector<StorageTouches> touches(draft.storages.size());
  auto is_old = [&](const Touch& touch) {
    const Piece& piece = draft.pieces[touch.piece];
    return draft.storages[piece.storage].persistent() && !piece.updated;
  };
  const int num_tasks = static_cast<int>(draft.tasks.size());
  for (int i = 0; i < num_tasks; ++i) {
    for (const Touch& touch : draft.tasks[i].writes) {
      const Extent extent = ExtentOf(draft, touch);
      touches[extent.storage].writes.push_back({i, extent});
    }
    for (const Touch& touch : draft.tasks[i].reads) {
      const Extent extent = ExtentOf(draft, touch);
      if (is_old(touch))
        touches[extent.storage].old_reads.push_back({i, extent});
    }
  }
  std::vector<std::vector<int>> dependencies(num_tasks);
  for (int i = 0; i < num_tasks; ++i) {
    std::vector<int>& list = dependencies[i];
    auto add = [&](const std::vector<TouchOfTask>& others, const Extent& mine) {
      for (const TouchOfTask& other : others) {
        if (other.task != i && other.extent.overlaps(mine)) {
          list.push_back(other.task);
        }
      }
    };
    for (const Touch& touch : draft.tasks[i].reads) {
      const Extent mine = ExtentOf(draft, touch);
      if (!is_old(touch)) add(touches[mine.storage].writes, mine);
    }
    for (const Touch& touch : draft.tasks[i].writes) {
      const Extent mine = ExtentOf(draft, touch);
      add(touches[mine.storage].old_reads, mine);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return dependencies;
}

Dependence FindDependence(const PlanDraft& draft) {
  Dependence dependence{FirstParts(draft), FindDependencies(draft), {}};
  JoinParts(dependence.first_part, dependence.before);
  dependence.after.resize(dependence.before.size());
  for (size_t i = 0; i < dependence.before.size(); ++i) {
    for (int before : dependence.before[i]) {
      dependence.after[before].push_back(static_cast<int>(i));
    }
  }
  return dependence;
}

}  // namespace partita
