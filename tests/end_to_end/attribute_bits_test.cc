// The bits of float attributes survive text, fusing passes, plan text and plan
// files: NaN of any payload, and zeros of both signs.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "graph/evaluate.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/text/printer.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/plan_text.h"
#include "tests/end_to_end/virtual_steps.h"

namespace partita {
namespace {

using Floats = std::vector<float>;

// As the printer writes them; it omits defaults.
const std::string kAttributes[] = {
    "leaky_relu %t {alpha = $0}",
    "elu %t {alpha = $0}",
    "celu %t {alpha = $0}",
    "clip %t {max = $0, min = -0}",
    "clip %t {max = -0, min = $0}",
    "hard_sigmoid %t {alpha = -0, beta = $0}",
    "selu %t {alpha = $0, gamma = -0}",
    "thresholded_relu %t {alpha = $0}",
    "shrink %t {bias = $0, lambda = -0}",
    "pad %t {after = [1], before = [0], value = $0}",
};
const std::string kValues[] = {"nan", "-nan", "nan:7ff8000000001234",
                               "nan:fff0000000000001", "-0"};

// The op between two nodes that it can be fused with.
std::string GraphOf(const std::string& op) {
  const std::string y = absl::StartsWith(op, "pad") ? "f32[6]" : "f32[5]";
  return absl::StrCat("graph @main(%x: f32[5]) -> ", y, " {\n",
                      "  %t = neg %x : f32[5]\n", "  %u = ", op, " : ", y, "\n",
                      "  %y = abs %u : ", y, "\n  return %y\n}\n");
}

std::vector<HostTensor> Inputs() {
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({5}, {-2, -0.0f, 0, 1, NAN}));
  return inputs;
}

void ExpectEqual(const HostTensor& found, const HostTensor& expected) {
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    const double a = GetAsDouble(found, i), b = GetAsDouble(expected, i);
    EXPECT_TRUE((std::isnan(a) && std::isnan(b)) ||
                (a == b && std::signbit(a) == std::signbit(b)))
        << "element " << i << ": " << a << " for " << b;
  }
}

// Writes and reads the plan as a file and as text.
void ExpectSurvives(const Plan& plan) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/attribute_bits_", getpid(), ".plan");
  ASSERT_TRUE(WritePlan(plan, path).ok());
  const auto read = ReadPlan(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PrintPlan(*read), PrintPlan(plan));
  const auto parsed = ParsePlan(PrintPlan(plan), "plan", OpSet::BuiltIn());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(PrintPlan(*parsed), PrintPlan(plan));
  unlink(path.c_str());
}

void ExpectSurvives(const std::string& op) {
  SCOPED_TRACE(op);
  const std::string text = GraphOf(op);
  auto module = ParseModule(text, "f", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(PrintModule(*module), text);
  const auto expected = Evaluate(module->main(), Inputs());
  ASSERT_TRUE(expected.ok()) << expected.status();
  auto compiled = Compile(*std::move(module), EqualCpus(1, int64_t{1} << 28));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const std::string attributes = op.substr(op.find('{'));
  EXPECT_TRUE(absl::StrContains(PrintPlan(compiled->plan), attributes))
      << PrintPlan(compiled->plan);
  ExpectSurvives(compiled->plan);
  const auto run = RunVirtually(std::move(compiled->plan), Inputs());
  ASSERT_TRUE(run.ok()) << run.status();
  ExpectEqual(run->outputs[0], (*expected)[0]);
  ExpectEqual(run->reference[0], (*expected)[0]);
}

TEST(AttributeBits, SurviveTextPassesAndPlans) {
  for (const std::string& op : kAttributes) {
    for (const std::string& value : kValues) {
      ExpectSurvives(absl::Substitute(op, value));
    }
  }
}

}  // namespace
}  // namespace partita
