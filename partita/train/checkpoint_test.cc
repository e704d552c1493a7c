// Checkpoints can be read back, and only by the same training.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "graph/builder/dropout.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/ops.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"
#include "runtime/tensor_file/safetensors_writer.h"

namespace partita {
namespace {

using Kind = TrainingSetting::Kind;

const std::vector<TrainingSetting> kSettings = {{"batch", "8"},
                                                {"seed", "7"},
                                                {"graph", "a", Kind::kFollows},
                                                {"plan", "p", Kind::kRounds}};

std::string Path() {
  return absl::StrCat(testing::TempDir(), "/", getpid(), ".safetensors");
}

std::unique_ptr<Session> SessionOf(absl::StatusOr<Module> module) {
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  options.strategy = "single";
  auto compiled = Compile(*std::move(module), EqualCpus(1, 1 << 20), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  auto session =
      Session::Create(std::make_shared<Plan>(std::move(compiled->plan)),
                      {.devices = DeviceMode::kVirtual});
  EXPECT_TRUE(session.ok()) << session.status();
  return *std::move(session);
}

// A variable that grows by one each step.
std::unique_ptr<Session> Counting(const std::string& variable) {
  GraphBuilder b("train");
  const Tensor old = b.Variable(variable, HostTensor::Of<float>({2}, {1, 5}));
  const Tensor next = old + b.Scalar(DType::kF32, 1);
  b.Update(variable, next);
  b.Output("next", next);
  return SessionOf(b.Build());
}

std::vector<float> Values(Session& session, const std::string& variable) {
  const auto value = session.ReadVariable(variable);
  EXPECT_TRUE(value.ok()) << value.status();
  return {value->data<float>().begin(), value->data<float>().end()};
}

void WriteOne() {
  const auto session = Counting("w");
  ASSERT_TRUE(session->Run().ok());
  const absl::Status written = WriteCheckpoint(
      Path(), *session, {.epoch = 1, .batch = 2, .step = 8}, kSettings);
  ASSERT_TRUE(written.ok()) << written;
}

// The error of a new session, with the path as FILE.
std::string Refusal(absl::Span<const TrainingSetting> settings,
                    const std::string& variable = "w") {
  const auto session = Counting(variable);
  const auto read = ReadCheckpoint(Path(), settings, *session);
  EXPECT_EQ(Values(*session, variable), (std::vector<float>{1, 5}));
  return absl::StrReplaceAll(read.status().message(), {{Path(), "FILE"}});
}

TEST(Checkpoint, VariablesAndPositionComeBack) {
  WriteOne();
  const auto session = Counting("w");
  const auto resumed = ReadCheckpoint(Path(), kSettings, *session);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->position.epoch, 1);
  EXPECT_EQ(resumed->position.batch, 2);
  EXPECT_EQ(resumed->position.step, 8);
  EXPECT_FALSE(resumed->by_another_plan);
  EXPECT_EQ(Values(*session, "w"), (std::vector<float>{2, 6}));
}

TEST(Checkpoint, OtherOptionsAreNamed) {
  WriteOne();
  EXPECT_EQ(
      Refusal({{"batch", "4"}, {"seed", "7"}, {"graph", "b", Kind::kFollows}}),
      "FILE: found batch 8; expected batch 4; continue a training with its own "
      "settings");
  EXPECT_EQ(Refusal({{"batch", "4"}, {"seed", "1"}, {"rate", "2"}}),
            "FILE: found batch 8 and seed 7 and rate unset; expected batch 4 "
            "and seed 1 and rate 2; continue a training with its own settings");
  EXPECT_EQ(
      Refusal({{"batch", "8"}, {"seed", "7"}, {"graph", "b", Kind::kFollows}}),
      "FILE: found graph a; expected graph b; continue a training of the "
      "same model by the same program");
}

TEST(Checkpoint, ASettingThatAloneDiffersHasItsOwnRemedy) {
  WriteOne();
  const TrainingSetting seed = {.name = "seed", .value = "1", .fix = "sow it"};
  EXPECT_EQ(Refusal({{"batch", "8"}, seed}),
            "FILE: found seed 7; expected seed 1; sow it");
  EXPECT_EQ(Refusal({{"batch", "4"}, seed}),
            "FILE: found batch 8 and seed 7; expected batch 4 and seed 1; "
            "continue a training with its own settings");
}

TEST(Checkpoint, AnotherPlanIsTakenWhereRoundingMayDiffer) {
  WriteOne();
  const std::vector<TrainingSetting> settings = {{"batch", "8"},
                                                 {"plan", "q", Kind::kRounds}};
  EXPECT_EQ(Refusal(settings),
            "FILE: found plan p; expected plan q; continue a training by the "
            "program, on the machine and with the strategy, micro-batches and "
            "pins that it "
            "was begun with, or allow another rounding by --another-plan");
  const auto session = Counting("w");
  const auto resumed =
      ReadCheckpoint(Path(), settings, *session, ResumeOn::kAnotherPlan);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_TRUE(resumed->by_another_plan);
  EXPECT_EQ(Values(*session, "w"), (std::vector<float>{2, 6}));
  // Settings that change more than rounding are still refused.
  const auto refused = ReadCheckpoint(Path(), {{"batch", "4"}}, *session,
                                      ResumeOn::kAnotherPlan);
  EXPECT_EQ(absl::StrReplaceAll(refused.status().message(), {{Path(), "FILE"}}),
            "FILE: found batch 8; expected batch 4; continue a training with "
            "its own settings");
}

TEST(Checkpoint, OtherVariablesAreNamed) {
  WriteOne();
  EXPECT_EQ(Refusal(kSettings, "v"),
            "FILE: holds other tensors than the model (2 differences); give "
            "the file of this model\n"
            "  found no tensor v; expected f32[2]\n"
            "  found w: f32[2]; expected no tensor of this name");
}

std::string RefusalOf(const std::map<std::string, std::string>& metadata) {
  const HostTensor w = HostTensor::Of<float>({2}, {3, 4});
  EXPECT_TRUE(
      WriteSafetensors(Path(), {{"w", w.type(), w.byte_span()}}, metadata)
          .ok());
  return Refusal({});
}

TEST(Checkpoint, OtherTensorFilesAreNoCheckpoints) {
  EXPECT_EQ(RefusalOf({}),
            "FILE: found tensors without a training's position; expected a "
            "file that `partita train --checkpoint` wrote");
  EXPECT_EQ(RefusalOf({{"partita_checkpoint", "1"}}),
            "FILE: found checkpoint format 1; expected format 2; continue with "
            "the program that wrote it");
  EXPECT_EQ(RefusalOf({{"partita_checkpoint", "2"}, {"next_epoch", "-3"}}),
            "FILE: found a training without a whole position; expected numbers "
            "as next_epoch, next_batch and steps_done; the file is damaged");
}

TEST(Checkpoint, AChangedByteIsSeen) {
  WriteOne();
  std::fstream file(Path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put(0x11);
  file.close();
  EXPECT_EQ(Refusal(kSettings),
            "FILE: found variables of another hash than the file says; "
            "expected what was written; the file is damaged: continue another "
            "checkpoint");
}

TEST(Checkpoint, APositionThatTheCountOfStepsBeliesIsRefused) {
  GraphBuilder b("train");
  b.Output("step", CountSteps(b));
  const auto session = SessionOf(b.Build());
  ASSERT_TRUE(session->Run().ok());
  ASSERT_TRUE(WriteCheckpoint(Path(), *session, {}, {}).ok());
  EXPECT_EQ(absl::StrReplaceAll(
                ReadCheckpoint(Path(), {}, *session).status().message(),
                {{Path(), "FILE"}}),
            "FILE: found variable step 1 and steps_done 0; expected the same "
            "number; the file is damaged");
}

}  // namespace
}  // namespace partita
