// Kernels that evaluate nodes on views of the arena.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/executor/test_kernels.h"

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/op_def.h"

namespace partita {
namespace {

class EvalKernel : public Kernel {
 public:
  EvalKernel(const TestLibrary& library, const BindRequest& request)
      : library_(library), node_(request.node) {
    ++library_.bound;
  }
  ~EvalKernel() override { --library_.bound; }

  absl::Status Launch(const LaunchArgs& args) override {
    ++library_.launching;
    absl::Status status = Compute(args);
    --library_.launching;
    return status;
  }

 private:
  absl::Status Compute(const LaunchArgs& args) {
    if (library_.before_launch != nullptr) {
      absl::Status status = library_.before_launch(node_);
      if (!status.ok()) return status;
    }
    if (library_.on_pointers != nullptr) library_.on_pointers(args);
    if (library_.workspace > 0) {
      std::memset(args.workspace, 0xab, library_.workspace);
    }
    // eval works on row-major elements.
    std::vector<HostTensor> operands;
    for (int i = 0; i < node_.num_operands(); ++i) {
      operands.emplace_back(node_.operand_type(i).RowMajor());
      ConvertLayout(
          HostTensor::ConstView(node_.operand_type(i), args.operands[i]),
          operands.back());
    }
    // Results may be in place, and eval needs them zeroed.
    std::vector<HostTensor> results;
    for (int i = 0; i < node_.num_results(); ++i) {
      results.emplace_back(node_.result_type(i).RowMajor());
    }
    absl::Status status =
        node_.op().eval(node_, operands, absl::MakeSpan(results));
    for (int i = 0; i < node_.num_results() && status.ok(); ++i) {
      HostTensor stored =
          HostTensor::View(node_.result_type(i), args.results[i]);
      ConvertLayout(results[i], stored);
    }
    return status;
  }

  const TestLibrary& library_;
  const OpView node_;
};

// Every operand with every result: results are written after all operands were
// read.
std::vector<InPlacePair> AllPairs(const OpView& node) {
  std::vector<InPlacePair> pairs;
  for (int i = 0; i < node.num_operands(); ++i) {
    for (int r = 0; r < node.num_results(); ++r) pairs.push_back({i, r});
  }
  return pairs;
}

}  // namespace

absl::StatusOr<BoundKernel> TestLibrary::Bind(
    const BindRequest& request) const {
  if (!RunsHostCode(*request.device)) {
    return absl::UnimplementedError("found a GPU; expected a CPU");
  }
  if (workspace > request.binding->workspace) {
    return absl::ResourceExhaustedError(
        absl::StrCat("found ", workspace, " bytes needed; expected at most ",
                     request.binding->workspace));
  }
  return BoundKernel{
      std::make_unique<EvalKernel>(*this, request), "test.eval", arithmetic,
      in_place ? AllPairs(request.node) : std::vector<InPlacePair>()};
}

}  // namespace partita
