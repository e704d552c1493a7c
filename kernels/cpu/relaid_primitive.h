// A primitive in layouts of its own, between reorders from and to the node's.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_RELAID_PRIMITIVE_H_
#define PARTITA_KERNELS_CPU_RELAID_PRIMITIVE_H_

#include <cstdint>
#include <vector>

#include "kernels/cpu/onednn_primitive.h"
#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// Workspace bytes: the recipe's own, and every value that is not a constant and
// whose layout in the node (`given`) differs from the recipe's.
int64_t RelaidWorkspace(const OpView& node, const LayoutWish& given,
                        const OnednnRecipe& recipe);

// Constants are reordered once, by the constructor, into memory of its own;
// other values at every launch, in the workspace. May throw dnnl::error.
class RelaidPrimitive : public Kernel {
 public:
  RelaidPrimitive(const OpView& node, const OnednnRecipe& recipe, int threads);
  absl::Status Launch(const LaunchArgs& args) override;

 private:
  // A value's bytes in another layout.
  struct Relayout {
    int index;       // the node's operand or result
    int64_t offset;  // in the workspace
    dnnl::reorder reorder;
    dnnl::memory from, to;
  };
  struct Packed {
    int operand;
    HostTensor tensor;
  };
  Relayout MakeRelayout(int index, int64_t offset, const TensorType& from,
                        const TensorType& to) const;
  void AddOperand(const OpView& node, const OnednnRecipe& recipe, int index,
                  int64_t& offset);
  void Pack(const OpView& node, int operand, const TensorType& wanted);
  absl::Status Run(Relayout& relayout, const void* from, void* to);

  int threads_;
  dnnl::stream stream_;
  OnednnPrimitive primitive_;
  std::vector<Relayout> before_, after_;
  std::vector<Packed> packed_;
  int64_t scratchpad_offset_ = 0;
  std::vector<void*> operands_, results_;  // of the launch
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_RELAID_PRIMITIVE_H_
