// A primitive, with the buffers of a launch.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CPU_ONEDNN_PRIMITIVE_H_
#define PARTITA_KERNELS_CPU_ONEDNN_PRIMITIVE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/onednn_recipe.h"

namespace partita {

// The constructor generates code. May throw dnnl::error.
class OnednnPrimitive : public Kernel {
 public:
  OnednnPrimitive(const OnednnRecipe& recipe, int threads);
  absl::Status Launch(const LaunchArgs& args) override;

 private:
  struct Slot {
    bool is_result;
    bool is_transformed;  // read from the workspace
    int index;
    dnnl::memory memory;
  };
  absl::Status SetPlaces(const LaunchArgs& args);
  void TransformWeights(const LaunchArgs& args);
  absl::Status PadImage(const LaunchArgs& args);

  int threads_;
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<Slot> slots_;
  dnnl::memory scratchpad_;
  std::vector<dnnl_exec_arg_t> arguments_;
  int summed_operand_ = -1;
  size_t result_bytes_ = 0;
  std::optional<OnednnRecipe::Winograd> winograd_;
  // Pads an operand into the workspace.
  struct Padding {
    int operand;
    dnnl::reorder reorder;
    dnnl::memory from, to;
  };
  std::optional<Padding> padding_;
  int64_t transformed_bytes_ = 0;  // at the start of the workspace
};

// oneDNN's code as a Status that keeps oneDNN's name of the error.
absl::Status OnednnStatus(dnnl_status_t code, absl::string_view doing);

}  // namespace partita

#endif  // PARTITA_KERNELS_CPU_ONEDNN_PRIMITIVE_H_
