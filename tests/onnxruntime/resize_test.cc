// Compares resizes with ONNX Runtime (resize.py): which elements mode nearest
// reads, for extents of 1 to 200 and scales of 0.1 to 10, and values of the
// other modes.
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"
#include "graph/onnx/testing/sketched_model.h"
#include "graph/ops/resample.h"
#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"
#include "runtime/tensor_file/npy.h"
#include "tests/end_to_end/virtual_steps.h"

namespace partita {
namespace {

constexpr int kFloat = onnx::TensorProto::FLOAT;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

HostTensor Recorded(const std::string& name) {
  std::ifstream file("tests/onnxruntime/" + name, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  auto tensor = ParseNpy(bytes.str(), name);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  return tensor.ok() ? *std::move(tensor) : HostTensor();
}

// A kind of resizing, as in resize.py.
struct Kind {
  std::string mode, coordinates, rounding;
  float cubic_a = -0.75f;
  bool exclude_outside = false;
  int opset = 19;
};

const std::string kCoordinates[] = {
    "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel",
    "align_corners", "asymmetric",           "tf_half_pixel_for_nn"};

// A model of many resizes of one line, each an output.
class Resizes {
 public:
  Resizes(Kind kind, int64_t extent)
      : kind_(std::move(kind)), extent_(extent), model_(kind_.opset) {
    model_.Input("x", kFloat, {1, 1, 1, extent});
  }

  void ByScale(float scale) {
    const std::string name = absl::StrCat("scales", outputs_);
    model_.Constant(name, kFloat, HostTensor::Of<float>({4}, {1, 1, 1, scale}));
    if (kind_.opset < 11) return Add({"x", name});
    Add({"x", "", name});
  }

  void BySize(int64_t size) {
    const std::string name = absl::StrCat("sizes", outputs_);
    model_.Ints(name, {1, 1, 1, size});
    Add({"x", "", "", name});
  }

  Module Imported() const {
    auto module = model_.Import();
    EXPECT_TRUE(module.ok()) << module.status();
    return *std::move(module);
  }

  // Elements of the line as a function of their position.
  template <typename Value>
  std::vector<HostTensor> Line(Value value) const {
    Floats elements;
    for (int64_t i = 0; i < extent_; ++i) elements.push_back(value(i));
    std::vector<HostTensor> inputs;
    inputs.push_back(HostTensor::Of<float>({1, 1, 1, extent_}, elements));
    return inputs;
  }

 private:
  void Add(const std::vector<std::string>& inputs) {
    const std::string name = absl::StrCat("y", outputs_++);
    model_.Node("Resize", inputs, {name}).Attr("mode", kind_.mode);
    if (kind_.opset >= 11) AddAttributes();
    model_.Output(name);
  }

  void AddAttributes() {
    model_.Attr("coordinate_transformation_mode", kind_.coordinates)
        .Attr("nearest_mode", kind_.rounding)
        .Attr("cubic_coeff_a", kind_.cubic_a)
        .Attr("exclude_outside", int64_t{kind_.exclude_outside});
  }

  Kind kind_;
  int64_t extent_;
  SketchedModel model_;
  int outputs_ = 0;
};

std::vector<HostTensor> EvaluatedBy(const Module& module,
                                    const std::vector<HostTensor>& inputs) {
  auto outputs = Evaluate(module.main(), inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? *std::move(outputs) : std::vector<HostTensor>();
}

// With this host's kernels.
std::vector<HostTensor> RunBy(Module module,
                              const std::vector<HostTensor>& inputs) {
  auto compiled = Compile(std::move(module), EqualCpus(1, int64_t{1} << 28));
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return {};
  auto run = RunVirtually(std::move(compiled->plan), inputs);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok()) return {};
  EXPECT_TRUE(SameBits(run->outputs, run->reference).ok());
  return std::move(run->outputs);
}

// --- Mode nearest

constexpr int64_t kNearestExtents = 200;
const Ints kSizes = {1,  2,  3,  5,   7,   10,  16,  25,
                     50, 64, 99, 100, 127, 150, 199, 200};

// In the order of rows; the last is opset 10's, without a choice.
std::vector<Kind> NearestKinds() {
  std::vector<Kind> kinds;
  for (const std::string& coordinates : kCoordinates) {
    for (const char* rounding :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
      kinds.push_back({"nearest", coordinates, rounding});
    }
  }
  kinds.push_back({.mode = "nearest", .opset = 10});
  return kinds;
}

Resizes NearestOf(const Kind& kind, int64_t extent) {
  Resizes resizes(kind, extent);
  for (int i = 1; i <= 100; ++i) {
    const float scale = static_cast<float>(i) / 10.0f;
    if (ResizedExtent(extent, scale) >= 1) resizes.ByScale(scale);
  }
  if (kind.opset < 11) return resizes;
  for (int64_t size : kSizes) resizes.BySize(size);
  return resizes;
}

float Position(int64_t i) { return static_cast<float>(i); }

// Like resize.py's, of lengths and elements.
int64_t HashOf(const std::vector<HostTensor>& lines) {
  uint64_t sum = 0, power = 1;
  const auto add = [&](uint64_t value) {
    sum += (value + 1) * power;
    power *= 0x9E3779B97F4A7C15u;
  };
  for (const HostTensor& line : lines) {
    add(line.data<float>().size());
    for (float element : line.data<float>()) {
      add(static_cast<uint64_t>(element));
    }
  }
  return static_cast<int64_t>(sum);
}

bool IsSampled(int64_t extent) {
  return std::getenv("PARTITA_FULL") != nullptr || extent % 40 == 15;
}

TEST(Resize, ReadsTheElementsThatOnnxRuntimeReads) {
  const HostTensor recorded = Recorded("resize_nearest.npy");
  const std::vector<Kind> kinds = NearestKinds();
  ASSERT_EQ(recorded.type().ToString(), "i64[25, 200]");
  for (size_t k = 0; k < kinds.size(); ++k) {
    for (int64_t extent = 1; extent <= kNearestExtents; ++extent) {
      if (!IsSampled(extent)) continue;
      const Resizes resizes = NearestOf(kinds[k], extent);
      EXPECT_EQ(HashOf(EvaluatedBy(resizes.Imported(), resizes.Line(Position))),
                recorded.data<int64_t>()[k * kNearestExtents + extent - 1])
          << kinds[k].coordinates << ", " << kinds[k].rounding << ", extent "
          << extent << ", opset " << kinds[k].opset;
    }
  }
}

TEST(Resize, KernelsReadTheElementsThatOnnxRuntimeReads) {
  const HostTensor recorded = Recorded("resize_nearest.npy");
  const std::vector<Kind> kinds = NearestKinds();
  for (size_t k = 0; k < kinds.size(); k += 2) {
    const int64_t extent = 3 + static_cast<int64_t>(k) * 2;
    const Resizes resizes = NearestOf(kinds[k], extent);
    EXPECT_EQ(HashOf(RunBy(resizes.Imported(), resizes.Line(Position))),
              recorded.data<int64_t>()[k * kNearestExtents + extent - 1])
        << kinds[k].coordinates << ", " << kinds[k].rounding << ", extent "
        << extent;
  }
}

// Figures of ONNX Runtime, for each dimension.
TEST(Resize, OfOpset10MayShrinkOneDimensionAndEnlargeAnother) {
  SketchedModel model(10);
  model.Input("x", kFloat, {10, 10})
      .Constant("scales", kFloat, HostTensor::Of<float>({2}, {0.6f, 1.5f}))
      .Node("Resize", {"x", "scales"}, {"y"})
      .Output("y");
  Floats x(100), expected;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (int row : {0, 2, 4, 5, 7, 9}) {
    for (int column : {0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9}) {
      expected.push_back(static_cast<float>(10 * row + column));
    }
  }
  std::vector<HostTensor> inputs;
  inputs.push_back(HostTensor::Of<float>({10, 10}, x));
  const auto module = model.Import();
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<HostTensor> y = EvaluatedBy(*module, inputs);
  ASSERT_EQ(y.size(), 1u);
  ASSERT_EQ(y[0].type().ToString(), "f32[6, 15]");
  const auto found = y[0].data<float>();
  EXPECT_EQ(Floats(found.begin(), found.end()), expected);
}

// --- Linear and cubic

const Ints kBlendedExtents = {1,  2,  3,  4,  5,   7,   8,   10,
                              15, 16, 33, 64, 100, 128, 199, 200};
constexpr int kBlendedTenths[] = {1,  3,  5,  7,  9,  11, 12,
                                  15, 20, 25, 33, 47, 71, 100};
constexpr int64_t kSamples = 8;

std::vector<Kind> BlendedKinds() {
  const Kind blends[] = {{.mode = "linear"},
                         {.mode = "cubic"},
                         {.mode = "cubic", .exclude_outside = true},
                         {.mode = "cubic", .cubic_a = -0.5f}};
  std::vector<Kind> kinds;
  for (const Kind& blend : blends) {
    for (const std::string& coordinates : kCoordinates) {
      kinds.push_back(blend);
      kinds.back().coordinates = coordinates;
      kinds.back().rounding = "round_prefer_floor";
    }
  }
  return kinds;
}

float Wave(int64_t i) {
  return static_cast<float>((i * 7919 + 17) % 1009 - 504) / 256;
}

// Roundings of sums of two or four products of numbers up to 2. If elements
// outside are excluded, the rest is divided by the sum of its weights, which
// may be small.
double SumsApart(const Kind& kind) {
  return kind.exclude_outside ? 1e-4 : 3e-6;
}

// Kernels may compute a position up to 200 with two more roundings; neighbours
// are up to 4 apart.
constexpr double kPositionsApart = 5e-5;

void ExpectSamples(const HostTensor& line, const float* expected,
                   double bound) {
  const int64_t last = line.type().num_elements() - 1;
  for (int64_t i = 0; i < kSamples; ++i) {
    const int64_t at = i * last / (kSamples - 1);
    EXPECT_NEAR(line.data<float>()[at], expected[i], bound)
        << "element " << at << " of " << last + 1;
  }
}

void ExpectBlends(const Kind& kind, int64_t extent, const float* expected) {
  Resizes resizes(kind, extent);
  std::vector<const float*> places;
  for (int tenths : kBlendedTenths) {
    const float scale = static_cast<float>(tenths) / 10.0f;
    if (ResizedExtent(extent, scale) >= 1) {
      resizes.ByScale(scale);
      places.push_back(expected);
    }
    expected += kSamples;
  }
  const Module module = resizes.Imported();
  const std::vector<HostTensor> inputs = resizes.Line(Wave);
  const std::vector<HostTensor> evaluated = EvaluatedBy(module, inputs);
  const std::vector<HostTensor> run = extent == 10 || extent == 100
                                          ? RunBy(resizes.Imported(), inputs)
                                          : std::vector<HostTensor>();
  for (size_t i = 0; i < places.size(); ++i) {
    ExpectSamples(evaluated[i], places[i], SumsApart(kind));
    if (run.empty()) continue;
    ExpectSamples(run[i], places[i], SumsApart(kind) + kPositionsApart);
  }
}

TEST(Resize, BlendsAsOnnxRuntimeDoes) {
  const HostTensor recorded = Recorded("resize_values.npy");
  ASSERT_EQ(recorded.type().ToString(), "f32[24, 16, 14, 8]");
  const float* expected = recorded.data<float>().data();
  for (const Kind& kind : BlendedKinds()) {
    for (int64_t extent : kBlendedExtents) {
      SCOPED_TRACE(absl::StrCat(kind.mode, ", ", kind.coordinates, ", a ",
                                kind.cubic_a, ", exclude ",
                                kind.exclude_outside, ", extent ", extent));
      ExpectBlends(kind, extent, expected);
      expected += std::size(kBlendedTenths) * kSamples;
    }
  }
}

}  // namespace
}  // namespace partita
