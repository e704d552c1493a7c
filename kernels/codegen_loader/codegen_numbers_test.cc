// Numerics of generated kernels: special values, functions, casts, exponents.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

// Every pair of special values, at an odd size, so that the last vectors are
// not full.
std::vector<HostTensor> SpecialPairs() {
  const std::vector<float> special = {
      NAN,    0.0f,    -0.0f,     INFINITY, -INFINITY, 1e-45f, -1e-45f,
      1e-40f, -1e-40f, 0x1p-126f, 3.4e38f,  -3.4e38f,  1,      -1,
      0.5f,   -6,      20,        -20,      88.5f,     -88,    -103};
  std::vector<float> a, b;
  for (float x : special) {
    for (float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const int64_t count = static_cast<int64_t>(a.size());
  std::vector<HostTensor> pairs;
  pairs.push_back(HostTensor::Of<float>({count}, a));
  pairs.push_back(HostTensor::Of<float>({count}, b));
  return pairs;
}

TEST(CodegenNumbers, SpecialValuesInEveryInstructionSet) {
  const std::vector<HostTensor> pairs = SpecialPairs();
  EXPECT_EQ(pairs[0].type().num_elements() % 8, 1);
  KernelCheckOptions options;
  options.units = 8;
  options.threads = {1};
  options.operands = {&pairs[0], &pairs[1]};
  int offered = 0;
  for (int i = 0; i < kOpTableSize; ++i) {
    const OpDef& op = *kOpTable[i];
    const int operands = MinOperands(op);
    if (!op.traits.elementwise || operands > 2) continue;
    LiteralPool pool;
    Graph graph("special", &pool);
    NodeSpec spec{.op = &op, .operands = {}, .attributes = {}};
    for (int n = 0; n < operands; ++n) {
      spec.operands.push_back(graph.AddInput("", pairs[n].type()));
    }
    const absl::StatusOr<NodeId> node = graph.AddNode(std::move(spec));
    if (!node.ok()) continue;
    for (const std::string& isa : Isas()) {
      const CheckReport report = CheckOn(isa, graph.view(*node), options);
      EXPECT_TRUE(report.status.ok()) << op.name << ": " << report.status;
      offered += !report.kernels.empty();
    }
  }
  EXPECT_GT(offered, 30);
}

TEST(CodegenNumbers, GeluByErfAsEncodersSpellIt) {
  Body body({F32({2, 5, 48}), F32({48})});
  const ValueId x = body.Add(kAdd, {body.input(0), body.input(1)});
  const ValueId scaled = body.Add(kDiv, {x, body.Constant(1.41421354f)});
  const ValueId erf = body.Add(kErf, {scaled});
  const ValueId one = body.Add(kAdd, {erf, body.Constant(1)});
  const ValueId product = body.Add(kMul, {x, one});
  KernelCheckOptions options;
  options.low = -6;
  options.high = 6;
  ExpectRight(
      body.Fuse({body.Add(kMul, {product, body.Constant(0.5f)})}).node(),
      options);
}

// The largest error, in units in the last place of the correct result.
double LargestError(const OpView& node, const HostTensor& x,
                    const std::string& isa) {
  OneNode copy =
      WithLayouts(node, CodegenCatalog().Choices(node, TestCpu(1))[0]);
  DeviceTraits device = TestCpu(1);
  device.isa = isa;
  KernelBinding binding{.kernel = "codegen.elementwise"};
  copy.graph().node(copy.node().id()).kernel = binding;
  EXPECT_TRUE(CodegenCatalog().BuildCode({copy.node()}, device).ok());
  auto kernel = NativeCodeLibrary().Bind({copy.node(), &binding, &device});
  EXPECT_TRUE(HasCode(copy.node(), device));
  HostTensor y(x.type());
  void* from = const_cast<std::byte*>(x.bytes());
  void* to = y.bytes();
  EXPECT_TRUE(
      kernel->kernel->Launch({.operands = {&from, 1}, .results = {&to, 1}})
          .ok());
  double largest = 0;
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    const double in = GetAsDouble(x, i);
    const double want = node.op().scalar->on_double({&in, 1}, node);
    const double have = GetAsDouble(y, i);
    if (std::isnan(want) || std::isinf(static_cast<float>(want))) {
      EXPECT_TRUE(std::isnan(want) ? std::isnan(have)
                                   : have == static_cast<float>(want))
          << node.op().name << "(" << in << "): " << have << ", not " << want;
      continue;
    }
    const float rounded = std::abs(static_cast<float>(want));
    // Composed functions lose bits if an intermediate value is denormal.
    const double unit =
        std::max(double{std::nextafter(rounded, INFINITY)} - rounded, 0x1p-144);
    const double error = std::abs(have - want) / unit;
    EXPECT_LT(error, 16) << node.op().name << "(" << in << "): " << have
                         << ", not " << want;
    if (!(error < 16)) return error;
    largest = std::max(largest, error);
  }
  return largest;
}

// Floats on a coarse grid over all bit patterns, and ordinary ones.
HostTensor AllMagnitudes() {
  std::vector<float> values = {0.0f, -0.0f, INFINITY, -INFINITY, NAN};
  for (uint64_t bits = 1; bits < (uint64_t{1} << 32); bits += 65521 * 3) {
    const uint32_t low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof value);
    values.push_back(value);
  }
  for (int i = -20000; i <= 20000; ++i) values.push_back(i * 0.0051f);
  return HostTensor::Of<float>({static_cast<int64_t>(values.size())}, values);
}

// Including processors without fma.
TEST(CodegenNumbers, FunctionsAreWithinAFewUnitsOverAllMagnitudes) {
  const HostTensor x = AllMagnitudes();
  for (const OpDef* op :
       {&kExp, &kLog, &kTanh, &kSigmoid, &kSoftplus, &kErf, &kGelu, &kSilu,
        &kElu, &kMish, &kSoftsign, &kSinh, &kCosh, &kAsinh, &kAcosh, &kAtanh,
        &kAsin, &kAcos, &kAtan}) {
    OneNode node(*op, {x.type()});
    for (const std::string& isa : Isas()) {
      SCOPED_TRACE(CodeTarget(isa));
      EXPECT_LT(LargestError(node.node(), x, isa), 8) << op->name;
    }
  }
}

TEST(CodegenNumbers, IntegersBoolsAndCasts) {
  const TensorType i64 = {DType::kI64, {37}, {}};
  Body body({i64, F32({37}), {DType::kI32, {37}, {}}});
  const ValueId wide = body.Add(kCast, {body.input(1)}, {{"to", DType::kI64}});
  const ValueId sum = body.Add(kMul, {body.input(0), wide});
  const ValueId other = body.Add(kCast, {body.input(2)}, {{"to", DType::kI64}});
  const ValueId less = body.Add(kLess, {sum, other});
  const ValueId equal = body.Add(kEqual, {body.input(0), other});
  ExpectRight(
      body.Fuse({body.Add(kXor, {less, body.Add(kNot, {equal})})}).node());
}

constexpr DType kHalves[] = {DType::kBF16, DType::kF16};

// Every number of a 16-bit type, the midpoint to the next one and the f32 on
// either side of it, and numbers outside the range; an odd number of them.
std::vector<float> Around(DType half) {
  std::vector<float> values = {1e-45f, 0x1p-126f, 3.4e38f, -3.4e38f, 65520.0f};
  HostTensor all({half, {1 << 16}, {}});
  for (int bits = 0; bits < 1 << 16; ++bits) {
    all.data<uint16_t>()[bits] = static_cast<uint16_t>(bits);
  }
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const float value = static_cast<float>(GetAsDouble(all, bits));
    values.push_back(value);
    if (!std::isfinite(value)) continue;
    const double next = GetAsDouble(all, bits + 1);
    const float middle = static_cast<float>(
        std::isinf(next) ? 1.01 * value : (double{value} + next) / 2);
    for (float near : {middle, std::nextafter(middle, -INFINITY),
                       std::nextafter(middle, INFINITY)}) {
      values.push_back(near);
    }
  }
  if (values.size() % 2 == 0) values.push_back(1);
  return values;
}

KernelCheckOptions ExactlyOf(const HostTensor& operand) {
  KernelCheckOptions options;
  options.units = 1e-9;
  options.operands = {&operand};
  return options;
}

TEST(CodegenNumbers, CastsToAndFromHalvesAreExact) {
  for (const DType half : kHalves) {
    const std::vector<float> values = Around(half);
    const Shape dims = {static_cast<int64_t>(values.size())};
    const HostTensor singles = HostTensor::Of<float>(dims, values);
    HostTensor halves({half, dims, {}});
    for (size_t i = 0; i < values.size(); ++i) {
      SetFromDouble(halves, static_cast<int64_t>(i), values[i]);
    }
    OneNode narrow(kCast, {singles.type()}, {{"to", half}});
    ExpectRight(narrow.node(), ExactlyOf(singles));
    for (DType to : {DType::kF32, DType::kF64}) {
      OneNode widen(kCast, {halves.type()}, {{"to", to}});
      ExpectRight(widen.node(), ExactlyOf(halves));
    }
  }
}

// A cast in a fused node rounds like one outside.
TEST(CodegenNumbers, ABodyMayRoundToAHalfAndGoOn) {
  for (const DType half : kHalves) {
    const std::vector<float> values = Around(half);
    const Shape dims = {static_cast<int64_t>(values.size())};
    const HostTensor singles = HostTensor::Of<float>(dims, values);
    Body body({singles.type()});
    const ValueId narrow = body.Add(kCast, {body.input(0)}, {{"to", half}});
    const ValueId wide = body.Add(kCast, {narrow}, {{"to", DType::kF32}});
    OneNode one = body.Fuse({body.Add(kAdd, {wide, body.Constant(0)})});
    ExpectRight(one.node(), ExactlyOf(singles));
  }
}

// f32 sums, products, quotients and roots that are rounded a second time equal
// those rounded once; also after each op of a body.
TEST(CodegenNumbers, EveryOpOfHalvesIsRoundedOnce) {
  KernelCheckOptions exactly;
  exactly.units = 1e-9;
  for (const DType half : kHalves) {
    const TensorType full = {half, {7, 33}, {}};
    Body body({full, {half, {33}, {}}, full});
    const ValueId sum = body.Add(kAdd, {body.input(0), body.input(1)});
    const ValueId product = body.Add(kMul, {sum, body.input(2)});
    const ValueId third =
        body.Add(kCast, {body.Constant(1.0f / 3)}, {{"to", half}});
    const ValueId quotient = body.Add(
        kDiv, {body.Add(kSub, {product, third}), body.Add(kAbs, {sum})});
    const ValueId clipped =
        body.Add(kClip, {quotient}, {{"min", -3.3}, {"max", 3.3}});
    const ValueId root = body.Add(kSqrt, {body.Add(kAbs, {clipped})});
    const ValueId less = body.Add(kLess, {root, body.input(1)});
    ExpectRight(
        body.Fuse({body.Add(kWhere, {less, root, body.input(0)}), product, less,
                   body.Add(kCast, {root}, {{"to", DType::kF32}})})
            .node(),
        exactly);
  }
}

TEST(CodegenNumbers, IntegersAndBoolsAreCastToF16RoundedOnce) {
  const std::vector<int32_t> values = {
      0,     1,          -1,
      2047,  2049,       2050,
      2051,  -2049,      4098,
      65503, 65504,      65519,
      65520, 1073741823, 2147483647,
      65521, -65520,     std::numeric_limits<int32_t>::min()};
  const Shape dims = {static_cast<int64_t>(values.size())};
  const HostTensor integers = HostTensor::Of<int32_t>(dims, values);
  OneNode narrow(kCast, {integers.type()}, {{"to", DType::kF16}});
  ExpectRight(narrow.node(), ExactlyOf(integers));
  OneNode wide(kCast, {{DType::kI64, {37}, {}}}, {{"to", DType::kF16}});
  ExpectRight(wide.node());
  for (const DType half : kHalves) {
    OneNode bools(kCast, {{DType::kBool, {37}, {}}}, {{"to", half}});
    ExpectRight(bools.node());
  }
}

// Results of an elementwise op, by the interpreter, as ISAs with and without
// fused multiply-add compute it.
std::vector<float> ResultsOf(const OpDef& op, const char* isa,
                             std::vector<std::vector<float>> operands) {
  const int64_t count = static_cast<int64_t>(operands[0].size());
  const OneNode node(op,
                     std::vector<TensorType>(operands.size(), F32({count})));
  const auto program = ReadProgram(node.node(), isa);
  EXPECT_TRUE(program.ok()) << program.status();
  std::vector<float> results(operands[0].size());
  std::vector<void*> from;
  for (std::vector<float>& operand : operands) from.push_back(operand.data());
  void* to = results.data();
  std::vector<uint64_t> registers;
  if (program.ok()) {
    Interpret(*program, from.data(), &to, 0, count, registers);
  }
  return results;
}

// About four units in the last place, or one denormal.
void ExpectNear(float found, double expected, const std::string& what) {
  const float rounded = static_cast<float>(expected);
  if (std::isnan(rounded)) {
    EXPECT_TRUE(std::isnan(found)) << what << " is " << found;
    return;
  }
  EXPECT_EQ(std::signbit(found), std::signbit(rounded)) << what;
  if (found == rounded) return;
  EXPECT_LE(std::fabs(found - expected),
            4 * 0x1p-23 * std::fabs(expected) + 1.5e-45)
      << what << " is " << found << ", expected " << expected;
}

TEST(CodegenNumbers, PowersAreThoseOfTheStandardLibrary) {
  const std::vector<float> bases = {
      0.f,     -0.f,  1,      -1,          2,          -2,
      0.3f,    -0.3f, 10,     0.99999994f, 1.0000001f, 1e-40f,
      -1e-40f, 3e38f, -3e38f, INFINITY,    -INFINITY,  NAN};
  const std::vector<float> exponents = {
      0.f,   -0.f,  1,     -1,       2,         -2,  3,    -3,
      0.5f,  -0.5f, 2.5f,  -7.25f,   1e-40f,    31,  -31,  1e7f,
      -1e7f, 3e7f,  3e38f, INFINITY, -INFINITY, NAN, 0.1f, 16777215};
  std::vector<float> x, y;
  for (float base : bases) {
    for (float exponent : exponents) {
      x.push_back(base);
      y.push_back(exponent);
    }
  }
  for (const char* isa : {"avx2", "sse4"}) {
    const std::vector<float> found = ResultsOf(kPow, isa, {x, y});
    for (size_t i = 0; i < x.size(); ++i) {
      ExpectNear(found[i], std::pow(double{x[i]}, double{y[i]}),
                 absl::StrCat(x[i], " to the power of ", y[i]));
    }
  }
}

// Also for those next to multiples of pi / 2, and as large as an f32 can be.
TEST(CodegenNumbers, AnglesMayBeLarge) {
  std::vector<float> x = {0.f,       -0.f,       1e-40f,    1e-8f, 0.785398f,
                          1.570796f, -3.141593f, 6.283185f, 11,    355,
                          -103993,   6.3825e12f, 1e20f,     1e30f, 3.4e38f,
                          -3e38f,    INFINITY,   -INFINITY, NAN};
  for (int i = 0; i < 2000; ++i) {
    x.push_back(std::ldexp(1.0f + static_cast<float>(i) / 2000.0f, i % 127));
    x.push_back(static_cast<float>(i) * 0.01f - 10);
  }
  const std::vector<std::pair<const OpDef*, double (*)(double)>> functions = {
      {&kSin, std::sin}, {&kCos, std::cos}, {&kTan, std::tan}};
  for (const auto& [op, function] : functions) {
    for (const char* isa : {"avx2", "sse4"}) {
      const std::vector<float> found = ResultsOf(*op, isa, {x});
      for (size_t i = 0; i < x.size(); ++i) {
        ExpectNear(found[i], function(x[i]), absl::StrCat(op->name, " ", x[i]));
      }
    }
  }
}

TEST(CodegenNumbers, AnExponentBesideTheNodeDecidesWhatIsGenerated) {
  LiteralPool pool;
  Graph graph("g", &pool);
  const ValueId x = graph.AddInput("x", F32({5}));
  const auto power = [&](float exponent) {
    const ValueId n =
        graph.AddConstant(pool.Add(HostTensor::Of<float>({}, {exponent})));
    return graph.view(
        *graph.AddNode({.op = &kPow, .operands = {x, n}, .attributes = {}}));
  };
  EXPECT_NE(EntryName(power(2)), EntryName(power(3)));
  ASSERT_EQ(CodegenCatalog().Choices(power(2), TestCpu(1)).size(), 1u);
  const auto program = ReadProgram(power(3), "avx2");
  ASSERT_TRUE(program.ok()) << program.status();
  float values[5] = {-2, 0, 1, 3, INFINITY};
  float exponent = 3;
  float results[5];
  void* operands[] = {values, &exponent};
  void* to = results;
  std::vector<uint64_t> registers;
  Interpret(*program, operands, &to, 0, 5, registers);
  EXPECT_EQ(std::vector<float>(results, results + 5),
            (std::vector<float>{-8, 0, 1, 27, INFINITY}));
}

}  // namespace
}  // namespace partita
