// The library and catalog of "reference.eval" and of layout conversions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/reference/reference_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/device_rates.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"
#include "kernels/copy/layout_copy.h"
#include "kernels/reference/reference_program.h"

namespace partita {
namespace {

constexpr char kEval[] = "reference.eval";
constexpr char kMove[] = "reference.move";
Arithmetic EvalArithmetic() { return {.source = "eval 1"}; }
Arithmetic MoveArithmetic() { return {.source = "none"}; }

// The most that plain loops in double reach, in flops or bytes, whatever the
// device can do and whatever a core's vector peak.
constexpr double kEvalPerSecond = 5e8;
constexpr double kEvalShareOfPeak = 0.05;
constexpr double kMoveBytesPerSecond = 4e9;

double EvalRate(const DeviceTraits& device) {
  const double core =
      PeakFlops(device, DType::kF32) / std::max(1, device.threads);
  return std::min(kEvalPerSecond, kEvalShareOfPeak * core);
}

double MoveRate(const DeviceTraits& device) {
  return std::min(kMoveBytesPerSecond, MemoryBandwidth(device));
}

bool OnlyMoves(const OpView& node) {
  return node.is(kReorder) || node.is(kCopy);
}

class EvalKernel : public Kernel {
 public:
  EvalKernel(std::unique_ptr<ReferenceProgram> program, int threads)
      : program_(std::move(program)), threads_(threads) {}
  absl::Status Launch(const LaunchArgs& args) override {
    return program_->Run(args, threads_);
  }

 private:
  std::unique_ptr<ReferenceProgram> program_;
  int threads_;
};

class MoveKernel : public Kernel {
 public:
  MoveKernel(LayoutCopy copy, int threads)
      : copy_(std::move(copy)), threads_(threads) {}
  absl::Status Launch(const LaunchArgs& args) override {
    copy_.Run(args.operands[0], args.results[0], threads_);
    return absl::OkStatus();
  }

 private:
  LayoutCopy copy_;
  int threads_;
};

std::vector<KernelChoice> MoveChoice(const OpView& node,
                                     const DeviceTraits& device) {
  KernelChoice choice;
  choice.kernel = kMove;
  const TensorType& from = node.operand_type(0);
  choice.operands.push_back(from.layout);
  if (node.is(kCopy)) {
    choice.results.push_back(from.layout);
  } else if (node.attr_string("layout").empty()) {
    choice.results.emplace_back();
  } else {
    absl::StatusOr<Layout> layout =
        ParseLayout(node.attr_string("layout"), from.rank());
    if (!layout.ok()) return {};
    choice.results.push_back(*std::move(layout));
  }
  choice.seconds =
      device.launch_seconds + node.op().cost(node).bytes / MoveRate(device);
  choice.arithmetics = {MoveArithmetic()};
  return {std::move(choice)};
}

}  // namespace

absl::StatusOr<int64_t> ReferenceWorkspace(const OpView& node) {
  if (OnlyMoves(node)) return 0;
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<ReferenceProgram> program,
                           ReferenceProgram::Make(node));
  return program->workspace();
}

absl::StatusOr<BoundKernel> ReferenceLibrary::Bind(
    const BindRequest& request) const {
  const OpView& node = request.node;
  if (!RunsHostCode(*request.device)) {
    return absl::UnimplementedError(
        absl::StrCat(node.ToString(), ": found ", request.device->name,
                     ", which runs no host code; expected a cpu"));
  }
  if (OnlyMoves(node)) {
    return BoundKernel{
        std::make_unique<MoveKernel>(
            LayoutCopy(node.operand_type(0), node.result_type(0)),
            request.device->threads),
        kMove, MoveArithmetic(),
        /*in_place=*/{}};
  }
  PARTITA_ASSIGN_OR_RETURN(std::unique_ptr<ReferenceProgram> program,
                           ReferenceProgram::Make(node));
  if (program->workspace() > request.binding->workspace) {
    return absl::ResourceExhaustedError(absl::StrCat(
        node.ToString(), ": found ", program->workspace(),
        " bytes of workspace needed by reference.eval; expected at most ",
        request.binding->workspace, "; compile the plan again"));
  }
  return BoundKernel{
      std::make_unique<EvalKernel>(std::move(program), request.device->threads),
      kEval, EvalArithmetic(),
      /*in_place=*/{}};
}

std::vector<KernelChoice> ReferenceCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (!RunsHostCode(device) || node.op().eval == nullptr) return {};
  if (node.is(kConstant) || node.op().traits.reads_variable) return {};
  if (OnlyMoves(node)) return MoveChoice(node, device);
  KernelChoice choice;
  choice.kernel = kEval;
  choice.operands.resize(node.num_operands());
  choice.results.resize(node.num_results());
  if (node.is(kFused)) {
    // If everything is row-major, only a body has intermediates.
    absl::StatusOr<std::unique_ptr<ReferenceProgram>> program =
        ReferenceProgram::MakeRowMajor(node);
    if (!program.ok()) return {};
    choice.workspace = (*program)->workspace();
  }
  const Cost cost = node.op().cost(node);
  choice.seconds =
      device.launch_seconds + (cost.flops + cost.bytes) / EvalRate(device);
  choice.arithmetics = {EvalArithmetic()};
  choice.fallback = true;
  return {std::move(choice)};
}

}  // namespace partita
