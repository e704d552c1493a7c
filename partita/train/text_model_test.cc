// Character models learn a text, write it, and are resumed to the bit.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/text_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "partita/compile.h"
#include "partita/train/evaluation.h"
#include "partita/train/testing/test_training.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

std::string TextFile(const std::string& name, const std::string& text) {
  const std::string path = TestPath(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

// "abcdé" repeated: the next character is always known.
std::string Rhyme() {
  std::string text;
  for (int i = 0; i < 120; ++i) text += "abcdé";
  return text;
}

// Nine steps an epoch, the last batch padded.
GptTrainingOptions SmallGpt() {
  return {.batch = 5, .layers = 1, .width = 16, .heads = 2, .context = 12};
}

LstmTrainingOptions SmallLstm() {
  return {.batch = 5, .width = 16, .context = 12};
}

TextModelOptions Over(const std::string& file) { return {.files = {file}}; }

TextModelOptions OverRhyme(const WritingOptions& writing = {}) {
  return {.files = {TextFile("rhyme.txt", Rhyme())}, .writing = writing};
}

TrainableModel Opened(absl::StatusOr<TrainableModel> model) {
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

TrainableModel RhymeGpt(const WritingOptions& writing = {}) {
  return Opened(GptModel(OverRhyme(writing), SmallGpt()));
}

TrainableModel RhymeLstm(const WritingOptions& writing = {}) {
  return Opened(LstmModel(OverRhyme(writing), SmallLstm()));
}

absl::StatusOr<Module> Built(const TrainableModel& model) {
  return model.build({.update = {.optimizer = {"adamw", 0, 0.1},
                                 .schedule = {.learning_rate = 0.02},
                                 .clip_norm = 1}});
}

// The model after ten epochs of the rhyme.
void ExpectLearnsTheRhyme(const TrainableModel& model) {
  const auto session = VirtualSession(PlanOf(Built(model)));
  const auto trainer = Trainer::Create(
      *session, model.train.samples, {.batch_size = model.batch, .epochs = 10});
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  const auto end = (*trainer)->Run(never);
  ASSERT_TRUE(end.ok()) << end.status();
  // Nats per character: no better than chance at first.
  EXPECT_NEAR(never.losses.front(), std::log(5), 0.3);
  const auto test = Evaluate(*session, model.test.samples, model.batch);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ(test->labels, 12 * test->samples);
  EXPECT_GT(test->accuracy(), 0.9);
  EXPECT_LT(test->loss, 0.5);
  // Begins after the last character of its input.
  EXPECT_EQ(*model.generate(*session), "abcdéabcdéabcd");
}

constexpr WritingOptions kLikeliest = {.characters = 14, .temperature = 0};

TEST(TextModel, AGptLearnsARhymeAndGoesOnWithIt) {
  ExpectLearnsTheRhyme(RhymeGpt(kLikeliest));
}

TEST(TextModel, SoDoesAnLstm) { ExpectLearnsTheRhyme(RhymeLstm(kLikeliest)); }

TEST(TextModel, RebatchedItEvaluatesOverTheSameVariables) {
  ExpectRebatched(RhymeGpt(), 2);
  ExpectRebatched(RhymeLstm(), 2);
}

TEST(TextModel, WhatItDrawsDependsOnTheSeedAlone) {
  WritingOptions writing = {.characters = 40, .temperature = 1, .seed = 3};
  const auto session = VirtualSession(PlanOf(Built(RhymeGpt())));
  const std::string text = *RhymeGpt(writing).generate(*session);
  EXPECT_EQ(*RhymeGpt(writing).generate(*session), text);
  writing.seed = 4;
  EXPECT_NE(*RhymeGpt(writing).generate(*session), text);
}

TEST(TextModel, InterruptedItHasTheBitsOfOneThatWasNot) {
  for (const TrainableModel& model : {RhymeGpt(), RhymeLstm()}) {
    ExpectResumesToTheBit(PlanOf(Built(model)), model, 11);
    ExpectResumesToTheBit(PlanOf(Built(model), "data", 3), model, 11);
  }
}

void ExpectTrainsAsOnOneDevice(const std::shared_ptr<const Plan>& plan,
                               const TrainableModel& model) {
  StopsAfter one(0), several(0);
  ASSERT_TRUE(TrainOn(PlanOf(Built(model)), model, 1, "", one).ok());
  ASSERT_TRUE(TrainOn(plan, model, 1, "", several).ok());
  for (size_t i = 0; i < one.losses.size(); ++i) {
    EXPECT_NEAR(several.losses[i], one.losses[i], 1e-3) << "step " << i;
  }
}

TEST(TextModel, ThreeReplicasTrainAsOneDeviceDoes) {
  const TrainableModel model = RhymeGpt();
  ExpectTrainsAsOnOneDevice(PlanOf(Built(model), "data", 3), model);
}

// The embedding on the CPU, the rest on an accelerator, by pins alone: backward
// pass and update follow their layer.
TEST(TextModel, AnEmbeddingMayStayOnTheCpu) {
  const TrainableModel model = RhymeLstm();
  CompileOptions options;
  options.strategy = "list";
  options.pins = {
      {"embedding", {"cpu:0"}}, {"lstm", {"gpu:0"}}, {"head", {"gpu:0"}}};
  auto compiled =
      Compile(*Built(model), CpuAndGpus(1, int64_t{1} << 30), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const auto plan = std::make_shared<const Plan>(std::move(compiled->plan));
  int on_cpu = 0, on_gpu = 0;
  for (const OpView& op : plan->module.FindFunction("train")->ops()) {
    const std::string& scope = op.node().scope;
    // Constants go to their readers.
    if (op.op().traits.placed_only || op.num_operands() == 0) continue;
    if (scope != "embedding" && scope != "lstm") continue;
    const std::string& device = op.node().placement.devices[0];
    EXPECT_EQ(device, scope == "lstm" ? "gpu:0" : "cpu:0") << op.ToString();
    ++(scope == "lstm" ? on_gpu : on_cpu);
  }
  EXPECT_GT(on_cpu, 0);
  EXPECT_GT(on_gpu, 0);
  ExpectTrainsAsOnOneDevice(plan, model);
}

TEST(TextModel, ACheckpointOfAnotherAlphabetIsRefused) {
  const TrainableModel model = RhymeGpt();
  const std::string path = TestPath("alphabet");
  unlink(path.c_str());
  StopsAfter first(1);
  ASSERT_TRUE(TrainOn(PlanOf(Built(model)), model, 1, path, first).ok());
  std::string other_text = Rhyme();
  for (char& c : other_text) c = c == 'a' ? 'x' : c;
  const TrainableModel other =
      Opened(GptModel(Over(TextFile("other.txt", other_text)), SmallGpt()));
  EXPECT_EQ(
      TrainOn(PlanOf(Built(other)), other, 1, path, first).message(),
      path +
          ": found vocabulary characters 61 62 63 64 e9; expected vocabulary "
          "characters 62 63 64 78 e9; continue a training of the same model by "
          "the same program");
}

std::string Refusal(const TextModelOptions& options,
                    const GptTrainingOptions& network = SmallGpt()) {
  const auto model = GptModel(options, network);
  if (!model.ok()) return std::string(model.status().message());
  return std::string(model->build({}).status().message());
}

TEST(TextModel, WhatCannotBeLearntIsRefused) {
  GptTrainingOptions uneven = SmallGpt();
  uneven.heads = 3;
  EXPECT_EQ(Refusal(OverRhyme(), uneven),
            "heads: found 3 for width 16; expected a divisor of the width; "
            "change one of them");
  const std::string few = TextFile("few.txt", "too little");
  EXPECT_EQ(Refusal(Over(few)),
            "end of " + few +
                ": text: found 1 tokens; expected at least 12 + 1; give more "
                "text or shorter windows");
  const std::string bytes = TextFile("bytes.txt", "good\nb\xff");
  EXPECT_EQ(Refusal(Over(bytes)),
            bytes +
                ":2:2: found byte \"\\xff\", which is not UTF-8; expected a "
                "text in UTF-8; convert it, as iconv does");
}

}  // namespace
}  // namespace partita
