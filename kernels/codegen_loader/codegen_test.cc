// Compares generated kernels with eval and with the interpreter.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "graph/host_capacity.h"
#include "graph/op_def.h"
#include "graph/ops/op_list.h"
#include "graph/ops/testing/op_samples.h"
#include "gtest/gtest.h"
#include "kernels/codegen/interpret.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_catalog.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/codegen_loader/testing/generated_kernels.h"
#include "kernels/native_code/native_code_library.h"
#include "kernels/native_code/trusted_code.h"
#include "kernels/testing/kernel_check.h"

namespace partita {
namespace {

bool HasAvx2() { return ProcessorRuns(CodeTarget("avx2")); }

TEST(Codegen, TheLibraryIsHere) {
  ASSERT_TRUE(FindCodegen().ok()) << FindCodegen();
}

TEST(Codegen, EveryOpThatIsOfferedAgreesWithEvalOnItsSamples) {
  int offered = 0;
  for (const OpSample& sample : OpSamples()) {
    LiteralPool pool;
    Graph graph("sample", &pool);
    const absl::StatusOr<NodeId> node = AddSample(sample, graph);
    ASSERT_TRUE(node.ok()) << node.status();
    std::vector<HostTensor> tensors;
    KernelCheckOptions options;
    options.threads = {2};
    for (const SampleOperand& operand : sample.operands) {
      tensors.push_back(RandomTensor(operand, 7));
    }
    for (const HostTensor& tensor : tensors) {
      options.operands.push_back(&tensor);
    }
    const CheckReport report =
        CheckOn(Isas().back(), graph.view(*node), options);
    EXPECT_TRUE(report.status.ok()) << ToString(sample) << report.status;
    offered += !report.kernels.empty();
  }
  EXPECT_GT(offered, 40);
}

TEST(Codegen, OddSizesAgreeWithEval) {
  for (int64_t size : {0, 1, 2, 15, 16, 17, 31, 97, 521}) {
    Body body({F32({size}), F32({size})});
    const ValueId product = body.Add(kMul, {body.input(0), body.input(1)});
    const ValueId sum = body.Add(kAdd, {product, body.Constant(0.5f)});
    ExpectRight(body.Fuse({body.Add(kRelu, {sum})}).node());
  }
}

TEST(Codegen, OperandsBroadcast) {
  const std::vector<std::pair<Shape, Shape>> cases = {
      {{3, 5, 7}, {}},        {{3, 5, 7}, {1}},       {{3, 5, 7}, {7}},
      {{3, 5, 7}, {5, 1}},    {{3, 5, 7}, {3, 1, 1}}, {{3, 5, 7}, {3, 1, 7}},
      {{3, 5, 7}, {1, 5, 7}}, {{1, 17, 3}, {17, 1}},  {{2, 33}, {2, 1}},
  };
  for (const auto& [full, other] : cases) {
    Body body({F32(full), F32(other)});
    const ValueId sum = body.Add(kAdd, {body.input(1), body.input(0)});
    ExpectRight(body.Fuse({body.Add(kTanh, {sum})}).node());
  }
}

TEST(Codegen, NoOperandNeedsTheResultsExtents) {
  Body body({F32({9, 1}), F32({19})});
  const ValueId sum = body.Add(kAdd, {body.input(0), body.input(1)});
  ExpectRight(body.Fuse({body.Add(kAbs, {sum})}).node());
}

// SGD with momentum: state and parameter, each in place.
OneNode Momentum(const Shape& dims) {
  Body body({F32(dims), F32(dims), F32(dims), F32({})});
  const ValueId kept = body.Add(kMul, {body.input(0), body.Constant(0.9f)});
  const ValueId state = body.Add(kAdd, {kept, body.input(1)});
  const ValueId step = body.Add(kMul, {state, body.input(3)});
  return body.Fuse({body.Add(kSub, {body.input(2), step}), state});
}

TEST(Codegen, SeveralResultsAreOfOneWalk) {
  for (int64_t size : {1, 5, 16, 23, 4100}) {
    const OneNode node = Momentum({3, size});
    ExpectRight(node.node());
    const std::vector<KernelChoice> choices =
        CodegenCatalog().Choices(node.node(), TestCpu(1));
    ASSERT_EQ(choices.size(), 1u);
    EXPECT_EQ(choices[0].results.size(), 2u);
    // The parameter's buffer and the state's are among them.
    for (const InPlacePair& pair : {InPlacePair{2, 0}, InPlacePair{0, 1}}) {
      EXPECT_TRUE(absl::c_linear_search(choices[0].in_place, pair));
    }
  }
}

// In place on the state and the parameter, as an executor launches it.
TEST(Codegen, EachResultMayOverwriteAnOperandOfItsOwn) {
  constexpr int64_t kSize = 1003;
  OneNode one = Momentum({kSize});
  one.graph().node(one.node().id()).kernel =
      KernelBinding{.kernel = "codegen.elementwise"};
  DeviceTraits device = TestCpu(1);
  device.isa = Isas().back();
  const std::vector<OpView> nodes = {one.node()};
  const auto code_objects = CodegenCatalog().BuildCode(nodes, device);
  ASSERT_TRUE(code_objects.ok()) << code_objects.status();
  const ElementwiseEntry entry =
      FindEntry((*code_objects)[0].target, EntryName(one.node()));
  ASSERT_NE(entry, nullptr);
  std::vector<float> state(kSize), gradient(kSize), parameter(kSize);
  for (int i = 0; i < kSize; ++i) {
    state[i] = static_cast<float>(i % 17) - 8;
    gradient[i] = static_cast<float>(i % 5) / 4;
    parameter[i] = static_cast<float>(i) / 100;
  }
  float rate = 0.125f;
  std::vector<float> new_parameter(kSize), new_state(kSize);
  void* operands[] = {state.data(), gradient.data(), parameter.data(), &rate};
  void* apart[] = {new_parameter.data(), new_state.data()};
  entry(operands, apart, 0, kSize);
  void* over[] = {parameter.data(), state.data()};
  entry(operands, over, 0, kSize);
  EXPECT_EQ(parameter, new_parameter);
  EXPECT_EQ(state, new_state);
}

// A product that is itself a result is rounded for its other readers too. A
// result may be an operand, and twice; types and element sizes differ.
TEST(Codegen, ResultsOfSeveralKinds) {
  Body body({F32({37}), F32({37})});
  const ValueId product = body.Add(kMul, {body.input(0), body.input(1)});
  const ValueId sum = body.Add(kAdd, {product, body.input(0)});
  const ValueId less = body.Add(kLess, {sum, body.input(1)});
  const ValueId rounded = body.Add(kCast, {sum}, {{"to", DType::kBF16}});
  const ValueId wide = body.Add(kCast, {product}, {{"to", DType::kF64}});
  ExpectRight(body.Fuse({sum, product, less, rounded, wide, body.input(1), sum})
                  .node());
}

TEST(Codegen, ResultsOfOtherExtentsAreNotGenerated) {
  Body body({F32({8, 4}), F32({4})});
  const ValueId small = body.Add(kNeg, {body.input(1)});
  const OneNode node =
      body.Fuse({body.Add(kAdd, {body.input(0), small}), small});
  EXPECT_TRUE(CodegenCatalog().Choices(node.node(), TestCpu(1)).empty());
  EXPECT_EQ(ReadProgram(node.node(), "").status().code(),
            absl::StatusCode::kUnimplemented);
}

// A tree of random ops, of f32 and bools.
ValueId RandomValue(Body& body, int depth, std::mt19937& random) {
  if (depth == 0) {
    return random() % 4 == 0
               ? body.Constant(static_cast<float>(random() % 100) / 40 - 1)
               : body.input(static_cast<int>(random() % 3));
  }
  static const OpDef* const kUnary[] = {&kNeg,  &kAbs,      &kRelu,  &kTanh,
                                        &kExp,  &kSigmoid,  &kFloor, &kErf,
                                        &kSilu, &kHardSwish};
  static const OpDef* const kBinary[] = {&kAdd, &kSub, &kMul, &kMin, &kMax};
  const ValueId a = RandomValue(body, depth - 1, random);
  if (random() % 3 == 0) return body.Add(*kUnary[random() % 10], {a});
  const ValueId b = RandomValue(body, depth - 1, random);
  if (random() % 5 == 0) {
    const ValueId less = body.Add(kLess, {a, b});
    return body.Add(kWhere, {less, a, b});
  }
  return body.Add(*kBinary[random() % 5], {a, b});
}

TEST(Codegen, RandomBodiesHaveTheInterpretersBitsHoweverTheyAreSplit) {
  std::mt19937 random(5);
  const std::string isa = Isas().back();
  DeviceTraits device = TestCpu(1);
  device.isa = isa;
  std::vector<OneNode> nodes;
  std::vector<OpView> views;
  for (int i = 0; i < 24; ++i) {
    Body body({F32({3, 7, 11}), F32({7, 1}), F32({11})});
    const ValueId x = RandomValue(body, 4, random);
    const ValueId sum = body.Add(kAdd, {x, body.input(0)});
    const ValueId y = RandomValue(body, 3, random);
    nodes.push_back(body.Fuse({sum, body.Add(kMul, {y, sum})}));
    nodes.back().graph().node(nodes.back().node().id()).kernel =
        KernelBinding{.kernel = "codegen.elementwise"};
  }
  for (OneNode& node : nodes) views.push_back(node.node());
  const auto code_objects = CodegenCatalog().BuildCode(views, device);
  ASSERT_TRUE(code_objects.ok()) << code_objects.status();
  ASSERT_EQ(code_objects->size(), 1u);
  for (const OpView& node : views) {
    const auto program = ReadProgram(node, isa);
    ASSERT_TRUE(program.ok()) << program.status();
    const ElementwiseEntry entry =
        FindEntry((*code_objects)[0].target, EntryName(node));
    ASSERT_NE(entry, nullptr);
    std::vector<float> a(231), b(7), c(11);
    for (auto* values : {&a, &b, &c}) {
      for (float& v : *values)
        v = static_cast<float>(random() % 4001) / 1000 - 2;
    }
    a[3] = NAN;
    a[40] = INFINITY;
    a[77] = 1e-41f;
    // Both results, in sequence.
    std::vector<float> whole(462, 1), parts(462, 2), interpreted(462, 3);
    void* operands[] = {a.data(), b.data(), c.data()};
    const auto halves = [](std::vector<float>& results) {
      return std::array<void*, 2>{results.data(), results.data() + 231};
    };
    entry(operands, halves(whole).data(), 0, 231);
    for (int64_t begin = 0; begin < 231; begin += 13) {
      entry(operands, halves(parts).data(), begin,
            std::min<int64_t>(231, begin + 13));
    }
    std::vector<uint64_t> registers;
    Interpret(*program, operands, halves(interpreted).data(), 0, 231,
              registers);
    EXPECT_EQ(std::memcmp(whole.data(), parts.data(), 462 * 4), 0);
    for (int i = 0; i < 462; ++i) {
      if (std::isnan(whole[i]) && std::isnan(interpreted[i])) continue;
      EXPECT_EQ(std::memcmp(&whole[i], &interpreted[i], 4), 0)
          << i << ": " << whole[i] << " and " << interpreted[i];
    }
  }
}

TEST(Codegen, EveryLayoutOfFullOperandsGivesTheSameElements) {
  const TensorType type = F32({2, 16, 3, 5});
  for (const char* letters :
       {"acdb", "abcd16b", "abcd8b", "bacd", "abcd4b2a", "dcba"}) {
    const absl::StatusOr<Layout> layout = ParseLayout(letters, 4);
    ASSERT_TRUE(layout.ok()) << layout.status();
    Body body({type, F32({16, 1, 1}), F32({5}), F32({2, 1, 3, 1}), type});
    ValueId x = body.Add(kAdd, {body.input(0), body.input(1)});
    x = body.Add(kMul, {x, body.input(2)});
    x = body.Add(kMul, {x, body.input(4)});
    OneNode node = body.Fuse({body.Add(kSub, {x, body.input(3)})});
    // A catalog with one choice, in this layout except for the last operand.
    class InLayout : public CodegenCatalog {
     public:
      explicit InLayout(Layout layout) : layout_(std::move(layout)) {}
      std::vector<KernelChoice> Choices(
          const OpView& node, const DeviceTraits& device) const override {
        auto choices = CodegenCatalog::Choices(node, device);
        choices[0].operands[0] = choices[0].results[0] = layout_;
        choices[0].in_place = {{.operand = 0, .result = 0}};
        return choices;
      }
      Layout layout_;
    };
    KernelCheckOptions options;
    options.isa = Isas().back();
    const CheckReport report = CheckKernels(node.node(), InLayout(*layout),
                                            NativeCodeLibrary(), options);
    EXPECT_TRUE(report.status.ok()) << letters << ": " << report.status;
    EXPECT_EQ(report.kernels.size(), 2u);
  }
}

TEST(Codegen, OneThreadAndSeveralGiveTheSameBits) {
  constexpr int64_t kSize = 40961;
  OneNode node(kTanh, {F32({kSize})});
  DeviceTraits device = TestCpu(1);
  device.isa = Isas().back();
  const KernelBinding binding{.kernel = "codegen.elementwise"};
  node.graph().node(node.node().id()).kernel = binding;
  ASSERT_TRUE(CodegenCatalog().BuildCode({node.node()}, device).ok());
  ASSERT_TRUE(HasCode(node.node(), device));
  std::vector<float> x(kSize);
  for (int64_t i = 0; i < kSize; ++i) x[i] = (i - 20000) * 0.0003f;
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 3}) {
    device.threads = threads;
    auto kernel = NativeCodeLibrary().Bind({node.node(), &binding, &device});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    void* from = x.data();
    void* to = results.emplace_back(kSize, 7.0f).data();
    ASSERT_TRUE(
        kernel->kernel->Launch({.operands = {&from, 1}, .results = {&to, 1}})
            .ok());
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
  EXPECT_NEAR(results[0].back(), std::tanh(x.back()), 1e-6);
}

// Processors without AVX2 emulate it with other code, which the kernel's
// arithmetic names.
TEST(Codegen, CodeThatReplacesFusedProductsIsNamed) {
  OneNode node(kTanh, {F32({77})});
  const KernelBinding binding{.kernel = "codegen.elementwise"};
  node.graph().node(node.node().id()).kernel = binding;
  DeviceTraits device = TestCpu(1);
  device.isa = ExecutableIsa("avx2");
  EXPECT_EQ(device.isa, HasAvx2() ? "avx2" : "sse4");
  ASSERT_TRUE(CodegenCatalog().BuildCode({node.node()}, device).ok());
  const std::string bits = device.isa;
  device.isa = "avx2";
  EXPECT_TRUE(HasCode(node.node(), device));
  const auto kernel =
      NativeCodeLibrary().Bind({node.node(), &binding, &device});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->arithmetic, CodegenArithmetic(bits));
}

TEST(Codegen, GpusAreLeftToOthers) {
  OneNode node(kTanh, {F32({77})});
  DeviceTraits gpu = TestCpu(1);
  gpu.kind = DeviceKind::kCuda;
  gpu.isa = "sm_89";
  EXPECT_TRUE(CodegenCatalog().Choices(node.node(), gpu).empty());
  EXPECT_TRUE(absl::IsUnimplemented(
      CodegenCatalog().BuildCode({node.node()}, gpu).status()));
  // As on the CPUs that have it, products are fused with sums.
  EXPECT_EQ(*ReadProgram(node.node(), "sm_89"),
            *ReadProgram(node.node(), "avx2"));
}

// The best one that this process may use.
TEST(Codegen, AnyInstructionSetIsTheHosts) {
  const std::vector<std::string> usable = UsableIsas();
  ASSERT_FALSE(usable.empty());
  OneNode node(kTanh, {F32({78})});
  const KernelBinding binding{.kernel = "codegen.elementwise"};
  DeviceTraits any = TestCpu(1), host = TestCpu(1);
  any.isa.clear();
  host.isa = usable.front();
  const auto code_objects = BuildCodeOf({node.node()}, any);
  ASSERT_TRUE(code_objects.ok()) << code_objects.status();
  EXPECT_EQ(code_objects->front().target, CodeTarget(usable.front()));
  EXPECT_TRUE(HasCode(node.node(), any));
  EXPECT_TRUE(HasCode(node.node(), host));
  const auto kernel = NativeCodeLibrary().Bind({node.node(), &binding, &any});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->id, "codegen.elementwise");
  EXPECT_EQ(kernel->arithmetic, CodegenArithmetic(usable.front()));
}

// Code for AVX2 replaces code for AVX-512 with the same bits. SSE has no fused
// multiply-add, so its program differs.
TEST(Codegen, CodeForAnotherProcessorIsOfTheSameProgram) {
  EXPECT_EQ(ExecutableIsa(""), MeantIsa(""));
  const std::string isa = ExecutableIsa("avx512");
  EXPECT_EQ(isa == "avx512", ProcessorRuns(CodeTarget("avx512")));
  OneNode node(kTanh, {F32({77})});
  node.graph().node(node.node().id()).kernel =
      KernelBinding{.kernel = "codegen.elementwise"};
  const auto planned = ReadProgram(node.node(), "avx512");
  const auto run = ReadProgram(node.node(), isa);
  ASSERT_TRUE(planned.ok() && run.ok());
  EXPECT_EQ(*planned == *run, HasAvx2());
  DeviceTraits device = TestCpu(1);
  device.isa = isa;
  ASSERT_TRUE(CodegenCatalog().BuildCode({node.node()}, device).ok());
  device.isa = "avx512";
  EXPECT_TRUE(HasCode(node.node(), device));
}

// Offers codegen's choices and builds nothing.
class WithoutCode : public CodegenCatalog {
 public:
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView>, const DeviceTraits&) const override {
    return absl::UnimplementedError("found no generator");
  }
};

TEST(Codegen, WithoutCodeAnInterpreterAgreesWithEval) {
  Body body({F32({2, 3, 41}), F32({41})});
  const ValueId sum = body.Add(kAdd, {body.input(0), body.input(1)});
  OneNode node = body.Fuse({body.Add(kGelu, {body.Add(kNeg, {sum})})});
  const CheckReport report =
      CheckKernels(node.node(), WithoutCode(), NativeCodeLibrary());
  EXPECT_TRUE(report.status.ok()) << report.status;
  EXPECT_EQ(report.kernels.size(), 2u);
  EXPECT_FALSE(HasCode(node.node(), TestCpu(1)));
}

TEST(Codegen, TheInterpretersKernelIsNamed) {
  OneNode node(kTanh, {F32({79})});
  const KernelBinding binding{.kernel = "codegen"};
  const DeviceTraits device = TestCpu(1);
  const auto bound = [&](const NativeCodeLibrary& library) {
    const auto kernel = library.Bind({node.node(), &binding, &device});
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return kernel.ok() ? kernel->id : KernelId();
  };
  EXPECT_EQ(bound(NativeCodeLibrary()), "codegen.elementwise.interpreted");
  const auto has_none = [](const OpView&, const DeviceTraits&) {
    return absl::UnavailableError("found no generator");
  };
  EXPECT_EQ(bound(NativeCodeLibrary(has_none)),
            "codegen.elementwise.interpreted");
  const auto build = [](const OpView& op, const DeviceTraits& here) {
    return BuildCodeOf({op}, here).status();
  };
  EXPECT_EQ(bound(NativeCodeLibrary(build)), "codegen.elementwise");
  EXPECT_TRUE(HasCode(node.node(), device));
}

TEST(Codegen, TheSameNodesGiveTheSameBytesInAnyOrder) {
  DeviceTraits device = TestCpu(1);
  device.isa = "avx512";
  const auto build = [&](std::vector<const OpDef*> ops) {
    std::vector<std::unique_ptr<OneNode>> nodes;
    std::vector<OpView> views;
    for (const OpDef* op : ops) {
      nodes.push_back(
          std::make_unique<OneNode>(*op, std::vector<TensorType>{F32({40})}));
      nodes.back()->graph().node(nodes.back()->node().id()).kernel =
          KernelBinding{.kernel = "codegen.elementwise"};
      views.push_back(nodes.back()->node());
    }
    auto code_objects = CodegenCatalog().BuildCode(views, device);
    EXPECT_TRUE(code_objects.ok()) << code_objects.status();
    return code_objects->front();
  };
  EXPECT_EQ(build({&kExp, &kTanh}), build({&kTanh, &kExp, &kExp}));
}

TEST(Codegen, WhatIsNotGeneratedIsNotOffered) {
  OneNode sine(kSin, {{DType::kF64, {4}, {}}});
  EXPECT_TRUE(CodegenCatalog().Choices(sine.node(), TestCpu(1)).empty());
  OneNode softmax(kSoftmax, {F32({4})});
  EXPECT_TRUE(CodegenCatalog().Choices(softmax.node(), TestCpu(1)).empty());
}

}  // namespace
}  // namespace partita
