// Compares our own moves, gathers and reductions with eval.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/cpu/cpu_kernels.h"

#include <limits>
#include <string>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

TensorType Type(DType dtype, const Shape& dims) { return {dtype, dims, {}}; }
TensorType F32(const Shape& dims) { return Type(DType::kF32, dims); }

// Returns the number of choices for one thread.
size_t ExpectRight(const OneNode& one, const KernelCheckOptions& options = {}) {
  const CheckReport report =
      CheckKernels(one.node(), CpuCatalog(), CpuLibrary(), options);
  EXPECT_TRUE(report.status.ok())
      << one.node().op_name() << ": " << report.status;
  EXPECT_FALSE(report.kernels.empty()) << one.node().op_name();
  return report.kernels.size() / 2;
}

TEST(CpuMove, TransposesOfEveryElementSize) {
  for (DType dtype : {DType::kI8, DType::kBF16, DType::kF32, DType::kI64}) {
    ExpectRight(OneNode(kTranspose, {Type(dtype, {3, 17, 5})},
                        {{"perm", Ints{2, 0, 1}}}));
  }
  ExpectRight(
      OneNode(kTranspose, {F32({1, 37, 4, 16})}, {{"perm", Ints{0, 2, 1, 3}}}));
  ExpectRight(OneNode(kTranspose, {F32({301, 217})}, {{"perm", Ints{1, 0}}}));
  ExpectRight(OneNode(kTranspose, {F32({3, 0})}, {{"perm", Ints{1, 0}}}));
}

TEST(CpuMove, ConcatAndSplitInImageLayouts) {
  const auto concat = [](Ints channels, int64_t axis) {
    std::vector<TensorType> types;
    for (int64_t c : channels) types.push_back(F32({2, c, 3, 5}));
    return ExpectRight(OneNode(kConcat, types, {{"axis", axis}}));
  };
  EXPECT_EQ(concat({16, 32}, 1), 4);
  EXPECT_EQ(concat({8, 16}, 1), 3) << "16 channels would begin inside a block";
  EXPECT_EQ(concat({16, 19}, 1), 4) << "the last may end inside a block";
  EXPECT_EQ(concat({3, 5, 7}, 1), 2);
  EXPECT_EQ(concat({19, 19}, 2), 4) << "along the rows, blocks are whole";
  EXPECT_EQ(
      ExpectRight(OneNode(kSplit, {F32({2, 48, 3, 5})},
                          {{"axis", int64_t{1}}, {"sizes", Ints{16, 32}}})),
      4);
  ExpectRight(OneNode(kSplit, {Type(DType::kI64, {2, 7})},
                      {{"axis", int64_t{-1}}, {"sizes", Ints{0, 3, 4}}}));
}

TEST(CpuMove, SlicesWithSteps) {
  ExpectRight(OneNode(kSlice, {F32({2, 19, 6, 7})},
                      {{"starts", Ints{0, 18, 1, 0}},
                       {"sizes", Ints{2, 5, 3, 7}},
                       {"steps", Ints{1, -4, 2, 1}}}));
  EXPECT_EQ(ExpectRight(OneNode(
                kSlice, {F32({2, 35, 6, 7})},
                {{"starts", Ints{0, 16, 1, 0}}, {"sizes", Ints{2, 19, 3, 7}}})),
            4);
  ExpectRight(
      OneNode(kSlice, {F32({5})}, {{"starts", Ints{5}}, {"sizes", Ints{0}}}));
}

TEST(CpuMove, PadsAndCrops) {
  EXPECT_EQ(ExpectRight(OneNode(
                kPad, {F32({1, 19, 3, 4})},
                {{"before", Ints{0, 0, 1, 2}}, {"after", Ints{0, 0, 0, 3}}})),
            4);
  EXPECT_EQ(ExpectRight(OneNode(kPad, {F32({1, 19, 3, 4})},
                                {{"before", Ints{0, 0, 1, -2}},
                                 {"after", Ints{0, 0, -1, 3}},
                                 {"value", Number(1.5)}})),
            2)
      << "the value must stay out of a layout's padding";
  ExpectRight(OneNode(kPad, {Type(DType::kI32, {3})},
                      {{"before", Ints{-2}}, {"after", Ints{-1}}}));
  for (DType dtype : {DType::kI64, DType::kU8}) {
    ExpectRight(OneNode(kPad, {Type(dtype, {3})},
                        {{"before", Ints{2}},
                         {"after", Ints{1}},
                         {"value", Number((int64_t{1} << 53) + 1)}}));
  }
}

// Several reflections, crops on either side, and corners.
TEST(CpuMove, MirrorsAndEdges) {
  const std::pair<Ints, Ints> kAmounts[] = {
      {{0, 0, 2, 3}, {0, 0, 1, 4}},   {{1, 0, 7, 0}, {0, 1, 9, 13}},
      {{0, 0, -3, 5}, {0, 0, 4, -2}}, {{0, 0, -9, 0}, {0, 0, 11, 0}},
      {{0, 0, 9, 0}, {0, 0, -9, 0}},  {{0, 16, 0, 0}, {0, 0, 0, 0}}};
  for (const char* mode : {"reflect", "edge"}) {
    for (const auto& [before, after] : kAmounts) {
      const Attributes attributes = {
          {"before", before}, {"after", after}, {"mode", std::string(mode)}};
      for (DType dtype : {DType::kI8, DType::kF16, DType::kF32, DType::kF64}) {
        EXPECT_GT(ExpectRight(
                      OneNode(kPad, {Type(dtype, {2, 32, 4, 7})}, attributes)),
                  0);
        ExpectRight(OneNode(kPad, {Type(dtype, {2, 19, 1, 5})}, attributes));
      }
    }
    const Attributes signal = {{"before", Ints{0, 1023}},
                               {"after", Ints{0, 1024}},
                               {"mode", std::string(mode)}};
    EXPECT_EQ(ExpectRight(OneNode(kPad, {F32({1, 43844})}, signal)), 1);
  }
  const OneNode many(kPad, {F32({2})},
                     {{"before", Ints{50}},
                      {"after", Ints{50}},
                      {"mode", std::string("reflect")}});
  EXPECT_TRUE(CpuCatalog().Choices(many.node(), TestCpu(1)).empty());
}

TEST(CpuMove, RepeatsAndBlocks) {
  ExpectRight(OneNode(kExpand, {F32({3, 1})}, {{"shape", Ints{2, 3, 5}}}));
  ExpectRight(OneNode(kTile, {F32({3, 2})}, {{"repeats", Ints{2, 3}}}));
  ExpectRight(OneNode(kReshape, {F32({3, 4})}, {{"shape", Ints{2, 6}}}));
  for (const char* mode : {"dcr", "crd"}) {
    ExpectRight(OneNode(kDepthToSpace, {F32({2, 12, 3, 5})},
                        {{"block", int64_t{2}}, {"mode", std::string(mode)}}));
  }
  ExpectRight(
      OneNode(kSpaceToDepth, {F32({2, 3, 4, 6})}, {{"block", int64_t{2}}}));
}

TEST(CpuFill, AnyDTypeAndSize) {
  for (int dtype = 0; dtype < kNumDTypes; ++dtype) {
    for (const Shape& dims :
         {Shape{}, Shape{0, 3}, Shape{37}, Shape{9, 5003}}) {
      for (const Number value : {Number(), Number(-2.5), Number(300),
                                 Number(uint64_t{UINT64_MAX - 1})}) {
        ExpectRight(OneNode(kFill, {},
                            {{"dtype", static_cast<DType>(dtype)},
                             {"shape", Ints(dims.begin(), dims.end())},
                             {"value", value}}));
      }
    }
  }
}

TEST(CpuGather, AxesAndNegativeIndices) {
  const HostTensor wide = HostTensor::Of<int64_t>({2, 2}, {0, -1, 2, -3});
  const HostTensor narrow = HostTensor::Of<int32_t>({1}, {1});
  for (int64_t axis : {0, 1, -1}) {
    KernelCheckOptions options;
    options.operands = {nullptr, &wide};
    ExpectRight(
        OneNode(kGather, {F32({3, 3, 5}), wide.type()}, {{"axis", axis}}),
        options);
    options.operands = {nullptr, &narrow};
    ExpectRight(
        OneNode(kGather, {F32({3, 3, 5}), narrow.type()}, {{"axis", axis}}),
        options);
  }
}

TEST(CpuGather, EnoughSlicesForSeveralThreads) {
  const HostTensor rows = HostTensor::Of<int64_t>({5}, {40, 0, -1, 7, 7});
  KernelCheckOptions options;
  options.operands = {nullptr, &rows};
  ExpectRight(OneNode(kGather, {F32({3, 41, 1601}), rows.type()},
                      {{"axis", int64_t{1}}}),
              options);
}

TEST(CpuGatherGradient, SlicesOfOneIndexAreAddedUp) {
  const HostTensor wide = HostTensor::Of<int64_t>({2, 3}, {0, -1, 2, 2, 2, -3});
  const HostTensor narrow = HostTensor::Of<int32_t>({1}, {1});
  for (int64_t axis : {0, 1, -1}) {
    KernelCheckOptions options;
    options.operands = {nullptr, &wide};
    Shape dy = {5, 7};
    dy.insert(axis < 0 ? dy.end() : dy.begin() + axis, {2, 3});
    ExpectRight(OneNode(kGatherGradient, {F32(dy), wide.type()},
                        {{"axis", axis}, {"extent", int64_t{4}}}),
                options);
    options.operands = {nullptr, &narrow};
    dy = {5, 1301};
    dy.insert(axis < 0 ? dy.end() : dy.begin() + axis, 1);
    ExpectRight(OneNode(kGatherGradient, {F32(dy), narrow.type()},
                        {{"axis", axis}, {"extent", int64_t{3}}}),
                options);
  }
}

TEST(CpuGatherElements, EveryAxisAndElementSize) {
  const HostTensor indices =
      HostTensor::Of<int64_t>({2, 2, 2}, {0, 1, -1, 0, 1, 1, -2, 0});
  const HostTensor narrow = HostTensor::Of<int32_t>({2, 1, 2}, {2, 0, -3, 1});
  for (DType dtype : {DType::kI8, DType::kBF16, DType::kF32, DType::kI64}) {
    KernelCheckOptions options;
    options.operands = {nullptr, &indices};
    for (int64_t axis : {0, 1, -1}) {
      ExpectRight(
          OneNode(kGatherElements, {Type(dtype, {2, 2, 2}), indices.type()},
                  {{"axis", axis}}),
          options);
    }
    options.operands = {nullptr, &narrow};
    ExpectRight(
        OneNode(kGatherElements, {Type(dtype, {2, 3, 2}), narrow.type()},
                {{"axis", int64_t{1}}}),
        options);
  }
}

TEST(CpuScatterElements, ReplacesAndAdds) {
  // Two updates of one element.
  const HostTensor indices = HostTensor::Of<int64_t>(
      {2, 3, 2}, {0, 1, -1, 1, 1, 1, -2, 0, 3, 0, 2, 2});
  for (const char* reduction : {"none", "add"}) {
    for (DType dtype : {DType::kI8, DType::kBF16, DType::kF32, DType::kI64}) {
      const bool adds = std::string(reduction) == "add";
      if (adds && dtype != DType::kF32) continue;
      KernelCheckOptions options;
      options.operands = {nullptr, &indices};
      ExpectRight(
          OneNode(
              kScatterElements,
              {Type(dtype, {2, 4, 2}), indices.type(), Type(dtype, {2, 3, 2})},
              {{"axis", int64_t{1}}, {"reduction", std::string(reduction)}}),
          options);
    }
  }
}

// The error of `kernel` for `node`, which gathers numbers by `indices`.
std::string ErrorOfGathering(const OneNode& node, const char* kernel,
                             const HostTensor& indices) {
  const KernelBinding binding{kernel, 0, {}, {}};
  const DeviceTraits device = TestCpu(1);
  const auto bound =
      std::move(CpuLibrary().Bind({node.node(), &binding, &device})->kernel);
  float x[3] = {}, y[1] = {};
  std::vector<void*> operands = {x, const_cast<std::byte*>(indices.bytes())};
  std::vector<void*> results = {y};
  return std::string(
      bound->Launch({.operands = operands, .results = results}).message());
}

TEST(CpuGridSample, ModesPaddingsAndRanks) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (bool align_corners : {false, true}) {
        const Attributes attributes = {{"mode", std::string(mode)},
                                       {"padding", std::string(padding)},
                                       {"align_corners", align_corners}};
        EXPECT_GT(ExpectRight(OneNode(kGridSample,
                                      {F32({2, 3, 7, 9}), F32({2, 21, 23, 2})},
                                      attributes)),
                  0u);
        ExpectRight(OneNode(kGridSample,
                            {F32({2, 1, 4, 3, 5}), F32({2, 3, 4, 2, 3})},
                            attributes));
        ExpectRight(
            OneNode(kGridSample, {F32({1, 5, 6}), F32({1, 9, 1})}, attributes));
      }
    }
  }
  ExpectRight(OneNode(kGridSample, {F32({1, 2, 3, 4}), F32({1, 0, 5, 2})}));
}

// The messages are eval's.
TEST(CpuGatherElements, AnIndexOutOfRangeIsAnError) {
  const HostTensor indices = HostTensor::Of<int64_t>({1, 1}, {-1});
  const OneNode one(kGatherElements, {F32({1, 3}), indices.type()},
                    {{"axis", int64_t{1}}, {"from_end", false}});
  EXPECT_EQ(
      ErrorOfGathering(one, "cpu.gather_elements", indices),
      "gather_elements %2: found index -1; expected 0..2; correct the indices");
}

TEST(CpuGather, AnIndexOutOfRangeIsAnError) {
  const HostTensor indices = HostTensor::Of<int64_t>({1}, {3});
  const OneNode one(kGather, {F32({3}), indices.type()});
  EXPECT_EQ(ErrorOfGathering(one, "cpu.gather", indices),
            "gather %2: found index 3; expected -3..2; correct the indices");
}

TEST(CpuReduce, AnyAxes) {
  for (const OpDef* op : {&kReduceSum, &kReduceSumSquare, &kReduceMean,
                          &kReduceMax, &kReduceMin}) {
    for (const Ints& axes : {Ints{0}, Ints{1}, Ints{3}, Ints{0, 2}, Ints{1, 2},
                             Ints{0, 1, 2, 3}, Ints{}}) {
      for (bool keep : {false, true}) {
        const Attributes attributes = {{"axes", axes}, {"keep_dims", keep}};
        ExpectRight(OneNode(*op, {F32({3, 7, 5, 19})}, attributes));
        const TensorType f64{DType::kF64, {3, 7, 5, 19}, {}};
        EXPECT_GT(ExpectRight(OneNode(*op, {f64}, attributes)), 0u);
      }
    }
    ExpectRight(OneNode(*op, {F32({300, 300})}, {{"axes", Ints{1}}}));
  }
}

// Many tasks for one result, and many results of few elements each.
TEST(CpuReduce, LongAndWide) {
  for (const OpDef* op : {&kReduceSum, &kReduceSumSquare, &kReduceMean,
                          &kReduceMax, &kReduceMin}) {
    ExpectRight(OneNode(*op, {F32({70001})}, {{"axes", Ints{0}}}));
    ExpectRight(OneNode(*op, {F32({1009, 131})}, {{"axes", Ints{0}}}));
    ExpectRight(OneNode(*op, {F32({1009, 131})}, {{"axes", Ints{0, 1}}}));
    const TensorType f64{DType::kF64, {1009, 131}, {}};
    EXPECT_GT(ExpectRight(OneNode(*op, {f64}, {{"axes", Ints{0}}})), 0u);
    ExpectRight(OneNode(*op, {F32({3, 1, 700, 65})}, {{"axes", Ints{2}}}));
  }
}

// Lines of a few elements, of more than one block, and strided lines.
TEST(CpuReduce, ShortLines) {
  for (const OpDef* op : {&kReduceSum, &kReduceSumSquare, &kReduceMean,
                          &kReduceMax, &kReduceMin, &kMoments}) {
    for (int64_t line : {2, 3, 4, 5, 15, 16}) {
      ExpectRight(OneNode(*op, {F32({5, 601, line})}, {{"axes", Ints{-1}}}));
    }
    ExpectRight(OneNode(*op, {F32({33, 40, 19, 3})}, {{"axes", Ints{1, 3}}}));
    ExpectRight(OneNode(*op, {F32({700, 9, 2})}, {{"axes", Ints{0, 2}}}));
  }
  const TensorType f64{DType::kF64, {3, 601, 2}, {}};
  ExpectRight(OneNode(kReduceMax, {f64}, {{"axes", Ints{2}}}));
}

TEST(CpuReduce, ImagesAsConvolutionsLeaveThem) {
  for (const Ints& axes : {Ints{0, 2, 3}, Ints{2, 3}, Ints{1}, Ints{1, 3}}) {
    // Row-major, channels last, blocks of 8 and of 16.
    EXPECT_EQ(ExpectRight(
                  OneNode(kReduceSum, {F32({3, 32, 9, 7})}, {{"axes", axes}})),
              4);
    const bool alone = axes.size() > 1 && axes.back() == 3 && axes[0] != 1;
    EXPECT_EQ(ExpectRight(OneNode(kReduceMax, {F32({2, 19, 33, 31})},
                                  {{"axes", axes}, {"keep_dims", false}})),
              alone ? 4 : 2)
        << "a block's padding is an element of no result";
  }
  ExpectRight(
      OneNode(kReduceSum, {F32({4, 16, 65, 67})}, {{"axes", Ints{0, 2, 3}}}));
}

// A column of one channel, whose elements are a block apart.
TEST(CpuReduce, OneChannelOfABlock) {
  for (const OpDef* op : {&kReduceSum, &kReduceMax}) {
    for (const Ints& axes : {Ints{2, 3}, Ints{0, 2, 3}}) {
      EXPECT_EQ(ExpectRight(OneNode(*op, {F32({2, 1, 5, 37})},
                                    {{"axes", axes}, {"keep_dims", true}})),
                4);
    }
  }
}

// One block, several, and adjacent ones.
TEST(CpuReduce, BlocksWithPadding) {
  for (const Shape& x : {Shape{5, 10, 9, 7}, {70, 37, 8, 9}, {6, 37, 1, 1}}) {
    for (const Ints& axes : {Ints{0, 2, 3}, Ints{2, 3}}) {
      for (const OpDef* op : {&kReduceMean, &kReduceMin}) {
        EXPECT_EQ(ExpectRight(OneNode(*op, {F32(x)}, {{"axes", axes}})), 4);
      }
    }
  }
}

TEST(CpuMaxPool, WindowsInEveryLayout) {
  for (int64_t channels : {1, 16, 19}) {
    // Row-major, channels last, blocks of 8 and of 16.
    EXPECT_EQ(ExpectRight(OneNode(kMaxPool, {F32({2, channels, 9, 7})},
                                  {{"kernel", Ints{3, 2}},
                                   {"strides", Ints{2, 1}},
                                   {"pads_before", Ints{1, 0}},
                                   {"pads_after", Ints{1, 1}}})),
              4);
  }
  ExpectRight(OneNode(kMaxPool, {F32({1, 5, 17})}, {{"kernel", Ints{3}}}));
  ExpectRight(OneNode(kMaxPool, {F32({1, 16, 8, 7})},
                      {{"kernel", Ints{3, 2}},
                       {"strides", Ints{2, 2}},
                       {"ceil_extra", Ints{1, 1}}}));
  ExpectRight(OneNode(kMaxPool, {F32({1, 16, 9, 9})},
                      {{"kernel", Ints{3, 3}}, {"dilations", Ints{2, 2}}}));
  ExpectRight(OneNode(kMaxPool, {F32({1, 3, 7, 5, 9})},
                      {{"kernel", Ints{2, 3, 2}},
                       {"strides", Ints{1, 2, 3}},
                       {"pads_before", Ints{1, 1, 0}}}));
  ExpectRight(OneNode(kMaxPool, {F32({2, 40, 33, 31})},
                      {{"kernel", Ints{3, 3}}, {"strides", Ints{2, 2}}}));
}

// Planes whose windows are not a multiple of a vector's lanes, with padding.
TEST(CpuMaxPool, ShortLines) {
  for (int64_t extent : {2, 8, 13, 24}) {
    ExpectRight(OneNode(kMaxPool, {F32({3, 5, extent, extent})},
                        {{"kernel", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
    ExpectRight(OneNode(kMaxPool, {F32({3, 5, extent, extent})},
                        {{"kernel", Ints{3, 2}},
                         {"strides", Ints{1, 2}},
                         {"pads_before", Ints{1, 1}},
                         {"pads_after", Ints{2, 0}}}));
  }
}

TEST(CpuMaxPool, AWindowWithoutElementsIsMinusInfinity) {
  ExpectRight(OneNode(kMaxPool, {F32({1, 19, 2, 2})},
                      {{"kernel", Ints{1, 1}},
                       {"pads_before", Ints{2, 2}},
                       {"pads_after", Ints{1, 1}}}));
}

// dy of a max pool of x.
OneNode MaxPoolGradientOf(const Shape& x, const Attributes& attributes) {
  const OneNode pool(kMaxPool, {F32(x)}, attributes);
  return OneNode(kMaxPoolGradient,
                 {F32(x), F32(pool.node().result_type(0).dims)}, attributes);
}

TEST(CpuMaxPoolGradient, WindowsInEveryLayout) {
  for (int64_t channels : {1, 16, 19}) {
    // Row-major, channels last, blocks of 8 and of 16.
    EXPECT_EQ(ExpectRight(MaxPoolGradientOf({2, channels, 9, 7},
                                            {{"kernel", Ints{3, 2}},
                                             {"strides", Ints{2, 1}},
                                             {"pads_before", Ints{1, 0}},
                                             {"pads_after", Ints{1, 1}}})),
              4);
  }
  ExpectRight(MaxPoolGradientOf({1, 5, 17}, {{"kernel", Ints{3}}}));
  ExpectRight(MaxPoolGradientOf({1, 16, 8, 7}, {{"kernel", Ints{3, 2}},
                                                {"strides", Ints{2, 2}},
                                                {"ceil_extra", Ints{1, 1}}}));
  ExpectRight(MaxPoolGradientOf(
      {1, 16, 9, 9}, {{"kernel", Ints{3, 3}}, {"dilations", Ints{2, 2}}}));
  ExpectRight(
      MaxPoolGradientOf({1, 3, 7, 5, 9}, {{"kernel", Ints{2, 3, 2}},
                                          {"strides", Ints{1, 2, 3}},
                                          {"pads_before", Ints{1, 1, 0}}}));
  ExpectRight(MaxPoolGradientOf(
      {2, 40, 33, 31}, {{"kernel", Ints{3, 3}}, {"strides", Ints{2, 2}}}));
  // Rows and channels that are processed in chunks.
  ExpectRight(MaxPoolGradientOf({1, 1100, 3, 5}, {{"kernel", Ints{2, 2}}}));
  ExpectRight(MaxPoolGradientOf({1, 2, 2, 2201}, {{"kernel", Ints{2, 2}}}));
}

// Windows without overlap: all of the plane, and with gaps.
TEST(CpuMaxPoolGradient, WindowsApart) {
  for (int64_t extent : {2, 8, 13, 24}) {
    for (int64_t stride : {2, 3}) {
      ExpectRight(MaxPoolGradientOf({3, 5, extent, extent},
                                    {{"kernel", Ints{2, 2}},
                                     {"strides", Ints{stride, stride}},
                                     {"pads_before", Ints{1, 0}},
                                     {"pads_after", Ints{0, 1}}}));
    }
  }
}

TEST(CpuMaxPoolGradient, TheFirstOfEqualsAndNaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  const HostTensor x = HostTensor::Of<float>(
      {1, 1, 4, 4}, {1, 1, kNaN, 2, 1, 1, 3, kNaN,  //
                     kLeast, kLeast, 0, -0.0f, kLeast, kLeast, 0, 5});
  KernelCheckOptions options;
  options.operands = {&x, nullptr};
  for (const Ints& strides : {Ints{2, 2}, Ints{1, 1}}) {
    ExpectRight(MaxPoolGradientOf({1, 1, 4, 4}, {{"kernel", Ints{2, 2}},
                                                 {"strides", strides}}),
                options);
  }
}

TEST(CpuRandomUniform, TheBitsAreEvalsForEveryShard) {
  const HostTensor seed = HostTensor::Of<uint64_t>({}, {0x123456789abcdef0});
  const HostTensor step = HostTensor::Of<uint64_t>({}, {7});
  KernelCheckOptions options;
  options.operands = {&seed, &step};
  const auto expect = [&](Attributes attributes) {
    attributes.Set("id", int64_t{3});
    ExpectRight(OneNode(kRandomUniform, {seed.type(), step.type()}, attributes),
                options);
  };
  for (const Ints& shape :
       {Ints{}, Ints{1}, Ints{63}, Ints{64}, Ints{67, 1001}}) {
    expect({{"shape", shape}});
  }
  expect({{"shape", Ints{3, 5, 7}},
          {"whole", Ints{4, 5, 7}},
          {"origin", Ints{1, 0, 0}}});
  expect({{"shape", Ints{3, 2, 7}},
          {"whole", Ints{4, 5, 7}},
          {"origin", Ints{1, 3, 0}}});
  expect({{"shape", Ints{3, 2, 3}},
          {"whole", Ints{4, 5, 7}},
          {"origin", Ints{0, 1, 2}}});
}

TEST(CpuSoftmax, EveryAxis) {
  for (const OpDef* op : {&kSoftmax, &kLogSoftmax}) {
    for (int64_t axis : {-1, 0, 1, 2}) {
      ExpectRight(OneNode(*op, {F32({3, 17, 5})}, {{"axis", axis}}));
      ExpectRight(OneNode(*op, {F32({35, 2, 33})}, {{"axis", axis}}));
    }
    ExpectRight(OneNode(*op, {F32({1})}));
    ExpectRight(OneNode(*op, {F32({7, 1003})}));
  }
}

TEST(CpuLayerNormGradient, LinesOfAnyLengthAndManyOfThem) {
  KernelCheckOptions options;
  options.tolerance = 1e-5;
  for (const Shape& dims : {Shape{5, 33}, Shape{3, 7, 16}, Shape{701, 48}}) {
    const TensorType line = F32({dims.back()});
    ExpectRight(OneNode(kLayerNormGradient, {F32(dims), line, F32(dims)}),
                options);
    ExpectRight(OneNode(kLayerNormScaleGradient, {F32(dims), F32(dims)}),
                options);
  }
  const TensorType x = F32({5, 4, 9});
  ExpectRight(
      OneNode(kLayerNormGradient, {x, F32({4, 9}), x}, {{"axis", int64_t{1}}}),
      options);
  ExpectRight(OneNode(kLayerNormScaleGradient, {x, x}, {{"axis", int64_t{1}}}),
              options);
}

TEST(CpuSoftmax, FarBelowTheGreatestNothingIsLeft) {
  KernelCheckOptions options;
  options.low = -200;
  options.high = 200;
  ExpectRight(OneNode(kSoftmax, {F32({9, 129})}), options);
  ExpectRight(OneNode(kLogSoftmax, {F32({9, 129})}), options);
}

}  // namespace
}  // namespace partita
