// Tests of plans that are unfit to run although their commands are correct.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/prove_plan.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "runtime/plan/checker/testing/mutants/base_plans.h"
#include "runtime/plan/plan_hash.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

Plan Certified() {
  Plan plan = PlanOf(BasePlanNamed("one stream, memory used again"));
  absl::StatusOr<Certificate> certificate = ProvePlan(plan);
  EXPECT_TRUE(certificate.ok()) << certificate.status();
  certificate->plan_hash = PlanHash(plan);
  plan.certificate = *std::move(certificate);
  return plan;
}

TEST(ProvePlan, ACertificateOverThePlanIsGoodAlsoWithoutNotes) {
  Plan plan = Certified();
  plan.notes.emplace().summary = "for people";
  EXPECT_TRUE(ProvePlan(plan).ok());
  plan.notes.reset();
  EXPECT_TRUE(ProvePlan(plan).ok());
}

TEST(ProvePlan, ACertificateOverAnotherPlanIsAFault) {
  Plan plan = Certified();
  const std::string before = plan.certificate->plan_hash;
  plan.devices[0].memory += 8;  // still a correct plan
  EXPECT_EQ(ProvePlan(plan).status().message(),
            absl::StrCat("plan @f: found a certificate over the hash ", before,
                         "; expected ", PlanHash(plan),
                         ", which this plan has; it was changed after it was "
                         "certified: compile it again, or remove the "
                         "certificate"));
  plan.certificate.reset();
  EXPECT_TRUE(ProvePlan(plan).ok());
}

TEST(ProvePlan, TheHashOfAnotherCheckerIsNotCompared) {
  Plan plan = Certified();
  plan.certificate->checker = "another checker";
  plan.certificate->plan_hash = "0";
  EXPECT_TRUE(ProvePlan(plan).ok());
}

TEST(ProvePlan, ACertificateOverABadPlanProvesNothing) {
  Plan plan = Certified();
  plan.devices[0].memory = 7;
  plan.certificate->plan_hash = PlanHash(plan);
  EXPECT_EQ(ProvePlan(plan).status().message(),
            "plan @f: found 8 bytes needed on gpu:0 (0 persistent and 1 x 8 "
            "for steps); expected at most 7; place some of it elsewhere or "
            "lower the batch");
}

TEST(ProvePlan, ThePlanAsTextHasTheSameHash) {
  const Plan plan = Certified();
  const absl::StatusOr<Plan> again =
      ParsePlan(PrintPlan(plan), "again", OpSet::BuiltIn());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(ProvePlan(*again).ok());
}

}  // namespace
}  // namespace partita
