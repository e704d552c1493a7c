// Queries the system and the environment.
// SPDX-License-Identifier: Apache-2.0

#include "graph/thread_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

namespace partita {
namespace {

constexpr int64_t kMostThreads = 8192;

// The first number of a file; `otherwise` if there is none ("max") or no file.
int64_t FirstNumber(const char* path, int64_t otherwise) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value && value > 0 ? value : otherwise;
}

int64_t LimitOfUser() {
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0 ||
      limit.rlim_cur > static_cast<rlim_t>(kMostThreads)) {
    return kMostThreads;
  }
  return static_cast<int64_t>(limit.rlim_cur);
}

}  // namespace

int64_t MostThreads() {
  int64_t most = std::min(kMostThreads, LimitOfUser());
  for (const char* path :
       {"/proc/sys/kernel/threads-max", "/sys/fs/cgroup/pids.max",
        "/sys/fs/cgroup/pids/pids.max"}) {
    most = std::min(most, FirstNumber(path, most));
  }
  return most;
}

int MostTeamThreads() {
  const char* text = std::getenv("OMP_THREAD_LIMIT");
  const int limit = text == nullptr ? 0 : std::atoi(text);
  return limit > 0 ? limit : std::numeric_limits<int>::max();
}

}  // namespace partita
