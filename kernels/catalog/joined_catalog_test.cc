// Joining catalogs: order, kinds of devices, images.
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
  absl::StatusOr<std::vector<KernelImage>> BuildImages(
      absl::Span<const OpView>, const DeviceTraits&) const override {
    if (!generates_) return absl::UnimplementedError("none");
    std::vector<KernelImage> images(1);
    images[0].target = kernel_;
    return images;
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
  JoinedCatalog joined;
  joined.Add(DeviceKind::kCpu, std::make_shared<Fixed>("slow", 9, true, false));
  joined.Add(DeviceKind::kCpu, std::make_shared<Fixed>("b", 20, false, true));
  joined.Add(DeviceKind::kCpu, std::make_shared<Fixed>("a", 10, false, false));
  joined.Add(DeviceKind::kCuda, std::make_shared<Fixed>("c", 1, false, false));
  DeviceTraits cpu;
  std::vector<std::string> kernels;
  for (const KernelChoice& choice : joined.Choices(graph.view(node), cpu)) {
    kernels.push_back(choice.kernel);
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"a", "b", "slow"}));
  const auto images = joined.BuildImages({}, cpu);
  ASSERT_TRUE(images.ok());
  ASSERT_EQ(images->size(), 1);
  EXPECT_EQ((*images)[0].target, "b");
}

TEST(JoinedCatalog, NoGeneratorIsUnimplemented) {
  JoinedCatalog joined;
  joined.Add(DeviceKind::kCuda, std::make_shared<Fixed>("c", 1, false, false));
  DeviceTraits gpu;
  gpu.kind = DeviceKind::kCuda;
  EXPECT_TRUE(absl::IsUnimplemented(joined.BuildImages({}, gpu).status()));
}

}  // namespace
}  // namespace partita
