// One family of our own kernels: which nodes it accepts, and how it binds.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_CPU_FAMILY_H_
#define PARTITA_KERNELS_CPU_CPU_FAMILY_H_

#include <memory>
#include <string>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "kernels/kernel.h"

namespace partita {

// `extern const CpuFamily kCpu<Name>` in kernels/cpu/<file>.cc. The build lists
// every such constant (cpu_family_list.h). No node is accepted by two families.
struct CpuFamily {
  const char* kernel;    // "cpu.move"
  int version = 1;       // of its order of operations
  double bandwidth = 0;  // share of the device's bandwidth
  // The share of the device's peak, for a family that computes more than it
  // moves.
  double flops = 0;
  bool exact = false;  // the same bits as eval
  // Uses fused multiply-add if the processor has it; the bits depend on that.
  bool fuses_products = false;
  // Layouts, each for all operands and results of its rank, in which the family
  // computes the node; empty if it cannot.
  std::vector<std::string> (*layouts)(const OpView& node);
  // For a node with such layouts.
  std::unique_ptr<Kernel> (*bind)(const OpView& node, int threads);
  // Workspace bytes of a launch if operand 0 has this layout; null: none.
  int64_t (*workspace)(const OpView& node, const Layout& layout,
                       int threads) = nullptr;
  // What is computed and moved, if it differs from the op's cost.
  Cost (*cost)(const OpView& node, int threads) = nullptr;
  // Sums are Winograd's, over tiles: see docs/internals/numerics.md.
  bool has_tiles = false;
  int row_major_operand = -1;      // whatever layout the others have
  bool in_place = false;           // result 0 may overwrite operand 0
  bool results_row_major = false;  // whatever layout the operands have
};

// `layouts` of a family that computes the accepted nodes row-major.
template <bool (*accepts)(const OpView& node)>
std::vector<std::string> RowMajorIf(const OpView& node) {
  if (!accepts(node)) return {};
  return {""};
}

// True if all operands are f32 and have elements.
inline bool OperandsAreF32(const OpView& node) {
  for (int i = 0; i < node.num_operands(); ++i) {
    const TensorType& type = node.operand_type(i);
    if (type.dtype != DType::kF32 || type.num_elements() == 0) return false;
  }
  return true;
}

// `bind` of a family with one class of kernels.
template <typename KernelOf>
std::unique_ptr<Kernel> NewKernel(const OpView& node, int threads) {
  return std::make_unique<KernelOf>(node, threads);
}

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_CPU_FAMILY_H_
