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

// Chains of nodes that cannot be split. A chain begins with a product over a
// dimension of length 0, which reads a slice without elements of another one.
struct EmptyValues {
  explicit EmptyValues(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string nodes;
    std::string outputs;
    std::string types;
    int last = -1;  // of the chain: %x
    for (int i = 0; i < 12; ++i) {
      const std::string value = last < 0 ? "%x" : absl::StrCat("%n", last);
      if (random() % 4 == 0) {
        ++chains;
        absl::StrAppend(
            &nodes, "  %r", i, " = reshape ", value,
            " {shape = [256, 256]} : f32[256, 256]\n  %e", i, " = slice %r", i,
            " {sizes = [256, 0], starts = [0, 0]} : f32[256, 0]\n  %z", i,
            " = matmul %e", i, ", %w : f32[256, 256]\n  %n", i, " = reshape %z",
            i, " {shape = [65536]} : f32[65536]\n");
        Pin(absl::StrCat("e", i), chains - 1);
        Pin(absl::StrCat("z", i), chains);
      } else {
        absl::StrAppend(&nodes, "  %n", i, " = softmax ", value,
                        " {axis = 0} : f32[65536]\n");
        Pin(absl::StrCat("n", i), chains);
      }
      last = i;
      absl::StrAppend(&outputs, i == 0 ? "" : ", ", "%n", i);
      absl::StrAppend(&types, i == 0 ? "" : ", ", "f32[65536]");
    }
    text = absl::StrCat("graph @f(%x: f32[65536], %w: f32[0, 256]) -> (", types,
                        ") {\n", nodes, "  return ", outputs, "\n}\n");
  }

  void Pin(const std::string& name, int chain) {
    pins.push_back({name, {absl::StrCat("cpu:", chain % 3)}});
  }

  int chains = 0;
  std::string text;
  std::vector<partita::Pin> pins;  // each chain on a device
};

TEST(LowerBound, HoldsForValuesWithoutBytes) {
  Machine machine = EqualCpus(3, kRoom);
  for (MachineDevice& device : machine.devices) {
    device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e9;
    device.traits.memory_bandwidth = 1e10;
  }
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    const EmptyValues values(seed);
    const Module module = Parsed(values.text);
    Extremes extremes;
    Look(module, machine, {.strategy = "pinned", .pins = values.pins},
         extremes);
    Look(module, machine, {.strategy = "list"}, extremes);
    Look(module, machine, {.strategy = "data"}, extremes);
    EXPECT_GE(extremes.plans, 2);
  }
}

// Regression: a bound of 159 ms for a plan of 113 ms: nothing waits for %e.
TEST(LowerBound, NoPathLeadsThroughAnEmptySlice) {
  const Module module = Parsed(R"(
graph @f(%x: f32[1048576], %w: f32[0, 1024]) -> (f32[1048576], f32[1048576]) {
  %a = softmax %x {axis = 0} : f32[1048576]
  %b = softmax %a {axis = 0} : f32[1048576]
  %c = softmax %b {axis = 0} : f32[1048576]
  %d = softmax %c {axis = 0} : f32[1048576]
  %r = reshape %d {shape = [1024, 1024]} : f32[1024, 1024]
  %e = slice %r {sizes = [1024, 0], starts = [0, 0]} : f32[1024, 0]
  %z = matmul %e, %w : f32[1024, 1024]
  %s = reshape %z {shape = [1048576]} : f32[1048576]
  %y = softmax %s {axis = 0} : f32[1048576]
  return %d, %y
}
)");
  Machine machine = EqualCpus(2, kRoom);
  for (MachineDevice& device : machine.devices) {
    device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e9;
    device.traits.memory_bandwidth = 1e9;
  }
  CompileOptions options;
  options.strategy = "pinned";
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    options.pins.push_back({name, {"cpu:0"}});
  }
  for (const char* name : {"z", "y"}) options.pins.push_back({name, {"cpu:1"}});
  Extremes extremes;
  Look(module, machine, options, extremes);
  EXPECT_EQ(extremes.plans, 1);
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
