// The time in which each strategy places a random graph.
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "placement/machine/machine.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/random_sample.h"

namespace partita {
namespace {

constexpr char kUsage[] = "usage: planner_bench NODES DEVICES\n";
constexpr uint32_t kSeed = 13;
// Of each device: enough for every placement, and too few for any.
constexpr int64_t kAmple = 20'000;
constexpr int64_t kScarce = 1'000;

// Prints the seconds of one planning. False if it failed.
bool Time(const Planner& planner, const SampleGraph& g, const Machine& machine,
          const char* what) {
  const auto begin = std::chrono::steady_clock::now();
  const auto table = PlanBy(planner.name, g, machine);
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - begin;
  const std::string name(planner.name);
  if (!table.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(),
                 std::string(table.status().message()).c_str());
    return false;
  }
  std::printf("%-10s %-16s %8.2f s\n", name.c_str(), what, taken.count());
  return true;
}

int Run(int nodes, int devices) {
  std::mt19937 random(kSeed);
  const RandomSample g(nodes, random);
  bool good = true;
  for (const Planner& planner : Planners()) {
    good &= Time(planner, g, UnequalCpus(devices, 0, kAmple), "equal devices");
    good &= Time(planner, g, UnequalCpus(devices, devices, kAmple),
                 "unequal devices");
    good &= Time(planner, g, UnequalCpus(devices, 0, kScarce), "scarce memory");
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  const int nodes = argc == 3 ? std::atoi(argv[1]) : 0;
  const int devices = argc == 3 ? std::atoi(argv[2]) : 0;
  if (nodes < 1 || devices < 1) {
    std::fputs(partita::kUsage, stderr);
    return 2;
  }
  return partita::Run(nodes, devices);
}
