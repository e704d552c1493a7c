// Kernels access only what they declare, for every shape, number of threads and
// instruction set; and a sweep detects violations.
// SPDX-License-Identifier: Apache-2.0

#include "tests/kernels/guarded_sweep.h"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "graph/host_capacity.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/cpu/onednn_isa.h"
#include "kernels/testing/run_in_child.h"

namespace partita {
namespace {

struct Cap {
  const char* onednn;
  const char* isa;
};
// All instruction sets that a device of a plan may have.
constexpr Cap kCaps[] = {{"SSE41", "sse4"},
                         {"AVX2", "avx2"},
                         {"AVX512_CORE", "avx512"},
                         {"AVX512_CORE_BF16", "avx512_bf16"},
                         {"AVX512_CORE_AMX", "avx512_amx"}};

// Those that the processor has. Queried in a child, since a process keeps the
// answer for its first environment.
std::vector<Cap> CapsHere() {
  static const std::vector<std::string>& usable =
      *new std::vector<std::string>([]() -> std::vector<std::string> {
        const ChildOutcome outcome =
            RunInChild(10, [](const SendToParent& send) {
              unsetenv("DNNL_MAX_CPU_ISA");
              unsetenv("ONEDNN_MAX_CPU_ISA");
              send(absl::StrJoin(UsableIsas(), " "));
            });
        return absl::StrSplit(outcome.texts, ' ');
      }());
  std::vector<Cap> caps;
  for (const Cap& cap : kCaps) {
    if (absl::c_linear_search(usable, cap.isa)) caps.push_back(cap);
  }
  return caps;
}

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) {
    ADD_FAILURE() << name << ": found " << text << "; expected a number";
  }
  return value;
}

bool IsFull() { return FromEnvironment("PARTITA_FULL", 0) == 1; }

SweepOptions OptionsFor(const Cap& cap, const NodeKind& kind) {
  SweepOptions options;
  options.cap = cap.onednn;
  options.isa = cap.isa;
  options.seed = static_cast<uint64_t>(FromEnvironment("PARTITA_SEED", 1));
  options.first = static_cast<int>(FromEnvironment("PARTITA_SWEEP_FIRST", 0));
  options.nodes = static_cast<int>(
      FromEnvironment("PARTITA_SWEEP_NODES", IsFull() ? 100 : 3) * kind.share);
  return options;
}

class Kernels : public testing::TestWithParam<std::tuple<Cap, NodeKind>> {
 protected:
  static void SetUpTestSuite() { std::cout << TableHead(); }
};

TEST_P(Kernels, AccessWhatTheyDeclare) {
  const auto& [cap, kind] = GetParam();
  const SweepOptions options = OptionsFor(cap, kind);
  const Sweep sweep = RunSweep(kind, options);
  ASSERT_EQ(sweep.isa, cap.isa) << "the child runs with others";
  std::cout << TableLine(kind, cap.onednn, sweep) << std::flush;
  EXPECT_GT(sweep.launched.size(), sweep.launched.count("reference.eval"));
  for (const std::string& failure : sweep.failures) ADD_FAILURE() << failure;
  EXPECT_EQ(sweep.nodes, options.nodes);
}

std::string NameOf(
    const testing::TestParamInfo<std::tuple<Cap, NodeKind>>& info) {
  std::string name = std::get<0>(info.param).onednn;
  for (const char* at = std::get<1>(info.param).name; *at != 0; ++at) {
    name += std::isalnum(*at) ? *at : '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Kernels,
                         testing::Combine(testing::ValuesIn(CapsHere()),
                                          testing::ValuesIn(AllNodeKinds())),
                         NameOf);

TEST(Caps, AreAllThatACpuMayHave) {
  std::vector<std::string> swept;
  for (const Cap& cap : kCaps) {
    EXPECT_EQ(cap.onednn, OnednnNameOf(cap.isa));
    swept.insert(swept.begin(), cap.isa);
  }
  EXPECT_EQ(swept, CpuIsas());
  ASSERT_FALSE(CapsHere().empty());
  EXPECT_EQ(CapsHere()[0].isa, std::string("sse4"));
  for (size_t i = CapsHere().size(); i < std::size(kCaps); ++i) {
    std::cout << "left out: " << kCaps[i].onednn << ", which is not here\n";
  }
}

// For a strided 1x1 convolution with fewer channels than a block.
DrawnNode DrawStridedGradient(Dice& dice) {
  const int64_t in = dice.Between(1, 7), out = 8 * dice.Between(1, 4);
  const Attributes attributes = {{"kernel", std::vector<int64_t>{1, 1}},
                                 {"strides", std::vector<int64_t>{2, 2}}};
  return {.one =
              OneNode(kConvWeightGradient,
                      {F32({4, in, 14, 14}), F32({4, out, 7, 7})}, attributes)};
}

// With a sum in the epilogue, for channels that fill no vector.
DrawnNode DrawDepthwise(Dice& dice) {
  const int64_t channels = 4 * dice.Between(1, 5) + dice.Between(1, 3);
  DrawnBody body;
  const ValueId x = body.Input(F32({2, channels, 9, 7}));
  const ValueId w = body.Input(F32({channels, 1, 3, 3}));
  const ValueId y = body.Add(kConv, {x, w}, {{"groups", channels}});
  const ValueId r = body.Input(F32({2, channels, 7, 5}));
  return {.one = body.Fuse(body.Add(kAdd, {y, r}))};
}

// Groups of three channels, which a kernel for images in colour takes.
DrawnNode DrawGroups(Dice& dice) {
  const int64_t groups = dice.Between(2, 3);
  return {.one = OneNode(
              kConv, {F32({1, 3 * groups, 9, 7}), F32({8 * groups, 3, 3, 3})},
              {{"groups", groups}})};
}

// With a sum in the epilogue, and windows that read only padding.
DrawnNode DrawSumOverPadding(Dice& dice) {
  const int64_t in = dice.Between(1, 20), out = dice.Between(1, 20);
  DrawnBody body;
  const ValueId x = body.Input(F32({2, in, 1, 9}));
  const ValueId w = body.Input(F32({out, in, 3, 3}));
  const ValueId y = body.Add(kConv, {x, w},
                             {{"dilations", std::vector<int64_t>{3, 1}},
                              {"pads_before", std::vector<int64_t>{5, 0}},
                              {"pads_after", std::vector<int64_t>{5, 0}}});
  const ValueId b = body.Input(F32({1, out, 1, 1}));
  const ValueId r = body.Input(F32({2, out, 5, 7}));
  const ValueId sum = body.Add(kAdd, {body.Add(kAdd, {y, b}), r});
  return {.one = body.Fuse(body.Add(kSigmoid, {sum}))};
}

// Of bf16 rows that are shorter than the stride.
DrawnNode DrawShortRows(Dice& dice) {
  const int64_t in = dice.Between(1, 40), out = 8 * dice.Between(1, 4);
  const Attributes attributes = {{"kernel", std::vector<int64_t>{4}},
                                 {"strides", std::vector<int64_t>{3}},
                                 {"pads_before", std::vector<int64_t>{2}},
                                 {"pads_after", std::vector<int64_t>{2}}};
  return {.one = OneNode(
              kConvWeightGradient,
              {Type(DType::kBF16, {2, in, 2}), Type(DType::kBF16, {2, out, 1})},
              attributes),
          .tolerance = 2e-2};
}

// Of a volume in which each window reaches into the padding of its depth.
template <DType dtype>
DrawnNode DrawPaddedVolume(Dice& dice) {
  const int64_t in = dice.Between(1, 40), out = 8 * dice.Between(1, 4);
  const Attributes attributes = {{"kernel", std::vector<int64_t>{4, 1, 1}},
                                 {"strides", std::vector<int64_t>{2, 3, 1}},
                                 {"pads_before", std::vector<int64_t>{3, 0, 0}},
                                 {"pads_after", std::vector<int64_t>{3, 0, 0}}};
  return {.one = OneNode(
              kConvWeightGradient,
              {Type(dtype, {2, in, 2, 10, 2}), Type(dtype, {2, out, 3, 4, 2})},
              attributes),
          .tolerance = 2e-2};
}

// By dilated bf16 weights, with a block of channels that is not full.
DrawnNode DrawDilatedChannels(Dice& dice) {
  const int64_t in = dice.Between(33, 63), out = dice.Between(1, 40);
  const Attributes attributes = {{"kernel", std::vector<int64_t>{3, 3}},
                                 {"dilations", std::vector<int64_t>{2, 2}}};
  return {.one = OneNode(kConvWeightGradient,
                         {Type(DType::kBF16, {2, in, 11, 12}),
                          Type(DType::kBF16, {2, out, 7, 8})},
                         attributes),
          .tolerance = 2e-2};
}

// With one row of weights less than a whole block.
DrawnNode DrawSixtyThreeRows(Dice& dice) {
  const int64_t rows = dice.Between(1, 40), columns = dice.Between(65, 120);
  return {.one = OneNode(kMatmul, {Type(DType::kBF16, {rows, 63}),
                                   Type(DType::kBF16, {63, columns})}),
          .tolerance = 2e-2};
}

struct Excluded {
  Cap cap;
  DrawnNode (*draw)(Dice& dice);
  const char* implementation;
};

class Exclusion : public testing::TestWithParam<Excluded> {};

TEST_P(Exclusion, IsFoundWhereNothingIsExcluded) {
  const auto& [cap, draw, implementation] = GetParam();
  const NodeKind kind = {"excluded", draw};
  // One thread shows it; with two, one may overwrite their barrier.
  SweepOptions options = {
      .cap = cap.onednn, .isa = cap.isa, .nodes = 12, .threads = {1}};
  const Sweep without = RunSweep(kind, options);
  ASSERT_EQ(without.isa, cap.isa) << "the child runs with others";
  EXPECT_TRUE(without.failures.empty()) << without.failures[0];
  EXPECT_GT(without.excluded.count(implementation), 0u);

  options.with_known_faults = true;
  options.most_deaths = 2;
  const Sweep with = RunSweep(kind, options);
  // Another implementation may have its fault in the same shapes.
  const std::string what = absl::StrCat("1 threads, ", implementation);
  EXPECT_THAT(with.failures, testing::Contains(testing::HasSubstr(what)));
}

std::vector<Excluded> ExclusionsHere() {
  std::vector<Excluded> exclusions;
  for (const Cap& cap : CapsHere()) {
    if (cap.isa == std::string("sse4")) {
      exclusions.push_back({cap, DrawDepthwise, "jit_dw:sse41"});
    } else if (cap.isa == std::string("avx2")) {
      exclusions.push_back({cap, DrawStridedGradient, "jit_1x1:avx2"});
      exclusions.push_back({cap, DrawGroups, "jit:sse41"});
    } else if (cap.isa == std::string("avx512")) {
      exclusions.push_back({cap, DrawSumOverPadding, "brgconv:avx512_core"});
      exclusions.push_back({cap, DrawShortRows, "jit_bf16:avx512_core"});
      exclusions.push_back(
          {cap, DrawPaddedVolume<DType::kBF16>, "jit_bf16:avx512_core"});
      exclusions.push_back(
          {cap, DrawPaddedVolume<DType::kF32>, "jit:avx512_core"});
    } else if (cap.isa == std::string("avx512_amx")) {
      exclusions.push_back({cap, DrawShortRows, "jit:avx512_core_amx_bf16"});
      exclusions.push_back(
          {cap, DrawDilatedChannels, "jit:avx512_core_amx_bf16"});
      exclusions.push_back(
          {cap, DrawSixtyThreeRows, "brg:avx512_core_amx_bf16"});
    }
  }
  return exclusions;
}

INSTANTIATE_TEST_SUITE_P(All, Exclusion, testing::ValuesIn(ExclusionsHere()));

enum class Fault {
  kNone,
  kBeforeTheResult,
  kBehindTheResult,
  kBehindTheWorkspace,
  kInTheOperand,
  kNoEnd,
};

// Negates, with a fault.
class FaultyKernel : public Kernel {
 public:
  FaultyKernel(const OpView& node, Fault fault)
      : count_(node.result_type(0).num_elements()), fault_(fault) {}
  absl::Status Launch(const LaunchArgs& args) override {
    auto* const x = static_cast<float*>(args.operands[0]);
    auto* const y = static_cast<float*>(args.results[0]);
    for (int64_t i = 0; i < count_; ++i) y[i] = -x[i];
    auto* const bytes = reinterpret_cast<volatile char*>(y);
    auto* const workspace = static_cast<volatile char*>(args.workspace);
    if (fault_ == Fault::kBeforeTheResult) bytes[-1] = 1;
    if (fault_ == Fault::kBehindTheResult) bytes[4 * count_] = 1;
    if (fault_ == Fault::kBehindTheWorkspace) workspace[kWorkspace] = 1;
    if (fault_ == Fault::kInTheOperand) *static_cast<volatile float*>(x) = 1;
    while (fault_ == Fault::kNoEnd) pause();
    return absl::OkStatus();
  }
  static constexpr int64_t kWorkspace = 100;

 private:
  const int64_t count_;
  const Fault fault_;
};

class FaultyKernels : public KernelCatalog, public KernelLibrary {
 public:
  explicit FaultyKernels(Fault fault) : fault_(fault) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits&) const override {
    KernelChoice choice;
    choice.kernel = "faulty.neg";
    choice.operands.resize(1);
    choice.results.resize(1);
    choice.workspace = FaultyKernel::kWorkspace;
    choice.seconds = 1;
    choice.arithmetics = {ExactArithmetic()};
    return {choice};
  }
  absl::string_view name() const override { return "faulty"; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest& request) const override {
    if (request.binding->workspace < FaultyKernel::kWorkspace) {
      return absl::ResourceExhaustedError("too little workspace");
    }
    BoundKernel bound;
    bound.kernel = std::make_unique<FaultyKernel>(request.node, fault_);
    bound.id = "faulty.neg";
    bound.arithmetic = ExactArithmetic();
    return bound;
  }

 private:
  const Fault fault_;
};

std::vector<std::string> FailuresOf(Fault fault) {
  const NodeKind kind = {"negations", [](Dice& dice) {
                           return DrawnNode{OneNode(kNeg, {F32({17})})};
                         }};
  SweepOptions options = {
      .cap = "SSE41", .isa = "sse4", .nodes = 1, .threads = {1}, .seconds = 1};
  options.kernels = [fault] {
    const auto* kernels = new FaultyKernels(fault);
    return SweepSource{kernels, {kernels}};
  };
  return RunSweep(kind, options).failures;
}

TEST(GuardedSweep, AByteOutsideIsFoundWhereverItIs) {
  EXPECT_TRUE(FailuresOf(Fault::kNone).empty());
  for (Fault fault :
       {Fault::kBeforeTheResult, Fault::kBehindTheResult,
        Fault::kBehindTheWorkspace, Fault::kInTheOperand, Fault::kNoEnd}) {
    const std::vector<std::string> failures = FailuresOf(fault);
    ASSERT_EQ(failures.size(), 1u) << static_cast<int>(fault);
    EXPECT_TRUE(absl::StrContains(
        failures[0], "negations 0 (seed 1), 1 threads, faulty.neg: "))
        << failures[0];
  }
}

}  // namespace
}  // namespace partita
