// Joined catalogs: order, device kinds, code objects.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/catalog/joined_catalog.h"

#include <memory>

#include "graph/core_ops.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"

namespace partita {
namespace {

class Fixed : public KernelCatalog {
 public:
  Fixed(std::string kernel, double seconds, bool fallback, bool generates)
      : kernel_(std::move(kernel)),
        seconds_(seconds),
        fallback_(fallback),
        generates_(generates) {}
  std::vector<KernelChoice> Choices(const OpView&,
                                    const DeviceTraits&) const override {
    KernelChoice choice;
    choice.kernel = kernel_;
    choice.seconds = seconds_;
    choice.fallback = fallback_;
    return {choice};
  }
  absl::StatusOr<std::vector<CodeObject>> BuildCode(
      absl::Span<const OpView>, const DeviceTraits&) const override {
    if (!generates_) return absl::UnimplementedError("none");
    std::vector<CodeObject> code_objects(1);
    code_objects[0].target = kernel_;
    return code_objects;
  }

 private:
  std::string kernel_;
  double seconds_;
  bool fallback_;
  bool generates_;
};

TEST(JoinedCatalog, FallbacksComeLastAndFastOnesFirst) {
  LiteralPool pool;
  Graph graph("g", &pool);
  const ValueId x = graph.AddInput("x", {DType::kF32, {2}, {}});
  const NodeId node = *graph.AddNode({.op = &kCopy, .operands = {x}});
  const JoinedCatalog joined({std::make_shared<Fixed>("slow", 9, true, false),
                              std::make_shared<Fixed>("b", 20, false, true),
                              std::make_shared<Fixed>("a", 10, false, false)});
  DeviceTraits cpu;
  std::vector<std::string> kernels;
  for (const KernelChoice& choice : joined.Choices(graph.view(node), cpu)) {
    kernels.push_back(choice.kernel.ToString());
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"a", "b", "slow"}));
  const auto code_objects = joined.BuildCode({}, cpu);
  ASSERT_TRUE(code_objects.ok());
  ASSERT_EQ(code_objects->size(), 1);
  EXPECT_EQ((*code_objects)[0].target, "b");
}

TEST(JoinedCatalog, NoGeneratorIsUnimplemented) {
  const JoinedCatalog joined({std::make_shared<Fixed>("c", 1, false, false)});
  EXPECT_TRUE(absl::IsUnimplemented(joined.BuildCode({}, {}).status()));
}

}  // namespace
}  // namespace partita
