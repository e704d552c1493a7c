// A roofline, and collecting programs.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen_loader/codegen_catalog.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "graph/device_rates.h"
#include "graph/in_place.h"
#include "graph/status_macros.h"
#include "kernels/codegen/any_program.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/native_code/trusted_code.h"

namespace partita {
namespace {

// Not all instructions are products and sums, and they depend on each other.
constexpr double kPeakShare = 0.25;
constexpr double kBandwidthShare = 0.8;
// Less than for any library's kernel: for a few numbers this is the whole cost.
constexpr double kCallSeconds = 5e-8;

double Bytes(const OpView& node) {
  double bytes = 0;
  for (int i = 0; i < node.num_results(); ++i) {
    bytes += node.result_type(i).RowMajor().num_bytes();
  }
  for (int i = 0; i < node.num_operands(); ++i) {
    bytes += node.operand_type(i).RowMajor().num_bytes();
  }
  return bytes;
}

double Seconds(const OpView& node, int instructions,
               const DeviceTraits& device) {
  const double elements =
      static_cast<double>(node.result_type(0).num_elements());
  const double peak = PeakFlops(device, DType::kF32);
  return device.launch_seconds +
         std::max(instructions * elements / (peak * kPeakShare),
                  Bytes(node) / (MemoryBandwidth(device) * kBandwidthShare)) +
         kCallSeconds;
}

}  // namespace

std::vector<KernelChoice> CodegenCatalog::Choices(
    const OpView& node, const DeviceTraits& device) const {
  if (!RunsHostCode(device) || !IsKnownIsa(device.isa)) return {};
  const std::optional<int> instructions = CountInstructions(node);
  if (!instructions.has_value() || !FindCodegen().ok()) return {};
  KernelChoice choice;
  choice.kernel = "codegen.elementwise";
  choice.operands.resize(node.num_operands());
  choice.results.resize(node.num_results());
  choice.any_layout = true;
  choice.seconds = Seconds(node, *instructions, device);
  choice.arithmetics = {CodegenArithmetic(device.isa)};
  choice.in_place = ElementwiseInPlace(node);
  return {choice};
}

absl::StatusOr<std::vector<CodeObject>> CodegenCatalog::BuildCode(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  std::vector<OpView> generated;
  for (const OpView& node : nodes) {
    if (HasGeneratedKernel(node)) generated.push_back(node);
  }
  return BuildCodeOf(generated, device);
}

bool HasGeneratedKernel(const OpView& node) {
  const std::optional<KernelBinding>& kernel = node.node().kernel;
  return kernel.has_value() && kernel->kernel.Is("codegen");
}

absl::StatusOr<std::vector<CodeObject>> BuildCodeOf(
    absl::Span<const OpView> nodes, const DeviceTraits& device) {
  if (!RunsHostCode(device)) {
    return absl::UnimplementedError("native code is for CPUs");
  }
  std::map<std::string, ElementwiseProgram> by_name;
  for (const OpView& node : nodes) {
    absl::StatusOr<ElementwiseProgram> program = ReadProgram(node, device.isa);
    // Unimplemented would mean that the catalog builds no code at all.
    if (!program.ok()) {
      return absl::FailedPreconditionError(program.status().message());
    }
    std::string name = program->name;
    by_name.emplace(std::move(name), *std::move(program));
  }
  if (by_name.empty()) return std::vector<CodeObject>();
  std::vector<AnyProgram> programs;
  for (auto& [name, program] : by_name) programs.push_back(std::move(program));
  PARTITA_ASSIGN_OR_RETURN(const std::string object,
                           BuildSharedObject(programs, device.isa));
  std::vector<CodeObject> code_objects(1);
  code_objects[0].target = CodeTargetOf(device);
  code_objects[0].bytes.resize(object.size());
  std::memcpy(code_objects[0].bytes.data(), object.data(), object.size());
  PARTITA_RETURN_IF_ERROR(TrustCode(code_objects[0]));
  return code_objects;
}

}  // namespace partita
