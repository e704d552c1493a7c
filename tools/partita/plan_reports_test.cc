// What diff, explain and fits print.
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/partita/diff_text.h"
#include "tools/partita/explain_text.h"
#include "tools/partita/figures_text.h"
#include "tools/partita/fits_text.h"

namespace partita {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::ordered_json;

EntryFigures Figures(double step, int copies) {
  EntryFigures figures;
  figures.name = "f";
  figures.step_seconds = figures.latency_seconds = step;
  figures.busy = {{"cpu:0", step / 2}};
  figures.transfers = {.copies = copies, .copied_bytes = copies * 1024};
  figures.path = {
      .kernels = step / 2,
      .transfers = 0,
      .ports = step / 2,
      .commands = {{"matmul %y", "cpu:0", Command::Kind::kKernel, step / 2},
                   {"fetch y", "cpu:0", Command::Kind::kFetch, step / 2}}};
  return figures;
}

PlanDiff Moved() {
  PlanDiff diff{
      .name_a = "f", .name_b = "f", .machine_a = "two", .machine_b = "two"};
  EntryDiff& entry = diff.entries.emplace_back();
  entry.a = Figures(1e-4, 0);
  entry.b = Figures(2e-4, 1);
  entry.paired = 4;
  entry.moved.push_back({.op = "matmul",
                         .a = {.name = "%y",
                               .placement = "cpu:0",
                               .kernel = "onednn.matmul",
                               .arithmetic = "onednn 2.6.3",
                               .reason = "best_device",
                               .seconds = 1e-5},
                         .b = {.name = "%y",
                               .placement = "gpu:0",
                               .kernel = "ptx.indices",
                               .arithmetic = "codegen 3 ptx",
                               .reason = "pinned",
                               .seconds = 2e-5},
                         .arithmetic = {"kernel", "version"}});
  entry.computed = entry.moved;
  entry.only_b = {"relu %r"};
  diff.devices = {
      {"cpu:0", ArenaFigures{"cpu:0", 4096, 0, 8192},
       ArenaFigures{"cpu:0", 1024, 0, 8192}},
      {"gpu:0", std::nullopt, ArenaFigures{"gpu:0", 2048, 1024, 8192}}};
  return diff;
}

TEST(DiffTextTest, FiguresThenNodesThenMemory) {
  EXPECT_EQ(
      DiffText(Moved()),
      "plan @f, machine two\n"
      "entry @f\n"
      "  step 100.0 us -> 200.0 us (+100.0 %), latency 100.0 us -> 200.0 us "
      "(+100.0 %)\n"
      "  transfers none -> 1 copy, 1.0 KiB\n"
      "  critical path: kernels 50.0 us -> 100.0 us (+100.0 %), transfers 0.0 "
      "us, feeds and fetches 50.0 us -> 100.0 us (+100.0 %)\n"
      "    longest before: matmul %y 50.0 us, fetch y 50.0 us\n"
      "    longest after: matmul %y 100.0 us, fetch y 100.0 us\n"
      "  moved 1 node of 4\n"
      "    matmul %y  cpu:0 -> gpu:0  10.0 us -> 20.0 us (+100.0 %)  because "
      "best_device -> pinned\n"
      "  other arithmetic in 1 node of 4\n"
      "    matmul %y  kernel, version: onednn.matmul -> ptx.indices (onednn "
      "2.6.3 -> codegen 3 ptx)\n"
      "  1 node only in the second plan\n"
      "    relu %r\n"
      "memory\n"
      "  cpu:0  4.0 KiB -> 1.0 KiB (-3.0 KiB)\n"
      "  gpu:0  not used -> 2.0 KiB\n");
}

TEST(DiffTextTest, NothingIsOneLine) {
  EXPECT_EQ(
      DiffText({}),
      "no difference: the same nodes, devices, arithmetics and figures\n");
}

TEST(DiffTextTest, LongListsAreShortenedInTheTextOnly) {
  PlanDiff diff = Moved();
  diff.entries[0].only_b.assign(kMostListedNodes + 5, "relu %r");
  EXPECT_THAT(DiffText(diff), HasSubstr("    and 5 more; --json lists all\n"));
  const Json json = Json::parse(DiffJson(diff));
  EXPECT_EQ(json["entries"][0]["only_second"].size(), kMostListedNodes + 5);
}

TEST(DiffJsonTest, ItHasBothPlansInSecondsAndBytes) {
  const Json json = Json::parse(DiffJson(Moved()));
  EXPECT_FALSE(json["equal"]);
  const Json& entry = json["entries"][0];
  EXPECT_EQ(entry["entry"], "f");
  EXPECT_EQ(entry["first"]["step_seconds"], 1e-4);
  EXPECT_EQ(entry["second"]["copied_bytes"], 1024);
  EXPECT_EQ(entry["moved"][0]["second"]["placement"], "gpu:0");
  EXPECT_EQ(entry["other_arithmetic"][0]["arithmetic"],
            Json({"kernel", "version"}));
  EXPECT_EQ(entry["second"]["critical_path"]["commands"][0]["command"],
            "matmul %y");
  EXPECT_EQ(json["devices"][0]["second"]["arena_bytes"], 1024);
  EXPECT_TRUE(json["devices"][1]["first"].is_null());
}

NodeExplanation Explanation() {
  NodeExplanation explanation{.entry = "f",
                              .node = "matmul %y",
                              .placement = "cpu:0",
                              .kernel = "onednn.matmul",
                              .reason = "pinned",
                              .why = "a pin",
                              .seconds = 1e-5};
  explanation.present = {{{"cpu:0", 4096, 0, 8192}}, {Figures(1e-4, 0)}};
  explanation.options = {{.placement = {.devices = {"cpu:0"}},
                          .name = "cpu:0",
                          .is_present = true,
                          .has_kernel = true,
                          .seconds = 1e-5,
                          .figures = explanation.present},
                         {.placement = {.devices = {"gpu:0"}},
                          .name = "gpu:0",
                          .refusal = "no kernel for it there"}};
  return explanation;
}

TEST(ExplanationTextTest, EachOptionHasItsPlanOrItsRefusal) {
  EXPECT_EQ(ExplanationText(Explanation()),
            "matmul %y of @f is on cpu:0, by onednn.matmul in 10.0 us\n"
            "because pinned: a pin\n"
            "the plan\n"
            "  step 100.0 us, transfers none\n"
            "  memory cpu:0 4.0 KiB\n"
            "  critical path kernels 50.0 us, transfers 0.0 us, feeds and "
            "fetches 50.0 us\n"
            "on cpu:0: 10.0 us alone; where it is\n"
            "on gpu:0: refused: no kernel for it there\n");
}

TEST(ExplanationTextTest, WhatIsLeftOutIsCounted) {
  NodeExplanation explanation = Explanation();
  explanation.options_left_out = 5;
  EXPECT_THAT(ExplanationText(explanation),
              HasSubstr("\nleft out: 5 more placements, beyond 16 on one "
                        "device and 8 on several\n"));
  explanation.options_left_out = 1;
  EXPECT_THAT(ExplanationText(explanation), HasSubstr("1 more placement,"));
  EXPECT_EQ(Json::parse(ExplanationJson(explanation))["options_left_out"], 1);
}

TEST(ExplanationTextTest, WithoutTheModelItSaysWhatToGive) {
  NodeExplanation explanation = Explanation();
  EXPECT_THAT(ExplanationText(explanation), Not(HasSubstr("--model")));
  explanation.options[0].figures.reset();
  EXPECT_THAT(ExplanationText(explanation), HasSubstr("--model MODEL"));
}

TEST(ExplanationJsonTest, WhatIsNotKnownIsNull) {
  const Json json = Json::parse(ExplanationJson(Explanation()));
  EXPECT_EQ(json["reason"], "pinned");
  EXPECT_EQ(json["options"][0]["placement"], "cpu:0");
  EXPECT_EQ(json["options"][0]["plan"]["step_seconds"], 1e-4);
  EXPECT_EQ(json["options"][0]["plan"]["memory"]["cpu:0"]["arena_bytes"], 4096);
  EXPECT_TRUE(json["options"][1]["plan"].is_null());
  EXPECT_TRUE(json["options"][1]["seconds"].is_null());
  EXPECT_EQ(json["options"][1]["refusal"], "no kernel for it there");
}

PlanFit Fit() {
  return {.machine = "two",
          .devices = {{.device = "cpu:0", .needed = 1000, .usable = 4000},
                      {.device = "gpu:0", .needed = 5000, .usable = 4000},
                      {.device = "gpu:1", .usable = 4000}},
          .faults = {"found no link"}};
}

TEST(FitTextTest, MarginsAreSizesAndPerCent) {
  EXPECT_EQ(FitText(Fit()),
            "machine two: does not fit\n"
            "  cpu:0    1000 B of 3.9 KiB; 2.9 KiB (75.0 %) free\n"
            "  gpu:0    4.9 KiB of 3.9 KiB; 1000 B (25.0 %) missing\n"
            "  gpu:1    not known of 3.9 KiB\n"
            "found no link\n");
}

TEST(FitJsonTest, AMissingByteIsANegativeMargin) {
  const Json json = Json::parse(FitJson(Fit()));
  EXPECT_FALSE(json["fits"]);
  EXPECT_EQ(json["devices"][1]["margin_bytes"], -1000);
  EXPECT_EQ(json["devices"][1]["margin_percent"], -25.0);
  EXPECT_TRUE(json["devices"][2]["needed_bytes"].is_null());
  EXPECT_EQ(json["faults"], Json({"found no link"}));
}

TEST(FiguresTextTest, EqualFiguresAreNoChange) {
  EXPECT_EQ(SecondsChange(1e-3, 1e-3), "1.00 ms");
  EXPECT_EQ(SecondsChange(0, 1e-3), "0.0 us -> 1.00 ms");
  EXPECT_EQ(SecondsChange(2e-3, 1e-3), "2.00 ms -> 1.00 ms (-50.0 %)");
  EXPECT_EQ(BytesChange(1024, 1024), "1.0 KiB");
  EXPECT_EQ(BytesChange(1024, 3072), "1.0 KiB -> 3.0 KiB (+2.0 KiB)");
  EXPECT_EQ(TransfersText({.copies = 2,
                           .copied_bytes = 2048,
                           .collectives = 1,
                           .collective_bytes = 10}),
            "2 copies, 2.0 KiB; 1 collective, 10 B");
}

}  // namespace
}  // namespace partita
