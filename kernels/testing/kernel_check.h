// Compares every kernel that a catalog offers for a node with the op's eval.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_TESTING_KERNEL_CHECK_H_
#define PARTITA_KERNELS_TESTING_KERNEL_CHECK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "graph/kernel_catalog.h"
#include "graph/op_view.h"
#include "kernels/kernel.h"

namespace partita {

// A graph of one node over inputs of the given types. Ends the program if the
// op refuses them, since the test is wrong.
class OneNode {
 public:
  OneNode(const OpDef& op, std::vector<TensorType> operands,
          Attributes attributes = {});
  // A fused node with this body, which must use pool().
  OneNode(std::unique_ptr<LiteralPool> pool, std::unique_ptr<Graph> body);
  OpView node() const { return graph_->view(id_); }
  Graph& graph() { return *graph_; }

 private:
  std::unique_ptr<LiteralPool> pool_;
  std::unique_ptr<Graph> graph_;
  NodeId id_;
};

struct KernelCheckOptions {
  std::vector<int> threads = {1, 2};
  double low = -2;  // random operands are in [low, high]
  double high = 2;
  // Relative to the largest result, or to 1 if that is larger. 0: the op's own
  // tolerance, relative to the largest result.
  double tolerance = 0;
  // If not 0, every element is compared with its own expected value: NaN,
  // infinities and the sign of zero exactly, others within this many units in
  // the last place.
  double units = 0;
  uint64_t seed = 1;
  std::string isa;  // the device's; "": any
  // Operands with given values; others are random.
  std::vector<const HostTensor*> operands;
  // Called before each kernel is bound, since the kernel may end the process.
  std::function<void(const KernelChoice& choice, int threads)> before;
};

struct CheckReport {
  absl::Status status;  // the first failure
  // those checked, as "onednn.conv abcd16b->abcd16b"
  std::vector<std::string> kernels;
};

// For each choice and number of threads: binds with exactly the choice's
// workspace, launches twice over guarded memory with read-only operands, and
// once more for each in-place pair. Kernels that need a code object get the one
// that the catalog builds. Results must agree with eval, have the same bits in
// each launch, and zero layout padding.
CheckReport CheckKernels(const OpView& node, const KernelCatalog& catalog,
                         const KernelLibrary& library,
                         const KernelCheckOptions& options = {});

// Traits of a CPU for tests.
DeviceTraits TestCpu(int threads);

// The node with the layouts of `choice`, in a graph of its own.
OneNode WithLayouts(const OpView& node, const KernelChoice& choice);

}  // namespace partita

#endif  // PARTITA_KERNELS_TESTING_KERNEL_CHECK_H_
