// Tests what a check allows in a process that may have only one thread.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/testing/kernel_check.h"

#include <utility>

#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "kernels/thread_pool/openmp_calls.h"

namespace partita {
namespace {

// Offers a kernel, and then refuses to bind it.
class Unbound : public KernelCatalog, public KernelLibrary {
 public:
  Unbound(KernelId kernel, absl::Status refusal)
      : kernel_(std::move(kernel)), refusal_(std::move(refusal)) {}
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits&) const override {
    KernelChoice choice;
    choice.kernel = kernel_;
    choice.operands.resize(node.num_operands());
    choice.results.resize(node.num_results());
    choice.seconds = 1;
    choice.arithmetics = {ExactArithmetic()};
    return {choice};
  }
  absl::string_view name() const override { return kernel_.library; }
  absl::StatusOr<BoundKernel> Bind(const BindRequest&) const override {
    return refusal_;
  }

 private:
  const KernelId kernel_;
  const absl::Status refusal_;
};

bool Passes(const char* kernel, absl::Status refusal, int threads) {
  const OneNode one(kRelu, {{DType::kF32, {5}, {}}});
  const Unbound unbound(kernel, std::move(refusal));
  return CheckKernels(one.node(), unbound, unbound, {.threads = {threads}})
      .status.ok();
}

TEST(KernelCheckTest, FewerThreadsMayNeedMoreWorkspace) {
  ASSERT_EQ(WithinThreadLimit(2), 1);  // by the target's OMP_THREAD_LIMIT
  const absl::Status short_of_workspace = absl::ResourceExhaustedError("short");
  EXPECT_TRUE(Passes("sample.relu", short_of_workspace, 2));
  EXPECT_FALSE(Passes("sample.relu", short_of_workspace, 1));
}

TEST(KernelCheckTest, OnlyKernelsWithLayoutsForTheThreadsMayBeUnimplemented) {
  const absl::Status refusal = absl::UnimplementedError("another layout");
  EXPECT_FALSE(Passes("sample.relu", refusal, 2));
  EXPECT_FALSE(Passes("onednn.conv", refusal, 2));
  for (const char* kernel : {"onednn.winograd", "upcast.onednn.winograd"}) {
    EXPECT_TRUE(Passes(kernel, refusal, 2)) << kernel;
    EXPECT_FALSE(Passes(kernel, refusal, 1)) << kernel;
  }
}

}  // namespace
}  // namespace partita
