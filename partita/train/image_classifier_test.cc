// Networks read their images' own shapes, and are resumed to the bit, running
// statistics included.
// SPDX-License-Identifier: Apache-2.0

#include "partita/train/image_classifier.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "partita/train/evaluation.h"
#include "partita/train/testing/test_training.h"

namespace partita {
namespace {

// An IDX file of bytes below `below`.
std::string IdxFile(const std::string& name, const std::vector<int64_t>& dims,
                    uint64_t below) {
  std::string bytes = {0, 0, 8, static_cast<char>(dims.size())};
  int64_t count = 1;
  for (int64_t dim : dims) {
    bytes += {0, 0, 0, static_cast<char>(dim)};
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) {
    bytes += static_cast<char>(RandomWord(7, i) % below);
  }
  const std::string path = TestPath(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

ImageClassifierOptions Images(const std::vector<int64_t>& dims) {
  const ImageFiles files = {IdxFile("images.idx", dims, 256),
                            IdxFile("labels.idx", {dims[0]}, 3)};
  return {.train = files,
          .test = files,
          .mean = {0.5},
          .stddev = {0.25},
          .batch = 4};
}

std::string InputOf(const std::vector<int64_t>& dims) {
  const auto model = ResNet18Model(Images(dims), 3);
  if (!model.ok()) return std::string(model.status().message());
  const auto module = model->build({});
  EXPECT_TRUE(module.ok()) << module.status();
  const Graph& train = module->main();
  return train.type(train.inputs()[0]).ToString();
}

TEST(ImageClassifier, ResNet18ReadsSquareImagesOfAnySize) {
  EXPECT_EQ(InputOf({6, 3, 8, 8}), "f32[4, 3, 8, 8]");
  EXPECT_EQ(InputOf({6, 10, 10}), "f32[4, 1, 10, 10]");
  EXPECT_EQ(InputOf({6, 8, 8, 3}),
            TestPath("images.idx") +
                ": found images f32[8, 8, 3]; expected [side, side] or "
                "[channels, side, side]; transpose or cut them");
}

TEST(ImageClassifier, RebatchedNetworksEvaluateOverTheSameVariables) {
  for (const auto& model :
       {ResNet18Model(Images({6, 3, 8, 8}), 3),
        MnistModel(Images({6, 28, 28}), /*dropout=*/0.25)}) {
    ASSERT_TRUE(model.ok()) << model.status();
    ExpectRebatched(*model, 2);
  }
}

TEST(ImageClassifier, ResNet18IsResumedToTheBit) {
  const auto model = ResNet18Model(Images({6, 3, 8, 8}), 3);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto plan =
      PlanOf(model->build({.update = ResNet18TrainingOptions().update}));
  ExpectResumesToTheBit(plan, *model, 3);
}

// Six images, one batch, are memorized, and classified correctly with the
// running statistics.
TEST(ImageClassifier, ResNet18LearnsItsImages) {
  ImageClassifierOptions images = Images({6, 1, 8, 8});
  images.batch = 6;
  const auto model = ResNet18Model(images, 3);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto session = VirtualSession(
      PlanOf(model->build({.update = {.optimizer = {.momentum = 0.9},
                                      .schedule = {.learning_rate = 0.02}}})));
  const auto trainer =
      Trainer::Create(*session, model->train.samples,
                      {.batch_size = model->batch, .epochs = 40});
  ASSERT_TRUE(trainer.ok()) << trainer.status();
  StopsAfter never(0);
  ASSERT_TRUE((*trainer)->Run(never).ok());
  const auto test = Evaluate(*session, model->test.samples, model->batch);
  ASSERT_TRUE(test.ok()) << test.status();
  EXPECT_EQ(*test->correct, 6);
}

}  // namespace
}  // namespace partita
