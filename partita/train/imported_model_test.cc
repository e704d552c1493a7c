// A module made for inference is trained on files in their own shapes.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/imported_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/graph_builder.h"
#include "graph/builder/ops.h"
#include "partita/train/evaluation.h"
#include "partita/train/testing/test_training.h"

namespace partita {
namespace {

// y [4, outputs] = x W + b for pixels [4, 1, 2, 2], as imported.
Module Linear(int64_t outputs, DType dtype = DType::kF32) {
  GraphBuilder b("train");
  const Tensor x = b.Input("pixels", dtype, {4, 1, 2, 2});
  const Tensor w = b.Variable("w", HostTensor({dtype, {4, outputs}, {}}));
  const Tensor bias = b.Variable("b", HostTensor({dtype, {outputs}, {}}));
  b.Output("y", MatMul(Reshape(x, {4, 4}), w) + bias);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::string BytesFile(const std::string& name, std::string header,
                      const std::string& bytes) {
  const std::string path = TestPath(name);
  std::ofstream(path, std::ios::binary) << header << bytes;
  return path;
}

// Six images of 2x2 bytes, IDX, in two shades; the second shade is label 1.
SampleFile Pixels() {
  std::string bytes;
  for (int n = 0; n < 6; ++n) bytes += std::string(4, n % 2 == 0 ? 51 : -52);
  return {"pixels",
          BytesFile("pixels.idx",
                    {0, 0, 8, 3, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 2}, bytes)};
}

SampleFile Labels(const std::string& bytes = {0, 1, 0, 1, 0, 1}) {
  return {"labels", BytesFile("labels.idx", {0, 0, 8, 1, 0, 0, 0, 6}, bytes)};
}

TrainableModel Opened(int64_t outputs, const std::string& loss,
                      DType dtype = DType::kF32) {
  auto model =
      ImportedModel(Linear(outputs, dtype), {.loss = loss,
                                             .train = {Pixels(), Labels()},
                                             .test = {Pixels(), Labels()},
                                             .mean = {0.5},
                                             .stddev = {0.25}});
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

Evaluation Trained(const TrainableModel& model, int64_t epochs = 40) {
  const auto session = VirtualSession(
      PlanOf(model.build({.update = {.schedule = {.learning_rate = 0.05}}})));
  const auto trainer =
      Trainer::Create(*session, model.train.samples,
                      {.batch_size = model.batch, .epochs = epochs});
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  EXPECT_TRUE((*trainer)->Run(never).ok());
  EXPECT_EQ(static_cast<int64_t>(never.losses.size()),
            epochs * (*trainer)->steps_per_epoch());
  const auto test = Evaluate(*session, model.test.samples, model.batch);
  EXPECT_TRUE(test.ok()) << test.status();
  return *test;
}

TEST(ImportedModel, LearnsToClassify) {
  const Evaluation test = Trained(Opened(2, "cross-entropy"));
  EXPECT_EQ(test.samples, 6);
  EXPECT_EQ(test.correct, 6);
  EXPECT_LT(test.loss, 0.1);
}

// The half batch at the end of an epoch is padded with samples that do not
// count.
TEST(ImportedModel, LearnsNumbersByMeanSquares) {
  const Evaluation test = Trained(Opened(1, "mse"));
  EXPECT_EQ(test.samples, 6);
  EXPECT_FALSE(test.correct.has_value());
  EXPECT_LT(test.loss, 1e-3);
}

TEST(ImportedModel, AnUnknownNumberDoesNotCount) {
  const std::string one = {0x3f, '\x80', 0, 0};
  const std::string nan = {0x7f, '\xc0', 0, 0};
  const std::string zero(4, 0);
  const std::string path =
      BytesFile("unknown.idx", {0, 0, 13, 1, 0, 0, 0, 6},
                absl::StrCat(nan, one, zero, one, zero, one));
  const std::vector<SampleFile> files = {Pixels(), {"labels", path}};
  const auto model = ImportedModel(Linear(1), {.loss = "mse",
                                               .train = files,
                                               .test = files,
                                               .mean = {0.5},
                                               .stddev = {0.25}});
  ASSERT_TRUE(model.ok()) << model.status();
  const Evaluation test = Trained(*model);
  EXPECT_EQ(test.samples, 6);
  EXPECT_EQ(test.labels, 5);
  EXPECT_LT(test.loss, 1e-3);
}

std::string RefusalOf(Module module, const ImportedModelOptions& options) {
  const auto model = ImportedModel(std::move(module), options);
  EXPECT_TRUE(model.ok()) << model.status();
  const auto session = VirtualSession(PlanOf(model->build({})));
  const auto trainer = Trainer::Create(*session, model->train.samples,
                                       {.batch_size = model->batch});
  EXPECT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  return std::string((*trainer)->Run(never).status().message());
}

TEST(ImportedModel, ABatchWithoutAKnownNumberIsReported) {
  const std::string nan = {0x7f, '\xc0', 0, 0};
  std::string numbers;
  for (int i = 0; i < 6; ++i) numbers += nan;
  const std::string path =
      BytesFile("none.idx", {0, 0, 13, 1, 0, 0, 0, 6}, numbers);
  const std::string refusal = RefusalOf(
      Linear(1), {.loss = "mse", .train = {Pixels(), {"labels", path}}});
  EXPECT_NE(refusal.find(absl::StrCat(path, ": sample ")), std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find(": labels: nan, as all of the batch; expected"),
            std::string::npos);
}

// Six labels, i32.
SampleFile WideLabels(const std::string& name, const std::string& bytes) {
  return {"labels", BytesFile(name, {0, 0, 12, 1, 0, 0, 0, 6}, bytes)};
}

constexpr char kMinusHundred[] = "\xff\xff\xff\x9c";

TEST(ImportedModel, AnUnknownClassDoesNotCount) {
  const std::string zero(4, 0);
  const std::string one = {0, 0, 0, 1};
  const SampleFile labels = WideLabels(
      "classes.idx", absl::StrCat(kMinusHundred, one, zero, one, zero, one));
  const auto model = ImportedModel(Linear(2), {.loss = "cross-entropy",
                                               .train = {Pixels(), labels},
                                               .test = {Pixels(), labels},
                                               .mean = {0.5},
                                               .stddev = {0.25}});
  ASSERT_TRUE(model.ok()) << model.status();
  const Evaluation test = Trained(*model);
  EXPECT_EQ(test.samples, 6);
  EXPECT_EQ(test.labels, 5);
  EXPECT_EQ(test.correct, 5);
  EXPECT_LT(test.loss, 0.1);
}

TEST(ImportedModel, ABatchWithoutAKnownClassIsReported) {
  std::string bytes;
  for (int n = 0; n < 6; ++n) bytes += kMinusHundred;
  const SampleFile labels = WideLabels("no_class.idx", bytes);
  const std::string refusal =
      RefusalOf(Linear(2), {.loss = "nll", .train = {Pixels(), labels}});
  EXPECT_NE(refusal.find(absl::StrCat(labels.path, ": sample ")),
            std::string::npos)
      << refusal;
  EXPECT_NE(refusal.find(": labels: -100, as all of the batch; expected"),
            std::string::npos);
}

TEST(ImportedModel, ABatchWithoutAKnownClassChangesNothing) {
  std::string bytes;
  for (int n = 0; n < 6; ++n) bytes += kMinusHundred;
  const SampleFile labels = WideLabels("no_class.idx", bytes);
  const auto model = ImportedModel(
      Linear(2), {.loss = "cross-entropy", .train = {Pixels(), labels}});
  ASSERT_TRUE(model.ok()) << model.status();
  const auto session = VirtualSession(PlanOf(model->build({})));
  const auto trainer =
      Trainer::Create(*session, model->train.samples,
                      {.batch_size = model->batch, .stop_at_nan = false});
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  ASSERT_TRUE((*trainer)->Run(never).ok());
  EXPECT_TRUE(std::isnan(never.losses.at(0)));
  const auto weights = session->ReadVariable("w");
  ASSERT_TRUE(weights.ok()) << weights.status();
  for (const float weight : weights->data<float>()) EXPECT_EQ(weight, 0);
}

// Files of other types become f64 like its inputs.
TEST(ImportedModel, MayComputeInDoubles) {
  EXPECT_LT(Trained(Opened(1, "mse", DType::kF64)).loss, 1e-3);
  EXPECT_EQ(Trained(Opened(2, "cross-entropy", DType::kF64)).correct, 6);
}

std::string TextFile(const std::string& name, const std::string& text) {
  return BytesFile(name, "", text);
}

// The other columns are the input, and a table may have no header.
TEST(ImportedModel, ReadsTables) {
  const std::string table = TextFile("shades.csv",
                                     "a,kind,b,c,d\n"
                                     "-1,0,-1,-1,-1\n1,1,1,1,1\n"
                                     "-1,0,-1,-1,-1\n1,1,1,1,1\n");
  const std::string kinds = TextFile("kinds.csv", "0\n1\n0\n1\n");
  for (const std::string& labels : {table, kinds}) {
    SCOPED_TRACE(labels);
    const std::string inputs =
        labels == table
            ? table
            : TextFile("inputs.csv",
                       "-1,-1,-1,-1\n1,1,1,1\n-1,-1,-1,-1\n1,1,1,1\n");
    const std::vector<SampleFile> files = {{"pixels", inputs},
                                           {"labels", labels}};
    const auto model = ImportedModel(
        Linear(2), {.train = files,
                    .test = files,
                    .label_column = labels == table ? "kind" : ""});
    ASSERT_TRUE(model.ok()) << model.status();
    const Evaluation test = Trained(*model, 60);
    EXPECT_EQ(test.samples, 4);
    EXPECT_EQ(test.correct, 4);
  }
  EXPECT_EQ(ImportedModel(Linear(2),
                          {.train = {{"pixels", table}, {"labels", table}}})
                .status()
                .message(),
            table + ": found 5 columns; expected one, or --label-column");
}

// The test uses the training's classes, in whatever order they appear there.
TEST(ImportedModel, ReadsClassesThatAreWords) {
  const std::string train = TextFile("words.csv",
                                     "a,kind,b,c,d\n"
                                     "1,white,1,1,1\n-1,black,-1,-1,-1\n"
                                     "1,white,1,1,1\n-1,black,-1,-1,-1\n");
  const std::string test =
      TextFile("test.csv", "a,kind,b,c,d\n1,white,1,1,1\n");
  const auto opened = [&](int64_t classes, const std::string& tested) {
    return ImportedModel(Linear(classes),
                         {.train = {{"pixels", train}, {"labels", train}},
                          .test = {{"pixels", tested}, {"labels", tested}},
                          .label_column = "kind"});
  };
  const auto model = opened(2, test);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->class_names, (std::vector<std::string>{"black", "white"}));
  EXPECT_EQ(model->settings.back().value, "black, white");
  const Evaluation found = Trained(*model, 60);
  EXPECT_EQ(found.samples, 1);
  EXPECT_EQ(found.correct, 1);
  const std::string grey = TextFile("grey.csv", "a,kind,b,c,d\n1,grey,1,1,1\n");
  EXPECT_EQ(opened(2, grey).status().message(),
            grey +
                ":2:3: column kind: found \"grey\"; expected one of black, "
                "white, as in the first table");
  EXPECT_EQ(opened(1, test).status().message(),
            train +
                ": found 2 different labels; expected at most 1, the "
                "model's classes");
  const std::string numbers =
      TextFile("numbers.csv", "a,kind,b,c,d\n1,1,1,1,1\n-1,0,-1,-1,-1\n");
  EXPECT_EQ(ImportedModel(Linear(2),
                          {.train = {{"pixels", numbers}, {"labels", numbers}},
                           .test = {{"pixels", test}, {"labels", test}},
                           .label_column = "kind"})
                .status()
                .message(),
            test +
                ":2:3: column kind: found \"white\"; expected a whole "
                "number as the label");
}

// A column at another position is another quantity.
TEST(ImportedModel, ColumnsOfTheTestAreThoseOfTheTraining) {
  const std::string train =
      TextFile("tr.csv", "a,kind,b,c,d\n1,1,1,1,1\n-1,0,-1,-1,-1\n");
  const auto tested = [&](const std::string& test) {
    return ImportedModel(Linear(2),
                         {.train = {{"pixels", train}, {"labels", train}},
                          .test = {{"pixels", test}, {"labels", test}},
                          .label_column = "kind"})
        .status();
  };
  const auto refusal = [&](const std::string& test, const std::string& found) {
    return absl::StrCat(test, ": found ", found, "; expected the columns of ",
                        train,
                        " in their order: a, b, c, d; name and order them as "
                        "there, or take the header off both files");
  };
  const auto file = [&](const std::string& header) {
    return TextFile("te.csv", header + "\n1,1,1,1,1\n");
  };
  const std::string other = file("a,kind,c,b,d");
  EXPECT_EQ(
      tested(other).message(),
      refusal(other, "c as column 2 of pixels, where " + train + " has b"));
  file("a,kind,b,c,e");
  EXPECT_EQ(
      tested(other).message(),
      refusal(other, "e as column 4 of pixels, where " + train + " has d"));
  TextFile("te.csv", "a,kind,b,c\n1,1,1,1\n");
  EXPECT_EQ(
      tested(other).message(),
      refusal(other, "none as column 4 of pixels, where " + train + " has d"));
  // The label may be at another position.
  EXPECT_TRUE(tested(file("kind,a,b,c,d")).ok());
}

// Columns of a table without a header have no names.
TEST(ImportedModel, ColumnsWithoutNamesAreNotCompared) {
  const std::string named =
      TextFile("named.csv", "a,kind,b,c,d\n1,1,1,1,1\n-1,0,-1,-1,-1\n");
  const std::string bare = TextFile("bare.csv", "1,1,1,1,1\n-1,0,-1,-1,-1\n");
  for (const auto& [train, test] : {std::pair(named, bare), {bare, named}}) {
    EXPECT_TRUE(ImportedModel(Linear(2),
                              {.train = {{"pixels", train}, {"labels", train}},
                               .test = {{"pixels", test}, {"labels", test}},
                               .label_column = "2"})
                    .ok());
  }
}

// Its own function, with the same variables.
TEST(ImportedModel, IsExportedWithItsOwnOutput) {
  const TrainableModel model = Opened(2, "cross-entropy");
  const Graph& exported = model.inference->main();
  EXPECT_EQ(exported.output_names(), std::vector<std::string>{"y"});
  const auto trained = model.build({});
  ASSERT_TRUE(trained.ok()) << trained.status();
  for (const Variable& variable : model.inference->variables()) {
    EXPECT_NE(trained->FindVariable(variable.name), nullptr) << variable.name;
  }
}

TEST(ImportedModel, IsResumedToTheBit) {
  for (const char* loss : {"cross-entropy", "mse"}) {
    const TrainableModel model = Opened(2 - (loss[0] == 'm'), loss);
    const auto plan = PlanOf(model.build({.update = {.optimizer = {"adam"}}}));
    ExpectResumesToTheBit(plan, model, 3);
  }
}

std::string Refusal(int64_t outputs, const ImportedModelOptions& options) {
  return std::string(
      ImportedModel(Linear(outputs), options).status().message());
}

TEST(ImportedModel, DataThatDoNotFitAreRefused) {
  const std::string path = Labels().path;
  EXPECT_EQ(Refusal(3, {.loss = "mse", .train = {Pixels(), Labels()}}),
            path +
                ": labels: found u8[]; expected as many elements as f32[3]; "
                "give a file of such samples");
  EXPECT_EQ(Refusal(1, {.train = {{"pixels", path}, Labels()}}),
            path +
                ": pixels: found u8[]; expected as many elements as f32[1, 2, "
                "2]; give a file of such samples");
}

// The output is [n, positions, classes].
TEST(ImportedModel, TheDimensionOfTheClassesIsReported) {
  GraphBuilder b("train");
  const Tensor x = b.Input("pixels", DType::kF32, {4, 1, 2, 2});
  const Tensor w = b.Variable("w", HostTensor({DType::kF32, {4, 6}, {}}));
  b.Output("y", Reshape(MatMul(Reshape(x, {4, 4}), w), {4, 2, 3}));
  auto module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string path = BytesFile(
      "two.idx", {0, 0, 8, 2, 0, 0, 0, 6, 0, 0, 0, 2}, std::string(12, 0));
  EXPECT_EQ(
      ImportedModel(*std::move(module), {.train = {Pixels(), {"labels", path}}})
          .status()
          .message(),
      path +
          ": labels: found u8[2]; expected as many elements as i64[3]; "
          "of the output f32[4, 2, 3] dimension 1 is the classes, [n, "
          "classes, d...]: transpose it if they are another");
}

}  // namespace
}  // namespace partita
