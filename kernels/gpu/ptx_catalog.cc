// A roofline, and collecting programs.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/gpu/ptx_catalog.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "graph/core_ops.h"
#include "graph/device_kind_traits.h"
#include "graph/device_rates.h"
#include "graph/in_place.h"
#include "graph/op_def.h"
#include "graph/status_macros.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/op_programs/read_any_program.h"

namespace partita {
namespace {

constexpr char kLibrary[] = "ptx";

// A peak counts a product and a sum for each thread and cycle; every
// instruction takes that cycle. Dependences leave half of them.
constexpr double kInstructionsOfPeak = 0.25;
constexpr double kBandwidthShare = 0.8;
// Between an instruction of a thread and the next one that depends on it.
constexpr double kInstructionSeconds = 3e-9;

const char* KindName(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::kElementwise:
      return "elementwise";
    case ProgramKind::kRows:
      return "rows";
    case ProgramKind::kIndices:
      break;
  }
  return "indices";
}

// What CountGpuWork found. Searches of planners ask about the same nodes many
// times, and writing a program takes longer than finding it.
class CountedWork {
 public:
  absl::StatusOr<GpuWork> Of(const OpView& node) {
    std::string key = EntryName(node, "work");
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto known = work_.find(key);
      if (known != work_.end()) return known->second;
    }
    PARTITA_ASSIGN_OR_RETURN(const GpuWork work, CountGpuWork(node));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (work_.size() >= kMost) work_.clear();
    work_.emplace(std::move(key), work);
    return work;
  }

 private:
  // Nodes of many models, in a few megabytes.
  static constexpr size_t kMost = size_t{1} << 15;

  std::mutex mutex_;
  absl::flat_hash_map<std::string, GpuWork> work_;
};

absl::StatusOr<GpuWork> WorkOf(const OpView& node) {
  static CountedWork& counted = *new CountedWork;
  return counted.Of(node);
}

double Seconds(const OpView& node, const GpuWork& work,
               const DeviceTraits& device) {
  const double rate = PeakFlops(device, DType::kF32) * kInstructionsOfPeak;
  const double bytes = node.op().cost(node).bytes;
  return device.launch_seconds +
         std::max({work.instructions / rate, work.longest * kInstructionSeconds,
                   bytes / (MemoryBandwidth(device) * kBandwidthShare)});
}

// A layout conversion is offered between its own layouts.
absl::Status SetReorderLayouts(const OpView& node, KernelChoice& choice) {
  choice.operands[0] = node.operand_type(0).layout;
  const std::string text = node.attr_string("layout");
  if (text.empty()) return absl::OkStatus();
  PARTITA_ASSIGN_OR_RETURN(choice.results[0],
                           ParseLayout(text, node.operand_type(0).rank()));
  return absl::OkStatus();
}

const std::string& NameOf(const AnyProgram& program) {
  return std::visit(
      [](const auto& one) -> const std::string& { return one.name; }, program);
}

}  // namespace

std::vector<KernelChoice> PtxCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (RunsHostCode(device) || CodeTargetOf(device).empty()) return {};
  const absl::StatusOr<GpuWork> work = WorkOf(node);
  if (!work.ok() || !FindCodegen().ok()) return {};
  KernelChoice choice;
  choice.kernel.library = kLibrary;
  choice.kernel.name = KindName(work->kind);
  choice.operands.resize(node.num_operands());
  choice.results.resize(node.num_results());
  choice.seconds = Seconds(node, *work, device);
  choice.arithmetics = {PtxArithmetic()};
  if (work->kind == ProgramKind::kElementwise) {
    choice.any_layout = true;
    choice.in_place = ElementwiseInPlace(node);
  }
  if (node.is(kReorder) && !SetReorderLayouts(node, choice).ok()) return {};
  return {choice};
}

absl::StatusOr<std::vector<CodeObject>> PtxCatalog::BuildCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  const std::string target = CodeTargetOf(device);
  if (RunsHostCode(device) || target.empty()) {
    return absl::UnimplementedError("PTX is for GPUs from sm_80 on");
  }
  std::map<std::string, AnyProgram> by_name;
  for (const OpView& node : nodes) {
    if (!HasPtxKernel(node)) continue;
    absl::StatusOr<AnyProgram> program = ReadAnyProgram(node, target);
    // Unimplemented would mean that the catalog builds no code at all.
    if (!program.ok()) {
      return absl::FailedPreconditionError(program.status().message());
    }
    std::string name = NameOf(*program);
    by_name.emplace(std::move(name), *std::move(program));
  }
  if (by_name.empty()) return std::vector<CodeObject>();
  std::vector<AnyProgram> programs;
  for (auto& [name, program] : by_name) programs.push_back(std::move(program));
  PARTITA_ASSIGN_OR_RETURN(const std::string text, BuildPtx(programs, target));
  std::vector<CodeObject> code_objects(1);
  code_objects[0].target = target;
  code_objects[0].bytes.resize(text.size());
  std::memcpy(code_objects[0].bytes.data(), text.data(), text.size());
  return code_objects;
}

bool HasPtxKernel(const OpView& node) {
  const std::optional<KernelBinding>& kernel = node.node().kernel;
  return kernel.has_value() && kernel->kernel.Is(kLibrary);
}

absl::Status WhyHostFallback(const OpView& node) {
  return CountGpuWork(node).status();
}

absl::StatusOr<PtxLaunch> LaunchOfNode(const OpView& node,
                                       int multiprocessors) {
  // Launches are the same for all GPUs.
  PARTITA_ASSIGN_OR_RETURN(const AnyProgram program,
                           ReadAnyProgram(node, "sm_80"));
  return PtxLaunch{NameOf(program), std::visit(
                                        [&](const auto& one) {
                                          return LaunchOf(one, multiprocessors);
                                        },
                                        program)};
}

}  // namespace partita
