// The example of docs/guide/datasets.md: from files to batches, and a
// checkpoint.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/dataset/array_dataset.h"
#include "runtime/dataset/loader.h"
#include "runtime/dataset/transform.h"
#include "runtime/tensor_file/safetensors_file.h"
#include "runtime/tensor_file/safetensors_writer.h"

namespace partita {
namespace {

constexpr int64_t kIgnored = -100;

absl::StatusOr<SharedDataset> OpenImages(const std::string& folder) {
  PARTITA_ASSIGN_OR_RETURN(SharedDataset data,
                           OpenArrays({{"image", folder + "/images.idx.gz", ""},
                                       {"label", folder + "/labels.idx", ""}}));
  PARTITA_ASSIGN_OR_RETURN(
      data, Normalize(data, "image",
                      {.mean = {0.5f}, .stddev = {0.25f}, .dims = {1, 2, 3}}));
  return CheckLabels(data, "label", {.num_classes = 10, .ignored = kIgnored});
}

absl::StatusOr<std::unique_ptr<Loader>> OpenLoader(SharedDataset data) {
  PARTITA_ASSIGN_OR_RETURN(
      const Sampler sampler,
      Sampler::Create(data->num_samples(),
                      {.batch_size = 2, .seed = 1, .last = LastBatch::kPad}));
  return Loader::Create(data, sampler, {.end_epoch = 2});
}

TEST(TrainingInput, FilesBecomeBatches) {
  const auto data = OpenImages("runtime/tensor_file/recorded");
  ASSERT_TRUE(data.ok()) << data.status();
  const auto loader = OpenLoader(*data);
  ASSERT_TRUE(loader.ok()) << loader.status();
  std::multiset<int64_t> labels;
  while (true) {
    absl::StatusOr<std::optional<LoadedBatch>> batch = (*loader)->Next();
    ASSERT_TRUE(batch.ok()) << batch.status();
    if (!batch->has_value()) break;
    const HostTensor& image = (*batch)->field(0);
    EXPECT_EQ(image.type().ToString(), "f32[2, 1, 2, 3]");
    const absl::Span<int64_t> label = (*batch)->field(1).data<int64_t>();
    for (int64_t i = (*batch)->share().num_counted; i < 2; ++i) {
      label[i] = kIgnored;
    }
    for (int64_t i = 0; i < 2; ++i) {
      labels.insert(label[i]);
      if (label[i] == kIgnored) continue;
      // Element 0 of the sample with label n is 6 * n - 5.
      const float x = static_cast<float>(6 * label[i] - 5);
      EXPECT_EQ(image.data<float>()[6 * i], (x / 255 - 0.5f) / 0.25f);
    }
  }
  // Two epochs of five samples; each has one padding sample.
  EXPECT_EQ(labels, (std::multiset<int64_t>{1, 1, 2, 2, 3, 3, 4, 4, 5, 5,
                                            kIgnored, kIgnored}));
}

TEST(TrainingInput, ACheckpointComesBack) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/", getpid(), ".safetensors");
  const HostTensor weight = HostTensor::Of<float>({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(
      WriteSafetensors(path, {{"fc.weight", weight.type(), weight.byte_span()}},
                       {{"epoch", "3"}, {"batch", "17"}})
          .ok());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE(file->ExpectTensors({{"fc.weight", weight.type()}}).ok());
  EXPECT_EQ(file->Find("fc.weight")->Copy().byte_span(), weight.byte_span());
  EXPECT_EQ(file->metadata().at("batch"), "17");
}

}  // namespace
}  // namespace partita
