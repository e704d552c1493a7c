// Rows as text and JSON, the verdicts of steps, and the list of facts.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/rows.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/gpu/driver_facts/fact.h"

namespace partita {
namespace {

using ::testing::HasSubstr;

DriverApi ApiWithNames() {
  DriverApi api;
  api.GetErrorName = +[](CUresult code, const char** name) {
    *name = code == CUDA_SUCCESS ? "GOOD" : "BAD";
    return CUDA_SUCCESS;
  };
  return api;
}

TEST(Steps, AllAsExpectedPass) {
  const DriverApi api = ApiWithNames();
  Steps steps(api);
  steps.Code("launch", CUDA_SUCCESS, CUDA_SUCCESS);
  steps.Is("word", 5, 5);
  steps.Note("a note");
  const Reading reading = steps.End();
  EXPECT_EQ(reading.verdict, FactVerdict::kPass);
  EXPECT_EQ(reading.seen, "launch GOOD; word 5; a note");
}

TEST(Steps, OneOtherwiseFailsAndSaysWhatWasExpected) {
  const DriverApi api = ApiWithNames();
  Steps steps(api);
  steps.Code("launch", CUDA_ERROR_UNKNOWN, CUDA_SUCCESS);
  steps.Holds("returned at once", true);
  const Reading reading = steps.End();
  EXPECT_EQ(reading.verdict, FactVerdict::kFail);
  EXPECT_EQ(reading.seen, "launch BAD (EXPECTED GOOD); returned at once: yes");
}

TEST(Steps, WithoutExpectationItIsAFigure) {
  const DriverApi api = ApiWithNames();
  Steps steps(api);
  steps.Code("launch", CUDA_ERROR_UNKNOWN);
  steps.Figure("launch_us", 2.5);
  const Reading reading = steps.End();
  EXPECT_EQ(reading.verdict, FactVerdict::kFigure);
  ASSERT_EQ(reading.figures.size(), 1u);
  EXPECT_EQ(reading.figures[0].second, 2.5);
}

Row SomeRow(FactVerdict verdict) {
  return {"event.some",
          "A rule",
          "cuda.h:1",
          "a code",
          {verdict, "seen \"so\"", {{"launch_us", 2.5}}}};
}

TEST(Rows, ARowSurvivesJson) {
  for (const FactVerdict verdict :
       {FactVerdict::kPass, FactVerdict::kFail, FactVerdict::kFigure,
        FactVerdict::kUnmeasured}) {
    const Row row = SomeRow(verdict);
    const absl::StatusOr<Row> read = ParseRow(RowJson(row));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(RowJson(*read), RowJson(row));
    EXPECT_EQ(read->reading.verdict, verdict);
  }
}

TEST(Rows, TextThatIsNoRowIsRefused) {
  EXPECT_THAT(std::string(ParseRow("{\"id\": 3}").status().message()),
              HasSubstr("expected a row with a text id"));
  Row row = SomeRow(FactVerdict::kPass);
  std::string json = RowJson(row);
  json.replace(json.find("PASS"), 4, "GOOD");
  EXPECT_EQ(ParseRow(json).status().message(),
            "found verdict GOOD; expected PASS, FAIL, FIGURE or UNMEASURED");
}

TEST(Rows, TheTableEndsWithWhatNeedsALook) {
  const std::string text =
      TableText({SomeRow(FactVerdict::kFail), SomeRow(FactVerdict::kPass)});
  EXPECT_LT(text.find("PASS "), text.find("FAIL "));
  EXPECT_THAT(text, HasSubstr("1 PASS, 1 FAIL, 0 FIGURE, 0 UNMEASURED"));
}

TEST(AllFacts, EachHasItsGroupsNameARuleAndASource) {
  std::set<std::string> ids;
  for (const FactGroup& group : AllFactGroups()) {
    EXPECT_FALSE(group.facts.empty()) << group.name;
    for (const Fact& fact : group.facts) {
      EXPECT_TRUE(absl::StartsWith(fact.id, std::string(group.name) + "."))
          << fact.id;
      EXPECT_TRUE(ids.insert(fact.id).second) << "twice: " << fact.id;
      for (const char* text : {fact.rule, fact.source, fact.expected}) {
        EXPECT_NE(std::string(text), "") << fact.id;
      }
    }
  }
}

}  // namespace
}  // namespace partita
