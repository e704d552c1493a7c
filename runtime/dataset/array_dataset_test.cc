// Tests of datasets of arrays, subsets, and transformed fields.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/dataset/array_dataset.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/dataset/testing/sample_text.h"
#include "runtime/dataset/transform.h"

namespace partita {
namespace {

std::string Recorded(absl::string_view name) {
  return absl::StrCat("runtime/tensor_file/recorded/", name);
}

FieldArray Field(std::string name, HostTensor tensor) {
  auto owner = std::make_shared<const HostTensor>(std::move(tensor));
  const absl::Span<const std::byte> bytes = owner->byte_span();
  return {name, {owner->type(), {absl::StrCat(name, ".npy"), bytes, owner}}};
}

template <typename T>
SharedDataset OneField(Shape dims, const std::vector<T>& values) {
  std::vector<FieldArray> arrays;
  arrays.push_back(Field("x", HostTensor::Of<T>(std::move(dims), values)));
  return *ArrayDataset(std::move(arrays));
}

TEST(ArrayDataset, ImagesAndLabelsOfMnistsFormatAreOneDataset) {
  const auto dataset = OpenArrays({{"image", Recorded("images.idx.gz"), ""},
                                   {"label", Recorded("labels.idx"), ""}});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "image: u8[2, 3], label: u8[]");
  EXPECT_EQ((*dataset)->num_samples(), 5);
  EXPECT_EQ(SampleText(**dataset, 0), "image 1 2 3 4 5 6 | label 1");
  EXPECT_EQ(SampleText(**dataset, 4), "image 25 26 27 28 29 30 | label 5");
}

TEST(ArrayDataset, ArraysOfAnArchiveAreTakenByName) {
  const std::string path = Recorded("packed.npz");
  const auto dataset = OpenArrays({{"image", path, "x_train"},
                                   {"label", path, "y_train"},
                                   {"even", path, ""}});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset),
            "image: u8[2, 3], label: i64[], even: bool[]");
  EXPECT_EQ(SampleText(**dataset, 2),
            "image 13 14 15 16 17 18 | label 3 | even 1");
}

TEST(ArrayDataset, AForeignBoolBecomesOne) {
  HostTensor foreign(TensorType{DType::kBool, {2}, {}});
  foreign.bytes()[1] = std::byte{7};
  std::vector<FieldArray> arrays;
  arrays.push_back(Field("flag", std::move(foreign)));
  const auto dataset = ArrayDataset(std::move(arrays));
  std::byte flag;
  std::byte* const to = &flag;
  ASSERT_TRUE((*dataset)->CopySample(1, {&to, 1}).ok());
  EXPECT_EQ(flag, std::byte{1});
}

std::string Fault(std::vector<FieldArray> arrays) {
  return std::string(ArrayDataset(std::move(arrays)).status().message());
}

TEST(ArrayDataset, ArraysThatDoNotFitTogetherAreRefused) {
  const auto of = [](std::string name, Shape dims) {
    return Field(std::move(name),
                 HostTensor({DType::kF32, std::move(dims), {}}));
  };
  std::vector<FieldArray> arrays;
  EXPECT_EQ(Fault({}), "dataset: found no field; expected one or more");
  arrays = {of("image", {60, 2}), of("label", {59})};
  EXPECT_EQ(Fault(arrays),
            "label.npy: found 59 samples of label; expected 60, as of image in "
            "image.npy; give files of one set");
  arrays = {of("image", {0, 2}), of("label", {59})};
  EXPECT_EQ(Fault(arrays),
            "image.npy: found 0 samples of image; expected 59, as of label in "
            "label.npy; give files of one set");
  arrays = {of("image", {60, 2}), of("label", {})};
  EXPECT_EQ(Fault(arrays),
            "label.npy: found f32[] for label; expected an array with the "
            "samples along dimension 0");
  arrays = {of("image", {60}), of("image", {60})};
  EXPECT_EQ(Fault(arrays),
            "image.npy: found field image twice; expected every field once");
}

TEST(ArrayDataset, AFileOfNoKnownFormatIsRefused) {
  const std::string path =
      absl::StrCat(testing::TempDir(), "/", getpid(), ".x");
  std::ofstream(path) << "hello";
  EXPECT_EQ(OpenArrays({{"x", path, ""}}).status().message(),
            absl::StrCat(path,
                         ": found a file of another format; expected IDX "
                         "(plain or gzip), .npy or .npz"));
}

TEST(Fields, AnUnknownFieldIsReportedWithTheKnownOnes) {
  EXPECT_EQ(OneField<float>({1}, {1})->FieldIndex("y").status().message(),
            "dataset: found no field y; expected one of x");
}

TEST(Normalize, BytesBecomeFloatsAsTorchvisionMakesThem) {
  const SharedDataset bytes = OneField<uint8_t>({2, 2, 2}, {0, 51, 128, 255,  //
                                                            1, 2, 3, 4});
  const auto dataset = Normalize(
      bytes, "x", {.mean = {0.1307f}, .stddev = {0.3081f}, .dims = {1, 2, 2}});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "x: f32[1, 2, 2]");
  HostTensor x((*dataset)->fields()[0].type);
  std::byte* const to = x.bytes();
  ASSERT_TRUE((*dataset)->CopySample(0, {&to, 1}).ok());
  const float in[] = {0, 51, 128, 255};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(x.data<float>()[i], (in[i] / 255.0f - 0.1307f) / 0.3081f);
  }
}

TEST(Normalize, ADoubleKeepsItsDigits) {
  const SharedDataset doubles = OneField<double>({1, 2}, {0.1, 7});
  const auto dataset =
      Normalize(doubles, "x", {.divisor = 1, .dtype = DType::kF64});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "x: f64[2]");
  HostTensor x((*dataset)->fields()[0].type);
  std::byte* const to = x.bytes();
  ASSERT_TRUE((*dataset)->CopySample(0, {&to, 1}).ok());
  EXPECT_EQ(x.data<double>()[0], 0.1);
  EXPECT_EQ(Normalize(doubles, "x", {.dtype = DType::kF16}).status().message(),
            "x: found f16[2]; expected f32 or f64 to normalize to");
}

TEST(Normalize, EachChannelHasItsOwnNumbers) {
  const SharedDataset ints = OneField<int32_t>({1, 2, 2}, {10, 20, 30, 40});
  const auto dataset =
      Normalize(ints, "x", {.divisor = 1, .mean = {10, 30}, .stddev = {2, 5}});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(SampleText(**dataset, 0), "x 0 5 0 2");
  // The same result for bytes, which use tables.
  const SharedDataset bytes = OneField<uint8_t>({1, 2, 2}, {10, 20, 30, 40});
  const auto other =
      Normalize(bytes, "x", {.divisor = 1, .mean = {10, 30}, .stddev = {2, 5}});
  EXPECT_EQ(SampleText(**other, 0), "x 0 5 0 2");
}

TEST(Normalize, OneNumberIsForAllChannels) {
  const SharedDataset ints = OneField<int32_t>({1, 2, 2}, {10, 20, 30, 40});
  const auto shifted =
      Normalize(ints, "x", {.divisor = 1, .mean = {10, 30}, .stddev = {5}});
  EXPECT_EQ(SampleText(**shifted, 0), "x 0 2 0 2");
  const auto scaled =
      Normalize(ints, "x", {.divisor = 1, .mean = {10}, .stddev = {1, 2}});
  EXPECT_EQ(SampleText(**scaled, 0), "x 0 10 10 15");
}

TEST(Normalize, NumbersThatDoNotFitAreRefused) {
  const SharedDataset x = OneField<uint8_t>({1, 2, 2}, {1, 2, 3, 4});
  const auto fault = [&](const Normalization& numbers) {
    return std::string(Normalize(x, "x", numbers).status().message());
  };
  EXPECT_EQ(fault({.mean = {1, 2, 3}}),
            "x: found 3 means; expected 1, or 2 for f32[2, 2]; give one for "
            "all, or one a channel");
  EXPECT_EQ(fault({.stddev = {1, 2, 3}}),
            "x: found 3 standard deviations; expected 1, or 2 for f32[2, 2]; "
            "give one for all, or one a channel");
  EXPECT_EQ(fault({.stddev = {1, 2}, .dims = {1, 2, 2}}),
            "x: found 2 standard deviations; expected 1 for f32[1, 2, 2]; give "
            "one");
  EXPECT_EQ(fault({.stddev = {0}}),
            "x: found 0 to divide by; expected a divisor and standard "
            "deviations other than 0");
  EXPECT_EQ(fault({.stddev = {1, 1e-40f}}),
            "x: found a mean of 0 and a standard deviation of 9.99995e-41, "
            "which make inf of the byte 255; expected numbers that normalize "
            "bytes to finite ones");
  EXPECT_EQ(fault({.mean = {1}, .stddev = {1e-40f}}),
            "x: found a mean of 1 and a standard deviation of 9.99995e-41, "
            "which make -inf of the byte 0; expected numbers that normalize "
            "bytes to finite ones");
  EXPECT_EQ(fault({.stddev = {1e-40f}, .dtype = DType::kF64}), "");
  EXPECT_EQ(fault({.dims = {3}}),
            "x: found u8[2, 2]; expected as many elements as f32[3]; give a "
            "file of such samples");
}

TEST(CheckLabels, ALabelOutOfRangeIsAnErrorOfItsSample) {
  const SharedDataset y = OneField<int16_t>({4}, {0, 9, 10, -1});
  const auto dataset = CheckLabels(y, "x", {.num_classes = 10});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "x: i64[]");
  EXPECT_EQ(SampleText(**dataset, 1), "x 9");
  EXPECT_EQ(SampleText(**dataset, 2),
            "x: found label 10; expected 0..9; correct the dataset or the "
            "number of classes");
  const auto ignoring = CheckLabels(
      y, "x", {.num_classes = 11, .ignored = -1, .dtype = DType::kI32});
  EXPECT_EQ(SampleText(**ignoring, 2), "x 10");
  EXPECT_EQ(SampleText(**ignoring, 3), "x -1");
  const auto other = CheckLabels(y, "x", {.num_classes = 10, .ignored = -100});
  EXPECT_EQ(SampleText(**other, 3),
            "x: found label -1; expected 0..9 or -100; correct the dataset or "
            "the number of classes");
}

TEST(CheckLabels, ALabelBeyondAllDoublesIsReportedExactly) {
  const SharedDataset y = OneField<uint64_t>({1}, {(uint64_t{1} << 63) + 1});
  const auto dataset = CheckLabels(y, "x", {.num_classes = 10});
  EXPECT_EQ(SampleText(**dataset, 0),
            "x: found label 9223372036854775809; expected 0..9; correct the "
            "dataset or the number of classes");
}

TEST(CheckLabels, LabelsTakeTheModelsShape) {
  const SharedDataset column = OneField<uint8_t>({2, 1}, {3, 4});
  ClassLabels scalars = {.num_classes = 10};
  scalars.dims.emplace();
  const auto dataset = CheckLabels(column, "x", scalars);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(FieldsText(**dataset), "x: i64[]");
  EXPECT_EQ(SampleText(**dataset, 1), "x 4");
  EXPECT_EQ(CheckLabels(column, "x", {.num_classes = 10, .dims = Shape{2}})
                .status()
                .message(),
            "x: found u8[1]; expected as many elements as i64[2]; give a file "
            "of such labels");
}

TEST(CheckLabels, InvalidOptionsAreRefused) {
  const auto fault = [](const SharedDataset& dataset,
                        const ClassLabels& labels) {
    return std::string(CheckLabels(dataset, "x", labels).status().message());
  };
  const SharedDataset y = OneField<uint8_t>({1}, {0});
  EXPECT_EQ(
      fault(OneField<float>({1}, {0}), {.num_classes = 2}),
      "x: found f32[]; expected integers as labels; save them as integers");
  EXPECT_EQ(fault(y, {.num_classes = 2, .dtype = DType::kU8}),
            "x: found label dtype u8; expected i64 or i32");
  EXPECT_EQ(fault(y, {.num_classes = 0}),
            "x: found 0 classes; expected 1 to 70368744177664");
}

}  // namespace
}  // namespace partita
