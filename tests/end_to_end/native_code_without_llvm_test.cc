// A process without a linked compiler runs the native code of a plan file.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "partita/session.h"
#include "runtime/plan/plan.h"

namespace partita {
namespace {

constexpr char kModel[] =
    R"(graph @gate(%x: f32[3, 37], %b: f32[37]) -> f32[3, 37] {
  %s = add %x, %b : f32[3, 37]
  %e = erf %s : f32[3, 37]
  %y = mul %s, %e : f32[3, 37]
  return %y
}
)";

std::string MappedFiles() {
  std::ifstream maps("/proc/self/maps");
  return {std::istreambuf_iterator<char>(maps), {}};
}

// A plan that another process made.
std::string CompiledPlan() {
  const std::string folder = testing::TempDir();
  const std::string model = absl::StrCat(folder, "/gate.graph");
  const std::string plan = absl::StrCat(folder, "/gate.plan");
  std::ofstream(model) << kModel;
  const std::string command =
      absl::StrCat("tools/partita/partita compile ", model, " --output ", plan);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return plan;
}

void ExpectRight(Session& session) {
  HostTensor x({DType::kF32, {3, 37}, {}});
  HostTensor b({DType::kF32, {37}, {}});
  for (int i = 0; i < 111; ++i) x.data<float>()[i] = i * 0.03f - 1.5f;
  for (int i = 0; i < 37; ++i) b.data<float>()[i] = i * 0.01f;
  ASSERT_TRUE(session.SetInput("x", x).ok());
  ASSERT_TRUE(session.SetInput("b", b).ok());
  ASSERT_TRUE(session.Run().ok());
  const HostTensor& y = **session.GetOutput(0);
  for (int i = 0; i < 111; ++i) {
    const float s = x.data<float>()[i] + b.data<float>()[i % 37];
    EXPECT_NEAR(y.data<float>()[i], s * std::erf(s), 1e-6);
  }
}

TEST(NativeCodeWithoutLlvm, TrustedCodeRunsAndOtherCodeIsReplaced) {
  const std::string path = CompiledPlan();
  const auto trusted = Session::Load(path, {.trust_code = true});
  ASSERT_TRUE(trusted.ok()) << trusted.status();
  ASSERT_EQ((*trusted)->plan().code_objects.size(), 1u);
  EXPECT_EQ((*trusted)->notice(), "");
  ExpectRight(**trusted);
  const std::string files = MappedFiles();
  EXPECT_TRUE(absl::StrContains(files, "partita-code"));
  EXPECT_FALSE(absl::StrContains(files, "libLLVM"));
}

TEST(NativeCodeWithoutLlvm, UntrustedCodeIsReplacedWithANotice) {
  const std::string path = CompiledPlan();
  const auto session = Session::Load(path);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(absl::StrContains((*session)->notice(), "not trusted"))
      << (*session)->notice();
  ExpectRight(**session);
}

}  // namespace
}  // namespace partita
