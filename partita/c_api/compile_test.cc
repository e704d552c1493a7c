// Compilation through the C API: what C++ compiles, and every refusal.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compile.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/onnx/testing/onnx_text.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/c_api.h"
#include "partita/c_api/testing/owned_handles.h"
#include "partita/c_api/testing/sample_plans.h"
#include "partita/session.h"

namespace partita::c_api {
namespace {

// One step of training a linear model on five examples.
constexpr char kTraining[] = R"(
variable @w: f32[4, 3] trainable = f32[4, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
graph @train(%x: f32[5, 4], %t: f32[5, 3]) -> f32[] {
  %w = variable {dtype = f32, name = "w", shape = [4, 3]} : f32[4, 3]
  %y = matmul %x, %w : f32[5, 3]
  %d = sub %y, %t : f32[5, 3]
  %squares = mul %d, %d : f32[5, 3]
  %loss = reduce_sum %squares {axes = [0, 1], keep_dims = false} : f32[]
  %xt = transpose %x {perm = [1, 0]} : f32[4, 5]
  %g = matmul %xt, %d : f32[4, 3]
  %rate = constant f32[] 0.02
  %s = mul %g, %rate : f32[4, 3]
  %n = sub %w, %s : f32[4, 3]
  update @w = %n
  return %loss
}
)";

// Two CPUs, each with this memory and bandwidth.
std::string MachineJson(const std::string& memory, double bandwidth = 1e10) {
  const auto device = [&](int number) {
    return absl::StrCat(
        "{\"name\": \"cpu:", number, "\", \"kind\": \"cpu\", \"memory\": \"",
        memory, "\", \"threads\": 1, \"isa\": \"avx2\", ",
        "\"peak_flops\": {\"f32\": 1e11}, \"memory_bandwidth\": ", bandwidth,
        "}");
  };
  return absl::StrCat("{\"name\": \"two\", \"devices\": [", device(0), ", ",
                      device(1),
                      "], \"links\": [{\"from\": \"cpu:0\", \"to\": "
                      "\"cpu:1\", \"bandwidth\": 1e10}]}");
}

std::string FileOf(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  WriteBytes(path, text);
  return path;
}

std::string TrainingFile() { return FileOf("training.graph", kTraining); }
std::string MachineFile() {
  return FileOf("machine.json", MachineJson("1 MiB"));
}
std::string MachineOption() { return absl::StrCat("machine=", MachineFile()); }

partita_code CompileCode(const std::string& model,
                         const std::vector<std::string>& options,
                         partita_plan** plan, const Caught& caught) {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  return partita_compile(model.c_str(), texts.data(), texts.size(), plan,
                         caught.get());
}

Owned<partita_plan> Compiled(const std::string& model,
                             const std::vector<std::string>& options) {
  const Caught caught;
  partita_plan* plan = nullptr;
  EXPECT_EQ(CompileCode(model, options, &plan, caught), PARTITA_OK)
      << caught.message();
  return Owned<partita_plan>(plan);
}

// "CODE: message" of a compilation that must fail.
std::string Refusal(const std::string& model,
                    const std::vector<std::string>& options) {
  const Caught caught;
  partita_plan* plan = reinterpret_cast<partita_plan*>(1);
  const partita_code code = CompileCode(model, options, &plan, caught);
  EXPECT_EQ(plan, nullptr);
  return absl::StrCat(partita_code_name(code), ": ", caught.message());
}

Plan CompiledByCpp(const CompileOptions& options) {
  auto compiled =
      Compile(ParseModule(kTraining, "model", OpSet::BuiltIn()).value(),
              ReadMachine(MachineFile()).value(), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return std::move(compiled->plan);
}

std::vector<float> X() {
  std::vector<float> x(20);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.125f * (i % 7);
  return x;
}
std::vector<float> T() { return std::vector<float>(15, 0.5f); }

TEST(CApiCompileTest, ThePlanHasTheBytesOfTheCppApi) {
  const Owned<partita_plan> plan =
      Compiled(TrainingFile(), {MachineOption(), "strategy=data"});
  const std::string path = absl::StrCat(testing::TempDir(), "/c.plan");
  ASSERT_EQ(partita_plan_write(plan.get(), path.c_str(), nullptr), PARTITA_OK);
  CompileOptions options;
  options.strategy = "data";
  options.plan_name = "training";
  EXPECT_EQ(FileBytes(path), PlanBytes(CompiledByCpp(options)));
}

TEST(CApiCompileTest, StepsHaveTheLossesOfTheCppApi) {
  CompileOptions options;
  options.strategy = "data";
  auto expected =
      Session::Create(std::make_shared<const Plan>(CompiledByCpp(options)),
                      {.devices = DeviceMode::kVirtual});
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(
      (*expected)->SetInput("x", HostTensor::Of<float>({5, 4}, X())).ok());
  ASSERT_TRUE(
      (*expected)->SetInput("t", HostTensor::Of<float>({5, 3}, T())).ok());
  const Owned<partita_plan> plan =
      Compiled(TrainingFile(), {MachineOption(), "strategy=data"});
  const Owned<partita_session> session =
      SessionOf(plan.get(), PARTITA_DEVICES_VIRTUAL);
  std::vector<float> x = X();
  std::vector<float> t = T();
  const partita_tensor inputs[] = {FloatsOf({5, 4}, x), FloatsOf({5, 3}, t)};
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(partita_session_bind_input(session.get(), i, &inputs[i], nullptr),
              PARTITA_OK);
  }
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE((*expected)->Run().ok());
    ASSERT_EQ(partita_session_run(session.get(), nullptr, nullptr), PARTITA_OK);
    const HostTensor& loss = **(*expected)->GetOutput(0);
    EXPECT_EQ(OutputFloats(session.get()),
              std::vector<float>{loss.data<float>()[0]});
  }
}

TEST(CApiCompileTest, CodeThatThisProcessBuiltIsNoReasonToRefuse) {
  const Owned<partita_plan> plan =
      Compiled(TrainingFile(), {MachineOption(), "strategy=single"});
  partita_session_options options = partita_session_options_default();
  options.devices = PARTITA_DEVICES_VIRTUAL;
  options.code = PARTITA_CODE_REFUSE;
  partita_session* session = nullptr;
  const Caught caught;
  EXPECT_EQ(partita_session_new(plan.get(), &options, &session, caught.get()),
            PARTITA_OK)
      << caught.message();
  partita_session_free(session);
  // The plan does have code.
  const std::string path = absl::StrCat(testing::TempDir(), "/code.plan");
  ASSERT_EQ(partita_plan_write(plan.get(), path.c_str(), nullptr), PARTITA_OK);
  const Owned<partita_plan> loaded = PlanFromBytes(FileBytes(path));
  EXPECT_EQ(partita_session_new(loaded.get(), &options, &session, nullptr),
            PARTITA_PERMISSION_DENIED);
}

TEST(CApiCompileTest, ASummarySaysHowThePlanCameToBe) {
  const Owned<partita_plan> plan =
      Compiled(TrainingFile(), {MachineOption(), "strategy=single"});
  const char* text = nullptr;
  ASSERT_EQ(partita_plan_summary(plan.get(), &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "placed by single");
  ASSERT_EQ(partita_plan_name(plan.get(), &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "training");
}

// A machine on which a step takes a second, whose steps are slept through.
TEST(CApiCompileTest, AStepThatTakesTooLongEndsWithItsDeadline) {
  const std::string slow = FileOf("slow.json", MachineJson("1 MiB", 2000));
  const Owned<partita_plan> plan = Compiled(
      TrainingFile(), {absl::StrCat("machine=", slow), "strategy=single"});
  const Owned<partita_session> session =
      SessionOf(plan.get(), PARTITA_DEVICES_TIMED);
  std::vector<float> x = X();
  std::vector<float> t = T();
  const partita_tensor inputs[] = {FloatsOf({5, 4}, x), FloatsOf({5, 3}, t)};
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(partita_session_set_input(session.get(), i, &inputs[i], nullptr),
              PARTITA_OK);
  }
  partita_run_options options = partita_run_options_default();
  options.timeout_ms = 1;
  EXPECT_EQ(partita_session_run(session.get(), &options, nullptr),
            PARTITA_DEADLINE_EXCEEDED);
}

TEST(CApiCompileTest, BuiltInModelsAreCompiledByName) {
  const Owned<partita_plan> plan = Compiled(
      "builtin:two_layer_perceptron",
      {absl::StrCat("machine=", FileOf("large.json", MachineJson("64 MiB"))),
       "strategy=single"});
  const char* text = nullptr;
  ASSERT_EQ(partita_plan_name(plan.get(), &text, nullptr), PARTITA_OK);
  EXPECT_STREQ(text, "two_layer_perceptron");
  EXPECT_EQ(Refusal("builtin:resnet5", {MachineOption()}),
            "NOT_FOUND: builtin:resnet5: found no such model; expected "
            "resnet50, small_conv_net or two_layer_perceptron; did you mean "
            "resnet50?");
}

std::string OnnxFile(const std::string& name, const std::string& graph) {
  return FileOf(
      name, ModelOfText(absl::StrCat("<ir_version: 8, opset_import: [\"\" : "
                                     "13]>\n",
                                     graph))
                .SerializeAsString());
}

TEST(CApiCompileTest, OpenDimensionsAreBoundByOptions) {
  const std::string model =
      OnnxFile("open.onnx",
               "g (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) }");
  const std::string open = Refusal(model, {MachineOption()});
  EXPECT_TRUE(absl::StartsWith(open, "INVALID_ARGUMENT: ")) << open;
  EXPECT_TRUE(
      absl::EndsWith(open, "; bind them by dim=NAME=N or shape=INPUT=N,N,.."))
      << open;
  const Owned<partita_plan> plan =
      Compiled(model, {MachineOption(), "dim=batch=4", "strategy=single"});
  const Owned<partita_session> session =
      SessionOf(plan.get(), PARTITA_DEVICES_VIRTUAL);
  partita_tensor type = partita_tensor_empty();
  ASSERT_EQ(partita_session_input_type(session.get(), 0, &type, nullptr),
            PARTITA_OK);
  EXPECT_EQ(type.dims[0], 4);
  const std::string other = Refusal(model, {MachineOption(), "dim=bach=4"});
  EXPECT_TRUE(absl::StartsWith(other, "INVALID_ARGUMENT: dim=bach: ")) << other;
}

TEST(CApiCompileTest, WarningsOfTheImporterAreKept) {
  const std::string model = OnnxFile(
      "doubtful.onnx", "g (float[2, 3] x) => (float[3, 2] y) { y = Relu(x) }");
  const Owned<partita_plan> plan =
      Compiled(model, {MachineOption(), "strategy=single"});
  const char* warnings = nullptr;
  ASSERT_EQ(partita_plan_warnings(plan.get(), &warnings, nullptr), PARTITA_OK);
  EXPECT_TRUE(absl::StartsWith(warnings, absl::StrCat(model, ": ")))
      << warnings;
  const std::string strict =
      Refusal(model, {MachineOption(), "strict-types=true"});
  EXPECT_TRUE(
      absl::EndsWith(strict, "; without strict-types=true it is a warning"))
      << strict;
}

TEST(CApiCompileTest, WrongOptionsAreRefused) {
  const std::string model = TrainingFile();
  const std::string unknown = Refusal(model, {"stratgy=single"});
  EXPECT_TRUE(absl::StartsWith(
      unknown,
      "INVALID_ARGUMENT: stratgy: found no such option; expected one of: "
      "machine, strategy, "))
      << unknown;
  EXPECT_TRUE(absl::EndsWith(unknown, "; did you mean strategy?")) << unknown;
  EXPECT_EQ(Refusal(model, {MachineOption(), "strategy=single", "stages=2"}),
            "INVALID_ARGUMENT: stages: found with strategy single, which "
            "does not read it; expected strategy pipeline");
  EXPECT_EQ(Refusal(model, {MachineOption(), "dim=batch=4"}),
            absl::StrCat("INVALID_ARGUMENT: dim: found with ", model,
                         ", whose shapes are fixed; expected an ONNX model"));
  const std::string missing = Refusal(model, {"machine=/nowhere/m.json"});
  EXPECT_TRUE(absl::StrContains(missing, "/nowhere/m.json")) << missing;
}

TEST(CApiCompileTest, NullIsRefused) {
  const Caught caught;
  partita_plan* plan = nullptr;
  EXPECT_EQ(partita_compile(nullptr, nullptr, 0, &plan, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "model: found NULL; expected the name of a model");
  EXPECT_EQ(partita_compile("m", nullptr, 1, &plan, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "options: found NULL; expected strings KEY=VALUE");
  const char* const options[] = {"depth=1", nullptr};
  EXPECT_EQ(partita_compile("m", options, 2, &plan, caught.get()),
            PARTITA_INVALID_ARGUMENT);
  EXPECT_EQ(caught.message(),
            "option 1: found NULL; expected a string KEY=VALUE");
  EXPECT_EQ(partita_compile("m", options, 1, nullptr, caught.get()),
            PARTITA_INVALID_ARGUMENT);
}

TEST(CApiCompileTest, WrongModelsAreRefused) {
  EXPECT_TRUE(absl::StartsWith(Refusal("/nowhere/m.onnx", {MachineOption()}),
                               "NOT_FOUND: /nowhere/m.onnx: "));
  const std::string text =
      Refusal(FileOf("bad.graph", "graph @f("), {MachineOption()});
  EXPECT_TRUE(absl::StartsWith(text, "INVALID_ARGUMENT: ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "bad.graph:1:")) << text;
  const std::string empty =
      Refusal(FileOf("empty.graph", ""), {MachineOption()});
  EXPECT_TRUE(absl::StrContains(empty, "empty.graph: ")) << empty;
  const std::string noise =
      Refusal(FileOf("noise.onnx", "noise"), {MachineOption()});
  EXPECT_TRUE(absl::StartsWith(noise, "INVALID_ARGUMENT: ")) << noise;
  const std::string plan = FileOf("m.plan", PlanBytes(PlanOf(kTwoDevices)));
  EXPECT_EQ(Refusal(plan, {MachineOption()}),
            absl::StrCat("INVALID_ARGUMENT: ", plan,
                         ": found a plan, which is compiled already; expected "
                         "a model; load it by partita_plan_load"));
}

TEST(CApiCompileTest, WhatDoesNotFitIsRefusedWithTheDevice) {
  const std::string small = FileOf("small.json", MachineJson("64 KiB"));
  const std::string refusal =
      Refusal("builtin:two_layer_perceptron",
              {absl::StrCat("machine=", small), "strategy=single"});
  EXPECT_TRUE(absl::StartsWith(refusal, "RESOURCE_EXHAUSTED: ")) << refusal;
  EXPECT_TRUE(absl::StrContains(refusal, "cpu:0")) << refusal;
}

}  // namespace
}  // namespace partita::c_api
