// No plan is predicted to be faster than the lower bound of its machine, with
// nodes whole, replicated or sharded, in micro-batches and overlapping steps.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 36;
// The order of summation may change the rounding of equal times.
constexpr double kRounding = 1 + 1e-9;

struct Extremes {
  int plans = 0;
  double least_step = std::numeric_limits<double>::infinity();
  double largest_bound = 0;
};

// Each plan must keep its own bound. Plans of the same optimised graph must
// keep each other's; pins, micro-batches and depth change it, or what a step
// is.
void Look(const Module& module, const Machine& machine,
          const CompileOptions& options, Extremes& extremes) {
  const absl::StatusOr<Compiled> compiled =
      Predict(module.Clone(), machine, options);
  if (!compiled.ok()) return;  // not every graph can be sharded like this
  ++extremes.plans;
  const EntryReport& entry = compiled->report.entries[0];
  EXPECT_LE(entry.bound_seconds, entry.step_seconds * kRounding)
      << options.strategy << ", depth " << options.depth << ", "
      << options.micro_batches.value_or(1) << " micro-batches, limited by "
      << entry.bound_by;
  EXPECT_FALSE(entry.bound_by.empty() && entry.bound_seconds > 0);
  if (options.depth > 1 || options.micro_batches > 1 || !options.pins.empty()) {
    return;
  }
  extremes.least_step = std::min(extremes.least_step, entry.step_seconds);
  extremes.largest_bound =
      std::max(extremes.largest_bound, entry.bound_seconds);
}

// Whole on each device for dimension -1.
CompileOptions AllPinned(const Machine& machine, size_t ranks, int dim) {
  CompileOptions options;
  options.strategy = "pinned";
  Pin pin{"*", {}, dim};
  for (size_t d = 0; d < ranks; ++d) {
    pin.devices.push_back(machine.devices[d].traits.name);
  }
  options.pins = {pin};
  return options;
}

Extremes LookAtAll(const Module& module, const Machine& machine) {
  Extremes extremes;
  for (const char* strategy : {"single", "data", "list", "pipeline"}) {
    for (const int depth : {1, 3}) {
      Look(module, machine, {.strategy = strategy, .depth = depth}, extremes);
    }
    Look(module, machine, {.strategy = strategy, .micro_batches = 2}, extremes);
  }
  Look(module, machine, {.strategy = "search"}, extremes);
  for (size_t ranks = 2; ranks <= machine.devices.size(); ++ranks) {
    for (const int dim : {-1, 0, 1}) {
      Look(module, machine, AllPinned(machine, ranks, dim), extremes);
    }
  }
  return extremes;
}

// Rates that no real device has.
Machine OddMachine(uint64_t seed) {
  std::mt19937_64 bits(seed);
  const auto power = [&](double least, double most) {
    const double share = static_cast<double>(bits() % 1000) / 1000;
    return std::pow(10, least + share * (most - least));
  };
  const int devices = 1 + static_cast<int>(bits() % 4);
  Machine machine =
      bits() % 2 == 0 ? EqualCpus(devices, kRoom) : CpuAndGpus(devices, kRoom);
  const bool alike = bits() % 2 == 0;
  const double flops = power(2, 15), bandwidth = power(2, 14);
  for (MachineDevice& device : machine.devices) {
    device.traits.peak_flops[static_cast<int>(DType::kF32)] =
        alike ? flops : power(2, 15);
    device.traits.memory_bandwidth = alike ? bandwidth : power(2, 14);
    device.traits.launch_seconds = bits() % 2 == 0 ? 0 : power(-9, -3);
  }
  for (Link& link : machine.links) {
    link.bandwidth = power(3, 14);
    link.latency = bits() % 2 == 0 ? 0 : power(-9, -3);
    link.duplex = bits() % 2 == 0;
    if (bits() % 3 == 0) link.bus = "bus";
  }
  return machine;
}

Module Parsed(const std::string& text) {
  absl::StatusOr<Module> module =
      ParseModule(text, "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

TEST(LowerBound, RandomGraphsOnOddMachines) {
  int plans = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Module module = RandomGraph(seed, {.steps = 12});
    const Extremes extremes = LookAtAll(module, OddMachine(seed));
    EXPECT_LE(extremes.largest_bound, extremes.least_step * kRounding) << seed;
    plans += extremes.plans;
  }
  EXPECT_GE(plans, 120);
}

// Slices without elements, and what reads them.
Module RandomEmptyValues(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> sizes = {65536, 65536};
  std::string nodes;
  std::vector<std::string> types, names;
  for (int i = 2; i < 10; ++i) {
    const size_t x = random() % sizes.size(), y = random() % sizes.size();
    const int kind = static_cast<int>(random() % 4);
    int size = sizes[x];
    std::string op = absl::StrCat(kind == 0 ? "exp" : "neg", " %v", x);
    if (kind == 2) {
      size = 0;
      op = absl::StrCat("slice %v", x, " {sizes = [0], starts = [0]}");
    } else if (kind == 3 && size + sizes[y] <= 1 << 20) {
      size += sizes[y];
      op = absl::StrCat("concat %v", x, ", %v", y, " {axis = 0}");
    }
    sizes.push_back(size);
    types.push_back(absl::StrCat("f32[", size, "]"));
    names.push_back(absl::StrCat("%v", i));
    absl::StrAppend(&nodes, "  %v", i, " = ", op, " : ", types.back(), "\n");
  }
  return Parsed(absl::StrCat("graph @f(%v0: f32[65536], %v1: f32[65536]) -> (",
                             absl::StrJoin(types, ", "), ") {\n", nodes,
                             "  return ", absl::StrJoin(names, ", "), "\n}\n"));
}

TEST(LowerBound, HoldsForValuesWithoutBytes) {
  int plans = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Extremes extremes =
        LookAtAll(RandomEmptyValues(seed), OddMachine(seed));
    EXPECT_LE(extremes.largest_bound, extremes.least_step * kRounding) << seed;
    plans += extremes.plans;
  }
  EXPECT_GE(plans, 80);
}

// A path of two nodes of some milliseconds, through a value without elements.
TEST(LowerBound, NoPathLeadsThroughAnEmptySlice) {
  const Module module = Parsed(R"(
graph @f(%x: f32[1048576], %y: f32[1048576]) -> (f32[1048576], f32[1048576]) {
  %a = exp %x : f32[1048576]
  %e = slice %a {sizes = [0], starts = [0]} : f32[0]
  %z = concat %y, %e {axis = 0} : f32[1048576]
  %b = exp %z : f32[1048576]
  return %a, %b
}
)");
  const Extremes extremes = LookAtAll(module, EqualCpus(2, kRoom));
  EXPECT_GE(extremes.plans, 4);
  EXPECT_LE(extremes.largest_bound, extremes.least_step * kRounding);
}

// Regression: a bound of 158 ms for a plan of 42 ms.
TEST(LowerBound, HoldsForAProductShardedOverFourDevices) {
  const Module module = Parsed(R"(
graph @f(%x: f32[2048, 64], %y: f32[64, 2048]) -> f32[2048, 2048] {
  %a = matmul %x, %y : f32[2048, 2048]
  %b = matmul %a, %a : f32[2048, 2048]
  return %b
}
)");
  Machine machine = CpuAndGpus(4, kRoom);
  machine.devices.erase(machine.devices.begin());  // the CPU
  std::erase_if(machine.links, [](const Link& l) { return l.from == "cpu:0"; });
  const Extremes extremes = LookAtAll(module, machine);
  EXPECT_GE(extremes.plans, 4);
  EXPECT_GT(extremes.largest_bound, 0);
  EXPECT_LE(extremes.largest_bound, extremes.least_step * kRounding);
}

// Regression: a bound of 84 ms for a plan of 19 ms, because the bound used
// another kernel than the plan.
TEST(LowerBound, HoldsOnADeviceThatIsSlowerThanItsMemory) {
  const Module module = Parsed(R"(
graph @f(%x: f32[65536]) -> f32[65536] {
  %y = neg %x : f32[65536]
  return %y
}
)");
  Machine machine = EqualCpus(1, kRoom);
  for (const double flops : {1e2, 1e5, 1e8, 1e12}) {
    machine.devices[0].traits.peak_flops[static_cast<int>(DType::kF32)] = flops;
    const Extremes extremes = LookAtAll(module, machine);
    EXPECT_GE(extremes.plans, 1);
    EXPECT_LE(extremes.largest_bound, extremes.least_step * kRounding);
    // One core does not exceed its peak rate.
    EXPECT_GE(extremes.least_step, 65536 / flops);
    EXPECT_GE(extremes.largest_bound, 65536 / flops);
  }
}

}  // namespace
}  // namespace partita
