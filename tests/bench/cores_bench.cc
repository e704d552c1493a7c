// What a second core adds: the work per second of two threads on two cores,
// over that of one thread with the other core idle. No plan for two one-core
// devices can gain more.
// SPDX-License-Identifier: Apache-2.0

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "kernels/vector/float_vector.h"
#include "kernels/vector/vector_code.h"

namespace partita {
namespace {

constexpr int kRuns = 15;

// What each thread repeats: copies of this many floats, or multiply-adds.
struct Loop {
  const char* name;
  int64_t copied;
};
constexpr Loop kLoops[] = {{"multiply-adds", 0},
                           {"copies of 256 KiB", int64_t{1} << 16},
                           {"copies of 64 MiB", int64_t{1} << 24}};

// Enough independent sums to hide the latency of one.
struct MultiplyAdds {
  [[gnu::always_inline]] static inline void Run(int64_t rounds, float* result) {
    constexpr int kSums = 12;
    Vector sums[kSums] = {};
    const Vector factor = Vector{} + result[0];
    for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
      for (int s = 0; s < kSums; ++s) sums[s] = sums[s] * factor + factor;
    }
    for (int s = 1; s < kSums; ++s) sums[0] += sums[s];
    Store(sums[0], result);
  }
};

// The work of one thread, by its number.
using Work = std::function<void(int)>;

std::vector<int> Cores() {
  cpu_set_t allowed;
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

void StayOn(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

// Until the last thread is done; all begin together.
double SecondsOf(const std::vector<int>& cores, int threads, const Work& work) {
  std::atomic<int> ready = 0;
  std::vector<double> seconds(threads);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&, i] {
      StayOn(cores[i]);
      for (++ready; ready < threads;) continue;
      const auto start = std::chrono::steady_clock::now();
      work(i);
      seconds[i] = std::chrono::duration<double>(
                       std::chrono::steady_clock::now() - start)
                       .count();
    });
  }
  for (std::thread& thread : workers) thread.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

// The median, minimum and maximum of several runs.
void Print(const char* name, const std::vector<int>& cores, const Work& work) {
  std::vector<double> gains;
  for (int run = 0; run < kRuns; ++run) {
    const double one = SecondsOf(cores, 1, work);
    gains.push_back(2 * one / SecondsOf(cores, 2, work));
  }
  std::sort(gains.begin(), gains.end());
  std::printf("%s: %.2f (%.2f to %.2f)\n", name, gains[kRuns / 2],
              gains.front(), gains.back());
}

void PrintMultiplyAdds(const char* name, const std::vector<int>& cores) {
  std::vector<std::vector<float>> results(2, std::vector<float>(kVector, 0.5f));
  Print(name, cores, [&](int thread) {
    RunVectorised<MultiplyAdds>(int64_t{10} << 20, results[thread].data());
  });
}

void PrintCopies(const char* name, const std::vector<int>& cores,
                 int64_t floats) {
  constexpr int64_t kFloats = int64_t{1} << 26;  // copied in a run
  std::vector<std::vector<float>> from(2, std::vector<float>(floats));
  std::vector<std::vector<float>> to = from;
  Print(name, cores, [&](int thread) {
    for (int64_t copied = 0; copied < kFloats; copied += floats) {
      std::memcpy(to[thread].data(), from[thread].data(),
                  floats * sizeof(float));
    }
  });
}

// `only` names one of the loops; empty: all.
int Main(const std::string& only) {
  const std::vector<int> cores = Cores();
  if (cores.size() < 2) {
    std::fprintf(stderr, "cores_bench: found %zu core; expected two or more\n",
                 cores.size());
    return 1;
  }
  bool found = false;
  for (const Loop& loop : kLoops) {
    if (!only.empty() && only != loop.name) continue;
    found = true;
    if (loop.copied == 0) {
      PrintMultiplyAdds(loop.name, cores);
    } else {
      PrintCopies(loop.name, cores, loop.copied);
    }
  }
  if (!found) {
    std::fprintf(stderr, "cores_bench: found no loop \"%s\"; expected one of",
                 only.c_str());
    for (const Loop& loop : kLoops) std::fprintf(stderr, " \"%s\"", loop.name);
    std::fprintf(stderr, "\n");
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: cores_bench [LOOP]\n");
    return 1;
  }
  return partita::Main(argc == 2 ? argv[1] : "");
}
