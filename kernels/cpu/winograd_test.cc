// Compares onednn.winograd and onednn.winograd_4x4 with eval, and tests the
// former's transform of weights. If oneDNN lacks the algorithm on this
// processor, nothing is offered and nothing compared.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_kernels.h"
#include "kernels/cpu/onednn_recipe.h"
#include "kernels/testing/kernel_check.h"
#include "kernels/winograd/small_tile_weights.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

// Relative to the largest result; docs/internals/numerics.md.
constexpr double kTolerance = 6e-6;
constexpr double kTrainingTolerance = 5e-5;

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

bool IsWinograd(const KernelChoice& choice) {
  return choice.kernel == "onednn.winograd";
}

bool IsForTraining(const KernelChoice& choice) {
  return choice.kernel == "onednn.winograd_4x4";
}

bool HasWinograd() { return VectorChannels() == 16; }

// oneDNN's choices for a node by one kind of Winograd's algorithm.
class WinogradCatalog : public KernelCatalog {
 public:
  explicit WinogradCatalog(bool (*is_kind)(const KernelChoice&) = IsWinograd)
      : is_kind_(is_kind) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    std::vector<KernelChoice> choices = catalog_.Choices(node, device);
    std::erase_if(choices, [this](const auto& c) { return !is_kind_(c); });
    return choices;
  }

 private:
  bool (*is_kind_)(const KernelChoice&);
  OnednnCatalog catalog_;
};

OneNode Conv(const Shape& x, int64_t outputs, Attributes attributes = {}) {
  if (attributes.entries().empty()) {
    attributes = {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}};
  }
  return OneNode(kConv, {F32(x), F32({outputs, x[1], 3, 3}), F32({outputs})},
                 attributes);
}

// For some images and threads oneDNN takes larger tiles, which are not offered.
// Returns the number of choices compared with eval.
size_t ExpectRight(const OneNode& one) {
  KernelCheckOptions options;
  options.tolerance = kTolerance;
  const CheckReport report =
      CheckKernels(one.node(), WinogradCatalog(), OnednnLibrary(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  return report.kernels.size();
}

TEST(Winograd, TheTransformIsGwG) {
  constexpr int64_t kPairs = 1024 + 48;
  std::vector<float> w(9 * kPairs), u(16 * kPairs);
  for (size_t i = 0; i < w.size(); ++i) w[i] = float(i * 7919 % 257) / 64 - 2;
  TransformWinogradWeights(w.data(), u.data(), kPairs, 2);
  const double g[4][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
  for (int64_t pair : {int64_t{0}, int64_t{17}, kPairs - 1}) {
    for (int tap = 0; tap < 16; ++tap) {
      double expected = 0;
      for (int k = 0; k < 9; ++k) {
        expected +=
            g[tap / 4][k / 3] * g[tap % 4][k % 3] * w[k * kPairs + pair];
      }
      EXPECT_FLOAT_EQ(u[tap * kPairs + pair], expected) << tap;
    }
  }
}

// oneDNN's cache sizes decide which of them are offered.
TEST(Winograd, EvenAndOddImagesOfWholeBlocks) {
  size_t checked = 0;
  for (const Shape& x : {Shape{1, 16, 8, 8}, Shape{2, 32, 7, 9},
                         Shape{1, 64, 28, 28}, Shape{1, 48, 13, 5}}) {
    for (int64_t outputs : {16, 64, 128}) {
      checked += ExpectRight(Conv(x, outputs));
    }
  }
  EXPECT_EQ(checked > 0, HasWinograd()) << checked;
}

TEST(Winograd, WithoutPadding) {
  ExpectRight(Conv({1, 32, 12, 10}, 32, {{"groups", int64_t{1}}}));
}

TEST(Winograd, OtherConvolutionsAreNotOffered) {
  const auto expect_none = [](const OneNode& one) {
    EXPECT_TRUE(WinogradCatalog().Choices(one.node(), TestCpu(1)).empty());
  };
  expect_none(Conv({1, 32, 12, 12}, 32, {{"strides", Ints{2, 2}}}));
  expect_none(Conv({1, 32, 12, 12}, 32, {{"dilations", Ints{2, 2}}}));
  expect_none(Conv({1, 19, 12, 12}, 32));
  expect_none(Conv({1, 32, 12, 12}, 19));
  expect_none(OneNode(kConv, {F32({1, 32, 9, 9}), F32({32, 16, 3, 3})},
                      {{"groups", int64_t{2}}}));
  expect_none(OneNode(kConv, {F32({1, 32, 9, 9}), F32({32, 32, 1, 1})}));
}

// relu(conv + bias), or relu(conv + bias + residual), as the pass makes it.
OneNode ConvWithEpilogue(const Shape& x_dims, int64_t outputs,
                         bool has_residual) {
  auto pool = std::make_unique<LiteralPool>();
  auto body = std::make_unique<Graph>("body", pool.get());
  const Shape y_dims = {x_dims[0], outputs, x_dims[2], x_dims[3]};
  const ValueId x = body->AddInput("x", F32(x_dims));
  const ValueId w = body->AddInput("w", F32({outputs, x_dims[1], 3, 3}));
  const ValueId b = body->AddInput("b", F32({1, outputs, 1, 1}));
  const auto add = [&](const OpDef& op, ValueIds operands,
                       Attributes attributes = {}) {
    return *body->AddValue({.op = &op,
                            .operands = std::move(operands),
                            .attributes = std::move(attributes)});
  };
  const ValueId c = add(
      kConv, {x, w}, {{"pads_before", Ints{1, 1}}, {"pads_after", Ints{1, 1}}});
  ValueId sum = add(kAdd, {c, b});
  if (has_residual) sum = add(kAdd, {sum, body->AddInput("r", F32(y_dims))});
  body->SetOutputs({add(kRelu, {sum})});
  return OneNode(std::move(pool), std::move(body));
}

TEST(Winograd, BiasResidualAndReluAreFused) {
  EXPECT_EQ(ExpectRight(ConvWithEpilogue({1, 32, 9, 9}, 32, true)) > 0,
            HasWinograd());
}

TEST(Winograd, ItsArithmeticIsNamedApart) {
  const OneNode one = Conv({1, 64, 28, 28}, 64);
  for (const KernelChoice& choice :
       OnednnCatalog().Choices(one.node(), TestCpu(1))) {
    EXPECT_EQ(choice.arithmetics[0].violates.tiles,
              IsWinograd(choice) || IsForTraining(choice));
  }
}

// A large image with few channels gains; weights larger than the image do not.
TEST(Winograd, IsFastestWhereItSavesMoreThanItsTransforms) {
  const auto fastest = [](const OneNode& one) {
    std::vector<KernelChoice> choices =
        OnednnCatalog().Choices(one.node(), TestCpu(1));
    std::erase_if(choices, IsForTraining);
    return choices[0].kernel;
  };
  EXPECT_EQ(fastest(Conv({1, 64, 56, 56}, 64)),
            HasWinograd() ? "onednn.winograd" : "onednn.conv");
  EXPECT_EQ(fastest(Conv({1, 512, 7, 7}, 512)), "onednn.conv");
}

TEST(WinogradTraining, AnEpilogueIsFused) {
  const OneNode one = ConvWithEpilogue({4, 32, 16, 16}, 64, false);
  KernelCheckOptions options;
  options.tolerance = kTrainingTolerance;
  const CheckReport report = CheckKernels(
      one.node(), WinogradCatalog(IsForTraining), OnednnLibrary(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(!report.kernels.empty(), HasWinograd());
}

// cpu.winograd_4x4 computes those without an epilogue.
TEST(WinogradTraining, OnlyWithAnEpilogue) {
  EXPECT_TRUE(WinogradCatalog(IsForTraining)
                  .Choices(Conv({4, 32, 16, 16}, 64).node(), TestCpu(2))
                  .empty());
}

}  // namespace
}  // namespace partita
