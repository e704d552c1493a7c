// Facts that hang, die or leave cost their own row and no other.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/fact_runner.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<Reading> Good(Gpu& gpu) {
  Steps steps(gpu.api());
  steps.Is("word", 5, 5);
  return steps.End();
}

absl::StatusOr<Reading> Die(Gpu& gpu) {
  Steps steps(gpu.api());
  steps.Note("before the call");
  raise(SIGSEGV);
  return steps.End();
}

absl::StatusOr<Reading> Hang(Gpu& gpu) {
  Steps steps(gpu.api());
  steps.Note("before the wait");
  while (true) pause();
}

absl::StatusOr<Reading> Leave(Gpu&) { _exit(3); }

absl::StatusOr<Reading> ReadVariable(Gpu& gpu) {
  Steps steps(gpu.api());
  const char* value = getenv("PARTITA_FACT_RUNNER_TEST");
  steps.Is("variable", std::string(value ? value : "not set"),
           std::string("on"));
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"test.good", "rule", "none", "5", Good},
    {"test.dies", "rule", "none", "figure", Die},
    {"test.good_behind", "rule", "none", "5", Good},
    {"test.may_die", "rule", "none", "figure", Die, Process::kMayDie},
    {"test.leaves", "rule", "none", "figure", Leave, Process::kOwn},
    {"test.variable", "rule", "none", "on", ReadVariable, Process::kOwn,
     "PARTITA_FACT_RUNNER_TEST=on"},
    {"test.must_not_die", "rule", "none", "5", Die, Process::kMayDie},
    {"test.no_rule", "rule", "none", "figure", Good},
    {"test.good_last", "rule", "none", "5", Good},
};

constexpr Fact kHangs[] = {{"hangs.fact", "rule", "none", "figure", Hang}};

FactGroup TestGroup() { return {"test", kFacts}; }
FactGroup HangingGroup() { return {"hangs", kHangs}; }

std::vector<Row> RunRows(const FactGroup& group, double row_seconds,
                         double all_seconds) {
  FactOptions options;
  std::array<char, 4096> path{};
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  options.program = std::string(path.data(), size > 0 ? size : 0);
  options.libraries = "third_party/cuda_loader/testing/accepting";
  options.row_seconds = row_seconds;
  return RunGroup(group, options, HostSeconds() + all_seconds);
}

TEST(FactRunner, EachFactHasItsRow) {
  const std::vector<Row> rows = RunRows(TestGroup(), 300, 600);
  ASSERT_EQ(rows.size(), std::size(kFacts));
  const auto reading = [&](int i) { return rows[i].reading; };
  for (const int good : {0, 2, 5, 8}) {
    EXPECT_EQ(reading(good).verdict, FactVerdict::kPass) << reading(good).seen;
  }
  EXPECT_EQ(reading(1).verdict, FactVerdict::kUnmeasured);
  EXPECT_THAT(reading(1).seen,
              StartsWith("the process died: signal 11 in lib"));
  EXPECT_THAT(reading(1).seen, EndsWith(", after: before the call"));
  EXPECT_EQ(reading(3).verdict, FactVerdict::kFigure);
  EXPECT_THAT(reading(3).seen, EndsWith(", after: before the call"));
  EXPECT_EQ(reading(4).verdict, FactVerdict::kUnmeasured);
  EXPECT_THAT(reading(4).seen, HasSubstr("left with status 3"));
  EXPECT_EQ(reading(6).verdict, FactVerdict::kFail);
  EXPECT_EQ(reading(7).verdict, FactVerdict::kFigure);
}

TEST(FactRunner, AFactThatHangsIsEnded) {
  const std::vector<Row> rows = RunRows(HangingGroup(), 2, 600);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].reading.verdict, FactVerdict::kUnmeasured);
  EXPECT_THAT(rows[0].reading.seen, StartsWith("no answer within 2 s; killed"));
}

TEST(FactRunner, WhatIsPastTheTimeSaysSo) {
  const std::vector<Row> rows = RunRows(TestGroup(), 300, -1);
  ASSERT_EQ(rows.size(), std::size(kFacts));
  for (const Row& row : rows) {
    EXPECT_EQ(row.reading.verdict, FactVerdict::kUnmeasured);
    EXPECT_EQ(row.reading.seen, "the time for all facts was over");
  }
}

// --child GROUP FIRST LAST LIBRARIES, as driver_facts does.
int RunTestChild(char** argv) {
  size_t first = 0;
  size_t last = 0;
  if (!absl::SimpleAtoi(argv[3], &first) || !absl::SimpleAtoi(argv[4], &last)) {
    return 2;
  }
  const FactGroup group =
      std::string(argv[2]) == "test" ? TestGroup() : HangingGroup();
  return RunChild(group, first, last, argv[5]);
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "--child") {
    return partita::RunTestChild(argv);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
