// A roofline, and the collecting of programs.
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
#include "graph/device_rates.h"
#include "graph/in_place.h"
#include "graph/status_macros.h"
#include "kernels/codegen/read_program.h"
#include "kernels/codegen_loader/codegen_loader.h"
#include "kernels/image/image_store.h"

namespace partita {
namespace {

// Instructions are not all products and sums, and wait for one another.
constexpr double kPeakShare = 0.25;
constexpr double kBandwidthShare = 0.8;
// Less than of any library's kernel: of a few numbers it is all there is.
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
  if (device.kind != DeviceKind::kCpu || !IsKnownIsa(device.isa)) return {};
  const std::optional<int> instructions = CountInstructions(node);
  if (!instructions.has_value() || !FindCodegen().ok()) return {};
  KernelChoice choice;
  choice.kernel = "codegen.elementwise";
  choice.operands.resize(node.num_operands());
  choice.results.resize(node.num_results());
  choice.any_layout = true;
  choice.seconds = Seconds(node, *instructions, device);
  choice.arithmetic = CodegenArithmetic(device.isa);
  choice.in_place = ElementwiseInPlace(node);
  return {choice};
}

absl::StatusOr<std::vector<KernelImage>> CodegenCatalog::BuildImages(
    absl::Span<const OpView> nodes, const DeviceTraits& device) const {
  std::vector<OpView> generated;
  for (const OpView& node : nodes) {
    const auto& kernel = node.node().kernel;
    if (kernel.has_value() && absl::StartsWith(kernel->kernel, "codegen.")) {
      generated.push_back(node);
    }
  }
  return BuildImagesOf(generated, device);
}

absl::StatusOr<std::vector<KernelImage>> BuildImagesOf(
    absl::Span<const OpView> nodes, const DeviceTraits& device) {
  std::map<std::string, ElementwiseProgram> by_name;
  for (const OpView& node : nodes) {
    absl::StatusOr<ElementwiseProgram> program = ReadProgram(node, device.isa);
    // Unimplemented would say that there are no images at all.
    if (!program.ok()) {
      return absl::FailedPreconditionError(program.status().message());
    }
    std::string name = program->name;
    by_name.emplace(std::move(name), *std::move(program));
  }
  if (by_name.empty()) return std::vector<KernelImage>();
  std::vector<ElementwiseProgram> programs;
  for (auto& [name, program] : by_name) programs.push_back(std::move(program));
  PARTITA_ASSIGN_OR_RETURN(const std::string object,
                           BuildSharedObject(programs, device.isa));
  std::vector<KernelImage> images(1);
  images[0].target = ImageTarget(device.isa);
  images[0].bytes.resize(object.size());
  std::memcpy(images[0].bytes.data(), object.data(), object.size());
  PARTITA_RETURN_IF_ERROR(TrustImage(images[0]));
  return images;
}

}  // namespace partita
