// Checker and oracle accept all hand-written plans.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/plan/checker/testing/mutants/base_plans.h"

#include <gtest/gtest.h>

#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/checker/testing/oracle/oracle.h"

namespace partita {
namespace {

class BasePlan : public testing::TestWithParam<int> {
 protected:
  const ShortPlan& base() const { return BasePlans()[GetParam()]; }
};

TEST_P(BasePlan, IsProved) {
  const absl::StatusOr<Certificate> certificate = CheckPlan(PlanOf(base()));
  EXPECT_TRUE(certificate.ok()) << base().name << "\n"
                                << certificate.status().message();
}

TEST_P(BasePlan, NoRunGoesWrong) {
  const Verdict verdict = Judge(PlanOf(base()), 0);
  EXPECT_EQ(verdict.harm, "") << base().name;
  EXPECT_TRUE(verdict.exhaustive) << base().name;
}

constexpr int kPlans = 53;
INSTANTIATE_TEST_SUITE_P(All, BasePlan, testing::Range(0, kPlans));

TEST(BasePlans, AllAreTested) {
  EXPECT_EQ(static_cast<int>(BasePlans().size()), kPlans);
}

}  // namespace
}  // namespace partita
