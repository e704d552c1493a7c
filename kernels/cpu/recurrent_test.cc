// Compares LSTMs, GRUs and RNNs with eval: units that fill vectors and others,
// rows of several lengths, both directions, and large arguments of functions.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <vector>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/cpu_kernels.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

using Ints = std::vector<int64_t>;

TensorType F32(const Shape& dims) { return {DType::kF32, dims, {}}; }

struct Extents {
  int64_t steps, batch, directions, units;
};

// The operands up to the initial states.
std::vector<TensorType> Types(const Extents& e, int64_t gates, int states) {
  std::vector<TensorType> types = {
      F32({e.steps, e.batch, e.directions, gates * e.units}),
      F32({e.directions, e.units, gates * e.units})};
  for (int i = 0; i < states; ++i) {
    types.push_back(F32({e.directions, i == 0 ? e.batch : 1, e.units}));
  }
  return types;
}

// Row i has i % (steps + 1) steps.
template <typename T>
HostTensor Lengths(const Extents& e) {
  std::vector<T> lengths;
  for (int64_t i = 0; i < e.batch; ++i) {
    lengths.push_back(static_cast<T>(i % (e.steps + 1)));
  }
  return HostTensor::Of<T>({e.batch}, lengths);
}

// Weights with which rounding does not grow from step to step.
HostTensor Small(const TensorType& type) {
  HostTensor r(type);
  const double size = 1 / std::sqrt(static_cast<double>(type.dims[1]));
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    SetFromDouble(r, i, size * (static_cast<double>(i * 7919 % 509) / 254 - 1));
  }
  return r;
}

void ExpectRight(const OneNode& one, const HostTensor* lengths = nullptr,
                 int lengths_at = 0) {
  const HostTensor r = Small(one.node().operand_type(1));
  KernelCheckOptions options;
  options.tolerance = 5e-6;
  options.low = -1;
  options.high = 1;
  options.operands = {nullptr, &r};
  if (lengths != nullptr) {
    options.operands.resize(lengths_at + 1, nullptr);
    options.operands[lengths_at] = lengths;
  }
  const CheckReport report =
      CheckKernels(one.node(), CpuCatalog(), CpuLibrary(), options);
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.size(), 2u) << "one for each number of threads";
}

const Extents kExtents[] = {{3, 1, 1, 64}, {1, 1, 1, 5},  {4, 5, 2, 16},
                            {2, 3, 2, 33}, {5, 7, 1, 20}, {20, 9, 2, 64}};

Attributes Both(const Extents& e, Attributes attributes = {}) {
  if (e.directions == 2) attributes.Set("reverse", Ints{0, 1});
  return attributes;
}

TEST(CpuRecurrent, Lstm) {
  for (const Extents& e : kExtents) {
    std::vector<TensorType> types = Types(e, 4, 2);
    ExpectRight(OneNode(kLstm, types, Both(e)));
    const HostTensor lengths = Lengths<int32_t>(e);
    types.push_back(lengths.type());
    ExpectRight(OneNode(kLstm, types, Both(e, {{"input_forget", true}})),
                &lengths, 4);
    types.push_back(F32({e.directions, 3 * e.units}));
    ExpectRight(OneNode(kLstm, types,
                        Both(e, {{"clip", 0.75},
                                 {"activations", "sigmoid relu tanh"}})),
                &lengths, 4);
  }
}

TEST(CpuRecurrent, Gru) {
  for (const Extents& e : kExtents) {
    for (bool late : {false, true}) {
      const Attributes attributes = Both(e, {{"linear_before_reset", late}});
      std::vector<TensorType> types = Types(e, 3, 1);
      ExpectRight(OneNode(kGru, types, attributes));
      types.push_back(F32({e.directions, e.units}));
      ExpectRight(OneNode(kGru, types, attributes));
      const HostTensor lengths = Lengths<int64_t>(e);
      types.push_back(lengths.type());
      ExpectRight(OneNode(kGru, types, attributes), &lengths, 4);
    }
  }
}

TEST(CpuRecurrent, Rnn) {
  for (const Extents& e : kExtents) {
    for (const char* function : {"tanh", "sigmoid"}) {
      std::vector<TensorType> types = Types(e, 1, 1);
      const Attributes attributes =
          Both(e, {{"activations", std::string(function)}});
      ExpectRight(OneNode(kRnn, types, attributes));
      const HostTensor lengths = Lengths<int32_t>(e);
      types.push_back(lengths.type());
      ExpectRight(OneNode(kRnn, types, attributes), &lengths, 3);
    }
  }
}

// Without a state: the function alone, to a few units in the last place, from
// where it equals its argument to where it is 1.
TEST(CpuRecurrent, FunctionsAreRightEverywhere) {
  constexpr int64_t kUnits = 32;
  std::vector<float> values;
  for (float x = 0x1p-30f; x < 200 || values.size() % kUnits > 0; x *= 1.007f) {
    values.push_back(x);
    values.push_back(-x);
  }
  const int64_t rows = static_cast<int64_t>(values.size()) / kUnits;
  const HostTensor gates = HostTensor::Of<float>({1, rows, 1, kUnits}, values);
  const HostTensor none(F32({1, 1, kUnits}));
  const HostTensor r(F32({1, kUnits, kUnits}));
  for (const char* function : {"tanh", "sigmoid", "relu"}) {
    KernelCheckOptions options;
    options.units = 6;
    options.operands = {&gates, &r, &none};
    const OneNode one(kRnn, {gates.type(), r.type(), none.type()},
                      {{"activations", std::string(function)}});
    const CheckReport report =
        CheckKernels(one.node(), CpuCatalog(), CpuLibrary(), options);
    EXPECT_TRUE(report.status.ok()) << function << ": " << report.status;
  }
}

// With eval's message, before anything is written.
TEST(CpuRecurrent, LengthsBeyondTheStepsAreRefused) {
  const Extents e = {3, 2, 1, 4};
  std::vector<TensorType> types = Types(e, 1, 1);
  types.push_back({DType::kI32, {2}, {}});
  const OneNode one(kRnn, types, {});
  const KernelChoice choice = CpuCatalog().Choices(one.node(), TestCpu(1))[0];
  const KernelBinding binding = {.kernel = choice.kernel,
                                 .workspace = choice.workspace};
  const DeviceTraits device = TestCpu(1);
  auto kernel = CpuLibrary().Bind(
      {.node = one.node(), .binding = &binding, .device = &device});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::vector<float> floats(256);
  int32_t lengths[] = {3, 4};
  void* const operands[] = {floats.data(), floats.data(), floats.data(),
                            lengths};
  void* const results[] = {floats.data(), floats.data()};
  const absl::Status status = kernel->kernel->Launch(
      {.operands = operands, .results = results, .workspace = floats.data()});
  EXPECT_EQ(status.message(),
            "rnn %4: found length 4 of row 1; expected 0..3; correct the "
            "lengths");
}

TEST(CpuRecurrent, OtherTypesFunctionsAndNothingAreNotOffered) {
  const auto offered = [](std::vector<TensorType> types,
                          const Attributes& attributes) {
    const OneNode one(kRnn, std::move(types), attributes);
    return !CpuCatalog().Choices(one.node(), TestCpu(1)).empty();
  };
  std::vector<TensorType> types = Types({2, 3, 1, 4}, 1, 1);
  EXPECT_TRUE(offered(types, {}));
  EXPECT_FALSE(offered(types, {{"activations", "softsign"}}));
  EXPECT_FALSE(offered(Types({0, 3, 1, 4}, 1, 1), {}));
  for (TensorType& type : types) type.dtype = DType::kF64;
  EXPECT_FALSE(offered(types, {}));
}

}  // namespace
}  // namespace partita
