// A node, or the body of a fused one, as steps of eval over fixed memory.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_REFERENCE_REFERENCE_PROGRAM_H_
#define PARTITA_KERNELS_REFERENCE_REFERENCE_PROGRAM_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/host_tensor.h"
#include "kernels/copy/layout_copy.h"
#include "kernels/kernel.h"

namespace partita {

// Created once; Run allocates only what evals themselves allocate.
class ReferenceProgram {
 public:
  static absl::StatusOr<std::unique_ptr<ReferenceProgram>> Make(
      const OpView& node);
  // For the node as if all its values were row-major.
  static absl::StatusOr<std::unique_ptr<ReferenceProgram>> MakeRowMajor(
      const OpView& node);

  int64_t workspace() const { return workspace_; }
  absl::Status Run(const LaunchArgs& args, int threads);

 private:
  // The memory of a value of `graph_` during a run; always row-major.
  struct Place {
    enum class Kind { kNone, kOperand, kResult, kWorkspace, kConstant };
    Kind kind = Kind::kNone;
    int index = 0;       // the node's operand or result
    int64_t offset = 0;  // in the workspace
    HostTensor constant;
  };
  struct Conversion {
    int index;  // the node's operand or result
    ValueId value;
    LayoutCopy copy;
  };

  static absl::StatusOr<std::unique_ptr<ReferenceProgram>> Make(
      const OpView& node, bool row_major);
  absl::Status Build(const OpView& node);
  TensorType Outer(const TensorType& type) const;
  absl::Status BuildSingle(const OpView& node);
  void PlaceInputs(const OpView& node);
  void PlaceResults(const OpView& node);
  void PlaceInner();
  Place InWorkspace(const TensorType& type);
  void* Bytes(const Place& place, const LaunchArgs& args) const;
  absl::Status RunStep(const OpView& step, const LaunchArgs& args);

  std::unique_ptr<Graph> graph_;
  std::vector<OpView> steps_;
  std::vector<Place> places_;  // by value id
  std::vector<Conversion> before_;
  std::vector<Conversion> after_;
  std::vector<HostTensor> operands_;  // of the running step
  std::vector<HostTensor> results_;
  int64_t workspace_ = 0;
  bool row_major_ = false;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_REFERENCE_REFERENCE_PROGRAM_H_
