// The figures of plans on machines of round numbers.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 26;

Compiled Predicted(const CompileOptions& options) {
  auto module = ParseModule(R"(
graph @f(%x: f32[64, 64]) -> f32[64, 64] {
  %h = matmul %x, %x : f32[64, 64]
  %y = matmul %h, %x : f32[64, 64]
  return %y
}
)",
                            "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  auto compiled = Predict(*std::move(module), EqualCpus(2, kRoom), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *std::move(compiled);
}

PlanFigures Figures(const Compiled& compiled) {
  const auto figures =
      FiguresOf(compiled.plan, PlanMachine{EqualCpus(2, kRoom), true});
  EXPECT_TRUE(figures.ok()) << figures.status();
  return *figures;
}

TEST(PlanFiguresTest, TheyAreThoseOfTheCompilationsReport) {
  CompileOptions options;
  options.pins = {{"h", {"cpu:0"}}, {"y", {"cpu:1"}}};
  const Compiled compiled = Predicted(options);
  const PlanFigures figures = Figures(compiled);
  ASSERT_EQ(figures.entries.size(), 1u);
  const EntryFigures& entry = figures.entries[0];
  const EntryReport& report = compiled.report.entries[0];
  EXPECT_EQ(entry.name, "f");
  EXPECT_EQ(entry.step_seconds, report.step_seconds);
  EXPECT_EQ(entry.transfers,
            (TransferCount{report.copies, report.copied_bytes,
                           report.collectives, report.collective_bytes}));
  EXPECT_EQ(entry.transfers.copies, 1);
  EXPECT_EQ(entry.transfers.copied_bytes, 64 * 64 * 4);
  ASSERT_EQ(figures.devices.size(), 2u);
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_EQ(figures.devices[d].device, compiled.report.devices[d].device);
    EXPECT_EQ(figures.devices[d].arena, compiled.report.devices[d].arena);
    EXPECT_EQ(figures.devices[d].memory, kRoom);
    EXPECT_EQ(entry.busy[d].seconds, report.devices[d].busy_seconds);
  }
}

TEST(PlanFiguresTest, ThePathTakesTheWholeLatency) {
  CompileOptions options;
  options.pins = {{"h", {"cpu:0"}}, {"y", {"cpu:1"}}};
  const EntryFigures entry = Figures(Predicted(options)).entries[0];
  const CriticalPath& path = entry.path;
  EXPECT_NEAR(path.kernels + path.transfers + path.ports, entry.latency_seconds,
              1e-12);
  EXPECT_GT(path.kernels, 0);
  EXPECT_GT(path.transfers, 0);
  double seconds = 0;
  std::string titles;
  for (const PathCommand& command : path.commands) {
    seconds += command.seconds;
    EXPECT_GT(command.seconds, 0);
    titles += command.title + " on " + command.device + "; ";
  }
  EXPECT_NEAR(seconds, entry.latency_seconds, 1e-12);
  EXPECT_NE(titles.find("matmul %h on cpu:0; "), std::string::npos) << titles;
  EXPECT_NE(titles.find("matmul %y on cpu:1; "), std::string::npos) << titles;
}

TEST(PlanFiguresTest, OneDeviceTransfersNothing) {
  CompileOptions options;
  options.strategy = "single";
  const PlanFigures figures = Figures(Predicted(options));
  EXPECT_EQ(figures.devices.size(), 1u);
  EXPECT_EQ(figures.entries[0].transfers, TransferCount());
  EXPECT_EQ(figures.entries[0].path.transfers, 0);
}

TEST(PlanPricesTest, AMachineWithoutADeviceOfThePlanIsRefused) {
  CompileOptions options;
  options.pins = {{"h", {"cpu:1"}}};
  const Compiled compiled = Predicted(options);
  const absl::Status status =
      CheckHasDevices(compiled.plan, EqualCpus(1, kRoom));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("found no device cpu:1"), std::string::npos)
      << status;
  EXPECT_TRUE(CheckHasDevices(compiled.plan, EqualCpus(2, kRoom)).ok());
}

TEST(PlanPricesTest, ThePlanKnowsItsMachine) {
  const Compiled compiled = Predicted({});
  const auto own = OwnMachine(compiled.plan);
  ASSERT_TRUE(own.ok()) << own.status();
  ASSERT_TRUE(own->has_value());
  EXPECT_TRUE((*own)->is_own);
  EXPECT_EQ((*own)->machine.DeviceNames(), "cpu:0, cpu:1");
  EXPECT_EQ((*own)->machine.devices[0].memory, kRoom);
  Plan bare;
  const auto none = OwnMachine(bare);
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->has_value());
}

// The price of an untrusted note could keep the simulator from ever ending.
TEST(PlanPricesTest, NotesThatNoCompilerWritesAreRefused) {
  CompileOptions options;
  options.pins = {{"h", {"cpu:0"}}, {"y", {"cpu:1"}}};
  Compiled compiled = Predicted(options);
  PlanMachine machine{EqualCpus(2, kRoom), true};
  machine.machine.profile.hash = "measured elsewhere";
  EXPECT_TRUE(FiguresOf(compiled.plan, machine).ok());
  std::vector<NodeNote>& notes = compiled.plan.notes->entries[0].nodes;
  ASSERT_FALSE(notes.empty());
  const NodeNote good = notes[0];
  for (const double seconds : {std::nan(""), -1.0, HUGE_VAL}) {
    notes[0].seconds = seconds;
    const auto figures = FiguresOf(compiled.plan, machine);
    EXPECT_TRUE(absl::IsInvalidArgument(figures.status())) << seconds;
    EXPECT_TRUE(absl::StrContains(figures.status().message(),
                                  "notes of entry @f: found node seconds "))
        << figures.status();
  }
  notes[0] = good;
  notes[0].node = NodeId(1000);
  EXPECT_TRUE(
      absl::IsInvalidArgument(FiguresOf(compiled.plan, machine).status()));
}

}  // namespace
}  // namespace partita
