// Numbers of generated kernels: special values, functions, casts, exponents.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/checking/kernel_check.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"
#include "kernels/image/image_library.h"

namespace partita {
namespace {

// Every pair of special values, at an odd size so that the last vectors are
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

// The largest error in units of the last place of the correct result.
double LargestError(const OpView& node, const HostTensor& x,
                    const std::string& isa) {
  OneNode copy =
      WithLayouts(node, CodegenCatalog().Choices(node, TestCpu(1))[0]);
  DeviceTraits device = TestCpu(1);
  device.isa = isa;
  KernelBinding binding{.kernel = "codegen.elementwise"};
  copy.graph().node(copy.node().id()).kernel = binding;
  EXPECT_TRUE(CodegenCatalog().BuildImages({copy.node()}, device).ok());
  auto kernel = ImageLibrary().Bind({copy.node(), &binding, &device});
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
    // Functions of functions lose bits where a value between is denormal.
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

// Every float of a coarse net over all bit patterns, and those of ordinary
// size.
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

// Processors without fma among them.
TEST(CodegenNumbers, FunctionsAreWithinAFewUnitsOverAllMagnitudes) {
  const HostTensor x = AllMagnitudes();
  for (const OpDef* op : {&kExp, &kLog, &kTanh, &kSigmoid, &kSoftplus, &kErf,
                          &kGelu, &kSilu, &kElu, &kMish, &kSoftsign}) {
    OneNode node(*op, {x.type()});
    for (const std::string& isa : Isas()) {
      SCOPED_TRACE(ImageTarget(isa));
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

// f32 that lie between two bf16, at their middle, and next to it; with all
// special values, of both signs.
std::vector<float> AroundBf16() {
  std::vector<float> values = {
      NAN,    -NAN,    0.0f,        INFINITY,    1e-45f,         0x1p-126f,
      1e-40f, 3.4e38f, 0x1.fep127f, 0x1.ffp127f, 0x1.fefffep127f};
  for (float base : {1.0f, 1.0078125f, 3.140625f, 0x1p-130f, 0x1.8p-133f}) {
    const float next = std::nextafter(base, 1e30f);
    const float middle = base * 1.00390625f;
    for (float value : {base, next, middle, std::nextafter(middle, 0.0f),
                        std::nextafter(middle, 1e30f)}) {
      values.push_back(value);
    }
  }
  const size_t count = values.size();
  for (size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  values.push_back(1);  // an odd number of them
  return values;
}

KernelCheckOptions ExactlyOf(const HostTensor& operand) {
  KernelCheckOptions options;
  options.units = 1e-9;
  options.operands = {&operand};
  return options;
}

TEST(CodegenNumbers, CastsToAndFromBf16AreExact) {
  const std::vector<float> values = AroundBf16();
  const Shape dims = {static_cast<int64_t>(values.size())};
  const HostTensor singles = HostTensor::Of<float>(dims, values);
  HostTensor halves({DType::kBF16, dims, {}});
  for (size_t i = 0; i < values.size(); ++i) {
    SetFromDouble(halves, static_cast<int64_t>(i), values[i]);
  }
  OneNode narrow(kCast, {singles.type()}, {{"to", DType::kBF16}});
  ExpectRight(narrow.node(), ExactlyOf(singles));
  for (DType to : {DType::kF32, DType::kF64}) {
    OneNode widen(kCast, {halves.type()}, {{"to", to}});
    ExpectRight(widen.node(), ExactlyOf(halves));
  }
}

// Within a fused node a cast rounds as it does outside.
TEST(CodegenNumbers, ABodyMayRoundToBf16AndGoOn) {
  const std::vector<float> values = AroundBf16();
  const Shape dims = {static_cast<int64_t>(values.size())};
  const HostTensor singles = HostTensor::Of<float>(dims, values);
  Body body({singles.type()});
  const ValueId narrow =
      body.Add(kCast, {body.input(0)}, {{"to", DType::kBF16}});
  const ValueId wide = body.Add(kCast, {narrow}, {{"to", DType::kF32}});
  OneNode one = body.Fuse({body.Add(kAdd, {wide, body.Constant(0)})});
  ExpectRight(one.node(), ExactlyOf(singles));
}

// A double or an integer would be rounded twice.
TEST(CodegenNumbers, OnlySinglesAreCastToBf16) {
  for (DType from : {DType::kF64, DType::kI32}) {
    OneNode cast(kCast, {{from, {4}, {}}}, {{"to", DType::kBF16}});
    EXPECT_TRUE(CodegenCatalog().Choices(cast.node(), TestCpu(1)).empty());
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
  EXPECT_TRUE(CodegenCatalog().Choices(power(2.5), TestCpu(1)).empty());
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
