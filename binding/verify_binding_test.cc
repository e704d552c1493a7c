// Tests the proof that graphs with kernels compute the placed graphs, with a
// toy catalog. tests/binding has models and mutants.
// SPDX-License-Identifier: Apache-2.0

#include "binding/verify_binding.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "binding/choose_kernels.h"
#include "binding/constant_numbers.h"
#include "binding/layout_state.h"
#include "binding/literal_elements.h"
#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "graph/ops/op_list.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "graph/verifier.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

// Products read the first operand column-major and the second in blocks of four
// rows, and have no kernel inside a fused node. All else is row-major.
class ToyCatalog : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits&) const override {
    if (node.is(kFused) && !node.region(0).ops(kMatmul).empty()) return {};
    KernelChoice choice;
    choice.kernel = "toy.any";
    choice.operands.resize(node.num_operands());
    choice.results.resize(node.num_results());
    choice.seconds = 1;
    choice.arithmetics = {{.source = "toy"}};
    if (node.is(kMatmul)) {
      choice.operands[0] = *ParseLayout("ba", 2);
      choice.operands[1] = *ParseLayout("ab4a", 2);
    }
    if (node.is(kReorder)) {
      choice.operands[0] = node.operand_type(0).layout;
      choice.results[0] = node.result_type(0).layout;
    }
    return {choice};
  }
};

// A product with a packed constant and a reorder, a fused tail, another device,
// a sum over micro-batches and an update.
constexpr char kStep[] = R"(
variable @v: f32[2, 2]

graph @main(%x: f32[2, 3] on cpu:0, %r: f32[2, 2] on cpu:0) -> (f32[2, 2], f32[2, 2]) {
  %w = constant f32[3, 2] [1, 2, 3, 4, 5, 6] on cpu:0
  %v = variable {dtype = f32, name = "v", shape = [2, 2]} : f32[2, 2] on cpu:1
  %y = fused %x, %w, %r @body(%x: f32[2, 3], %w: f32[3, 2], %r: f32[2, 2]) {
    %p = matmul %x, %w : f32[2, 2]
    %a = sub %p, %r : f32[2, 2]
    %y = relu %a : f32[2, 2]
    return %y
  } : f32[2, 2] on cpu:0
  %there = copy %y : f32[2, 2] on cpu:1
  %sum = accumulate %there {micro_batches = 2} : f32[2, 2] on cpu:1
  %next = sub %v, %sum : f32[2, 2] on cpu:1
  %n = neg %there : f32[2, 2] on cpu:1
  update @v = %next
  return %y, %n
})";

class VerifyBindingTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Module> module =
        ParseModule(kStep, "verify_binding_test", OpSet::BuiltIn());
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    placed_ = module_.main().Clone(&module_.literals());
  }

  Graph& bound() { return module_.main(); }

  absl::Status Choose(PackedConstants& packed) {
    std::vector<DeviceTraits> devices(2);
    devices[0].name = "cpu:0";
    devices[1].name = "cpu:1";
    const absl::Status status =
        ChooseKernels(bound(), ToyCatalog(), devices, packed).status();
    return status.ok() ? Verify(bound()) : status;
  }

  void Choose() {
    PackedConstants packed;
    const absl::Status status = Choose(packed);
    ASSERT_TRUE(status.ok()) << status;
  }

  NodeId Find(const OpDef& op) { return bound().ops(op).front().id(); }

  std::string Error() {
    return std::string(VerifyBinding(*placed_, bound()).message());
  }

  Module module_;
  std::unique_ptr<Graph> placed_;
};

TEST_F(VerifyBindingTest, SeesThroughReordersPackingAndFusion) {
  Choose();
  EXPECT_EQ(bound().ops(kReorder).size(), 1u);
  EXPECT_EQ(bound().ops(kMatmul).size(), 1u);
  EXPECT_EQ(bound().ops(kFused).size(), 1u);
  ASSERT_EQ(bound().ops(kConstant).size(), 1u);
  EXPECT_EQ(bound().ops(kConstant)[0].result_type(0).layout.ToString(), "ab4a");
  EXPECT_EQ(Error(), "");
}

TEST_F(VerifyBindingTest, NamesTheFirstNodeThatDiffers) {
  Choose();
  const NodeId fused = Find(kFused);
  Graph& body = *bound().node(fused).regions[0];
  const NodeId sub = body.order().front();
  const ValueIds operands = body.node(sub).operands;
  body.SetOperand(sub, 0, operands[1]);
  body.SetOperand(sub, 1, operands[0]);
  const std::string error = Error();
  EXPECT_TRUE(absl::StartsWith(
      error, "bug: choosing kernels for @main changed it: sub %"))
      << error;
  EXPECT_TRUE(absl::EndsWith(
      error,
      " in fused %y: found another value as operand 0; expected the same as of "
      "sub %a in fused %y on cpu:0"))
      << error;
}

TEST_F(VerifyBindingTest, FindsAnotherDevice) {
  Choose();
  bound().node(Find(kNeg)).placement.devices[0] = "cpu:0";
  EXPECT_EQ(Error(),
            "bug: choosing kernels for @main changed it: neg %n: found cpu:0; "
            "expected the same as of neg %n on cpu:1\n"
            "output n: found f32[2, 2] on cpu:0; expected f32[2, 2] on cpu:1");
}

TEST_F(VerifyBindingTest, FindsAReorderOnAnotherDevice) {
  Choose();
  bound().node(Find(kReorder)).placement.devices[0] = "cpu:1";
  EXPECT_NE(Error().find("found other devices or another sharding than of its "
                         "operand; expected another layout only"),
            std::string::npos)
      << Error();
}

// In micro-batch 0 no kernel runs: the bytes of the summand are the sum.
TEST_F(VerifyBindingTest, FindsASumInAnotherLayoutThanItsSummand) {
  Choose();
  const OpView sum = bound().view(Find(kAccumulate));
  bound().value(sum.result(0).id()).type.layout = *ParseLayout("ba", 2);
  EXPECT_EQ(Error(),
            "bug: choosing kernels for @main changed it: accumulate %sum: "
            "found operand 0 as f32[2, 2] and result 0 as f32[2, 2]{ba}; "
            "expected one layout for both, as no kernel converts it");
}

TEST_F(VerifyBindingTest, FindsACopyInAnotherLayout) {
  Choose();
  const OpView copy = bound().view(Find(kCopy));
  bound().value(copy.result(0).id()).type.layout = *ParseLayout("ba", 2);
  EXPECT_TRUE(absl::StrContains(
      Error(),
      "copy %there: found operand 0 as f32[2, 2] and result 0 as "
      "f32[2, 2]{ba}; expected one layout for both, as no kernel converts it"))
      << Error();
}

TEST_F(VerifyBindingTest, FindsALostUpdate) {
  Choose();
  bound().SetUpdates({});
  EXPECT_NE(Error().find("updates: found 0; expected 1"), std::string::npos)
      << Error();
}

TEST_F(VerifyBindingTest, FindsALostTail) {
  Choose();
  const OpView fused = bound().view(Find(kFused));
  bound().ReplaceAllUses(fused.result(0).id(), fused.operand(0).id());
  EXPECT_NE(Error().find("copy %there: found another value as operand 0"),
            std::string::npos)
      << Error();
}

// The constant's bytes change after it was packed, so the choice of kernels
// uses a stale copy.
TEST_F(VerifyBindingTest, FindsAConstantThatChoosingKernelsPackedWrong) {
  PackedConstants packed;
  const LiteralPool& literals = module_.literals();
  const LiteralId literal = placed_->ops(kConstant)[0].attr_literal("value");
  const HostTensor& tensor = literals.tensor(literal);
  packed.Get(tensor, *ParseLayout("ab4a", 2));
  const float other = 7;
  std::memcpy(const_cast<std::byte*>(tensor.bytes()), &other, sizeof(other));
  const absl::Status status = Choose(packed);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Error(),
            "bug: choosing kernels for @main changed it: constant %w: found "
            "other elements; expected the same as of constant %w on cpu:0");
}

// Most blocks divide no extent of [7, 9], so most layouts have padding.
std::vector<HostTensor> PackedInAllWays(const HostTensor& elements) {
  std::vector<HostTensor> all;
  for (const char* layout :
       {"ba", "ab4a", "ba4b", "ab16b", "ab2a2b", "ab4a2b2a", "ba3a5b"}) {
    TensorType type = elements.type();
    type.layout = *ParseLayout(layout, 2);
    ConvertLayout(elements, all.emplace_back(type));
  }
  return all;
}

HostTensor Counted(DType dtype) {
  HostTensor elements(TensorType{dtype, {7, 9}, {}});
  for (int i = 0; i < 7 * 9; ++i) SetFromDouble(elements, i, i + 1);
  return elements;
}

TEST(LiteralElements, AreThoseThatWerePacked) {
  for (const DType dtype :
       {DType::kF32, DType::kF16, DType::kI8, DType::kI64}) {
    const HostTensor elements = Counted(dtype);
    for (const HostTensor& packed : PackedInAllWays(elements)) {
      EXPECT_TRUE(HasElements(packed, elements)) << packed.type().ToString();
      const std::optional<HostTensor> found = UnpackedElements(packed);
      ASSERT_TRUE(found.has_value()) << packed.type().ToString();
      EXPECT_EQ(found->byte_span(), elements.byte_span())
          << packed.type().ToString();
    }
  }
}

// In elements as in padding.
TEST(LiteralElements, OneChangedByteIsFound) {
  const HostTensor elements = Counted(DType::kF16);
  for (HostTensor& packed : PackedInAllWays(elements)) {
    for (int64_t at = 0; at < packed.type().num_bytes(); ++at) {
      packed.bytes()[at] ^= std::byte{1};
      EXPECT_FALSE(HasElements(packed, elements))
          << packed.type().ToString() << " at byte " << at;
      packed.bytes()[at] ^= std::byte{1};
    }
    EXPECT_TRUE(HasElements(packed, elements));
  }
}

TEST(LiteralElements, PaddingMustBeZero) {
  TensorType type{DType::kF32, {3, 2}, *ParseLayout("ab4a", 2)};
  HostTensor packed(type);
  EXPECT_TRUE(HasElements(packed, HostTensor(type.RowMajor())));
  EXPECT_TRUE(UnpackedElements(packed).has_value());
  packed.data<float>()[3] = 1;  // row 3 of column 0
  EXPECT_FALSE(HasElements(packed, HostTensor(type.RowMajor())));
  EXPECT_FALSE(UnpackedElements(packed).has_value());
}

// A packed constant has the number of the row-major one, whichever comes first.
TEST(ConstantNumbers, AreThoseOfTheElements) {
  for (const bool packed_first : {false, true}) {
    LiteralPool literals;
    const LiteralId whole = literals.Add(Counted(DType::kF32));
    std::vector<LiteralId> packed;
    for (HostTensor& tensor : PackedInAllWays(Counted(DType::kF32))) {
      packed.push_back(literals.Add(std::move(tensor)));
    }
    HostTensor changed = Counted(DType::kF32);
    changed.data<float>()[62] = 0;
    const LiteralId other = literals.Add(std::move(changed));
    ConstantNumbers numbers;
    if (packed_first) numbers.Of(literals, packed[0]);
    const std::optional<int> number = numbers.Of(literals, whole);
    ASSERT_TRUE(number.has_value());
    for (LiteralId id : packed) EXPECT_EQ(numbers.Of(literals, id), number);
    EXPECT_NE(numbers.Of(literals, other), number);
  }
}

}  // namespace
}  // namespace partita
