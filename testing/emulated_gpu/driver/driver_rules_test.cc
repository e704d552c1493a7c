// The rules of the driver hold on the emulated one, in every order.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/emulated_gpu/driver/emulated_cuda.h"
#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::emulated_gpu {
namespace {

using Kinds = std::set<FindingKind>;

// What a rule does against the rules is reported: exactly that.
const std::map<std::string, Kinds>& ExpectedFindings() {
  static const auto& expected = *new std::map<std::string, Kinds>{
      {"memory.bad_arguments", {FindingKind::kMisuse}},
      {"memory.register", {FindingKind::kMisuse}},
      {"event.queries", {FindingKind::kUnrecordedWait}},
      {"event.wait_unrecorded", {FindingKind::kUnrecordedWait}},
      {"event.two_contexts", {FindingKind::kWrongContext}},
      {"context.foreign_function", {FindingKind::kWrongContext}},
      {"capture.unjoined", {FindingKind::kCapture}},
      {"capture.merge", {FindingKind::kCapture}},
      {"capture.isolation", {FindingKind::kCapture}},
      {"capture.legacy", {FindingKind::kCapture}},
      {"capture.unsafe", {FindingKind::kCapture}},
      {"capture.wrong_thread", {FindingKind::kCapture}},
      {"capture.captured_event", {FindingKind::kCapture}},
      {"capture.invalidated_graph",
       {FindingKind::kCapture, FindingKind::kMisuse}},
      {"capture.not_captured", {FindingKind::kCapture}},
      {"graph.launch_destroyed", {FindingKind::kMisuse}},
      {"error.illegal_address", {FindingKind::kForeignMemory}},
      {"error.misaligned", {FindingKind::kBounds}},
      {"error.other_context", {FindingKind::kForeignMemory}},
      {"error.no_call_after", {FindingKind::kForeignMemory}},
  };
  return expected;
}

std::string NamesOf(const Kinds& kinds) {
  std::string names;
  for (FindingKind kind : kinds) absl::StrAppend(&names, NameOf(kind), " ");
  return names;
}

// Runs the rule on a machine of its own.
void Check(const driver_rules::Rule& rule, uint64_t seed, Order order,
           const Readings& readings = {}) {
  SCOPED_TRACE(
      absl::StrCat("seed ", seed, ", order ", static_cast<int>(order)));
  auto cuda = EmulatedCuda::New({.gpus = 2,
                                 .peers = AllPeers(2),
                                 .seed = seed,
                                 .order = order,
                                 .readings = readings});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  {
    driver_rules::Bench bench((*cuda)->api());
    rule.check(bench);
    EXPECT_EQ(bench.faults(), "");
  }
  Kinds seen;
  std::string texts;
  for (const Finding& finding : (*cuda)->findings()) {
    seen.insert(finding.kind);
    absl::StrAppend(&texts, TextOf(finding), "\n");
  }
  const auto expected = ExpectedFindings().find(rule.name);
  EXPECT_EQ(NamesOf(seen), expected == ExpectedFindings().end()
                               ? ""
                               : NamesOf(expected->second))
      << texts;
  for (const Finding& leak : (*cuda)->leaks()) ADD_FAILURE() << TextOf(leak);
}

class DriverRules : public testing::TestWithParam<driver_rules::Rule> {};

TEST_P(DriverRules, HoldInEveryOrder) {
  for (const Order order :
       {Order::kRandom, Order::kOldestStreamFirst, Order::kYoungestStreamFirst,
        Order::kStarveOneStream, Order::kLateWaits, Order::kAtOnce}) {
    for (uint64_t seed = 1; seed <= (order == Order::kRandom ? 10u : 2u);
         ++seed) {
      Check(GetParam(), seed, order);
    }
  }
}

// True if the rule is about what is read the other way: that peer copies are
// not captured, that fetches into pageable memory wait, and that a launch
// returns before its kernel ends the context.
bool IsInDoubt(const driver_rules::Rule& rule, const Readings& readings) {
  return (readings.peer_copy_captures &&
          absl::string_view(rule.name) == "capture.not_captured") ||
         (!readings.pageable_fetches_wait &&
          absl::string_view(rule.name) == "memory.pageable_fetch") ||
         (readings.launches_wait && rule.ends_contexts);
}

TEST_P(DriverRules, HoldHoweverDoubtsAreRead) {
  for (const auto& [name, readings] : AllReadings()) {
    if (IsInDoubt(GetParam(), readings)) continue;
    SCOPED_TRACE(name);
    Check(GetParam(), /*seed=*/1, Order::kRandom, readings);
  }
}

std::string NameOfRule(
    const testing::TestParamInfo<driver_rules::Rule>& parameter) {
  std::string name;
  bool capital = true;
  for (const char* c = parameter.param.name; *c != '\0'; ++c) {
    if (*c == '.' || *c == '_') {
      capital = true;
      continue;
    }
    name += capital ? static_cast<char>(*c - 'a' + 'A') : *c;
    capital = false;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, DriverRules,
                         testing::ValuesIn(driver_rules::AllRules()),
                         NameOfRule);

// A rule that is not so is noticed.
TEST(DriverRules, ABrokenRuleIsSeen) {
  auto cuda = EmulatedCuda::New({});
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  driver_rules::Bench bench((*cuda)->api());
  bench.Is("free of null", bench.api.MemFree(0), CUDA_ERROR_INVALID_VALUE);
  bench.Equals("one", 1, 2);
  EXPECT_EQ(bench.faults(),
            "free of null: found CUDA_SUCCESS; expected "
            "CUDA_ERROR_INVALID_VALUE; one: found 1; expected 2");
}

}  // namespace
}  // namespace partita::emulated_gpu
